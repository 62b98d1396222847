//! Words → a running process with pipes.
//!
//! Each child is waited for by a thread of its own. Signals would not do: in Node's process libuv
//! owns SIGCHLD, and outside Linux tokio's reaper depends on it.

use std::io;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;

use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::oneshot;

use super::platform;

/// The waiting thread only waits.
const WAIT_STACK: usize = 64 * 1024;

/// A running command.
pub(super) struct Process {
    /// Its pid, and that of its group.
    pub(super) group: u32,
    /// Never written to: while it is held, the command's stdin does not reach its end.
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
    /// How it ended, once it has.
    pub(super) exit: oneshot::Receiver<ExitStatus>,
}

/// Starts `words` in `directory` with nothing in its environment but `env`.
pub(super) fn spawn<'a>(
    words: &[String],
    directory: &Path,
    env: impl Iterator<Item = (&'a str, &'a str)>,
) -> io::Result<Process> {
    let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(directory)
        .env_clear()
        .envs(env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    platform::lead_group(&mut command);
    let mut child = command.spawn()?;
    let group = child.id();
    let pipes = take_pipes(&mut child);
    // From here on the child is running: whatever fails, it must neither stay nor stay a zombie.
    let exit = wait_on_thread(child, group)?;
    match pipes {
        Ok((stdin, stdout, stderr)) => Ok(Process {
            group,
            stdin,
            stdout,
            stderr,
            exit,
        }),
        Err(error) => {
            platform::kill_group(group);
            Err(error)
        }
    }
}

type Pipes = (Option<ChildStdin>, ChildStdout, ChildStderr);

fn take_pipes(child: &mut Child) -> io::Result<Pipes> {
    let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let stderr = child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
    Ok((
        child.stdin.take(),
        ChildStdout::from_std(stdout)?,
        ChildStderr::from_std(stderr)?,
    ))
}

fn wait_on_thread(mut child: Child, group: u32) -> io::Result<oneshot::Receiver<ExitStatus>> {
    let (sender, receiver) = oneshot::channel();
    thread::Builder::new()
        .name("agentcore-local-wait".to_owned())
        .stack_size(WAIT_STACK)
        .spawn(move || {
            // `wait` closes stdin first, but that was taken out of the child.
            if let Ok(status) = child.wait() {
                let _ = sender.send(status);
            }
        })
        .inspect_err(|_| platform::kill_group(group))?;
    Ok(receiver)
}
