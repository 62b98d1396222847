//! One accepted socket: served as HTTP/1.1, and able to end in a reset when a fault asks for it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::http::handle;
use super::server::Service;

/// How a connection that breaks does so.
#[derive(Default)]
pub(super) struct Abort(AtomicBool);

impl Abort {
    /// It closes with RST instead of FIN.
    pub(super) fn with_reset(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_reset(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Serves `stream` until the client leaves or, from `stopping` on, its last response is out.
pub(super) async fn serve(
    stream: TcpStream,
    service: Arc<Service>,
    mut stopping: watch::Receiver<bool>,
) {
    // Small frames must not wait for the client's acknowledgements.
    let _ = stream.set_nodelay(true);
    let abort = Arc::new(Abort::default());
    let socket = Socket {
        stream,
        abort: Arc::clone(&abort),
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(
            TokioIo::new(socket),
            service_fn(|request| handle(Arc::clone(&service), Arc::clone(&abort), request)),
        );
    tokio::pin!(connection);
    // Errors end the connection and concern nobody else: a client that left, a scripted cut.
    let stop = async move {
        let _ = stopping.wait_for(|stopping| *stopping).await;
    };
    tokio::select! {
        _ = connection.as_mut() => return,
        () = stop => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// A stream that can close with RST.
struct Socket {
    stream: TcpStream,
    abort: Arc<Abort>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.abort.is_reset() {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.abort.is_reset() {
            // A FIN now would make the close an orderly one.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
