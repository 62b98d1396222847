//! All sessions: made at first use, ended by request, by time, or with the server.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use uuid::Uuid;

use super::error::ServiceError;
use super::options::Options;
use super::platform;
use super::session::{Activity, Session, SessionInfo};

pub(super) struct Sessions {
    root: PathBuf,
    env: Arc<[(String, String)]>,
    idle_timeout: Duration,
    max_lifetime: Duration,
    stop_delay: Duration,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    sessions: HashMap<String, Arc<Session>>,
    /// The server is ending.
    closed: bool,
}

impl Sessions {
    pub(super) fn new(options: &Options) -> io::Result<Self> {
        // Canonical, so that `pwd` and `$HOME` agree where the temp directory is a link (macOS).
        let temp = std::env::temp_dir().canonicalize()?;
        let root = temp.join(format!("agentcore-local-{}", Uuid::new_v4().simple()));
        platform::create_private_dir(&root)?;
        Ok(Self {
            root,
            env: options.env.clone().into(),
            idle_timeout: options.idle_timeout,
            max_lifetime: options.max_lifetime,
            stop_delay: options.stop_delay,
            open: Mutex::default(),
        })
    }

    /// Begins a command in session `id`, which is made if it does not exist.
    pub(super) fn enter(self: &Arc<Self>, id: &str) -> Result<Activity, ServiceError> {
        let mut open = self.open();
        if open.closed {
            return Err(ServiceError::internal("The runtime is shutting down"));
        }
        if let Some(session) = open.sessions.get(id) {
            return session.enter().ok_or_else(ServiceError::conflict);
        }
        let session = Session::create(id, &self.root, Arc::clone(&self.env)).map_err(|error| {
            ServiceError::internal(format!("The session's directory cannot be made: {error}"))
        })?;
        let activity = session.enter().ok_or_else(ServiceError::conflict)?;
        open.sessions.insert(id.to_owned(), Arc::clone(&session));
        drop(open);
        let sessions = Arc::downgrade(self);
        let (idle, lifetime) = (self.idle_timeout, self.max_lifetime);
        tokio::spawn(async move {
            if session.expire(idle, lifetime).await
                && let Some(sessions) = sessions.upgrade()
            {
                let _ = sessions.end(session).await;
            }
        });
        Ok(activity)
    }

    /// Ends session `id`.
    pub(super) async fn stop(&self, id: &str) -> Result<(), ServiceError> {
        let session = self.open().sessions.get(id).cloned();
        let session = session
            .ok_or_else(|| ServiceError::not_found(format!("Runtime session not found: {id}")))?;
        if !session.close() {
            return Err(ServiceError::conflict());
        }
        self.end(session)
            .await
            .map_err(|error| ServiceError::internal(error.to_string()))
    }

    /// Ends every session, and makes no more.
    pub(super) async fn end_all(&self) {
        let sessions = self.close_all();
        let clearing = tokio::task::spawn_blocking(move || clear(&sessions));
        let _ = clearing.await;
        self.remove_root();
    }

    /// The same, blocking: for the end of the process, when no task will run any more.
    pub(super) fn end_all_blocking(&self) {
        clear(&self.close_all());
        self.remove_root();
    }

    pub(super) fn list(&self) -> Vec<SessionInfo> {
        self.open()
            .sessions
            .values()
            .map(|session| session.info())
            .collect()
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Clears a session that was closed, and forgets it: from then on its id is free again.
    async fn end(&self, session: Arc<Session>) -> io::Result<()> {
        tokio::time::sleep(self.stop_delay).await;
        let clearing = Arc::clone(&session);
        let cleared = tokio::task::spawn_blocking(move || clearing.clear()).await;
        self.open().sessions.remove(session.id());
        cleared.map_err(io::Error::other)?
    }

    fn close_all(&self) -> Vec<Arc<Session>> {
        let mut open = self.open();
        open.closed = true;
        let sessions: Vec<_> = open.sessions.values().cloned().collect();
        for session in &sessions {
            session.close();
        }
        sessions
    }

    fn remove_root(&self) {
        self.open().sessions.clear();
        let _ = std::fs::remove_dir_all(&self.root);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn clear(sessions: &[Arc<Session>]) {
    for session in sessions {
        // There is nobody left to tell; the other sessions matter more.
        let _ = session.clear();
    }
}
