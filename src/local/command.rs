//! One command, from its process's start to `contentStop`.
//!
//! Two tasks: `supervise` waits for the end and enforces the timeout, however slow the client is;
//! `run` moves output from the pipes to the sink, as fast as the client takes it.
//!
//! The command is over when its first process is. Background children may hold the pipes open:
//! what comes without a pause still belongs to the command, the rest is not waited for.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until};

use super::body::EventSink;
use super::events::{Event, Output};
use super::lines::Lines;
use super::options::TimeoutKills;
use super::platform;
use super::process::Process;
use super::session::{Activity, Session};

/// How long part of a line waits for the rest.
const PARTIAL_LINE_WAIT: Duration = Duration::from_millis(20);
/// After the end: how long the pipes have to be quiet.
const QUIET: Duration = Duration::from_millis(100);
/// After the end: how much is read at most. No pipe holds more by default, so whatever comes
/// beyond it was written later, by someone else.
const MAX_AFTER_END: usize = 1024 * 1024;
const READ_SIZE: usize = 32 * 1024;

pub(super) struct Limits {
    pub(super) timeout: Duration,
    pub(super) timeout_kills: TimeoutKills,
}

enum End {
    Exited(i32),
    TimedOut,
    SessionEnded,
}

/// Runs `words` in the session of `activity` and tells `sink` about it.
pub(super) async fn run(
    activity: Activity,
    words: Vec<String>,
    limits: Limits,
    mut sink: EventSink,
) {
    let session = Arc::clone(activity.session());
    let spawned = tokio::task::spawn_blocking({
        let session = Arc::clone(&session);
        let program = words.first().cloned().unwrap_or_default();
        move || {
            session
                .spawn(&words)
                .map_err(|error| format!("{program}: {error}"))
        }
    });
    let process = match spawned.await {
        Ok(Ok(process)) => process,
        Ok(Err(message)) => return fail(sink, &message).await,
        Err(_) => return fail(sink, "The command cannot be started").await,
    };
    sink.write(Event::Start);
    sink.flush().await;
    match stream(process, session, limits, &mut sink).await {
        End::Exited(exit_code) => sink.write(Event::Stop {
            exit_code,
            status: "COMPLETED",
        }),
        End::TimedOut => sink.write(Event::Stop {
            exit_code: -1,
            status: "TIMED_OUT",
        }),
        // What the service says here is not documented; this is its word for a lost container.
        End::SessionEnded => sink.write(Event::Exception {
            exception_type: "runtimeClientError",
            message: "The session ended while the command was running",
        }),
    }
    // Over before the client learns of it: a stop that follows finds nothing running.
    drop(activity);
    sink.flush().await;
}

async fn fail(mut sink: EventSink, message: &str) {
    sink.write(Event::Exception {
        exception_type: "runtimeClientError",
        message,
    });
    sink.flush().await;
}

async fn stream(
    process: Process,
    session: Arc<Session>,
    limits: Limits,
    sink: &mut EventSink,
) -> End {
    let Process {
        group,
        stdin,
        stdout,
        stderr,
        exit,
    } = process;
    let mut stdout = Pipe::new(Output::Stdout, stdout);
    let mut stderr = Pipe::new(Output::Stderr, stderr);
    let mut supervisor = tokio::spawn(supervise(exit, group, session, limits));
    let mut end = None;
    let mut after_end = 0;
    let mut partial_due: Option<Instant> = None;
    while end.is_none() || ((stdout.open || stderr.open) && after_end < MAX_AFTER_END) {
        tokio::select! {
            read = stdout.read(), if stdout.open => {
                stdout.write_lines(sink);
                after_end += if end.is_some() { read } else { 0 };
            }
            read = stderr.read(), if stderr.open => {
                stderr.write_lines(sink);
                after_end += if end.is_some() { read } else { 0 };
            }
            ended = &mut supervisor, if end.is_none() => end = Some(ended.unwrap_or(End::Exited(-1))),
            () = sleep_until(partial_due.unwrap_or_else(Instant::now)), if partial_due.is_some() => {
                stdout.flush_partial(sink);
                stderr.flush_partial(sink);
            }
            () = sleep(QUIET), if end.is_some() => break,
        }
        partial_due = if stdout.lines.has_partial() || stderr.lines.has_partial() {
            partial_due.or_else(|| Some(Instant::now() + PARTIAL_LINE_WAIT))
        } else {
            None
        };
        sink.flush().await;
    }
    drop(stdin);
    stdout.finish(sink);
    stderr.finish(sink);
    end.unwrap_or(End::Exited(-1))
}

/// Waits for the process, kills it at its timeout.
async fn supervise(
    mut exit: oneshot::Receiver<ExitStatus>,
    group: u32,
    session: Arc<Session>,
    limits: Limits,
) -> End {
    tokio::select! {
        status = &mut exit => match status {
            // 137 is SIGKILL's, which is how sessions end their processes.
            Ok(status) if session.is_closing() && platform::exit_code(status) == 137 => {
                End::SessionEnded
            }
            Ok(status) => End::Exited(platform::exit_code(status)),
            Err(_) => End::Exited(-1),
        },
        () = sleep(limits.timeout) => {
            match limits.timeout_kills {
                TimeoutKills::Group => platform::kill_group(group),
                TimeoutKills::Leader => platform::kill_process(group),
            }
            let _ = exit.await;
            End::TimedOut
        }
    }
}

/// One of the two output pipes.
struct Pipe<R> {
    output: Output,
    reader: R,
    buffer: BytesMut,
    lines: Lines,
    open: bool,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    fn new(output: Output, reader: R) -> Self {
        let buffer = BytesMut::with_capacity(READ_SIZE);
        Self {
            output,
            reader,
            buffer,
            lines: Lines::default(),
            open: true,
        }
    }

    /// Reads once; how much. Cancel-safe: what was read is in the buffer.
    async fn read(&mut self) -> usize {
        let read = self.reader.read_buf(&mut self.buffer).await.unwrap_or(0);
        self.open = read > 0;
        read
    }

    /// Writes the lines that what was read completes.
    fn write_lines(&mut self, sink: &mut EventSink) {
        let output = self.output;
        self.lines
            .push(&self.buffer, |text| sink.write(Event::Delta(output, text)));
        self.buffer.clear();
    }

    fn flush_partial(&mut self, sink: &mut EventSink) {
        let output = self.output;
        self.lines
            .flush(|text| sink.write(Event::Delta(output, text)));
    }

    fn finish(self, sink: &mut EventSink) {
        let output = self.output;
        self.lines
            .finish(|text| sink.write(Event::Delta(output, text)));
    }
}
