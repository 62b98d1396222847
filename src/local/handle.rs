//! [`LocalRuntime`]: a running server, as its owner sees it.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

use super::faults::Fault;
use super::options::{Credentials, Options};
use super::requests::Requests;
use super::server::{Service, serve};
use super::session::SessionInfo;

/// A local `AgentCore` Runtime on 127.0.0.1.
///
/// Dropping it ends it: the processes at once, the server as soon as its tasks run.
pub struct LocalRuntime {
    service: Arc<Service>,
    address: SocketAddr,
    shutdown: Mutex<Option<oneshot::Sender<()>>>,
    ended: watch::Receiver<bool>,
}

impl LocalRuntime {
    /// Starts a runtime on the current tokio runtime.
    ///
    /// # Errors
    /// `options` that cannot work, a port in use, or a system other than Linux and macOS.
    pub async fn start(options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
            .await
            .map_err(|error| {
                let port = options.port;
                io::Error::new(error.kind(), format!("port {port}: {error}"))
            })?;
        let address = listener.local_addr()?;
        let service = Service::new(&options)?;
        let (shutdown, shutdown_requested) = oneshot::channel();
        let (end, ended) = watch::channel(false);
        let serving = serve(listener, Arc::clone(&service), async {
            // A dropped handle is a request to shut down, too.
            let _ = shutdown_requested.await;
        });
        tokio::spawn(async move {
            let _ = serving.await;
            let _ = end.send(true);
        });
        Ok(Self {
            service,
            address,
            shutdown: Mutex::new(Some(shutdown)),
            ended,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL to give to clients.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The region requests have to be signed for.
    #[must_use]
    pub fn region(&self) -> &str {
        &self.service.config.region
    }

    /// The one agent runtime it serves.
    #[must_use]
    pub fn agent_runtime_arn(&self) -> &str {
        &self.service.config.agent_runtime_arn
    }

    /// The one key pair it accepts.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.service.config.credentials
    }

    /// The directory that holds the sessions' directories.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.service.sessions.root()
    }

    /// Adds a fault to the queue.
    pub fn inject(&self, fault: Fault) {
        self.service.faults.push(fault);
    }

    /// What has arrived so far.
    #[must_use]
    pub fn requests(&self) -> Requests {
        self.service.requests.snapshot()
    }

    /// The sessions that exist now.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionInfo> {
        self.service.sessions.list()
    }

    /// Ends every session and the server; done when nothing of them is left. May be called again.
    pub async fn stop(&self) {
        self.request_shutdown();
        // The sender goes only with the task that sends: both ways, the server has ended.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }

    /// Ends every session's processes before it returns, without the help of tasks.
    ///
    /// For a process about to exit. Blocks, usually for some milliseconds.
    pub fn kill_all(&self) {
        self.service.sessions.end_all_blocking();
        self.request_shutdown();
    }

    fn request_shutdown(&self) {
        if let Some(sender) = self
            .shutdown
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            let _ = sender.send(());
        }
    }
}

impl Drop for LocalRuntime {
    fn drop(&mut self) {
        if !*self.ended.borrow() {
            self.kill_all();
        }
    }
}

impl fmt::Debug for LocalRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalRuntime")
            .field("address", &self.address)
            .field("agent_runtime_arn", &self.agent_runtime_arn())
            .finish_non_exhaustive()
    }
}
