//! The answer's event stream: bytes → frames → events → text. Pure: no I/O, no clock.
//!
//! - [`frame`] walks the frames of `application/vnd.amazon.eventstream`;
//! - [`event`] reads what a frame says;
//! - [`text`] makes valid UTF-8 of what its strings carry.
//!
//! The official client's decoder is not used here for two reasons: it fails a whole
//! stream for one lone surrogate or one unknown exit code, and it copies every event
//! several times. `aws-smithy-eventstream` judges this walk in the tests instead.

pub mod event;
pub mod frame;
pub mod text;

pub use event::{Chunk, Event, EventError, EventReader, Stop};
pub use frame::{Frame, FrameError, FrameWalker};
pub use text::TextDecoder;
