//! The only folder that knows Node-API: thin classes and plain data.
//!
//! Expected failures cross as data, never as exceptions; `null` means unset; defaults
//! and validation are JavaScript's. Names start with `Binding` because users see none of
//! them: `js/` wraps each.

#![expect(
    clippy::needless_pass_by_value,
    reason = "Node-API hands arguments over by value"
)]

mod client;
mod command;
mod local;
mod text;
