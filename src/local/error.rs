//! Errors as the service answers them: status, `x-amzn-ErrorType`, a JSON message.
//!
//! The table of codes lives here; who decides on one does not.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use serde::Serialize;

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServiceError {
    status: StatusCode,
    code: String,
    message: String,
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Payload<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl ServiceError {
    /// Any error; unknown statuses become 500.
    pub(super) fn new(status: u16, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            code: code.into(),
            message: message.into(),
            reason: None,
        }
    }

    /// A member of the request breaks a constraint of the model.
    pub(super) fn field(field: &str, constraint: &str) -> Self {
        let message = format!(
            "1 validation error detected: Value at '{field}' failed to satisfy constraint: \
             {constraint}"
        );
        Self {
            reason: Some("FieldValidationFailed"),
            ..Self::new(400, "ValidationException", message)
        }
    }

    /// The request cannot be read at all.
    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Self {
            reason: Some("CannotParse"),
            ..Self::new(400, "ValidationException", message)
        }
    }

    pub(super) fn unauthorized(message: &str) -> Self {
        Self::new(401, "UnauthorizedException", message)
    }

    pub(super) fn access_denied(message: impl Into<String>) -> Self {
        Self::new(403, "AccessDeniedException", message)
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(404, "ResourceNotFoundException", message)
    }

    pub(super) fn conflict() -> Self {
        let message = "Session operation in progress, please retry";
        Self::new(409, "RetryableConflictException", message)
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalServerException", message)
    }

    pub(super) fn into_response(self) -> Response<Full<Bytes>> {
        let payload = Payload {
            message: &self.message,
            reason: self.reason,
        };
        let body = serde_json::to_vec(&payload).expect("strings serialize");
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        // A scripted code that is no header value is left out, as by a proxy that eats it.
        if let Ok(code) = HeaderValue::from_str(&self.code) {
            headers.insert("x-amzn-errortype", code);
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
