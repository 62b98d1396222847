//! Stops a session. Idempotent by its token, so it is sent again wherever that may help.

use super::advice;
use super::config::Client;
use super::http::Sent;
use super::invoke::RequestMarks;
use super::retry::Policy;
use crate::error::Failure;
use crate::situation;
use std::time::{Duration, Instant};
use tracing::debug;

/// Stopping takes the service up to twelve seconds.
const LIMIT: Duration = Duration::from_mins(1);

/// Stops the session `session_id`. A session that is gone counts as stopped.
///
/// # Errors
/// What the service or the way to it refused, after `max_attempts`.
pub async fn stop_session(
    client: &Client,
    agent_runtime_arn: &str,
    session_id: &str,
    qualifier: Option<String>,
    client_token: &str,
    max_attempts: u32,
) -> Result<(), Failure> {
    let policy = Policy {
        max_attempts,
        deadline: Instant::now() + LIMIT,
    };
    policy
        .run(|| async {
            let sent = Sent::default();
            let bearer = client.authorization().await?;
            let call = client
                .sdk()
                .await?
                .stop_runtime_session()
                .agent_runtime_arn(agent_runtime_arn)
                .runtime_session_id(session_id)
                .set_qualifier(qualifier.clone())
                .client_token(client_token)
                .customize()
                .interceptor(RequestMarks {
                    sent: sent.clone(),
                    bearer,
                })
                .send();
            let error = match tokio::time::timeout(LIMIT, call).await {
                Ok(Ok(_)) => {
                    debug!("the session was stopped");
                    return Ok(());
                }
                Ok(Err(error)) => error,
                Err(_) => return Err(silent()),
            };
            let failure = advice::failure(&error, &sent);
            if failure.http_status == Some(404) {
                return Ok(());
            }
            let lost = failure.http_status.is_none() && failure.may_have_run;
            // Sent twice it is still stopped once.
            Err(Failure {
                may_have_run: false,
                retryable: failure.retryable || lost,
                ..failure
            })
        })
        .await
}

fn silent() -> Failure {
    let known = &situation::STOP_TIMEOUT;
    let message = format!(
        "the service did not answer within {} s; {}",
        LIMIT.as_secs(),
        known.advice
    );
    Failure::of(known, message)
}
