//! What the user gave → an SDK client, made once, on first use.

use super::credentials::{Provided, UserCredentials};
use super::http::{CONNECT_TIMEOUT, Transport};
use crate::error::Failure;
use crate::situation;
use aws_config::profile::ProfileFileCredentialsProvider;
use aws_config::provider_config::ProviderConfig;
use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_bedrockagentcore as sdk;
use aws_smithy_runtime_api::client::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::sync::OnceCell;

/// What a client is made from; what is not given comes from the AWS chain.
#[derive(Debug, Clone, Default)]
pub struct ClientOptions {
    /// The region.
    pub region: Option<String>,
    /// An address to use instead of the service's.
    pub endpoint: Option<String>,
    /// The profile of the shared configuration files.
    pub profile: Option<String>,
    /// Credentials, or where to ask for them.
    pub credentials: Option<Provided<UserCredentials>>,
    /// A token to send instead of a signature, or where to ask for it.
    pub bearer_token: Option<Provided<String>>,
    /// Files of certificates in PEM, trusted beside the usual ones.
    pub ca_files: Vec<String>,
}

/// One client: a configuration, its credentials, its connections.
#[derive(Debug)]
pub struct Client {
    options: ClientOptions,
    made: OnceCell<Made>,
}

/// What is made once, on first use.
#[derive(Debug)]
struct Made {
    shared: SdkConfig,
    sdk: sdk::Client,
}

impl Client {
    /// A client that has done nothing yet.
    pub fn new(options: ClientOptions) -> Self {
        Self {
            options,
            made: OnceCell::new(),
        }
    }

    /// The header to send instead of a signature, where there is a bearer token.
    ///
    /// # Errors
    /// The user's function threw, or what it gave is no token.
    pub(super) async fn authorization(&self) -> Result<Option<http::HeaderValue>, Failure> {
        let Some(token) = &self.options.bearer_token else {
            return Ok(None);
        };
        let bad = |why: &str| {
            Failure::of(
                &situation::BEARER_TOKEN_MISSING,
                format!(
                    "the option bearerToken gave no usable token: {why} ({})",
                    situation::BEARER_TOKEN_MISSING.advice
                ),
            )
        };
        let token = token.get().await.map_err(|why| bad(&why))?;
        let mut header = http::HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| bad("it has characters that no header can carry"))?;
        header.set_sensitive(true);
        Ok(Some(header))
    }

    /// The SDK's client.
    ///
    /// # Errors
    /// No region, or a file of certificates that cannot be read.
    pub(super) async fn sdk(&self) -> Result<&sdk::Client, Failure> {
        let made = self.made.get_or_try_init(|| self.make()).await?;
        Ok(&made.sdk)
    }

    /// The configuration that all AWS services share.
    ///
    /// # Errors
    /// As of [`Self::sdk`].
    pub(super) async fn shared(&self) -> Result<&SdkConfig, Failure> {
        let made = self.made.get_or_try_init(|| self.make()).await?;
        Ok(&made.shared)
    }

    /// Names the profile that was asked for, where it gave no credentials.
    pub(super) fn named(&self, mut failure: Failure) -> Failure {
        if let (Some(profile), true) = (
            &self.options.profile,
            failure.code == situation::CREDENTIALS_MISSING.code,
        ) {
            failure.message = format!("of the profile {profile}, {}", failure.message);
        }
        failure
    }

    async fn make(&self) -> Result<Made, Failure> {
        let options = &self.options;
        let transport = Transport::new(certificates(&options.ca_files)?);
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .http_client(transport.clone())
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
            .timeout_config(
                TimeoutConfig::builder()
                    .connect_timeout(CONNECT_TIMEOUT)
                    .build(),
            );
        if let Ok(name) = AppName::new(concat!("mastra-agentcore-", env!("CARGO_PKG_VERSION"))) {
            loader = loader.app_name(name);
        }
        if let Some(region) = &options.region {
            loader = loader.region(Region::new(region.clone()));
        }
        if let Some(profile) = &options.profile {
            loader = loader.profile_name(profile);
        }
        loader = match (&options.credentials, &options.bearer_token) {
            (_, Some(_)) => loader.no_credentials(),
            (Some(credentials), None) => loader.credentials_provider(credentials.clone()),
            (None, None) => loader,
        };
        let mut shared = loader.load().await;
        if shared.region().is_none() {
            return Err(no_region());
        }
        if let (Some(profile), None, None) = (
            &options.profile,
            &options.credentials,
            &options.bearer_token,
        ) {
            let provider = profile_credentials(profile, &shared, transport);
            shared = shared
                .into_builder()
                .credentials_provider(SharedCredentialsProvider::new(provider))
                .build();
        }
        let mut config = sdk::config::Builder::from(&shared)
            // Retries are ours: the SDK's would run a command three times. Those of credentials
            // stay the SDK's.
            .retry_config(RetryConfig::disabled());
        if let Some(endpoint) = &options.endpoint {
            config = config.endpoint_url(endpoint);
        }
        if options.bearer_token.is_some() {
            config = config.allow_no_auth();
        }
        let sdk = sdk::Client::from_conf(config.build());
        Ok(Made { shared, sdk })
    }
}

/// A profile that was asked for is what signs, or nothing: the chain would look at the environment
/// first, and go on to a machine's role where the profile is not there.
fn profile_credentials(
    profile: &str,
    shared: &SdkConfig,
    transport: Transport,
) -> ProfileFileCredentialsProvider {
    let provider_config = ProviderConfig::without_region()
        .with_behavior_version(Some(BehaviorVersion::latest()))
        .with_region(shared.region().cloned())
        .with_http_client(transport);
    ProfileFileCredentialsProvider::builder()
        .configure(&provider_config)
        .profile_name(profile)
        .build()
}

fn no_region() -> Failure {
    let known = &situation::REGION_MISSING;
    let message = format!("no AWS region is known: {}", known.advice);
    Failure::of(known, message)
}

fn certificates(files: &[String]) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let mut certificates = Vec::new();
    for file in files {
        let unreadable = |error: &dyn std::fmt::Display| {
            Failure::of(
                &situation::CERTIFICATES_UNREADABLE,
                format!(
                    "the certificates of {file} (from AWS_CA_BUNDLE or NODE_EXTRA_CA_CERTS) cannot \
                     be read: {error} ({})",
                    situation::CERTIFICATES_UNREADABLE.advice
                ),
            )
        };
        let before = certificates.len();
        for certificate in CertificateDer::pem_file_iter(file).map_err(|e| unreadable(&e))? {
            certificates.push(certificate.map_err(|error| unreadable(&error))?);
        }
        if certificates.len() == before {
            return Err(unreadable(&"there is none in it"));
        }
    }
    Ok(certificates)
}
