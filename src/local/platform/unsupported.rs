//! Systems without process groups as Unix has them: a local runtime does not start here, so
//! nothing else of this file is ever reached.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

use super::ProcessEntry;

pub(in crate::local) fn check_supported() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "the local AgentCore runtime runs on Linux and macOS only",
    ))
}

pub(in crate::local) fn lead_group(_: &mut Command) {}

pub(in crate::local) fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(-1)
}

pub(in crate::local) fn kill_group(_: u32) {}

pub(in crate::local) fn kill_process(_: u32) {}

pub(in crate::local) fn is_group_alive(_: u32) -> bool {
    false
}

pub(in crate::local) fn create_private_dir(_: &Path) -> io::Result<()> {
    check_supported()
}

pub(in crate::local) fn unlock_dir(_: &Path) {}

pub(in crate::local) fn processes(_: &str) -> io::Result<Vec<ProcessEntry>> {
    check_supported().map(|()| Vec::new())
}
