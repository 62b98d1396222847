//! One session: its directory, its processes, and whether it is still open.
//!
//! The lock in here settles the one race that matters: no process starts after the session began
//! to close, so the sweep that follows finds them all.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use uuid::Uuid;

use super::process::{self, Process};
use super::{platform, sweep};

/// Variables that commands inherit from the runtime's own environment.
const INHERITED: [&str; 2] = ["PATH", "LANG"];

/// A session, as seen from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub session_id: String,
    /// Its home and working directory.
    pub directory: PathBuf,
    /// Commands running now.
    pub running_commands: usize,
}

pub(super) struct Session {
    id: String,
    directory: PathBuf,
    /// `TMPDIR` of its commands: on the service a session's `/tmp` ends with it, too.
    temporary: PathBuf,
    marker: String,
    env: Arc<[(String, String)]>,
    created: Instant,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    running: usize,
    last_used: Instant,
    /// Process groups of commands, as long as they have members.
    groups: Vec<u32>,
    closing: bool,
}

impl Session {
    /// A session with a fresh directory under `root`.
    pub(super) fn create(
        id: &str,
        root: &Path,
        env: Arc<[(String, String)]>,
    ) -> io::Result<Arc<Self>> {
        let name = Uuid::new_v4().simple().to_string();
        let directory = root.join(&name);
        let temporary = root.join(format!("{name}.tmp"));
        platform::create_private_dir(&directory)?;
        platform::create_private_dir(&temporary)?;
        let now = Instant::now();
        Ok(Arc::new(Self {
            id: id.to_owned(),
            directory,
            temporary,
            marker: name,
            env,
            created: now,
            state: Mutex::new(State {
                running: 0,
                last_used: now,
                groups: Vec::new(),
                closing: false,
            }),
            changed: Notify::new(),
        }))
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn info(&self) -> SessionInfo {
        SessionInfo {
            session_id: self.id.clone(),
            directory: self.directory.clone(),
            running_commands: self.state().running,
        }
    }

    pub(super) fn is_closing(&self) -> bool {
        self.state().closing
    }

    /// Begins a command, unless the session is closing.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Activity> {
        let mut state = self.state();
        if state.closing {
            return None;
        }
        state.running += 1;
        drop(state);
        self.changed.notify_waiters();
        Some(Activity {
            session: Arc::clone(self),
        })
    }

    /// Starts `words` as a process of this session. Blocks.
    pub(super) fn spawn(&self, words: &[String]) -> io::Result<Process> {
        let mut state = self.state();
        if state.closing {
            return Err(io::Error::other("the session is ending"));
        }
        state
            .groups
            .retain(|group| platform::is_group_alive(*group));
        // A command may have removed it.
        for directory in [&self.directory, &self.temporary] {
            if !directory.exists() {
                platform::create_private_dir(directory)?;
            }
        }
        let inherited: Vec<(&str, String)> = INHERITED
            .iter()
            .filter_map(|name| Some((*name, std::env::var(name).ok()?)))
            .collect();
        let home = self.directory.to_string_lossy();
        let temporary = self.temporary.to_string_lossy();
        let env = inherited
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .chain([("HOME", home.as_ref()), ("TMPDIR", temporary.as_ref())])
            .chain(
                self.env
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str())),
            )
            .chain([(MARKER, self.marker.as_str())]);
        let process = process::spawn(words, &self.directory, env)?;
        state.groups.push(process.group);
        Ok(process)
    }

    /// Refuses commands from now on; false if that was so already.
    pub(super) fn close(&self) -> bool {
        let first = !std::mem::replace(&mut self.state().closing, true);
        self.changed.notify_waiters();
        first
    }

    /// Waits until the session is idle for `idle` or `lifetime` old, and closes it then. False if
    /// someone else closed it first.
    pub(super) async fn expire(&self, idle: Duration, lifetime: Duration) -> bool {
        loop {
            let changed = self.changed.notified();
            let due = {
                let mut state = self.state();
                if state.closing {
                    return false;
                }
                let end = self.created + lifetime;
                let due = if state.running == 0 {
                    end.min(state.last_used + idle)
                } else {
                    end
                };
                if due <= Instant::now() {
                    state.closing = true;
                    return true;
                }
                due
            };
            tokio::select! {
                () = tokio::time::sleep_until(due) => {}
                () = changed => {}
            }
        }
    }

    /// Ends all processes and removes the directories. Blocks; `close` comes first.
    pub(super) fn clear(&self) -> io::Result<()> {
        let groups = self.state().groups.clone();
        let swept = sweep::kill_all(&format!("{MARKER}={}", self.marker), &groups);
        remove_dir(&self.directory);
        remove_dir(&self.temporary);
        swept
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The variable by which a session's processes are recognised.
const MARKER: &str = "AGENTCORE_LOCAL_SESSION";

/// Removes what is there, even where a command took the right to.
fn remove_dir(path: &Path) {
    if std::fs::remove_dir_all(path).is_err() && path.exists() {
        unlock(path);
        // What is still there belongs to someone else, or is written to from outside.
        let _ = std::fs::remove_dir_all(path);
    }
}

fn unlock(path: &Path) {
    platform::unlock_dir(path);
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        // `file_type` does not follow links: what they point at is not ours.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path());
        }
    }
}

/// A command that is under way; while it is held, the session is not idle.
pub(super) struct Activity {
    session: Arc<Session>,
}

impl Activity {
    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.running -= 1;
        state.last_used = Instant::now();
        state
            .groups
            .retain(|group| platform::is_group_alive(*group));
        drop(state);
        self.session.changed.notify_waiters();
    }
}
