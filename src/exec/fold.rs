//! The fold of a command's answer: bytes or ready events in, output pushed, an end out.

use super::output::{Output, Stream};
use crate::error::{Failure, pascal_case};
use crate::stream::{Event, EventError, EventReader, FrameError, FrameWalker, Stop, TextDecoder};

/// One command's fold.
#[derive(Debug, Default)]
pub struct Fold {
    walker: FrameWalker,
    events: EventReader,
    texts: [TextDecoder; 2],
    stop: Option<Stop>,
    begun: bool,
    bytes: u64,
}

impl From<FrameError> for Failure {
    fn from(error: FrameError) -> Self {
        Self::broken_stream(error)
    }
}

impl From<EventError> for Failure {
    fn from(error: EventError) -> Self {
        Self::broken_stream(error)
    }
}

impl Fold {
    /// The fold of a command whose answer has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// The command has told its end. What follows it is still output, but no other end.
    pub fn stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// The user's text has printed something, so it certainly runs.
    pub fn begun(&self) -> bool {
        self.begun
    }

    /// Folds `bytes` of an event stream.
    ///
    /// # Errors
    /// The failure that the service tells, or that the bytes are.
    pub fn feed(&mut self, bytes: &[u8], output: &Output) -> Result<(), Failure> {
        self.bytes += bytes.len() as u64;
        let Self {
            walker,
            events,
            texts,
            stop,
            begun,
            ..
        } = self;
        let mut writer = output.writer();
        walker.feed(bytes, |frame| match events.read(&frame)? {
            Event::Chunk(chunk) => {
                *begun |= !chunk.stdout.is_empty() || !chunk.stderr.is_empty();
                for (stream, bytes) in [
                    (Stream::Stdout, &chunk.stdout),
                    (Stream::Stderr, &chunk.stderr),
                ] {
                    texts[stream as usize].decode(bytes, &mut |text| writer.push(stream, text));
                }
                if stop.is_none() {
                    *stop = chunk.stop.take();
                }
                Ok(())
            }
            Event::Unknown => Ok(()),
            // Once the end was told, nothing can take it back.
            Event::Exception { .. } | Event::Error { .. } if stop.is_some() => Ok(()),
            Event::Exception { kind, message } => Err(exception(&kind, message)),
            Event::Error { code, message } => Err(unmodelled(&code, message)),
        })
    }

    /// Folds one event that came ready-made: text may carry lone surrogates, encoded in
    /// three bytes each.
    pub fn delta(&mut self, stream: Stream, text: &[u8], output: &Output) {
        self.begun |= !text.is_empty();
        self.texts[stream as usize].decode(text, &mut |text| output.push(stream, text));
    }

    /// Folds the end that came ready-made.
    pub fn stop(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
    }

    /// The answer is over: gives what the command's end was.
    ///
    /// # Errors
    /// Where no end was told.
    pub fn finish(&mut self, output: &Output) -> Result<Stop, Failure> {
        for stream in Stream::BOTH {
            self.texts[stream as usize].finish(&mut |text| output.push(stream, text));
        }
        if let Some(stop) = self.stop.take() {
            return Ok(stop);
        }
        self.walker.finish()?;
        Err(Failure::broken_stream(if self.bytes == 0 {
            "it is empty"
        } else {
            "it ended without contentStop"
        }))
    }
}

/// An exception that came in the stream: the request had been accepted.
pub fn exception(kind: &str, message: String) -> Failure {
    let name = pascal_case(kind);
    // The service gave up on the whole request; the others came from what ran.
    let before_start = matches!(
        name.as_str(),
        "ThrottlingException"
            | "ValidationException"
            | "AccessDeniedException"
            | "ResourceNotFoundException"
            | "ServiceQuotaExceededException"
    );
    Failure {
        retryable: matches!(
            name.as_str(),
            "ThrottlingException" | "InternalServerException"
        ),
        may_have_run: !before_start,
        ..Failure::service(&name, message)
    }
}

fn unmodelled(code: &str, message: String) -> Failure {
    let code = if code.is_empty() {
        "UnknownError"
    } else {
        code
    };
    Failure {
        may_have_run: true,
        ..Failure::service(code, message)
    }
}
