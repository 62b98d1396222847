//! Who may call: `SigV4` with the runtime's credentials or, on a JWT runtime, a bearer token.

use std::time::SystemTime;

use http::header;
use subtle::ConstantTimeEq;

use super::error::ServiceError;
use super::options::Config;
use super::sigv4::{self, SignedRequest};

const MISMATCH: &str = "Authorization method mismatch. The agent is configured for a different \
    authorization method than what was used in your request. Check the agent's authorization \
    configuration and ensure your request uses the matching method (OAuth or SigV4)";

/// Lets `request` pass, or says how the service would refuse it.
pub(super) fn authenticate(
    request: &SignedRequest<'_>,
    config: &Config,
) -> Result<(), ServiceError> {
    let jwt_runtime = config.jwt.is_some() || !config.bearer_tokens.is_empty();
    let authorization = request
        .headers
        .get(header::AUTHORIZATION)
        .map(http::HeaderValue::as_bytes);
    let bearer = authorization.and_then(bearer_token);
    match (jwt_runtime, authorization) {
        (true, None) => Err(ServiceError::unauthorized("Missing bearer token")),
        (true, Some(value)) => match bearer {
            Some(token) if is_known(token, &config.bearer_tokens) => Ok(()),
            Some(token) => match &config.jwt {
                Some(verifier) => verifier
                    .verify(token)
                    .map_err(|why| ServiceError::unauthorized(&why)),
                None => Err(ServiceError::unauthorized("Invalid bearer token")),
            },
            None if value.starts_with(sigv4::SCHEME.as_bytes()) => {
                Err(ServiceError::access_denied(MISMATCH))
            }
            None => Err(ServiceError::unauthorized("Missing bearer token")),
        },
        (false, None) => Err(ServiceError::new(
            403,
            "MissingAuthenticationTokenException",
            "Missing Authentication Token",
        )),
        (false, Some(_)) if bearer.is_some() => Err(ServiceError::access_denied(MISMATCH)),
        (false, Some(_)) => sigv4::verify(
            request,
            &config.credentials,
            &config.region,
            SystemTime::now(),
        ),
    }
}

fn bearer_token(authorization: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = authorization.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}

fn is_known(token: &[u8], known: &[String]) -> bool {
    known
        .iter()
        .any(|known| bool::from(known.as_bytes().ct_eq(token)))
}
