//! Request → command text (pure).
