//! Linux and macOS in common.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature of the platforms without support"
)]
pub(in crate::local) fn check_supported() -> io::Result<()> {
    Ok(())
}

/// Makes `command` the leader of a process group of its own.
pub(in crate::local) fn lead_group(command: &mut Command) {
    command.process_group(0);
}

/// The exit code, or 128 + n for a process that signal n ended.
pub(in crate::local) fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(-1)
}

pub(in crate::local) fn kill_group(group: u32) {
    if let Some(group) = target(group) {
        let _ = killpg(group, Signal::SIGKILL);
    }
}

pub(in crate::local) fn kill_process(pid: u32) {
    if let Some(pid) = target(pid) {
        let _ = kill(pid, Signal::SIGKILL);
    }
}

pub(in crate::local) fn is_group_alive(group: u32) -> bool {
    target(group).is_some_and(|group| killpg(group, None) != Err(Errno::ESRCH))
}

/// A directory that only its owner can enter.
pub(in crate::local) fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes a directory that a command locked removable again.
pub(in crate::local) fn unlock_dir(path: &Path) {
    let _ = std::fs::set_permissions(path, Permissions::from_mode(0o700));
}

/// 0 and 1 would mean "everything of mine" to kill(2) or be init: never a target.
fn target(pid: u32) -> Option<Pid> {
    i32::try_from(pid)
        .ok()
        .filter(|pid| *pid > 1)
        .map(Pid::from_raw)
}
