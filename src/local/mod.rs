//! The local runtime.
