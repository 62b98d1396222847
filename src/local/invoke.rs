//! `InvokeAgentRuntimeCommand`: from a valid request to a running command and its stream.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Response, header};
use http_body_util::Either;
use uuid::Uuid;

use super::body;
use super::command::{self, Limits};
use super::connection::Abort;
use super::error::ServiceError;
use super::events::Event;
use super::faults::{FaultKind, Operation};
use super::http::{Failure, ResponseBody};
use super::options::CommandSemantics;
use super::requests::RequestRecord;
use super::server::Service;
use super::validation::{SESSION_HEADER, command_body, session_id};
use super::{argv, body::EventSink};

/// Request headers that the response repeats.
const ECHOED: [&str; 4] = ["x-amzn-trace-id", "traceparent", "tracestate", "baggage"];

pub(super) async fn invoke(
    service: &Arc<Service>,
    abort: Arc<Abort>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response<ResponseBody>, Failure> {
    let session_id = session_id(headers)?.unwrap_or_else(|| Uuid::new_v4().to_string());
    let request = command_body(body)?;
    service.requests.accepted(RequestRecord {
        operation: Operation::Command,
        session_id: session_id.clone(),
        command: Some(request.command.clone()),
        timeout_seconds: Some(request.timeout_seconds),
    });
    let mut stream_fault = None;
    match service.faults.take(Operation::Command) {
        Some(FaultKind::Status {
            status,
            error_type,
            message,
        }) => {
            return Err(ServiceError::new(status, error_type, message).into());
        }
        Some(FaultKind::Drop) => return Err(Failure::Dropped),
        Some(FaultKind::Delay(delay)) => tokio::time::sleep(delay).await,
        Some(FaultKind::Stream { at, fault }) => stream_fault = Some((at, fault)),
        None => {}
    }
    let (sink, events) = body::channel(stream_fault, abort);
    let activity = service.sessions.enter(&session_id)?;
    let limits = Limits {
        timeout: Duration::from_secs(request.timeout_seconds.into()),
        timeout_kills: service.config.timeout_kills,
    };
    // Spawned: from here on the command no longer depends on its client.
    match words(service, &request.command) {
        Ok(words) => tokio::spawn(command::run(activity, words, limits, sink)),
        Err(message) => tokio::spawn(refuse(sink, message)),
    };
    Ok(stream_response(headers, &session_id, Either::Right(events)))
}

/// The command's words, or why the container could not run it.
fn words(service: &Service, command: &str) -> Result<Vec<String>, &'static str> {
    match service.config.command_semantics {
        CommandSemantics::Shell => Ok(["/bin/sh", "-c", command].map(str::to_owned).into()),
        CommandSemantics::Argv => {
            argv::split(command, service.config.join_quotes).map_err(|error| match error {
                argv::SplitError::Empty => "The command has no words",
                argv::SplitError::UnterminatedQuote => "The command has an unterminated quote",
            })
        }
    }
}

async fn refuse(mut sink: EventSink, message: &'static str) {
    sink.write(Event::Exception {
        exception_type: "runtimeClientError",
        message,
    });
    sink.flush().await;
}

fn stream_response(
    request: &HeaderMap,
    session_id: &str,
    body: ResponseBody,
) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let content_type = HeaderValue::from_static("application/vnd.amazon.eventstream");
    headers.insert(header::CONTENT_TYPE, content_type);
    for name in ECHOED {
        if let Some(value) = request.get(name) {
            headers.insert(HeaderName::from_static(name), value.clone());
        }
    }
    // An id outside ASCII came in as bytes; it goes back as the same bytes.
    if let Ok(value) = HeaderValue::from_bytes(session_id.as_bytes()) {
        headers.insert(SESSION_HEADER, value);
    }
    response
}
