//! Sends a command and hands over the raw body of its answer.
//!
//! The SDK makes, signs and sends the request and reads every error; only the event
//! stream of a success is taken from it before it is decoded, by an interceptor.

use super::advice;
use super::config::Client;
use super::http::Sent;
use super::retry::Policy;
use crate::error::Failure;
use crate::exec::run::{Execution, Source};
use aws_sdk_bedrockagentcore::types::InvokeAgentRuntimeCommandRequestBody;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeDeserializationInterceptorContextMut, BeforeTransmitInterceptorContextMut,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::ConfigBag;
use bytes::Bytes;
use http_body_util::BodyExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::debug;

const EVENT_STREAM: &str = "application/vnd.amazon.eventstream";
/// A kill must come through a session that is busy, but not for ever.
const KILL_LIMIT: Duration = Duration::from_secs(20);
const KILL_ATTEMPTS: u32 = 5;

/// Which session of which runtime, and how it is addressed.
#[derive(Debug, Clone)]
pub struct CommandTarget {
    /// The runtime's ARN, or a bare id with `account_id`.
    pub agent_runtime_arn: String,
    /// The session.
    pub session_id: String,
    /// The runtime's endpoint; the service's default without one.
    pub qualifier: Option<String>,
    /// The account of a bare runtime id.
    pub account_id: Option<String>,
    /// `Content-Type` of the request.
    pub content_type: String,
    /// `Accept` of the request.
    pub accept: String,
    /// The headers of distributed tracing.
    pub trace: Trace,
}

/// The headers of distributed tracing, as the service takes them.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// `X-Amzn-Trace-Id`.
    pub trace_id: Option<String>,
    /// `traceparent`.
    pub trace_parent: Option<String>,
    /// `tracestate`.
    pub trace_state: Option<String>,
    /// `baggage`.
    pub baggage: Option<String>,
}

/// One command, ready to be sent.
pub struct CommandExecution {
    /// Who sends it.
    pub client: Arc<Client>,
    /// Where to.
    pub target: CommandTarget,
    /// The text on the wire.
    pub command: String,
    /// Its limit, in whole seconds.
    pub timeout_seconds: u32,
    /// How often it is tried where nothing was started.
    pub max_attempts: u32,
    /// Makes the text of the command that kills it; none where it is not to be killed.
    pub kill: Option<Box<dyn FnOnce(bool) -> String + Send + Sync>>,
    /// Whether a try of it was handed to a connection.
    pub sent: Sent,
}

impl Execution for CommandExecution {
    type Source = ResponseBody;

    async fn open(&mut self) -> Result<ResponseBody, Failure> {
        let policy = Policy {
            max_attempts: self.max_attempts,
            deadline: Instant::now() + Duration::from_secs(self.timeout_seconds.into()),
        };
        let this = &*self;
        policy
            .run(|| {
                send(
                    &this.client,
                    &this.target,
                    &this.command,
                    this.timeout_seconds,
                    &this.sent,
                )
            })
            .await
    }

    async fn kill(self, begun: bool) {
        let Some(kill) = self.kill.filter(|_| self.sent.is_set()) else {
            return;
        };
        let command = kill(begun);
        let policy = Policy {
            max_attempts: KILL_ATTEMPTS,
            deadline: Instant::now() + KILL_LIMIT,
        };
        let sent = Sent::default();
        let seconds = 15;
        let killed = policy.run(|| async {
            let mut body = send(&self.client, &self.target, &command, seconds, &sent).await?;
            while let Some(Ok(_)) = body.next().await {}
            Ok(())
        });
        debug!(begun, "killing what the command started");
        // Best effort: the caller has its result, and the session may be gone.
        let killed = tokio::time::timeout(KILL_LIMIT, killed).await;
        debug!(
            answered = matches!(killed, Ok(Ok(()))),
            "the kill has ended"
        );
    }
}

async fn send(
    client: &Client,
    target: &CommandTarget,
    command: &str,
    timeout_seconds: u32,
    sent: &Sent,
) -> Result<ResponseBody, Failure> {
    let bearer = client.authorization().await?;
    let answer = Answer::default();
    let body = InvokeAgentRuntimeCommandRequestBody::builder()
        .command(command)
        .timeout(i32::try_from(timeout_seconds).unwrap_or(i32::MAX))
        .build()
        .map_err(|error| Failure::new("BadRequest", "BAD_REQUEST", error.to_string()))?;
    let result = client
        .sdk()
        .await?
        .invoke_agent_runtime_command()
        .agent_runtime_arn(&target.agent_runtime_arn)
        .runtime_session_id(&target.session_id)
        .set_qualifier(target.qualifier.clone())
        .set_account_id(target.account_id.clone())
        .content_type(&target.content_type)
        .accept(&target.accept)
        .set_trace_id(target.trace.trace_id.clone())
        .set_trace_parent(target.trace.trace_parent.clone())
        .set_trace_state(target.trace.trace_state.clone())
        .set_baggage(target.trace.baggage.clone())
        .body(body)
        .customize()
        .interceptor(RequestMarks {
            sent: sent.clone(),
            bearer,
        })
        .interceptor(answer.clone())
        .send()
        .await;
    if let Err(error) = result {
        return Err(client.named(advice::failure(&error, sent)));
    }
    answer.into_body()
}

/// What is put on a request that the SDK has made and signed.
#[derive(Debug)]
pub(super) struct RequestMarks {
    pub(super) sent: Sent,
    pub(super) bearer: Option<http::HeaderValue>,
}

impl Intercept for RequestMarks {
    fn name(&self) -> &'static str {
        "RequestMarks"
    }

    fn modify_before_transmit(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request_mut();
        request.add_extension(self.sent.clone());
        if let Some(bearer) = &self.bearer {
            request
                .headers_mut()
                .insert("authorization", bearer.to_str()?.to_owned());
        }
        Ok(())
    }
}

/// Takes the body of a success before the SDK's own decoder sees it.
#[derive(Debug, Clone, Default)]
struct Answer(Arc<Mutex<Option<Result<ResponseBody, Failure>>>>);

impl Answer {
    fn into_body(self) -> Result<ResponseBody, Failure> {
        let answer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.unwrap_or_else(|| Err(Failure::broken_stream("there was none")))
    }
}

impl Intercept for Answer {
    fn name(&self) -> &'static str {
        "TakeAnswer"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let response = context.response_mut();
        if !response.status().is_success() {
            return Ok(());
        }
        let content_type = response
            .headers()
            .get("content-type")
            .unwrap_or_default()
            .to_owned();
        let request_id = advice::request_id(response);
        let status = response.status().as_u16();
        let body = std::mem::replace(response.body_mut(), SdkBody::empty());
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        debug!(status, request_id, "the command was answered");
        let answer = if media_type.eq_ignore_ascii_case(EVENT_STREAM) {
            Ok(ResponseBody { body, request_id })
        } else {
            Err(Failure {
                http_status: Some(status),
                request_id,
                ..Failure::broken_stream(format_args!(
                    "its content type is {content_type:?}, not {EVENT_STREAM}"
                ))
            })
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        Ok(())
    }
}

/// The body of a command's answer.
#[derive(Debug)]
pub struct ResponseBody {
    body: SdkBody,
    request_id: Option<String>,
}

impl Source for ResponseBody {
    async fn next(&mut self) -> Option<Result<Bytes, Failure>> {
        loop {
            match self.body.frame().await? {
                Ok(frame) => {
                    if let Ok(data) = frame.into_data() {
                        return Some(Ok(data));
                    }
                }
                Err(error) => {
                    return Some(Err(Failure {
                        request_id: self.request_id.clone(),
                        ..Failure::broken_stream(format_args!(
                            "the connection was lost ({})",
                            advice::chain(&*error)
                        ))
                    }));
                }
            }
        }
    }
}
