//! The native client: configuration in, commands and stops out.

use super::command::{BindingCommand, BindingError, output};
use crate::client::credentials::{Provided, UserCredentials};
use crate::client::http::Sent;
use crate::client::identity::identity;
use crate::client::stop::StopTarget;
use crate::client::{Client, ClientOptions, CommandExecution, CommandTarget, Trace, stop};
use crate::command;
use crate::exec::run;
use napi::bindgen_prelude::{FromNapiValue, Function, Promise, Result, Status};
use napi::threadsafe_function::ThreadsafeFunction;
use napi_derive::napi;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use tracing::{Instrument, debug_span};

/// AWS credentials.
#[napi(object)]
pub struct BindingCredentials {
    pub access_key_id: String,
    pub secret_access_key: String,
    pub session_token: Option<String>,
    /// Milliseconds since 1970.
    pub expiration: Option<f64>,
}

impl From<BindingCredentials> for UserCredentials {
    fn from(credentials: BindingCredentials) -> Self {
        Self {
            access_key_id: credentials.access_key_id,
            secret_access_key: credentials.secret_access_key,
            session_token: credentials.session_token,
            expiration: credentials.expiration.and_then(|at| {
                let since = Duration::try_from_secs_f64(at / 1000.0).ok()?;
                SystemTime::UNIX_EPOCH.checked_add(since)
            }),
        }
    }
}

/// What a credentials function gave, or the message of what it threw.
#[napi(object)]
pub struct BindingProvidedCredentials {
    pub ok: Option<BindingCredentials>,
    pub error: Option<String>,
}

/// What a token function gave, or the message of what it threw.
#[napi(object)]
pub struct BindingProvidedToken {
    pub ok: Option<String>,
    pub error: Option<String>,
}

/// A client's configuration.
#[napi(object, object_to_js = false)]
pub struct BindingClientConfig<'env> {
    pub region: Option<String>,
    pub endpoint: Option<String>,
    pub profile: Option<String>,
    pub credentials: Option<BindingCredentials>,
    pub credentials_provider: Option<Function<'env, (), Promise<BindingProvidedCredentials>>>,
    pub bearer_token: Option<String>,
    pub bearer_token_provider: Option<Function<'env, (), Promise<BindingProvidedToken>>>,
    /// Files of certificates in PEM.
    pub ca_files: Option<Vec<String>>,
}

/// The headers of distributed tracing.
#[napi(object)]
pub struct BindingTrace {
    pub trace_id: Option<String>,
    pub traceparent: Option<String>,
    pub tracestate: Option<String>,
    pub baggage: Option<String>,
}

/// What marks the processes to kill, and the shell to do it with.
#[napi(object)]
pub struct BindingKill {
    pub shell: String,
    pub marker: String,
}

/// One command.
#[napi(object)]
pub struct BindingExecuteRequest {
    pub agent_runtime_arn: String,
    pub runtime_session_id: String,
    pub qualifier: Option<String>,
    pub account_id: Option<String>,
    pub content_type: String,
    pub accept: String,
    /// The text on the wire.
    pub command: String,
    pub timeout_seconds: u32,
    /// None retains all.
    pub max_retained_bytes: Option<f64>,
    pub stream_stdout: bool,
    pub stream_stderr: bool,
    pub kill: Option<BindingKill>,
    pub trace: Option<BindingTrace>,
    pub max_attempts: u32,
}

/// One stop of a session.
#[napi(object)]
pub struct BindingStopRequest {
    pub agent_runtime_arn: String,
    pub account_id: Option<String>,
    pub runtime_session_id: String,
    pub qualifier: Option<String>,
    pub client_token: String,
    pub max_attempts: u32,
}

/// A client. It does nothing before its first command.
#[napi]
pub struct BindingClient {
    client: Arc<Client>,
}

#[napi]
impl BindingClient {
    #[napi(constructor, catch_unwind)]
    pub fn new(config: BindingClientConfig<'_>) -> Result<Self> {
        let credentials = match (config.credentials_provider, config.credentials) {
            (Some(provider), _) => Some(ask(&provider, |given| {
                given.ok.map(Into::into).ok_or(given.error)
            })?),
            (None, Some(credentials)) => Some(Provided::Value(credentials.into())),
            (None, None) => None,
        };
        let bearer_token = match (config.bearer_token_provider, config.bearer_token) {
            (Some(provider), _) => Some(ask(&provider, |given| given.ok.ok_or(given.error))?),
            (None, Some(token)) => Some(Provided::Value(token)),
            (None, None) => None,
        };
        Ok(Self {
            client: Arc::new(Client::new(ClientOptions {
                region: config.region,
                endpoint: config.endpoint,
                profile: config.profile,
                credentials,
                bearer_token,
                ca_files: config.ca_files.unwrap_or_default(),
            })),
        })
    }

    /// Starts a command. `wake` is called when there is something to read.
    #[napi(catch_unwind)]
    pub fn execute(
        &self,
        request: BindingExecuteRequest,
        wake: Function<'_, (), ()>,
    ) -> Result<BindingCommand> {
        let listened = [request.stream_stdout, request.stream_stderr];
        let output = output(request.max_retained_bytes, listened, &wake)?;
        let limit = Duration::from_secs(request.timeout_seconds.into());
        let execution = self.execution(request);
        let (finished, task) = watch::channel(());
        let span = debug_span!("command", session = execution.target.session_id.as_str());
        let running = run(execution, Arc::clone(&output), limit);
        napi::bindgen_prelude::spawn(async move {
            Box::pin(running).instrument(span).await;
            drop(finished);
        });
        Ok(BindingCommand::new(output, task))
    }

    fn execution(&self, request: BindingExecuteRequest) -> CommandExecution {
        let trace = request.trace.map_or_else(Trace::default, |trace| Trace {
            trace_id: trace.trace_id,
            trace_parent: trace.traceparent,
            trace_state: trace.tracestate,
            baggage: trace.baggage,
        });
        CommandExecution {
            client: Arc::clone(&self.client),
            target: CommandTarget {
                agent_runtime_arn: request.agent_runtime_arn,
                session_id: request.runtime_session_id,
                qualifier: request.qualifier,
                account_id: request.account_id,
                content_type: request.content_type,
                accept: request.accept,
                trace,
            },
            command: request.command,
            timeout_seconds: request.timeout_seconds,
            max_attempts: request.max_attempts,
            kill: request.kill.map(|kill| {
                let text = move |begun| command::kill(&kill.shell, &kill.marker, begun);
                Box::new(text) as Box<dyn FnOnce(bool) -> String + Send + Sync>
            }),
            sent: Sent::default(),
        }
    }

    /// Who this client is; rejects with `Name: message`.
    #[napi]
    pub async fn identity(&self) -> Result<BindingIdentity> {
        let found = identity(&self.client)
            .await
            .map_err(|failure| napi::Error::from_reason(failure.to_string()))?;
        let (credentials, credentials_error) = match found.credentials {
            None => (None, None),
            Some(Err(failure)) => (None, Some(failure.into())),
            Some(Ok(facts)) => (Some(facts), None),
        };
        Ok(BindingIdentity {
            region: found.region,
            credentials: credentials.map(|facts| BindingCredentialFacts {
                access_key_id: facts.access_key_id,
                provider: facts.provider,
                expires: facts
                    .expires
                    .and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok())
                    .map(|since| since.as_secs_f64() * 1000.0),
                caller: facts.caller.as_ref().ok().cloned(),
                caller_error: facts.caller.err(),
            }),
            credentials_error,
        })
    }

    /// Stops a session. Resolves with the failure, or nothing.
    #[napi]
    pub async fn stop_session(&self, request: BindingStopRequest) -> Result<Option<BindingError>> {
        let target = StopTarget {
            agent_runtime_arn: request.agent_runtime_arn,
            account_id: request.account_id,
            session_id: request.runtime_session_id,
            qualifier: request.qualifier,
            client_token: request.client_token,
        };
        let span = debug_span!("stop", session = target.session_id.as_str());
        let stopped = stop::stop_session(&self.client, &target, request.max_attempts)
            .instrument(span)
            .await;
        Ok(stopped.err().map(Into::into))
    }
}

/// What a client was configured to, without a secret.
#[napi(object)]
pub struct BindingIdentity {
    pub region: String,
    /// None where a bearer token is sent instead, or where they failed.
    pub credentials: Option<BindingCredentialFacts>,
    pub credentials_error: Option<BindingError>,
}

/// What may be said of credentials.
#[napi(object)]
pub struct BindingCredentialFacts {
    pub access_key_id: String,
    pub provider: String,
    /// Milliseconds since 1970.
    pub expires: Option<f64>,
    pub caller: Option<String>,
    pub caller_error: Option<String>,
}

/// Makes an async call of `provider`, a function of the user's that JavaScript wrapped so that it
/// never throws. It does not keep Node alive: the command that waits for it does.
fn ask<T, U>(
    provider: &Function<'_, (), Promise<T>>,
    read: fn(T) -> std::result::Result<U, Option<String>>,
) -> Result<Provided<U>>
where
    T: FromNapiValue + Send + 'static,
    U: 'static,
{
    let ask: Arc<ThreadsafeFunction<(), Promise<T>, (), Status, false, true>> = Arc::new(
        provider
            .build_threadsafe_function::<()>()
            .weak::<true>()
            .build()?,
    );
    Ok(Provided::Call(Arc::new(move || {
        let ask = Arc::clone(&ask);
        Box::pin(async move {
            let reason = |error: napi::Error| error.reason.clone();
            let promise = ask.call_async(()).await.map_err(reason)?;
            let given = promise.await.map_err(reason)?;
            read(given).map_err(|why| why.unwrap_or_else(|| "it gave nothing".to_owned()))
        })
    })))
}
