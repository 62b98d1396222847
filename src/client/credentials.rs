//! Credentials and tokens that the user's own code provides.

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// AWS credentials as a user hands them over.
#[derive(Clone)]
pub struct UserCredentials {
    /// The access key's id.
    pub access_key_id: String,
    /// The access key's secret.
    pub secret_access_key: String,
    /// The session's token, with temporary credentials.
    pub session_token: Option<String>,
    /// When they end.
    pub expiration: Option<SystemTime>,
}

impl fmt::Debug for UserCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserCredentials").finish_non_exhaustive()
    }
}

impl From<UserCredentials> for Credentials {
    fn from(user: UserCredentials) -> Self {
        Self::new(
            user.access_key_id,
            user.secret_access_key,
            user.session_token,
            user.expiration,
            "mastra-agentcore",
        )
    }
}

/// Where something that the user's code computes comes from: a value, or an async call.
pub enum Provided<T> {
    /// It stands fast.
    Value(T),
    /// It is asked for; an error is the message of what the user's code threw.
    Call(Arc<Ask<T>>),
}

/// An async call into the user's code.
pub type Ask<T> = dyn Fn() -> Pin<Box<dyn Future<Output = Result<T, String>> + Send>> + Send + Sync;

impl<T: Clone> Provided<T> {
    /// Gives the value, or asks for it.
    ///
    /// # Errors
    /// The message of what the user's code threw.
    pub async fn get(&self) -> Result<T, String> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Call(ask) => ask().await,
        }
    }
}

impl<T: Clone> Clone for Provided<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Value(value) => Self::Value(value.clone()),
            Self::Call(ask) => Self::Call(Arc::clone(ask)),
        }
    }
}

impl<T> fmt::Debug for Provided<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value(_) => "Provided::Value",
            Self::Call(_) => "Provided::Call",
        })
    }
}

/// Without an expiration, a function's credentials are asked for again after so long.
const UNDATED: Duration = Duration::from_mins(15);

impl ProvideCredentials for Provided<UserCredentials> {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async move {
            let mut user = self.get().await.map_err(CredentialsError::provider_error)?;
            if matches!(self, Self::Call(_)) {
                user.expiration
                    .get_or_insert_with(|| SystemTime::now() + UNDATED);
            }
            Ok(user.into())
        })
    }
}
