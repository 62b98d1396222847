//! Routes, and the guards of a server on the loopback interface.
//!
//! A web page can make a browser send requests to 127.0.0.1. They carry an `Origin`, or (after
//! DNS rebinding) a `Host` that is not ours; both are refused before anything else is looked at.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, header, request};
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::Incoming;
use uuid::Uuid;

use super::auth;
use super::body::EventBody;
use super::connection::Abort;
use super::error::ServiceError;
use super::faults::Operation;
use super::server::Service;
use super::sigv4::SignedRequest;
use super::validation::{Query, check_headers, check_target};
use super::{invoke, stop};

/// Largest body read: a command of the largest size, every byte of it escaped, fits.
const MAX_BODY: usize = 512 * 1024;

/// A small body, or the event stream of a command.
pub(super) type ResponseBody = Either<Full<Bytes>, EventBody>;

/// Why an operation gave no success.
pub(super) enum Failure {
    /// An error response.
    Error(ServiceError),
    /// None at all: the connection closes.
    Dropped,
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        Self::Error(error)
    }
}

/// Answers one request. An error closes the connection.
pub(super) async fn handle(
    service: Arc<Service>,
    abort: Arc<Abort>,
    request: Request<Incoming>,
) -> io::Result<Response<ResponseBody>> {
    let answer = dispatch(service, abort, request).await;
    let mut response = match answer {
        Ok(response) => response,
        Err(Failure::Error(error)) => error.into_response().map(Either::Left),
        Err(Failure::Dropped) => return Err(io::ErrorKind::ConnectionAborted.into()),
    };
    let id = HeaderValue::from_str(&Uuid::new_v4().to_string()).expect("a UUID is a header value");
    response.headers_mut().insert("x-amzn-requestid", id);
    Ok(response)
}

async fn dispatch(
    service: Arc<Service>,
    abort: Arc<Abort>,
    request: Request<Incoming>,
) -> Result<Response<ResponseBody>, Failure> {
    let (parts, body) = request.into_parts();
    check_origin(&parts.headers)?;
    let (agent, operation) = route(&parts).ok_or_else(|| {
        ServiceError::new(
            404,
            "UnknownOperationException",
            "There is no such operation",
        )
    })?;
    service.requests.arrived(operation);
    let body = read(body).await?;
    let signed = SignedRequest {
        method: &parts.method,
        uri: &parts.uri,
        headers: &parts.headers,
        body: &body,
    };
    auth::authenticate(&signed, &service.config)?;
    check_headers(&parts.headers)?;
    check_target(
        agent,
        &Query::parse(parts.uri.query().unwrap_or_default()),
        &service.config,
    )?;
    match operation {
        Operation::Command => invoke::invoke(&service, abort, &parts.headers, &body).await,
        Operation::Stop => stop::stop(&service, &parts.headers, &body).await,
    }
}

/// `POST /runtimes/{agent}/<operation>`
fn route(parts: &request::Parts) -> Option<(&str, Operation)> {
    let (agent, operation) = parts
        .uri
        .path()
        .strip_prefix("/runtimes/")?
        .split_once('/')?;
    let operation = match operation {
        "commands" => Operation::Command,
        "stopruntimesession" => Operation::Stop,
        _ => return None,
    };
    (parts.method == Method::POST && !agent.is_empty()).then_some((agent, operation))
}

fn check_origin(headers: &HeaderMap) -> Result<(), ServiceError> {
    if headers.contains_key(header::ORIGIN) {
        return Err(ServiceError::access_denied(
            "Requests of web pages are refused",
        ));
    }
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost") {
        Ok(())
    } else {
        Err(ServiceError::access_denied(
            "The Host header has to name 127.0.0.1 or localhost",
        ))
    }
}

async fn read(body: Incoming) -> Result<Bytes, Failure> {
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(ServiceError::new(
            413,
            "RequestEntityTooLargeException",
            "The request body is too large",
        )
        .into()),
        // The client left within its request.
        Err(_) => Err(Failure::Dropped),
    }
}
