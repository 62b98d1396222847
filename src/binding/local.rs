//! The local runtime, as JavaScript starts, scripts and ends it.

use super::command::double;
use crate::local::{
    CommandSemantics, Credentials, Fault, FaultKind, FaultPoint, JwtAuthorizer, LocalRuntime,
    Operation, Options, StreamFault, TimeoutKills,
};
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use std::time::Duration;

/// The one key pair that a local runtime accepts.
#[napi(object)]
pub struct BindingLocalCredentials {
    pub access_key_id: String,
    pub secret_access_key: String,
}

/// The token issuer that a JWT runtime trusts.
#[napi(object)]
pub struct BindingJwtAuthorizer {
    /// In PEM.
    pub public_key: String,
    pub issuer: Option<String>,
    pub allowed_audience: Option<Vec<String>>,
    pub allowed_clients: Option<Vec<String>>,
}

/// Options; what is not given has the service's default.
#[napi(object)]
pub struct BindingLocalOptions {
    pub port: Option<u16>,
    pub region: Option<String>,
    pub agent_runtime_arn: Option<String>,
    pub credentials: Option<BindingLocalCredentials>,
    pub bearer_tokens: Option<Vec<String>>,
    pub jwt_authorizer: Option<BindingJwtAuthorizer>,
    pub qualifiers: Option<Vec<String>>,
    pub idle_timeout_ms: Option<f64>,
    pub max_lifetime_ms: Option<f64>,
    pub stop_delay_ms: Option<f64>,
    /// `argv` or `shell`.
    pub command_semantics: Option<String>,
    pub join_quotes: Option<bool>,
    /// `group` or `leader`.
    pub timeout_kills: Option<String>,
    /// Names and values, in order.
    pub env: Option<Vec<Vec<String>>>,
}

/// One scripted fault; which members it needs depends on its kind.
#[napi(object)]
pub struct BindingFault {
    /// `status`, `delay`, `drop`, or of a stream: `end`, `cut`, `reset`, `stall`, `badCrc`,
    /// `exception`, `error`.
    pub kind: String,
    /// `command` (the default) or `stop`.
    pub operation: Option<String>,
    /// How many requests meet it; 1 by default.
    pub count: Option<u32>,
    pub status: Option<u16>,
    pub error_type: Option<String>,
    pub message: Option<String>,
    pub ms: Option<f64>,
    pub after_events: Option<u32>,
    pub after_bytes: Option<u32>,
    pub exception_type: Option<String>,
    pub code: Option<String>,
}

/// One valid request.
#[napi(object)]
pub struct BindingRequestRecord {
    /// `command` or `stop`.
    pub operation: String,
    pub session_id: String,
    pub command: Option<String>,
    pub timeout_seconds: Option<u32>,
}

/// What has arrived so far.
#[napi(object)]
pub struct BindingRequests {
    pub connections: f64,
    pub commands: f64,
    pub stops: f64,
    pub records: Vec<BindingRequestRecord>,
}

/// A session that exists.
#[napi(object)]
pub struct BindingSession {
    pub session_id: String,
    pub directory: String,
    pub running_commands: u32,
}

/// A running local runtime.
#[napi]
pub struct BindingLocalRuntime {
    runtime: LocalRuntime,
}

#[napi]
impl BindingLocalRuntime {
    /// Starts one.
    #[napi]
    pub async fn start(options: BindingLocalOptions) -> Result<Self> {
        let options = options
            .try_into()
            .map_err(napi::Error::from_reason::<String>)?;
        let runtime = LocalRuntime::start(options)
            .await
            .map_err(|error| napi::Error::from_reason(error.to_string()))?;
        Ok(Self { runtime })
    }

    #[napi(getter, catch_unwind)]
    pub fn endpoint(&self) -> String {
        self.runtime.endpoint()
    }

    #[napi(getter, catch_unwind)]
    pub fn port(&self) -> u16 {
        self.runtime.address().port()
    }

    #[napi(getter, catch_unwind)]
    pub fn region(&self) -> String {
        self.runtime.region().to_owned()
    }

    #[napi(getter, catch_unwind)]
    pub fn agent_runtime_arn(&self) -> String {
        self.runtime.agent_runtime_arn().to_owned()
    }

    #[napi(getter, catch_unwind)]
    pub fn credentials(&self) -> BindingLocalCredentials {
        let credentials = self.runtime.credentials();
        BindingLocalCredentials {
            access_key_id: credentials.access_key_id.clone(),
            secret_access_key: credentials.secret_access_key.clone(),
        }
    }

    /// Adds a fault to the queue.
    #[napi(catch_unwind)]
    pub fn inject(&self, fault: BindingFault) -> Result<()> {
        self.runtime.inject(
            fault
                .try_into()
                .map_err(napi::Error::from_reason::<String>)?,
        );
        Ok(())
    }

    /// What has arrived so far.
    #[napi(catch_unwind)]
    pub fn requests(&self) -> BindingRequests {
        let requests = self.runtime.requests();
        BindingRequests {
            connections: double(requests.connections),
            commands: double(requests.commands),
            stops: double(requests.stops),
            records: requests
                .records
                .into_iter()
                .map(|record| BindingRequestRecord {
                    operation: match record.operation {
                        Operation::Command => "command".to_owned(),
                        Operation::Stop => "stop".to_owned(),
                    },
                    session_id: record.session_id,
                    command: record.command,
                    timeout_seconds: record.timeout_seconds,
                })
                .collect(),
        }
    }

    /// The sessions that exist now.
    #[napi(catch_unwind)]
    pub fn sessions(&self) -> Vec<BindingSession> {
        self.runtime
            .sessions()
            .into_iter()
            .map(|session| BindingSession {
                session_id: session.session_id,
                directory: session.directory.to_string_lossy().into_owned(),
                running_commands: session.running_commands.try_into().unwrap_or(u32::MAX),
            })
            .collect()
    }

    /// Ends every session, its processes and the server.
    #[napi]
    pub async fn stop(&self) -> Result<()> {
        self.runtime.stop().await;
        Ok(())
    }

    /// Ends every session's processes before it returns, for a process that is about to exit.
    #[napi(catch_unwind)]
    pub fn kill_all_sync(&self) {
        self.runtime.kill_all();
    }
}

impl TryFrom<BindingLocalOptions> for Options {
    type Error = String;

    fn try_from(given: BindingLocalOptions) -> std::result::Result<Self, String> {
        let default = Self::default();
        Ok(Self {
            port: given.port.unwrap_or(default.port),
            region: given.region,
            agent_runtime_arn: given.agent_runtime_arn,
            credentials: given.credentials.map(|pair| Credentials {
                access_key_id: pair.access_key_id,
                secret_access_key: pair.secret_access_key,
            }),
            bearer_tokens: given.bearer_tokens.unwrap_or_default(),
            jwt_authorizer: given.jwt_authorizer.map(|authorizer| JwtAuthorizer {
                public_key: authorizer.public_key,
                issuer: authorizer.issuer,
                allowed_audience: authorizer.allowed_audience.unwrap_or_default(),
                allowed_clients: authorizer.allowed_clients.unwrap_or_default(),
            }),
            qualifiers: given.qualifiers.unwrap_or_default(),
            idle_timeout: milliseconds("idleTimeoutMs", given.idle_timeout_ms)?
                .unwrap_or(default.idle_timeout),
            max_lifetime: milliseconds("maxLifetimeMs", given.max_lifetime_ms)?
                .unwrap_or(default.max_lifetime),
            stop_delay: milliseconds("stopDelayMs", given.stop_delay_ms)?
                .unwrap_or(default.stop_delay),
            command_semantics: match given.command_semantics.as_deref() {
                None | Some("argv") => CommandSemantics::Argv,
                Some("shell") => CommandSemantics::Shell,
                Some(other) => return Err(unknown("commandSemantics", other, "argv or shell")),
            },
            join_quotes: given.join_quotes.unwrap_or(default.join_quotes),
            timeout_kills: match given.timeout_kills.as_deref() {
                None | Some("group") => TimeoutKills::Group,
                Some("leader") => TimeoutKills::Leader,
                Some(other) => return Err(unknown("timeoutKills", other, "group or leader")),
            },
            env: given
                .env
                .unwrap_or_default()
                .into_iter()
                .filter_map(|pair| <[String; 2]>::try_from(pair).ok())
                .map(|[name, value]| (name, value))
                .collect(),
            faults: Vec::new(),
        })
    }
}

impl TryFrom<BindingFault> for Fault {
    type Error = String;

    fn try_from(given: BindingFault) -> std::result::Result<Self, String> {
        let message = given.message.unwrap_or_default();
        let at = match (given.after_bytes, given.after_events) {
            (Some(bytes), _) => FaultPoint::Bytes(bytes.into()),
            (None, events) => FaultPoint::Events(events.unwrap_or(0).into()),
        };
        let stream = |fault| FaultKind::Stream { at, fault };
        let kind = match given.kind.as_str() {
            "status" => FaultKind::Status {
                status: given
                    .status
                    .ok_or("a fault of kind status needs a status")?,
                error_type: given.error_type.unwrap_or_default(),
                message,
            },
            "delay" => FaultKind::Delay(milliseconds("ms", given.ms)?.unwrap_or_default()),
            "drop" => FaultKind::Drop,
            "end" => stream(StreamFault::End),
            "cut" => stream(StreamFault::Cut),
            "reset" => stream(StreamFault::Reset),
            "stall" => stream(StreamFault::Stall),
            "badCrc" => stream(StreamFault::BadCrc),
            "exception" => stream(StreamFault::Exception {
                exception_type: given.exception_type.unwrap_or_default(),
                message,
            }),
            "error" => stream(StreamFault::Error {
                code: given.code.unwrap_or_default(),
                message,
            }),
            other => {
                return Err(unknown(
                    "kind",
                    other,
                    "status, delay, drop, end, cut, reset, stall, badCrc, exception or error",
                ));
            }
        };
        let operation = match given.operation.as_deref() {
            None | Some("command") => Operation::Command,
            Some("stop") => Operation::Stop,
            Some(other) => return Err(unknown("operation", other, "command or stop")),
        };
        Ok(Self::once(kind)
            .times(given.count.unwrap_or(1))
            .on(operation))
    }
}

fn milliseconds(name: &str, ms: Option<f64>) -> std::result::Result<Option<Duration>, String> {
    ms.map(|ms| {
        Duration::try_from_secs_f64(ms / 1000.0)
            .map_err(|_| format!("{name} must be a number of milliseconds that is not negative"))
    })
    .transpose()
}

fn unknown(name: &str, value: &str, known: &str) -> String {
    format!("{name} is {value:?}, not {known}")
}
