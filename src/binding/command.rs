//! One running command, as the JavaScript that delivers its output sees it.

use super::text::{js_string, wtf8};
use crate::error::Failure;
use crate::exec::output::MAX_STRING;
use crate::exec::{End, Fold, Outcome, Output, OutputOptions, Piece, Stream};
use crate::stream::Stop;
use napi::JsString;
use napi::bindgen_prelude::{Either, Env, Function, Result, Status};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The one callback type: wakes JavaScript, which then reads. It keeps Node alive until
/// the command has ended and was read to its end.
type Wake = ThreadsafeFunction<(), (), (), Status, false>;

/// A failure as data.
#[napi(object)]
pub struct BindingError {
    pub name: String,
    pub code: String,
    pub message: String,
    pub http_status_code: Option<u32>,
    pub request_id: Option<String>,
    pub retryable: bool,
    pub may_have_run: bool,
}

impl From<Failure> for BindingError {
    fn from(failure: Failure) -> Self {
        Self {
            name: failure.name,
            code: failure.code,
            message: failure.message,
            http_status_code: failure.http_status.map(Into::into),
            request_id: failure.request_id,
            retryable: failure.retryable,
            may_have_run: failure.may_have_run,
        }
    }
}

impl From<BindingError> for Failure {
    fn from(error: BindingError) -> Self {
        Self {
            name: error.name,
            code: error.code,
            message: error.message,
            http_status: error
                .http_status_code
                .and_then(|status| status.try_into().ok()),
            request_id: error.request_id,
            retryable: error.retryable,
            may_have_run: error.may_have_run,
        }
    }
}

/// How a command ended.
#[napi(object)]
pub struct BindingOutcome {
    #[napi(ts_type = "'completed' | 'timedOut' | 'aborted' | 'failed'")]
    pub kind: String,
    pub success: bool,
    pub exit_code: f64,
    pub error: Option<BindingError>,
    pub execution_time_ms: f64,
    pub stdout_dropped_bytes: f64,
    pub stderr_dropped_bytes: f64,
}

/// A piece of stderr. One of stdout is the string itself: nearly all output is stdout, and
/// an object costs more than the rest of a piece's way.
#[napi(object)]
pub struct BindingStderr<'env> {
    pub stderr: JsString<'env>,
}

/// What a command whose events JavaScript pushes is made from.
#[napi(object)]
pub struct BindingInjectedOptions {
    pub timeout_ms: f64,
    pub max_retained_bytes: Option<f64>,
    pub stream_stdout: bool,
    pub stream_stderr: bool,
}

/// A running command.
#[napi]
pub struct BindingCommand {
    pub(super) output: Arc<Output>,
    /// Ends when the command's task has, its kill included.
    pub(super) task: watch::Receiver<()>,
    fold: Mutex<Fold>,
}

impl BindingCommand {
    pub(super) fn new(output: Arc<Output>, task: watch::Receiver<()>) -> Self {
        Self {
            output,
            task,
            fold: Mutex::default(),
        }
    }
}

/// An output that wakes `wake`.
pub(super) fn output(
    max_retained_bytes: Option<f64>,
    listened: [bool; 2],
    wake: &Function<'_, (), ()>,
) -> Result<Arc<Output>> {
    let wake: Wake = wake.build_threadsafe_function::<()>().build()?;
    Ok(Arc::new(Output::new(
        OutputOptions {
            max_retained_bytes: max_retained_bytes.map(whole),
            listened,
            max_string: MAX_STRING,
        },
        move || wake.call((), ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok,
    )))
}

/// A count that JavaScript checked to be a safe integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float's `as` saturates, and JavaScript only passes what fits"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

#[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles")]
pub(super) fn double(number: u64) -> f64 {
    number as f64
}

#[napi]
impl BindingCommand {
    /// A command whose answer JavaScript receives and pushes, event by event.
    #[napi(factory, catch_unwind)]
    pub fn injected(options: BindingInjectedOptions, wake: Function<'_, (), ()>) -> Result<Self> {
        let listened = [options.stream_stdout, options.stream_stderr];
        let output = output(options.max_retained_bytes, listened, &wake)?;
        let limit =
            Duration::from_millis(whole(options.timeout_ms)) + crate::exec::run::SILENCE_GRACE;
        let watched = Arc::clone(&output);
        let (finished, task) = watch::channel(());
        napi::bindgen_prelude::spawn(async move {
            crate::exec::run::watchdog(&watched, limit).await;
            drop(finished);
        });
        Ok(Self::new(output, task))
    }

    /// The next piece of output for the callbacks, which counts as delivered; nothing when
    /// there is none now, and the wake-up comes again with the next.
    #[napi(catch_unwind)]
    pub fn read<'env>(
        &self,
        env: &'env Env,
    ) -> Result<Option<Either<JsString<'env>, BindingStderr<'env>>>> {
        let piece = self.output.read(|stream, text| {
            let text = js_string(env, text.as_bytes())?;
            Ok(match stream {
                Stream::Stdout => Either::A(text),
                Stream::Stderr => Either::B(BindingStderr { stderr: text }),
            })
        });
        match piece {
            Piece::Text(text) => text.map(Some),
            Piece::Pending | Piece::Ended => Ok(None),
        }
    }

    /// Whether the command's end is known. There may still be output to read.
    #[napi(getter, catch_unwind)]
    pub fn ended(&self) -> bool {
        self.output.has_ended()
    }

    /// Closes a command that has ended and says how. What was not read never will be. From
    /// here on it does not keep Node alive.
    #[napi(catch_unwind)]
    pub fn seal(&self) -> Option<BindingOutcome> {
        let sealed = self.output.seal()?;
        self.output.release();
        let (kind, success, exit_code, failure) = match sealed.outcome {
            Outcome::Completed { exit_code, success } => ("completed", success, exit_code, None),
            Outcome::TimedOut => ("timedOut", false, crate::exec::outcome::TIMED_OUT, None),
            Outcome::Aborted => ("aborted", false, crate::exec::outcome::KILLED, None),
            Outcome::Failed(failure) => ("failed", false, 1.0, Some(failure)),
        };
        let [stdout_dropped_bytes, stderr_dropped_bytes] = sealed.dropped_bytes.map(double);
        Some(BindingOutcome {
            kind: kind.to_owned(),
            success,
            exit_code,
            error: failure.map(Into::into),
            execution_time_ms: sealed.elapsed.as_secs_f64() * 1000.0,
            stdout_dropped_bytes,
            stderr_dropped_bytes,
        })
    }

    /// The next slice of what a stream retained, after [`Self::seal`]; nothing at its end.
    #[napi(catch_unwind)]
    pub fn take_retained<'env>(
        &self,
        env: &'env Env,
        stderr: bool,
    ) -> Result<Option<JsString<'env>>> {
        let stream = if stderr {
            Stream::Stderr
        } else {
            Stream::Stdout
        };
        self.output
            .take_retained(stream)
            .map(|block| js_string(env, &block))
            .transpose()
    }

    /// Ends the command for the caller, now; its processes are killed behind.
    #[napi(catch_unwind)]
    pub fn abort(&self) {
        self.output.end(End::Aborted);
    }

    /// Resolves with `true` when nothing of the command is under way any more, its kill
    /// included, or with `false` after `limit_ms`.
    #[napi]
    pub async fn finished(&self, limit_ms: Option<f64>) -> Result<bool> {
        let mut task = self.task.clone();
        let ended = async { while task.changed().await.is_ok() {} };
        let Some(limit) = limit_ms else {
            ended.await;
            return Ok(true);
        };
        Ok(
            tokio::time::timeout(Duration::from_millis(whole(limit)), ended)
                .await
                .is_ok(),
        )
    }

    /// Pushes one event's output. `false`: too much waits; await [`Self::writable`].
    #[napi(catch_unwind)]
    pub fn push_delta(
        &self,
        stdout: Option<JsString<'_>>,
        stderr: Option<JsString<'_>>,
    ) -> Result<bool> {
        let mut fold = self.fold.lock().unwrap_or_else(PoisonError::into_inner);
        for (stream, text) in [(Stream::Stdout, stdout), (Stream::Stderr, stderr)] {
            if let Some(text) = text {
                let text = text.into_utf16()?;
                // The slice has Node-API's terminator at its end.
                if let [units @ .., _] = text.as_slice() {
                    fold.delta(stream, &wtf8(units), &self.output);
                }
            }
        }
        Ok(self.output.is_writable())
    }

    /// Resolves when more may be pushed.
    #[napi]
    pub async fn writable(&self) -> Result<()> {
        self.output.writable().await;
        Ok(())
    }

    /// Pushes the command's end; a second one is not heard.
    #[napi(catch_unwind)]
    pub fn push_stop(&self, exit_code: Option<f64>, status: Option<String>) {
        let mut fold = self.fold.lock().unwrap_or_else(PoisonError::into_inner);
        fold.stop(Stop { exit_code, status });
    }

    /// Ends the command with a failure, unless its end was pushed before.
    #[napi(catch_unwind)]
    pub fn push_error(&self, error: BindingError) {
        let mut fold = self.fold.lock().unwrap_or_else(PoisonError::into_inner);
        if fold.stopped() {
            self.finish(&mut fold);
        } else {
            self.output.end(End::Failed(error.into()));
        }
    }

    /// The events are over.
    #[napi(catch_unwind)]
    pub fn push_end(&self) {
        let mut fold = self.fold.lock().unwrap_or_else(PoisonError::into_inner);
        self.finish(&mut fold);
    }

    /// Whether the command has printed something, so that it surely runs.
    #[napi(getter, catch_unwind)]
    pub fn begun(&self) -> bool {
        self.fold
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .begun()
    }

    fn finish(&self, fold: &mut Fold) {
        let end = match fold.finish(&self.output) {
            Ok(stop) => End::Stopped(stop),
            Err(failure) => End::Failed(failure),
        };
        self.output.end(end);
    }
}

impl Drop for BindingCommand {
    /// Collected, or the thread it belongs to is going: nobody will read any more.
    fn drop(&mut self) {
        self.output.end(End::Aborted);
        self.output.release();
    }
}
