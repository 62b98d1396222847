//! When a request may be sent again, and after what pause. Pure but for the sleep.
//!
//! A command is sent again only where it is certain that nothing of it was started; a
//! session's stop is idempotent and is sent again wherever that may help.

use crate::error::Failure;
use std::time::{Duration, Instant};
use tracing::debug;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often and how long one request is tried.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Tries in all, 1 or more.
    pub max_attempts: u32,
    /// No try begins later.
    pub deadline: Instant,
}

impl Policy {
    /// Runs `attempt` until it succeeds, fails for good, or the policy is used up.
    ///
    /// # Errors
    /// The last failure.
    pub async fn run<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut tried = 0;
        loop {
            // The SDK's future of one operation is large: boxed, it is moved once, and gone as soon
            // as the request is answered, while the command goes on.
            let failure = match Box::pin(attempt()).await {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            tried += 1;
            let pause = pause(tried, random());
            let in_time = Instant::now() + pause < self.deadline;
            if tried >= self.max_attempts || !in_time || failure.may_have_run || !failure.retryable
            {
                debug!(code = failure.code, tried, "the request failed");
                return Err(failure);
            }
            debug!(code = failure.code, tried, ?pause, "trying again");
            tokio::time::sleep(pause).await;
        }
    }
}

/// The pause after the `tried`-th try: exponential, half of it at random.
fn pause(tried: u32, random: f64) -> Duration {
    let whole = FIRST_PAUSE
        .saturating_mul(2u32.saturating_pow(tried.saturating_sub(1)))
        .min(LONGEST_PAUSE);
    whole.mul_f64(0.5 + random / 2.0)
}

/// Evenly from 0 to 1, from what the UUID library gathers anyway.
fn random() -> f64 {
    f64::from(u32::from_be_bytes(
        *uuid::Uuid::new_v4()
            .as_bytes()
            .first_chunk()
            .unwrap_or(&[0; 4]),
    )) / f64::from(u32::MAX)
}
