//! Checks an AWS Signature Version 4 by making it again.
//!
//! The signer is AWS's own (`aws-sigv4`), given exactly the headers the caller signed. Query
//! signatures (presigned URLs) are not accepted: the two operations do not use them.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials as AwsCredentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use http::{HeaderMap, Method, Uri, header};
use subtle::ConstantTimeEq;

use super::error::ServiceError;
use super::options::Credentials;

pub(super) const SCHEME: &str = "AWS4-HMAC-SHA256";
const SERVICE: &str = "bedrock-agentcore";
const MAX_SKEW: Duration = Duration::from_mins(5);

/// What was signed.
pub(super) struct SignedRequest<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
}

/// The parts of an `Authorization` header.
struct Authorization<'a> {
    access_key_id: &'a str,
    date: &'a str,
    region: &'a str,
    service: &'a str,
    signed_headers: Vec<&'a str>,
    signature: &'a str,
}

/// Whether `request` was signed with `credentials`, for this service in `region`, around `now`.
pub(super) fn verify(
    request: &SignedRequest<'_>,
    credentials: &Credentials,
    region: &str,
    now: SystemTime,
) -> Result<(), ServiceError> {
    let authorization = text(request.headers, header::AUTHORIZATION.as_str())
        .and_then(parse)
        .ok_or_else(|| incomplete("Authorization header cannot be read"))?;
    if authorization.access_key_id != credentials.access_key_id
        || request.headers.contains_key("x-amz-security-token")
    {
        return Err(ServiceError::new(
            403,
            "UnrecognizedClientException",
            "The security token included in the request is invalid.",
        ));
    }
    check_scope(&authorization, region)?;
    check_signed_headers(&authorization, request.headers)?;
    let time = check_time(&authorization, request.headers, now)?;
    let expected = sign_again(request, &authorization, credentials, region, time)?;
    if bool::from(
        expected
            .as_bytes()
            .ct_eq(authorization.signature.as_bytes()),
    ) {
        Ok(())
    } else {
        Err(mismatch(
            "The request signature we calculated does not match the signature you provided. \
             Check your AWS Secret Access Key and signing method.",
        ))
    }
}

fn parse(value: &str) -> Option<Authorization<'_>> {
    let (mut credential, mut signed_headers, mut signature) = (None, None, None);
    for part in value.strip_prefix(SCHEME)?.split(',') {
        match part.trim().split_once('=')? {
            ("Credential", value) => credential = Some(value),
            ("SignedHeaders", value) => signed_headers = Some(value),
            ("Signature", value) => signature = Some(value),
            _ => return None,
        }
    }
    let scope: Vec<&str> = credential?.split('/').collect();
    let [access_key_id, date, region, service, "aws4_request"] = scope[..] else {
        return None;
    };
    Some(Authorization {
        access_key_id,
        date,
        region,
        service,
        signed_headers: signed_headers?.split(';').collect(),
        signature: signature?,
    })
}

fn check_scope(authorization: &Authorization<'_>, region: &str) -> Result<(), ServiceError> {
    if authorization.region != region {
        let message = format!("Credential should be scoped to a valid region: '{region}'.");
        return Err(mismatch(&message));
    }
    if authorization.service != SERVICE {
        let message = format!("Credential should be scoped to correct service: '{SERVICE}'.");
        return Err(mismatch(&message));
    }
    Ok(())
}

/// `host`, the date and every other `x-amz-` header have to be among the signed ones.
fn check_signed_headers(
    authorization: &Authorization<'_>,
    headers: &HeaderMap,
) -> Result<(), ServiceError> {
    let unsigned = headers
        .keys()
        .map(http::HeaderName::as_str)
        .filter(|name| *name == "host" || name.starts_with("x-amz-"))
        .find(|name| !authorization.signed_headers.contains(name));
    match unsigned {
        Some(name) => Err(incomplete(&format!("'{name}' must be a signed header"))),
        None => Ok(()),
    }
}

fn check_time(
    authorization: &Authorization<'_>,
    headers: &HeaderMap,
    now: SystemTime,
) -> Result<SystemTime, ServiceError> {
    let stamp = text(headers, "x-amz-date")
        .ok_or_else(|| incomplete("Authorization header requires an 'X-Amz-Date' header"))?;
    let time = parse_time(stamp)
        .ok_or_else(|| incomplete("Date must be in ISO-8601 'basic format', as in X-Amz-Date"))?;
    if !stamp.starts_with(authorization.date) {
        return Err(mismatch(
            "Date in Credential scope does not match YYYYMMDD of X-Amz-Date.",
        ));
    }
    let (earlier, later) = if time < now { (time, now) } else { (now, time) };
    if later
        .duration_since(earlier)
        .is_ok_and(|skew| skew <= MAX_SKEW)
    {
        return Ok(time);
    }
    Err(mismatch(&if time < now {
        format!("Signature expired: {stamp} is more than 5 minutes ago")
    } else {
        format!("Signature not yet current: {stamp} is more than 5 minutes ahead")
    }))
}

/// `20260102T030405Z` → a time.
fn parse_time(stamp: &str) -> Option<SystemTime> {
    let digits = |range| {
        stamp
            .get(range)
            .filter(|text: &&str| text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if stamp.len() != 16 || stamp.get(8..9) != Some("T") || stamp.get(15..) != Some("Z") {
        return None;
    }
    let extended = format!(
        "{}-{}-{}T{}:{}:{}Z",
        digits(0..4)?,
        digits(4..6)?,
        digits(6..8)?,
        digits(9..11)?,
        digits(11..13)?,
        digits(13..15)?,
    );
    SystemTime::try_from(DateTime::from_str(&extended, Format::DateTime).ok()?).ok()
}

fn sign_again(
    request: &SignedRequest<'_>,
    authorization: &Authorization<'_>,
    credentials: &Credentials,
    region: &str,
    time: SystemTime,
) -> Result<String, ServiceError> {
    let mut headers = Vec::new();
    for name in &authorization.signed_headers {
        for value in request.headers.get_all(*name) {
            let value = value
                .to_str()
                .map_err(|_| incomplete("a signed header is no text"))?;
            headers.push((*name, value));
        }
    }
    let identity = AwsCredentials::new(
        credentials.access_key_id.as_str(),
        credentials.secret_access_key.as_str(),
        None,
        None,
        "local runtime",
    )
    .into();
    // What the caller signed is signed again, even headers that AWS's signer would leave out.
    let mut settings = SigningSettings::default();
    settings.excluded_headers = None;
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(SERVICE)
        .time(time)
        .settings(settings)
        .build()
        .map_err(|_| incomplete("the request cannot be signed"))?
        .into();
    // The signer reads only path and query; the host it signs is the header's.
    let path = request
        .uri
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let uri = format!("http://127.0.0.1{path}");
    let signable = SignableRequest::new(
        request.method.as_str(),
        uri,
        headers.into_iter(),
        SignableBody::Bytes(request.body),
    )
    .map_err(|_| incomplete("the request cannot be signed"))?;
    let signed = sign(signable, &params).map_err(|_| incomplete("the request cannot be signed"))?;
    Ok(signed.signature().to_owned())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn mismatch(message: &str) -> ServiceError {
    ServiceError::new(403, "InvalidSignatureException", message)
}

fn incomplete(message: &str) -> ServiceError {
    ServiceError::new(403, "IncompleteSignatureException", message)
}
