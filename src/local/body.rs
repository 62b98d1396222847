//! Frames → a response body, with back-pressure and the scripted faults of a stream.
//!
//! [`EventSink`] is the writing side, [`EventBody`] the one hyper reads. Between them is a short
//! queue: a client that reads slowly makes the sink wait, and through it the process.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use tokio::sync::mpsc;

use super::connection::Abort;
use super::events::{self, Event};
use super::faults::{FaultPoint, StreamFault};

/// Chunks in flight; each holds the frames of one read from a pipe.
const QUEUE: usize = 4;

/// Before a connection breaks, what was written gets this long to reach the client.
const SETTLE: Duration = Duration::from_millis(30);

enum Part {
    Data(Bytes),
    Cut,
    Reset,
}

/// A body and the sink that fills it. `abort` belongs to the body's connection.
pub(super) fn channel(
    fault: Option<(FaultPoint, StreamFault)>,
    abort: Arc<Abort>,
) -> (EventSink, EventBody) {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let mut sink = EventSink {
        parts: Some(sender),
        buffer: BytesMut::new(),
        sent: 0,
        events: 0,
        fault,
        broken: None,
    };
    sink.meet_fault();
    (
        sink,
        EventBody {
            parts: receiver,
            abort,
        },
    )
}

/// Takes events. Once the client is gone or a fault has ended the stream it takes them still,
/// and drops them.
pub(super) struct EventSink {
    parts: Option<mpsc::Sender<Part>>,
    buffer: BytesMut,
    sent: u64,
    events: u64,
    fault: Option<(FaultPoint, StreamFault)>,
    /// How the stream ends with the next flush.
    broken: Option<StreamFault>,
}

impl EventSink {
    /// Adds `event` to what the next [`flush`](Self::flush) sends.
    pub(super) fn write(&mut self, event: Event<'_>) {
        if self.parts.is_none() || self.broken.is_some() {
            return;
        }
        let corrupt = matches!(
            self.fault,
            Some((FaultPoint::Events(at), StreamFault::BadCrc)) if at == self.events
        );
        events::write(event, &mut self.buffer);
        if corrupt {
            self.corrupt_last_byte();
        }
        self.events += 1;
        self.meet_fault();
    }

    /// Sends what was written; waits while the client is too far behind.
    pub(super) async fn flush(&mut self) {
        if !self.buffer.is_empty() {
            let data = self.buffer.split().freeze();
            self.sent += data.len() as u64;
            self.send(Part::Data(data)).await;
        }
        match self.broken.take() {
            Some(StreamFault::Cut) => self.break_off(Part::Cut).await,
            Some(StreamFault::Reset) => self.break_off(Part::Reset).await,
            Some(StreamFault::Stall) => {
                if let Some(parts) = self.parts.take() {
                    // Holding the sender holds the body open, until the client leaves.
                    tokio::spawn(async move { parts.closed().await });
                }
            }
            Some(_) => self.parts = None,
            None => {}
        }
    }

    async fn break_off(&mut self, part: Part) {
        tokio::time::sleep(SETTLE).await;
        self.send(part).await;
        self.parts = None;
    }

    async fn send(&mut self, part: Part) {
        if let Some(parts) = &self.parts
            && parts.send(part).await.is_err()
        {
            self.parts = None;
        }
    }

    /// Looks whether the stream has come to its scripted fault.
    fn meet_fault(&mut self) {
        let Some((at, fault)) = &self.fault else {
            return;
        };
        match *at {
            FaultPoint::Events(at) if at == self.events => {}
            FaultPoint::Bytes(at) if at <= self.written() => {
                let excess = usize::try_from(self.written() - at).unwrap_or(usize::MAX);
                if matches!(fault, StreamFault::BadCrc) {
                    self.corrupt_last_byte();
                    self.fault = None;
                    return;
                }
                self.buffer
                    .truncate(self.buffer.len().saturating_sub(excess));
            }
            _ => return,
        }
        match fault {
            // Applied to the next event, when it is written.
            StreamFault::BadCrc => return,
            StreamFault::Exception {
                exception_type,
                message,
            } => {
                events::write(
                    Event::Exception {
                        exception_type,
                        message,
                    },
                    &mut self.buffer,
                );
            }
            StreamFault::Error { code, message } => {
                events::write(Event::Error { code, message }, &mut self.buffer);
            }
            _ => {}
        }
        self.broken = Some(fault.clone());
        self.fault = None;
    }

    fn written(&self) -> u64 {
        self.sent + self.buffer.len() as u64
    }

    /// The last byte of a frame is its checksum's.
    fn corrupt_last_byte(&mut self) {
        if let Some(last) = self.buffer.last_mut() {
            *last ^= 0xFF;
        }
    }
}

/// The response body that hyper sends.
pub(super) struct EventBody {
    parts: mpsc::Receiver<Part>,
    abort: Arc<Abort>,
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(match ready!(self.parts.poll_recv(cx)) {
            None => None,
            Some(Part::Data(data)) => Some(Ok(Frame::data(data))),
            Some(Part::Cut) => Some(Err(io::ErrorKind::ConnectionAborted.into())),
            Some(Part::Reset) => {
                self.abort.with_reset();
                Some(Err(io::ErrorKind::ConnectionReset.into()))
            }
        })
    }
}
