//! SDK errors → [`Failure`]: named causes, and a sentence that says what to do.

use super::http::{ProxyError, Sent};
use crate::error::Failure;
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
            ..Failure::new(
                "ResponseError",
                "RESPONSE_UNREADABLE",
                format!("the answer cannot be read: {}", chain(error)),
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
    // Only these two prove that nothing was started; the others may follow a start.
    let refused_before_start = matches!(status, 409 | 429);
    let may_have_run = !(refused_before_start || (400..424).contains(&status));
    Failure {
        http_status: Some(status),
        request_id: request_id(response),
        retryable: refused_before_start || status >= 500,
        may_have_run,
        ..Failure::service(
            &code,
            with_advice(message, service_advice(&code, status, message)),
        )
    }
}

fn service_advice(code: &str, status: u16, message: &str) -> &'static str {
    let mismatch = message
        .to_ascii_lowercase()
        .contains("authorization method mismatch");
    match (status, code) {
        (403, _) if mismatch => {
            "this runtime has a JWT authorizer and does not accept AWS signatures (or the other \
             way round): set the option bearerToken to a token of its identity provider"
        }
        (401, _) => {
            "this runtime wants a bearer token: set the option bearerToken to a valid, unexpired \
             token of its identity provider"
        }
        (403, "ExpiredTokenException" | "ExpiredToken") => {
            "the AWS credentials have expired: renew them (aws sso login, or your role's session)"
        }
        (403, "InvalidSignatureException" | "SignatureDoesNotMatch") => {
            "the signature was refused: check the secret key and this machine's clock, which may \
             be off by five minutes at most"
        }
        (403, "UnrecognizedClientException" | "InvalidClientTokenId") => {
            "the AWS access key is not known: check the credentials and the region's partition"
        }
        (403, _) => {
            "the credentials need the actions bedrock-agentcore:InvokeAgentRuntimeCommand and \
             bedrock-agentcore:StopRuntimeSession on this runtime's ARN"
        }
        (404, _) => {
            "check agentRuntimeArn, qualifier and region; a runtime made before command execution \
             existed must be deployed anew"
        }
        (402, _) => "a quota of the account is used up: see Service Quotas for Bedrock AgentCore",
        (409, _) => "the session is being started or stopped: the same call works in a moment",
        (424, _) => {
            "the runtime's container is not ready, has crashed or does not answer /ping; on a \
             session's first command that can be its cold start: look at the runtime's logs"
        }
        (429, _) => "too many requests: fewer commands at once, or a higher quota",
        (500.., _) => {
            "on a session's first command this can be its cold start; the command may have run"
        }
        _ => "",
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
    let failure = if sent {
        Failure::new(
            "ConnectionLost",
            "CONNECTION_LOST",
            format!(
                "the connection was lost after the request was sent: {what}. The command may \
                 have run; check before you run it again"
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
    let (name, code, advice) = if find::<ProxyError>(error).is_some() {
        (
            "ProxyError",
            "PROXY_FAILED",
            "check HTTPS_PROXY and NO_PROXY",
        )
    } else if find::<rustls::Error>(error).is_some() {
        (
            "TlsError",
            "TLS_FAILED",
            "if a proxy or a private endpoint uses its own certificate authority, name its file \
             in AWS_CA_BUNDLE or NODE_EXTRA_CA_CERTS",
        )
    } else if kind == Some(io::ErrorKind::TimedOut) {
        (
            "ConnectTimeout",
            "CONNECT_TIMEOUT",
            "check the network, the proxy and the endpoint",
        )
    } else if kind == Some(io::ErrorKind::ConnectionRefused) {
        (
            "ConnectionRefused",
            "CONNECTION_REFUSED",
            "nothing listens there: check the option endpoint and AWS_ENDPOINT_URL, or start the \
             local runtime",
        )
    } else if what.contains("dns error") || what.contains("failed to lookup address") {
        (
            "HostNotFound",
            "HOST_NOT_FOUND",
            "the host's name is not known: check the region (AgentCore is not offered in every \
             one), the endpoint and the network",
        )
    } else {
        (
            "ConnectionFailed",
            "CONNECTION_FAILED",
            "nothing was sent: the same call is safe to repeat",
        )
    };
    Failure::new(
        name,
        code,
        format!("no connection to the service: {what} ({advice})"),
    )
}

fn no_credentials(error: &CredentialsError) -> Failure {
    let found_none = matches!(error, CredentialsError::CredentialsNotLoaded(_));
    let message = if found_none {
        "no AWS credentials were found: set the option credentials or profile, set \
         AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, sign in with aws sso login, or run where a \
         role is attached"
            .to_owned()
    } else {
        format!(
            "the AWS credentials could not be loaded: {}. Check the profile, the role and the \
             network that they come from",
            chain(error)
        )
    };
    Failure {
        retryable: false,
        ..Failure::new("CredentialsMissing", "CREDENTIALS_MISSING", message)
    }
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
