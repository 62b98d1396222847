//! Is a request within the service's model? (pure)
//!
//! Out of range is refused, never clamped.

use http::HeaderMap;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;

use super::error::ServiceError;
use super::options::Config;

pub(super) const SESSION_HEADER: &str = "x-amzn-bedrock-agentcore-runtime-session-id";

/// Headers with a length limit in the model, in characters.
const LIMITED_HEADERS: [(&str, usize); 5] = [
    ("content-type", 256),
    ("accept", 256),
    ("traceparent", 1024),
    ("tracestate", 512),
    ("baggage", 8192),
];

/// The query of both operations.
#[derive(Debug, Default)]
pub(super) struct Query {
    qualifier: Option<String>,
    account_id: Option<String>,
}

impl Query {
    pub(super) fn parse(query: &str) -> Self {
        let mut parsed = Self::default();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "qualifier" => parsed.qualifier = Some(value),
                "accountId" => parsed.account_id = Some(value),
                _ => {}
            }
        }
        parsed
    }
}

/// Whether the path's `agent` (still percent-encoded) and the query name this runtime.
pub(super) fn check_target(
    agent: &str,
    query: &Query,
    config: &Config,
) -> Result<(), ServiceError> {
    let agent = percent_decode_str(agent).decode_utf8_lossy();
    if agent.starts_with("arn:") {
        if agent != config.agent_runtime_arn {
            return Err(ServiceError::not_found(format!(
                "No endpoint or agent found: {agent}"
            )));
        }
    } else {
        let account = query.account_id.as_deref().unwrap_or_default();
        if account.len() != 12 || !account.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ServiceError::field(
                "accountId",
                "Member must have 12 digits when the agent is not named by its ARN",
            ));
        }
        if agent != config.agent_id() || account != config.account() {
            return Err(ServiceError::not_found(format!(
                "No endpoint or agent found: {agent}"
            )));
        }
    }
    let qualifier = query.qualifier.as_deref().unwrap_or("DEFAULT");
    if qualifier == "DEFAULT" || config.qualifiers.iter().any(|known| known == qualifier) {
        Ok(())
    } else {
        let message = format!("No endpoint or agent found with qualifier '{qualifier}'");
        Err(ServiceError::not_found(message))
    }
}

/// The session a request names, if it does.
pub(super) fn session_id(headers: &HeaderMap) -> Result<Option<String>, ServiceError> {
    let Some(value) = headers.get(SESSION_HEADER) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(value.as_bytes())
        .map_err(|_| ServiceError::field("runtimeSessionId", "Member must be text"))?;
    within("runtimeSessionId", text.chars().count(), 33, 256)?;
    Ok(Some(text.to_owned()))
}

/// The headers whose length the model limits.
pub(super) fn check_headers(headers: &HeaderMap) -> Result<(), ServiceError> {
    for (name, limit) in LIMITED_HEADERS {
        if let Some(value) = headers.get(name) {
            within(name, value.len(), 1, limit)?;
        }
    }
    Ok(())
}

/// A command request's body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommandBody {
    pub(super) command: String,
    pub(super) timeout_seconds: u32,
}

#[derive(Deserialize)]
struct RawCommandBody {
    command: Option<Value>,
    timeout: Option<Value>,
}

pub(super) fn command_body(body: &[u8]) -> Result<CommandBody, ServiceError> {
    let raw: RawCommandBody = serde_json::from_slice(body)
        .map_err(|_| ServiceError::unreadable("The request body is not a JSON object"))?;
    let command = match raw.command {
        Some(Value::String(command)) => command,
        None | Some(Value::Null) => {
            return Err(ServiceError::field(
                "body.command",
                "Member must not be null",
            ));
        }
        Some(_) => return Err(ServiceError::unreadable("body.command must be a string")),
    };
    // Whether the limit counts bytes or characters is not known; this is the stricter reading.
    within("body.command", command.len(), 1, 65_536)?;
    let timeout_seconds = match raw.timeout {
        None | Some(Value::Null) => 300,
        Some(value) => value
            .as_i64()
            .ok_or_else(|| ServiceError::unreadable("body.timeout must be an integer"))
            .and_then(seconds)?,
    };
    Ok(CommandBody {
        command,
        timeout_seconds,
    })
}

fn seconds(timeout: i64) -> Result<u32, ServiceError> {
    let constraint = if timeout < 1 {
        "Member must be greater than or equal to 1"
    } else {
        "Member must be less than or equal to 3600"
    };
    u32::try_from(timeout)
        .ok()
        .filter(|seconds| (1..=3600).contains(seconds))
        .ok_or_else(|| ServiceError::field("body.timeout", constraint))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StopBody {
    client_token: Option<String>,
}

/// A stop request's body: its client token, if there is one, has to have the model's form.
pub(super) fn check_stop_body(body: &[u8]) -> Result<(), ServiceError> {
    if body.is_empty() {
        return Ok(());
    }
    let body: StopBody = serde_json::from_slice(body)
        .map_err(|_| ServiceError::unreadable("The request body is not as the model has it"))?;
    let Some(token) = body.client_token else {
        return Ok(());
    };
    within("clientToken", token.len(), 33, 256)?;
    let bytes = token.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let all = bytes
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    if all && ends(bytes.first()) && ends(bytes.last()) {
        Ok(())
    } else {
        let constraint = "Member must satisfy regular expression pattern: \
            [a-zA-Z0-9](-*[a-zA-Z0-9]){0,256}";
        Err(ServiceError::field("clientToken", constraint))
    }
}

fn within(field: &str, length: usize, min: usize, max: usize) -> Result<(), ServiceError> {
    if length < min {
        let constraint = format!("Member must have length greater than or equal to {min}");
        Err(ServiceError::field(field, &constraint))
    } else if length > max {
        let constraint = format!("Member must have length less than or equal to {max}");
        Err(ServiceError::field(field, &constraint))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(json: &str) -> Result<CommandBody, ServiceError> {
        command_body(json.as_bytes())
    }

    #[test]
    fn a_command_has_its_limits() {
        let accepted = CommandBody {
            command: "a".to_owned(),
            timeout_seconds: 300,
        };
        assert_eq!(body(r#"{"command":"a"}"#), Ok(accepted));
        assert_eq!(
            body(r#"{"command":"a","timeout":3600,"x":1}"#)
                .unwrap()
                .timeout_seconds,
            3600
        );
        for refused in [
            "",
            "[]",
            "{}",
            r#"{"command":""}"#,
            r#"{"command":1}"#,
            r#"{"command":"a","timeout":0}"#,
            r#"{"command":"a","timeout":3601}"#,
            r#"{"command":"a","timeout":-1}"#,
            r#"{"command":"a","timeout":1.5}"#,
            r#"{"command":"a","timeout":"1"}"#,
        ] {
            assert!(body(refused).is_err(), "{refused}");
        }
        let sized = |length| body(&format!(r#"{{"command":"{}"}}"#, "a".repeat(length)));
        assert!(sized(65_536).is_ok());
        assert!(sized(65_537).is_err());
    }

    #[test]
    fn a_session_id_has_33_to_256_characters() {
        let with = |id: String| {
            let mut headers = HeaderMap::new();
            headers.insert(SESSION_HEADER, id.parse().unwrap());
            session_id(&headers)
        };
        assert_eq!(session_id(&HeaderMap::new()), Ok(None));
        assert!(with("a".repeat(32)).is_err());
        assert!(with("a".repeat(33)).is_ok());
        assert!(with("a".repeat(256)).is_ok());
        assert!(with("a".repeat(257)).is_err());
    }

    #[test]
    fn a_client_token_has_its_form() {
        let with =
            |token: &str| check_stop_body(format!(r#"{{"clientToken":"{token}"}}"#).as_bytes());
        assert!(check_stop_body(b"").is_ok());
        assert!(check_stop_body(b"{}").is_ok());
        assert!(with("6f1c6a9e-8b1c-4c58-9d8e-3f1f2a3b4c5d").is_ok());
        assert!(with("too-short").is_err());
        assert!(with(&"-".repeat(40)).is_err());
        assert!(with(&"_".repeat(40)).is_err());
    }
}
