//! Stops a session. Idempotent by its token, so it is sent again wherever that may help.

use super::advice;
use super::config::Client;
use super::http::Sent;
use super::invoke::RequestMarks;
use super::retry::Policy;
use crate::error::Failure;
use crate::situation;
use std::borrow::Cow;
use std::time::{Duration, Instant};
use tracing::debug;

/// Stopping takes the service up to twelve seconds.
const LIMIT: Duration = Duration::from_mins(1);

/// Which session to stop.
#[derive(Debug)]
pub struct StopTarget {
    /// The runtime's ARN, or a bare id with `account_id`.
    pub agent_runtime_arn: String,
    /// The account of a bare runtime id.
    pub account_id: Option<String>,
    /// The session.
    pub session_id: String,
    /// The runtime's endpoint; the service's default without one.
    pub qualifier: Option<String>,
    /// Makes stops that have it one.
    pub client_token: String,
}

/// Stops a session. One that is gone counts as stopped.
///
/// # Errors
/// What the service or the way to it refused, after `max_attempts`.
pub async fn stop_session(
    client: &Client,
    target: &StopTarget,
    max_attempts: u32,
) -> Result<(), Failure> {
    let policy = Policy {
        max_attempts,
        deadline: Instant::now() + LIMIT,
    };
    let region = client.shared().await?.region();
    let arn = target.arn(region.map_or("", AsRef::as_ref));
    policy
        .run(|| async {
            let sent = Sent::default();
            let bearer = client.authorization().await?;
            let call = client
                .sdk()
                .await?
                .stop_runtime_session()
                .agent_runtime_arn(arn.as_ref())
                .runtime_session_id(&target.session_id)
                .set_qualifier(target.qualifier.clone())
                .client_token(&target.client_token)
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
            let failure = client.named(advice::failure(&error, &sent));
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

impl StopTarget {
    /// A stop takes no account: a bare id becomes the ARN that it stands for.
    fn arn(&self, region: &str) -> Cow<'_, str> {
        let Some(account) = &self.account_id else {
            return Cow::Borrowed(&self.agent_runtime_arn);
        };
        if self.agent_runtime_arn.starts_with("arn:") {
            return Cow::Borrowed(&self.agent_runtime_arn);
        }
        let partition = match region.split('-').next() {
            Some("cn") => "aws-cn",
            Some("us") if region.starts_with("us-gov-") => "aws-us-gov",
            _ => "aws",
        };
        let id = &self.agent_runtime_arn;
        Cow::Owned(format!(
            "arn:{partition}:bedrock-agentcore:{region}:{account}:runtime/{id}"
        ))
    }
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

#[cfg(test)]
mod tests {
    use super::StopTarget;

    #[test]
    fn a_bare_id_becomes_an_arn() {
        let mut target = StopTarget {
            agent_runtime_arn: "agent-1".to_owned(),
            account_id: Some("123456789012".to_owned()),
            session_id: String::new(),
            qualifier: None,
            client_token: String::new(),
        };
        for (region, partition) in [
            ("eu-west-1", "aws"),
            ("us-gov-west-1", "aws-us-gov"),
            ("cn-north-1", "aws-cn"),
        ] {
            let arn =
                format!("arn:{partition}:bedrock-agentcore:{region}:123456789012:runtime/agent-1");
            assert_eq!(target.arn(region), arn);
        }
        target.agent_runtime_arn = "arn:aws:x".to_owned();
        assert_eq!(target.arn("eu-west-1"), "arn:aws:x");
    }
}
