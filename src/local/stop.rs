//! `StopRuntimeSession`.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, header};
use http_body_util::{Either, Full};

use super::error::ServiceError;
use super::faults::{FaultKind, Operation};
use super::http::{Failure, ResponseBody};
use super::requests::RequestRecord;
use super::server::Service;
use super::validation::{SESSION_HEADER, check_stop_body, session_id};

pub(super) async fn stop(
    service: &Arc<Service>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response<ResponseBody>, Failure> {
    let id = session_id(headers)?
        .ok_or_else(|| ServiceError::field("runtimeSessionId", "Member must not be null"))?;
    check_stop_body(body)?;
    service.requests.accepted(RequestRecord {
        operation: Operation::Stop,
        session_id: id.clone(),
        command: None,
        timeout_seconds: None,
    });
    match service.faults.take(Operation::Stop) {
        Some(FaultKind::Status {
            status,
            error_type,
            message,
        }) => {
            return Err(ServiceError::new(status, error_type, message).into());
        }
        Some(FaultKind::Drop) => return Err(Failure::Dropped),
        Some(FaultKind::Delay(delay)) => tokio::time::sleep(delay).await,
        Some(FaultKind::Stream { .. }) | None => {}
    }
    // Spawned: a client that disconnects does not leave a session half-ended.
    let sessions = Arc::clone(&service.sessions);
    let stopping = id.clone();
    tokio::spawn(async move { sessions.stop(&stopping).await })
        .await
        .map_err(|_| ServiceError::internal("Ending the session failed"))??;
    let mut response = Response::new(Either::Left(Full::new(Bytes::from_static(b"{}"))));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(SESSION_HEADER, id);
    }
    Ok(response)
}
