//! The only folder that knows Node-API: thin classes and plain data.
//!
//! Expected failures cross as data, never as exceptions; `null` means unset; defaults
//! and validation are JavaScript's. Names start with `Binding` because users see none of
//! them: `js/` wraps each.

mod client;
mod command;
mod text;
