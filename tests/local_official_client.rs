//! The official Rust client, unmodified, against the local runtime.

use aws_sdk_bedrockagentcore as sdk;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use mastra_agentcore::local::{Fault, FaultKind, FaultPoint, LocalRuntime, Options, StreamFault};
use sdk::config::retry::RetryConfig;
use sdk::config::{BehaviorVersion, Credentials, Region};
use sdk::error::{ProvideErrorMetadata, SdkError};
use sdk::operation::invoke_agent_runtime_command::InvokeAgentRuntimeCommandError as CommandError;
use sdk::types::error::InvokeAgentRuntimeCommandStreamOutputError as StreamError;
use sdk::types::{
    InvokeAgentRuntimeCommandRequestBody as Body, InvokeAgentRuntimeCommandStreamOutput as Output,
};

const SESSION: &str = "rust-session-0123456789-0123456789-0123456789";

async fn start() -> (LocalRuntime, sdk::Client) {
    let runtime = LocalRuntime::start(Options::default())
        .await
        .expect("a runtime");
    let pair = runtime.credentials();
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .build_https();
    let config = sdk::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(http)
        .region(Region::new(runtime.region().to_owned()))
        .endpoint_url(runtime.endpoint())
        .credentials_provider(Credentials::new(
            &pair.access_key_id,
            &pair.secret_access_key,
            None,
            None,
            "test",
        ))
        .retry_config(RetryConfig::disabled())
        .build();
    (runtime, sdk::Client::from_conf(config))
}

fn invoke(
    runtime: &LocalRuntime,
    client: &sdk::Client,
    command: &str,
) -> sdk::operation::invoke_agent_runtime_command::builders::InvokeAgentRuntimeCommandFluentBuilder
{
    client
        .invoke_agent_runtime_command()
        .agent_runtime_arn(runtime.agent_runtime_arn())
        .runtime_session_id(SESSION)
        .body(
            Body::builder()
                .command(command)
                .timeout(20)
                .build()
                .expect("a body"),
        )
}

#[tokio::test]
async fn invokes_and_stops() {
    let (runtime, client) = start().await;
    let command = r#"/bin/sh -c "echo out; echo err >&2; exit 3""#;
    let mut answer = invoke(&runtime, &client, command)
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.runtime_session_id(), Some(SESSION));
    let (mut stdout, mut stderr, mut started, mut exit_code) =
        (String::new(), String::new(), false, None);
    while let Some(event) = answer.stream.recv().await.expect("an event") {
        let Output::Chunk(chunk) = event else {
            panic!("{event:?}")
        };
        started |= chunk.content_start().is_some();
        if let Some(delta) = chunk.content_delta() {
            stdout += delta.stdout().unwrap_or_default();
            stderr += delta.stderr().unwrap_or_default();
        }
        if let Some(stop) = chunk.content_stop() {
            exit_code = Some(stop.exit_code());
        }
    }
    assert!(started);
    assert_eq!(
        (stdout.as_str(), stderr.as_str(), exit_code),
        ("out\n", "err\n", Some(3))
    );
    client
        .stop_runtime_session()
        .agent_runtime_arn(runtime.agent_runtime_arn())
        .runtime_session_id(SESSION)
        .send()
        .await
        .expect("a stop");
    assert!(runtime.sessions().is_empty());
    runtime.stop().await;
}

#[tokio::test]
async fn sees_every_http_error_as_its_variant() {
    let (runtime, client) = start().await;
    for (status, code) in [
        (400, "ValidationException"),
        (402, "ServiceQuotaExceededException"),
        (403, "AccessDeniedException"),
        (404, "ResourceNotFoundException"),
        (409, "RetryableConflictException"),
        (424, "RuntimeClientError"),
        (429, "ThrottlingException"),
        (500, "InternalServerException"),
        // Not in the command's model: the generic error, with the code.
        (401, "UnauthorizedException"),
        (409, "ConflictException"),
    ] {
        runtime.inject(Fault::once(FaultKind::Status {
            status,
            error_type: code.to_owned(),
            message: "m".to_owned(),
        }));
        let error = invoke(&runtime, &client, "true")
            .send()
            .await
            .expect_err(code);
        let SdkError::ServiceError(error) = error else {
            panic!("{code}: {error:?}")
        };
        assert_eq!(error.raw().status().as_u16(), status);
        let error = error.err();
        let modelled = match error {
            CommandError::ValidationException(_) => "ValidationException",
            CommandError::ServiceQuotaExceededException(_) => "ServiceQuotaExceededException",
            CommandError::AccessDeniedException(_) => "AccessDeniedException",
            CommandError::ResourceNotFoundException(_) => "ResourceNotFoundException",
            CommandError::RetryableConflictException(_) => "RetryableConflictException",
            CommandError::RuntimeClientError(_) => "RuntimeClientError",
            CommandError::ThrottlingException(_) => "ThrottlingException",
            CommandError::InternalServerException(_) => "InternalServerException",
            unmodelled => unmodelled.code().unwrap_or_default(),
        };
        assert_eq!(modelled, code);
        assert_eq!(error.message(), Some("m"));
    }
    runtime.stop().await;
}

#[tokio::test]
async fn sees_every_exception_of_the_stream_as_its_variant() {
    let (runtime, client) = start().await;
    for kind in [
        "accessDeniedException",
        "internalServerException",
        "resourceNotFoundException",
        "serviceQuotaExceededException",
        "throttlingException",
        "validationException",
        "runtimeClientError",
    ] {
        runtime.inject(Fault::once(FaultKind::Stream {
            at: FaultPoint::Events(1),
            fault: StreamFault::Exception {
                exception_type: kind.to_owned(),
                message: "m".to_owned(),
            },
        }));
        let mut answer = invoke(&runtime, &client, "true")
            .send()
            .await
            .expect("an answer");
        let error = loop {
            match answer.stream.recv().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("{kind}: the stream ended"),
                Err(error) => break error.into_service_error(),
            }
        };
        let seen = match &error {
            StreamError::AccessDeniedException(_) => "accessDeniedException",
            StreamError::InternalServerException(_) => "internalServerException",
            StreamError::ResourceNotFoundException(_) => "resourceNotFoundException",
            StreamError::ServiceQuotaExceededException(_) => "serviceQuotaExceededException",
            StreamError::ThrottlingException(_) => "throttlingException",
            StreamError::ValidationException(_) => "validationException",
            StreamError::RuntimeClientError(_) => "runtimeClientError",
            other => panic!("{kind}: {other:?}"),
        };
        assert_eq!(seen, kind);
        assert_eq!(error.message(), Some("m"));
    }
    runtime.stop().await;
}
