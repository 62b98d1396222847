//! The server: a listener, a service, and an orderly end.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection;
use super::faults::Faults;
use super::options::{Config, Options};
use super::platform;
use super::requests::RequestLog;
use super::sessions::Sessions;

/// How long connections have to send what is left, once all commands have ended.
const GRACE: Duration = Duration::from_secs(1);

/// What all connections share.
pub(super) struct Service {
    pub(super) config: Config,
    pub(super) sessions: Arc<Sessions>,
    pub(super) faults: Faults,
    pub(super) requests: RequestLog,
}

impl Service {
    pub(super) fn new(options: &Options) -> io::Result<Arc<Self>> {
        platform::check_supported()?;
        Ok(Arc::new(Self {
            config: Config::resolve(options)?,
            sessions: Arc::new(Sessions::new(options)?),
            faults: Faults::new(options.faults.clone()),
            requests: RequestLog::default(),
        }))
    }
}

/// Serves a local runtime on `listener` until `shutdown` completes, then ends every session.
///
/// # Errors
/// `options` that cannot work, a listener that is not on the loopback interface, or a system
/// other than Linux and macOS.
pub async fn run(
    listener: TcpListener,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    serve(listener, Service::new(&options)?, shutdown).await
}

pub(super) async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    if !listener.local_addr()?.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a local runtime runs any command it is sent: it listens on the loopback only",
        ));
    }
    let (stopping, stop_requested) = watch::channel(false);
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    service.requests.connection();
                    let service = Arc::clone(&service);
                    connections.spawn(connection::serve(stream, service, stop_requested.clone()));
                }
                // Out of descriptors, or a client gone already: the next one may do better.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
            Some(_) = connections.join_next() => {}
            () = &mut shutdown => break,
        }
    }
    drop(listener);
    // Ending the sessions ends the streams, each with its last event.
    service.sessions.end_all().await;
    let _ = stopping.send(true);
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, all).await;
    connections.shutdown().await;
    Ok(())
}
