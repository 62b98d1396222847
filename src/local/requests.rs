//! What arrived: counts and a bounded log, so that a test can prove "once, never twice".

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::faults::Operation;

/// Records kept; counts go on beyond it.
const KEPT: usize = 1000;

/// What has arrived so far. Refused requests count.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    /// TCP connections accepted.
    pub connections: u64,
    /// Requests for `InvokeAgentRuntimeCommand`.
    pub commands: u64,
    /// Requests for `StopRuntimeSession`.
    pub stops: u64,
    /// The newest valid requests, oldest first.
    pub records: VecDeque<RequestRecord>,
}

/// One valid, authenticated request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRecord {
    /// What was asked for.
    pub operation: Operation,
    /// For which session.
    pub session_id: String,
    /// The command text, of a command.
    pub command: Option<String>,
    /// The timeout in seconds, of a command.
    pub timeout_seconds: Option<u32>,
}

/// The log that requests write to.
#[derive(Default)]
pub(super) struct RequestLog(Mutex<Requests>);

impl RequestLog {
    pub(super) fn connection(&self) {
        self.update(|log| log.connections += 1);
    }

    pub(super) fn arrived(&self, operation: Operation) {
        self.update(|log| match operation {
            Operation::Command => log.commands += 1,
            Operation::Stop => log.stops += 1,
        });
    }

    pub(super) fn accepted(&self, record: RequestRecord) {
        self.update(|log| {
            if log.records.len() == KEPT {
                log.records.pop_front();
            }
            log.records.push_back(record);
        });
    }

    pub(super) fn snapshot(&self) -> Requests {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn update(&self, change: impl FnOnce(&mut Requests)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
