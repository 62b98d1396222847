//! The life of one command over the network: open, read, end, kill.
//!
//! A clock runs only while the network is waited for. When it passes the command's own
//! limit and a grace, the service has fallen silent and the command counts as timed out;
//! a callback that is slow never makes it so.

use super::fold::Fold;
use super::outcome::{End, Outcome};
use super::output::Output;
use crate::error::Failure;
use crate::situation;
use bytes::Bytes;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long past its limit a command's end is waited for.
pub const SILENCE_GRACE: Duration = Duration::from_secs(30);
/// How long after the command's end the end of the answer is waited for, so that its
/// connection can serve the next command.
const EPILOGUE: Duration = Duration::from_millis(250);

/// Where the bytes of an answer come from.
pub trait Source: Send {
    /// The next bytes, or the end.
    fn next(&mut self) -> impl Future<Output = Option<Result<Bytes, Failure>>> + Send;
}

/// What one command needs of the world outside.
pub trait Execution: Send {
    /// The answer's body.
    type Source: Source;
    /// Sends the command and waits for the answer to begin.
    fn open(&mut self) -> impl Future<Output = Result<Self::Source, Failure>> + Send;
    /// Kills what the command started, if it was sent. `begun`: it surely runs.
    fn kill(self, begun: bool) -> impl Future<Output = ()> + Send;
}

/// A command whose task dies must not leave its caller waiting.
struct EndGuard(Arc<Output>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        // Nothing, unless the task unwound or was never run.
        let known = &situation::INTERNAL;
        let message = format!("the command's task broke down; {}", known.advice);
        self.0.end(End::Failed(Failure::of(known, message)));
    }
}

/// Runs one command to its end, which `output` is told; then, if it was cut short, until
/// its processes are killed. Where it panics, or is dropped, `output` is told that.
pub fn run<E: Execution>(
    execution: E,
    output: Arc<Output>,
    limit: Duration,
) -> impl Future<Output = ()> + Send {
    let guard = EndGuard(output);
    async move { run_guarded(execution, &guard.0, limit).await }
}

async fn run_guarded<E: Execution>(mut execution: E, output: &Output, limit: Duration) {
    let mut fold = Fold::new();
    {
        let mut clock = limit + SILENCE_GRACE;
        let mut ended = pin!(output.ended());
        let end = tokio::select! {
            biased;
            () = &mut ended => End::Aborted,
            end = read(&mut execution, &mut fold, output, &mut clock) => end,
        };
        output.end(end);
    }
    // Whichever end came first holds.
    let cut_short = output
        .end_reason()
        .is_some_and(|end| matches!(Outcome::from(end), Outcome::Aborted | Outcome::TimedOut));
    tracing::debug!(cut_short, begun = fold.begun(), "the command has ended");
    if cut_short {
        // A limit that the service itself enforced was that of a running command.
        let begun = fold.begun() || fold.stopped();
        execution.kill(begun).await;
    }
}

async fn read<E: Execution>(
    execution: &mut E,
    fold: &mut Fold,
    output: &Output,
    clock: &mut Duration,
) -> End {
    let mut source = match waited(clock, execution.open()).await {
        Some(Ok(source)) => source,
        Some(Err(failure)) => return End::Failed(failure),
        None => return End::Silent,
    };
    loop {
        output.writable().await;
        let bytes = if fold.stopped() {
            // The end is known: a fault from here on takes nothing back.
            match timeout(EPILOGUE, source.next()).await {
                Ok(Some(Ok(bytes))) => bytes,
                _ => break,
            }
        } else {
            match waited(clock, source.next()).await {
                Some(Some(Ok(bytes))) => bytes,
                Some(Some(Err(failure))) => return End::Failed(failure),
                Some(None) => break,
                None => return End::Silent,
            }
        };
        match fold.feed(&bytes, output) {
            Ok(()) => {}
            Err(_) if fold.stopped() => break,
            Err(failure) => return End::Failed(failure),
        }
    }
    match fold.finish(output) {
        Ok(stop) => End::Stopped(stop),
        Err(failure) => End::Failed(failure),
    }
}

/// Waits for `future` while `clock` lasts, and takes the time from it.
async fn waited<F: Future>(clock: &mut Duration, future: F) -> Option<F::Output> {
    let before = Instant::now();
    let output = timeout(*clock, future).await.ok();
    *clock = clock.saturating_sub(before.elapsed());
    output
}

/// Ends a command whose answer somebody else reads, when the service falls silent for
/// `limit` in all.
pub async fn watchdog(output: &Output, limit: Duration) {
    if timeout(limit, output.ended()).await.is_err() {
        output.end(End::Silent);
    }
}
