//! One command from its answer's first byte to its outcome.
//!
//! - [`buffer`] keeps one stream's bytes: what is still to be delivered and what is
//!   retained for the result;
//! - [`output`] orders both streams' pieces for delivery;
//! - [`fold`] turns events into output and an end;
//! - [`outcome`] says how a command ended;
//! - [`run`] reads the network under a deadline, an abort and backpressure.
//!
//! Nothing here knows Node or AWS: bytes come from a [`run::Source`], and whoever
//! delivers is woken by a closure and reads pieces.

pub mod buffer;
pub mod fold;
pub mod outcome;
pub mod output;
pub mod run;

pub use fold::Fold;
pub use outcome::{End, Outcome};
pub use output::{Output, OutputOptions, Piece, Stream};
pub use run::{Execution, Source, run};
