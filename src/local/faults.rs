//! Faults that tests script: what goes wrong, where, and how often.
//!
//! The queue lives here. Applying a fault is the business of the operation (`invoke`, `stop`) or,
//! once the stream is open, of `body`. A fault is on the wire only: a command whose stream is cut
//! runs on, as after a client's disconnect.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// One scripted fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Requests of this operation meet it.
    pub operation: Operation,
    /// What happens.
    pub kind: FaultKind,
    /// To how many requests.
    pub count: u32,
}

impl Fault {
    /// A fault that the next command request meets.
    #[must_use]
    pub fn once(kind: FaultKind) -> Self {
        Self {
            operation: Operation::Command,
            kind,
            count: 1,
        }
    }

    /// The same, for the next `count` requests.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self { count, ..self }
    }

    /// The same, for requests of `operation`.
    #[must_use]
    pub fn on(self, operation: Operation) -> Self {
        Self { operation, ..self }
    }
}

/// The operations of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `InvokeAgentRuntimeCommand`
    Command,
    /// `StopRuntimeSession`
    Stop,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// An error response; nothing is run.
    Status {
        /// HTTP status.
        status: u16,
        /// Value of `x-amzn-ErrorType`.
        error_type: String,
        /// The message in the body.
        message: String,
    },
    /// The request waits this long before anything is done about it.
    Delay(Duration),
    /// The connection is closed without an answer; nothing is run.
    Drop,
    /// The event stream breaks. (Of a stop request: ignored.)
    Stream {
        /// Where.
        at: FaultPoint,
        /// How.
        fault: StreamFault,
    },
}

/// A place in an event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPoint {
    /// After this many events; `contentStart` is the first.
    Events(u64),
    /// After this many bytes of the body, within a frame if need be.
    Bytes(u64),
}

/// How an event stream breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamFault {
    /// The body ends as if complete.
    End,
    /// The connection closes within the body.
    Cut,
    /// The connection is reset (RST).
    Reset,
    /// Nothing more comes, and the connection stays open.
    Stall,
    /// The next event's checksum is wrong; the stream goes on.
    BadCrc,
    /// An exception event ends the stream.
    Exception {
        /// Value of `:exception-type`.
        exception_type: String,
        /// The message in the payload.
        message: String,
    },
    /// An error message (`:message-type` `error`) ends the stream.
    Error {
        /// Value of `:error-code`.
        code: String,
        /// Value of `:error-message`.
        message: String,
    },
}

/// Faults yet to come, in order.
#[derive(Default)]
pub(super) struct Faults(Mutex<VecDeque<Fault>>);

impl Faults {
    pub(super) fn new(faults: Vec<Fault>) -> Self {
        Self(Mutex::new(faults.into()))
    }

    pub(super) fn push(&self, fault: Fault) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(fault);
    }

    /// The fault that this request of `operation` meets.
    pub(super) fn take(&self, operation: Operation) -> Option<FaultKind> {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queue.retain(|fault| fault.count > 0);
        let fault = queue
            .iter_mut()
            .find(|fault| fault.operation == operation)?;
        fault.count -= 1;
        Some(fault.kind.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_come_in_order_as_often_as_scripted_to_their_operation() {
        let faults = Faults::new(vec![
            Fault::once(FaultKind::Drop).on(Operation::Stop),
            Fault::once(FaultKind::Delay(Duration::ZERO)).times(2),
        ]);
        faults.push(Fault::once(FaultKind::Drop));
        assert_eq!(
            faults.take(Operation::Command),
            Some(FaultKind::Delay(Duration::ZERO))
        );
        assert_eq!(
            faults.take(Operation::Command),
            Some(FaultKind::Delay(Duration::ZERO))
        );
        assert_eq!(faults.take(Operation::Command), Some(FaultKind::Drop));
        assert_eq!(faults.take(Operation::Command), None);
        assert_eq!(faults.take(Operation::Stop), Some(FaultKind::Drop));
        assert_eq!(faults.take(Operation::Stop), None);
    }
}
