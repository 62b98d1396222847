//! Who a client is: region, endpoint, credentials and their owner, without a secret. For `doctor`.

use super::advice;
use super::config::Client;
use crate::error::Failure;
use aws_credential_types::Credentials;
use aws_credential_types::credential_feature::AwsCredentialFeature;
use aws_credential_types::provider::ProvideCredentials;
use std::time::{Duration, SystemTime};

/// The owner is asked for, not waited for: there may be no way to STS.
const CALLER_LIMIT: Duration = Duration::from_secs(5);

/// What a client was configured to.
#[derive(Debug)]
pub struct Identity {
    /// The region.
    pub region: String,
    /// The credentials; none where a bearer token is sent instead.
    pub credentials: Option<Result<CredentialFacts, Failure>>,
}

/// What may be said of credentials.
#[derive(Debug)]
pub struct CredentialFacts {
    /// The access key's id, but for its middle.
    pub access_key_id: String,
    /// Where they come from, in the SDK's words.
    pub provider: String,
    /// When they end.
    pub expires: Option<SystemTime>,
    /// The ARN of their owner, or why it is not known.
    pub caller: Result<String, String>,
}

/// Looks up what `client` would sign with.
///
/// # Errors
/// There is no region, or a file of certificates cannot be read.
pub async fn identity(client: &Client) -> Result<Identity, Failure> {
    let config = client.shared().await?;
    let region = config.region().map(ToString::to_string).unwrap_or_default();
    let credentials = match config.credentials_provider() {
        _ if client.authorization().await?.is_some() => None,
        None => Some(Err(advice::no_credentials_at_all())),
        Some(provider) => Some(match provider.provide_credentials().await {
            Err(error) => Err(client.named(advice::no_credentials(&error))),
            Ok(credentials) => Ok(CredentialFacts {
                access_key_id: masked(credentials.access_key_id()),
                provider: ways(&credentials),
                expires: credentials.expiry(),
                caller: caller(config).await,
            }),
        }),
    };
    Ok(Identity {
        region,
        credentials,
    })
}

/// The SDK names the ways that led to credentials, as it tells AWS in its user agent.
fn ways(credentials: &Credentials) -> String {
    let ways = credentials.get_property::<Vec<AwsCredentialFeature>>();
    let ways: Vec<String> = ways
        .into_iter()
        .flatten()
        .map(|way| format!("{way:?}").replacen("Credentials", "", 1))
        .collect();
    if ways.is_empty() {
        "given to the client".to_owned()
    } else {
        ways.join(", ")
    }
}

async fn caller(config: &aws_types::SdkConfig) -> Result<String, String> {
    let call = aws_sdk_sts::Client::new(config)
        .get_caller_identity()
        .send();
    match tokio::time::timeout(CALLER_LIMIT, call).await {
        Ok(Ok(caller)) => caller
            .arn()
            .map(str::to_owned)
            .ok_or_else(|| "STS named no ARN".to_owned()),
        Ok(Err(error)) => Err(advice::chain(&error)),
        Err(_) => Err("STS did not answer".to_owned()),
    }
}

/// The first and last four characters, which say whose key it is.
fn masked(access_key_id: &str) -> String {
    let characters: Vec<char> = access_key_id.chars().collect();
    if characters.len() < 12 {
        return "****".to_owned();
    }
    let (head, tail) = (&characters[..4], &characters[characters.len() - 4..]);
    format!(
        "{}…{}",
        head.iter().collect::<String>(),
        tail.iter().collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn keys_are_masked() {
        assert_eq!(masked("AKIAIOSFODNN7EXAMPLE"), "AKIA…MPLE");
        assert_eq!(masked("short"), "****");
        assert_eq!(masked("ééééééééééééé"), "éééé…éééé");
    }
}
