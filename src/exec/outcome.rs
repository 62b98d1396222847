//! How a command ended, and what that means for the caller. Pure.

use crate::error::Failure;
use crate::stream::Stop;

/// The exit code of a command that timed out, as `timeout(1)` has it.
pub const TIMED_OUT: f64 = 124.0;
/// The exit code of a command that was aborted: 128 + SIGKILL, as Docker has it.
pub const KILLED: f64 = 137.0;

/// What ended a command.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The service told its end.
    Stopped(Stop),
    /// The service stayed silent past the command's own limit.
    Silent,
    /// The caller gave up.
    Aborted,
    /// No end is known.
    Failed(Failure),
}

/// What the caller is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The command ran to its end. A success only if `COMPLETED` with exit code 0.
    Completed {
        /// As the service gave it; 1 where it gave none.
        exit_code: f64,
        /// `COMPLETED` with exit code 0.
        success: bool,
    },
    /// It ran into its limit: exit code [`TIMED_OUT`].
    TimedOut,
    /// It was aborted: exit code [`KILLED`].
    Aborted,
    /// It is not known how it ended.
    Failed(Failure),
}

impl From<End> for Outcome {
    fn from(end: End) -> Self {
        match end {
            End::Silent => Self::TimedOut,
            End::Aborted => Self::Aborted,
            End::Failed(failure) => Self::Failed(failure),
            End::Stopped(Stop { exit_code, status }) => match status.as_deref() {
                Some("TIMED_OUT") => Self::TimedOut,
                Some("COMPLETED") => {
                    let exit_code = exit_code.unwrap_or(1.0);
                    Self::Completed {
                        exit_code,
                        success: exit_code == 0.0,
                    }
                }
                // A status that we do not know is no success, whatever code it brings.
                _ => Self::Completed {
                    exit_code: exit_code.filter(|&code| code != 0.0).unwrap_or(1.0),
                    success: false,
                },
            },
        }
    }
}
