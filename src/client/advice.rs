//! SDK errors → [`Failure`]: named causes, and a sentence that says what to do.

use super::http::{ProxyError, Sent};
use crate::error::Failure;
use crate::situation::{self, may_have_run, service_advice};
use aws_credential_types::provider::error::CredentialsError;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use std::error::Error;
use std::io;

/// The header that carries the service's request id.
pub(super) const REQUEST_ID: &str = "x-amzn-requestid";

/// Turns an operation's error into a failure. `sent` tells whether the request had been
/// handed to a connection.
pub fn failure<E>(error: &SdkError<E, HttpResponse>, sent: &Sent) -> Failure
where
    E: ProvideErrorMetadata + Error + 'static,
{
    match error {
        SdkError::ServiceError(service) => answered(service.err(), service.raw()),
        SdkError::ResponseError(response) => Failure {
            may_have_run: true,
            http_status: Some(response.raw().status().as_u16()),
            request_id: request_id(response.raw()),
            ..Failure::of(
                &situation::RESPONSE_UNREADABLE,
                format!(
                    "the answer cannot be read: {} ({})",
                    chain(error),
                    situation::RESPONSE_UNREADABLE.advice
                ),
            )
        },
        _ => unanswered(error, sent.is_set()),
    }
}

/// The service's request id of an answer.
pub(super) fn request_id(response: &HttpResponse) -> Option<String> {
    response.headers().get(REQUEST_ID).map(str::to_owned)
}

fn answered<E: ProvideErrorMetadata>(error: &E, response: &HttpResponse) -> Failure {
    let status = response.status().as_u16();
    let code = error
        .code()
        .map_or_else(|| format!("Http{status}"), str::to_owned);
    let message = error.message().unwrap_or_default();
    Failure {
        http_status: Some(status),
        request_id: request_id(response),
        // These two prove that nothing was started.
        retryable: matches!(status, 409 | 429) || status >= 500,
        may_have_run: may_have_run(status),
        ..Failure::service(
            &code,
            with_advice(message, service_advice(status, &code, message)),
        )
    }
}

fn with_advice(message: &str, advice: &str) -> String {
    match (message.is_empty(), advice.is_empty()) {
        (_, true) => message.to_owned(),
        (true, false) => advice.to_owned(),
        (false, false) => format!("{} ({advice})", message.trim_end_matches('.')),
    }
}

fn unanswered(error: &(dyn Error + 'static), sent: bool) -> Failure {
    if let Some(credentials) = find::<CredentialsError>(error) {
        return no_credentials(credentials);
    }
    let what = chain(error);
    if what.contains("identity resolver timed out") {
        let message = format!(
            "the AWS credentials did not come in time: {what}. Check the credentials function, \
             or the network that they come from"
        );
        return Failure::of(&situation::CREDENTIALS_MISSING, message);
    }
    let failure = if sent {
        Failure::of(
            &situation::CONNECTION_LOST,
            format!(
                "the connection was lost after the request was sent: {what}. {}",
                situation::CONNECTION_LOST.advice
            ),
        )
    } else {
        unconnected(error, &what)
    };
    Failure {
        may_have_run: sent,
        retryable: !sent,
        ..failure
    }
}

fn unconnected(error: &(dyn Error + 'static), what: &str) -> Failure {
    let kind = find::<io::Error>(error).map(io::Error::kind);
    let known = if find::<ProxyError>(error).is_some() {
        &situation::PROXY_FAILED
    } else if find::<rustls::Error>(error).is_some() {
        &situation::TLS_FAILED
    } else if kind == Some(io::ErrorKind::TimedOut) {
        &situation::CONNECT_TIMEOUT
    } else if kind == Some(io::ErrorKind::ConnectionRefused) {
        &situation::CONNECTION_REFUSED
    } else if what.contains("dns error") || what.contains("failed to lookup address") {
        &situation::HOST_NOT_FOUND
    } else {
        &situation::CONNECTION_FAILED
    };
    let message = format!("no connection to the service: {what} ({})", known.advice);
    Failure::of(known, message)
}

pub(super) fn no_credentials(error: &CredentialsError) -> Failure {
    if matches!(error, CredentialsError::CredentialsNotLoaded(_)) {
        return no_credentials_at_all();
    }
    let message = format!(
        "the AWS credentials could not be loaded: {}. Check the profile, the role and the network \
         that they come from",
        chain(error)
    );
    Failure::of(&situation::CREDENTIALS_MISSING, message)
}

pub(super) fn no_credentials_at_all() -> Failure {
    let known = &situation::CREDENTIALS_MISSING;
    let message = format!("no AWS credentials were found: {}", known.advice);
    Failure::of(known, message)
}

/// Finds a cause of type `T` in an error's chain; `io::Error` wraps others in itself.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
            .map(|inner| inner as &(dyn Error + 'static));
        next = inner.or_else(|| error.source());
    }
    None
}

/// The whole chain of causes in one sentence, without what repeats.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut sentence = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let part = error.to_string();
        // These two say nothing by themselves.
        if part != "dispatch failure" && part != "service error" && !sentence.contains(&part) {
            if !sentence.is_empty() {
                sentence.push_str(": ");
            }
            sentence.push_str(&part);
        }
        next = error.source();
    }
    sentence
}
