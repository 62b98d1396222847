//! What went wrong, as data that crosses into JavaScript unchanged.
//!
//! Whoever meets a failure fills in what it knows; the sentence must help by itself,
//! because Mastra's command tool shows nothing else.

use crate::situation::{self, Situation};
use std::fmt;

/// One failure of a command or of a session's stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The name shown in front of the message: the AWS error's, in `PascalCase`, or ours.
    pub name: String,
    /// The stable code: the AWS error's name, or one of ours in `UPPER_SNAKE_CASE`.
    pub code: String,
    /// What happened, with what, and what to do.
    pub message: String,
    /// The HTTP status, where there was an answer.
    pub http_status: Option<u16>,
    /// The service's request id, where there was an answer.
    pub request_id: Option<String>,
    /// The same call may succeed later.
    pub retryable: bool,
    /// The command may have been run, in part or whole.
    pub may_have_run: bool,
}

impl Failure {
    /// A failure of ours, known by `code`; `name` is shown.
    pub fn new(name: &str, code: &str, message: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            code: code.to_owned(),
            message: message.into(),
            http_status: None,
            request_id: None,
            retryable: false,
            may_have_run: false,
        }
    }

    /// A failure that is known by name.
    pub fn of(known: &Situation, message: impl Into<String>) -> Self {
        Self {
            may_have_run: known.may_have_run,
            ..Self::new(known.name, known.code, message)
        }
    }

    /// A failure that the service names, whose code is that name.
    pub fn service(name: &str, message: impl Into<String>) -> Self {
        Self::new(name, name, message)
    }

    /// The answer broke off, or is none: what ran may have run to any point.
    pub fn broken_stream(why: impl fmt::Display) -> Self {
        let known = &situation::STREAM_BROKEN;
        let message = format!("the command's answer broke off: {why}. {}", known.advice);
        Self::of(known, message)
    }

    /// The output is longer than a JavaScript string can be.
    pub fn output_too_large(stream: &str, limit: usize) -> Self {
        let known = &situation::OUTPUT_TOO_LARGE;
        let message = format!(
            "{stream} is longer than the {limit} characters that a JavaScript string can hold; \
             the command ran to its end and callbacks received all of it. {}",
            known.advice
        );
        Self::of(known, message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}: {}", self.name, self.message)
        }
    }
}

impl std::error::Error for Failure {}

/// The name of an exception as its class is called: `throttlingException` →
/// `ThrottlingException`.
pub fn pascal_case(shape: &str) -> String {
    let mut characters = shape.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => "UnknownException".to_owned(),
    }
}
