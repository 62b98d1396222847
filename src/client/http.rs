//! The transport below the SDK: hyper and rustls, HTTP/1.1 only.
//!
//! The SDK's stock client negotiates HTTP/2, where three answers that nobody reads stall
//! every other request of their connection. Here a running command has a connection of
//! its own, and idle ones are reused.
//!
//! It also knows for certain whether a request was handed to a connection, which is what
//! decides whether a command may be sent again.

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector as SmithyConnector, HttpConnectorFuture, HttpConnectorSettings,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http::Uri;
use http_body::{Body, Frame, SizeHint};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::{Client as Hyper, Error as HyperError};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

type BoxError = Box<dyn Error + Send + Sync>;
type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// How long a connection may take: name, TCP, proxy and TLS together.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Servers close idle connections without a word; those that idle for so long are not
/// used again.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// The most that is read at once, and with it what a thousand running commands may hold.
const READ_BUFFER: usize = 128 * 1024;

/// Set, as an extension of a request, once the request is handed to a connection. As
/// long as it is not, nothing of the request can have reached the service.
#[derive(Debug, Clone, Default)]
pub struct Sent(Arc<AtomicBool>);

impl Sent {
    /// Whether the request was handed to a connection.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The HTTP client of one or several SDK clients. Connections are pooled per connect
/// timeout, which credential providers set shorter than we do.
#[derive(Debug, Clone)]
pub struct Transport {
    dial: Dial,
    pools: Arc<Mutex<HashMap<Option<Duration>, Pool>>>,
}

type Pool = Hyper<Bounded, MarkedBody>;

impl Transport {
    /// A transport that takes its proxies from the environment (`HTTPS_PROXY`,
    /// `NO_PROXY`) and trusts `extra_roots` beside Mozilla's and the system's.
    pub fn new(extra_roots: Vec<rustls::pki_types::CertificateDer<'static>>) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(Duration::from_secs(30)));
        Self {
            dial: Dial {
                tcp,
                proxies: Arc::new(Matcher::from_env()),
                tls: Arc::default(),
                extra_roots: extra_roots.into(),
            },
            pools: Arc::default(),
        }
    }

    fn pool(&self, connect_timeout: Option<Duration>) -> Pool {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools
            .entry(connect_timeout)
            .or_insert_with(|| {
                Hyper::builder(TokioExecutor::new())
                    .http1_max_buf_size(READ_BUFFER)
                    .pool_idle_timeout(POOL_IDLE_TIMEOUT)
                    .pool_timer(TokioTimer::new())
                    .timer(TokioTimer::new())
                    .build(Bounded {
                        dial: self.dial.clone(),
                        limit: connect_timeout.unwrap_or(CONNECT_TIMEOUT),
                    })
            })
            .clone()
    }
}

impl HttpClient for Transport {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Connector {
            pool: self.pool(settings.connect_timeout()),
            read_timeout: settings.read_timeout(),
        })
    }
}

#[derive(Debug)]
struct Connector {
    pool: Pool,
    read_timeout: Option<Duration>,
}

impl SmithyConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (pool, read_timeout) = (self.pool.clone(), self.read_timeout);
        HttpConnectorFuture::new(async move {
            let request = request
                .try_into_http1x()
                .map_err(|error| ConnectorError::user(error.into()))?;
            let sent = request.extensions().get::<Sent>().cloned();
            let request = request.map(|body| MarkedBody(Box::new(Marked { body, sent })));
            let response = match read_timeout {
                None => pool.request(request).await,
                Some(limit) => timeout(limit, pool.request(request))
                    .await
                    .map_err(|elapsed| ConnectorError::timeout(elapsed.into()))?,
            };
            let response = response.map_err(connector_error)?;
            HttpResponse::try_from(response.map(SdkBody::from_body_1_x))
                .map_err(|error| ConnectorError::other(error.into(), None))
        })
    }
}

fn connector_error(error: HyperError) -> ConnectorError {
    let never_connected = error.is_connect();
    let error = ConnectorError::io(error.into());
    if never_connected {
        error.never_connected()
    } else {
        error
    }
}

/// A request's body that says when a connection starts to write it. Boxed, as each connection's
/// queue of requests has room for 32.
#[derive(Debug)]
struct MarkedBody(Box<Marked>);

#[derive(Debug)]
struct Marked {
    body: SdkBody,
    sent: Option<Sent>,
}

impl Body for MarkedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(sent) = &self.0.sent {
            sent.set();
        }
        Pin::new(&mut self.0.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        Body::size_hint(&self.0.body)
    }
}

/// Makes connections, within a time.
#[derive(Debug, Clone)]
struct Bounded {
    dial: Dial,
    limit: Duration,
}

impl Service<Uri> for Bounded {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (dial, limit) = (self.dial.clone(), self.limit);
        Box::pin(async move {
            timeout(limit, dial.connect(uri)).await.unwrap_or_else(|_| {
                Err(std::io::Error::new(
                    std::io::ErrorKind::TimedOut,
                    format!("no connection within {} s", limit.as_secs_f32()),
                )
                .into())
            })
        })
    }
}

#[derive(Debug, Clone)]
struct Dial {
    tcp: HttpConnector,
    proxies: Arc<Matcher>,
    /// Reading a system's certificates takes milliseconds: only when they are needed.
    tls: Arc<OnceLock<Arc<rustls::ClientConfig>>>,
    extra_roots: Arc<[rustls::pki_types::CertificateDer<'static>]>,
}

impl Dial {
    async fn connect(&self, uri: Uri) -> Result<Stream, BoxError> {
        if uri.scheme_str() != Some("https") {
            let stream = Tcp(self.clone()).call(uri).await?;
            return Ok(MaybeHttpsStream::Http(stream));
        }
        let config = self
            .tls
            .get_or_init(|| Arc::new(tls_config(&self.extra_roots)));
        // Not by the builder, which takes no configuration that names its protocols.
        HttpsConnector::from((Tcp(self.clone()), Arc::clone(config)))
            .call(uri)
            .await
    }
}

/// TCP, through a proxy where one is set for an https address.
#[derive(Debug, Clone)]
struct Tcp(Dial);

impl Service<Uri> for Tcp {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Dial {
            mut tcp, proxies, ..
        } = self.0.clone();
        Box::pin(async move {
            let https = uri.scheme_str() == Some("https");
            let Some(proxy) = proxies.intercept(&uri).filter(|_| https && !none_proxied()) else {
                return Ok(tcp.call(uri).await?);
            };
            if proxy.uri().scheme_str() != Some("http") {
                return Err(ProxyError::unspoken(proxy.uri()).into());
            }
            let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
            if let Some(auth) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(auth.clone());
            }
            tunnel.call(uri).await.map_err(|error| {
                // Credentials may stand in a proxy's address: only its host is named.
                let host = proxy.uri().host().unwrap_or_default().to_owned();
                ProxyError {
                    host,
                    source: error.into(),
                }
                .into()
            })
        })
    }
}

/// A proxy could not be reached, or refused the tunnel.
#[derive(Debug)]
pub struct ProxyError {
    host: String,
    source: BoxError,
}

impl ProxyError {
    fn unspoken(proxy: &Uri) -> Self {
        let scheme = proxy.scheme_str().unwrap_or_default();
        Self {
            host: proxy.host().unwrap_or_default().to_owned(),
            source: format!("only http:// proxies are spoken to, not {scheme}://").into(),
        }
    }
}

/// `NO_PROXY=*` names everything; the matcher leaves addresses out.
fn none_proxied() -> bool {
    ["NO_PROXY", "no_proxy"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .is_some_and(|list| list.split(',').any(|entry| entry.trim() == "*"))
}

impl std::fmt::Display for ProxyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the proxy {} did not open a tunnel", self.host)
    }
}

impl Error for ProxyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

fn tls_config(extra: &[rustls::pki_types::CertificateDer<'static>]) -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    // As in Node, Mozilla's roots are there even in an image that has none of its own.
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots.add_parsable_certificates(extra.iter().cloned());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring supports the default protocol versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}
