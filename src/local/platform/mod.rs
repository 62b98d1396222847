//! What differs between operating systems: spawning into a group, killing, listing processes.
//!
//! Linux and macOS are supported; elsewhere a local runtime does not start.

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod unix;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(super) use unix::*;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(super) use linux::processes;

#[cfg(any(target_os = "macos", all(test, target_os = "linux")))]
mod ps;
#[cfg(target_os = "macos")]
pub(super) use ps::processes;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod unsupported;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) use unsupported::*;

/// A process that is alive (no zombie), as far as `sweep` needs to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessEntry {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    /// Its environment holds the marker asked for.
    pub(super) marked: bool,
}
