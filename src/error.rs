//! What can go wrong, as data that crosses into JavaScript unchanged.
//!
//! The enum of causes and their advice lives here; nothing of AWS or Node does.
