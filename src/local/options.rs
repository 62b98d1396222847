//! What a local runtime can be told, and what it makes of it.
//!
//! [`Options`] is what the user said; [`Config`] is that, checked and completed with fresh
//! credentials and names. Nothing here acts.

use std::fmt;
use std::io;
use std::time::Duration;

use uuid::Uuid;

use super::faults::Fault;
use super::jwt::{self, JwtAuthorizer};

/// How a command's text becomes a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommandSemantics {
    /// As the service does it: split into words, exec the first. No shell.
    #[default]
    Argv,
    /// As the service's documentation has it: `/bin/sh -c <command>`.
    Shell,
}

/// What a timeout kills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeoutKills {
    /// The command's process group.
    #[default]
    Group,
    /// The command's first process only; its children live on, as they may on the service.
    Leader,
}

/// The one key pair a runtime accepts.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Public half, sent with every request.
    pub access_key_id: String,
    /// Secret half, never sent.
    pub secret_access_key: String,
}

impl Credentials {
    /// A pair that nobody else knows.
    fn random() -> Self {
        let key = Uuid::new_v4().simple().to_string().to_uppercase();
        Self {
            access_key_id: format!("AKIALOCAL{}", &key[..11]),
            secret_access_key: format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("access_key_id", &self.access_key_id)
            .finish_non_exhaustive()
    }
}

/// Options of a local runtime. The default is a runtime like a freshly created one.
#[derive(Clone)]
pub struct Options {
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// Default: the ARN's, else `us-west-2`.
    pub region: Option<String>,
    /// Default: a fresh `arn:aws:bedrock-agentcore:<region>:000000000000:runtime/local-…`.
    pub agent_runtime_arn: Option<String>,
    /// Default: a fresh random pair.
    pub credentials: Option<Credentials>,
    /// Tokens to accept. Not empty: the runtime has a JWT authorizer and refuses `SigV4`.
    pub bearer_tokens: Vec<String>,
    /// Verifies tokens as a JWT authorizer does; like `bearer_tokens`, refuses `SigV4`.
    pub jwt_authorizer: Option<JwtAuthorizer>,
    /// Qualifiers that exist besides `DEFAULT`.
    pub qualifiers: Vec<String>,
    /// A session without a running command ends after this long.
    pub idle_timeout: Duration,
    /// A session ends after this long, whatever it does.
    pub max_lifetime: Duration,
    /// How long ending a session takes before it is done; 409 is answered meanwhile.
    pub stop_delay: Duration,
    /// How a command's text becomes a process.
    pub command_semantics: CommandSemantics,
    /// Whether `'a'"b"` is one word (as in a shell) or two: what the service does is not known.
    pub join_quotes: bool,
    /// What a timeout kills.
    pub timeout_kills: TimeoutKills,
    /// Variables of every command, besides `PATH`, `LANG`, `HOME` and `TMPDIR`.
    pub env: Vec<(String, String)>,
    /// Faults to inject from the start.
    pub faults: Vec<Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            port: 0,
            region: None,
            agent_runtime_arn: None,
            credentials: None,
            bearer_tokens: Vec::new(),
            jwt_authorizer: None,
            qualifiers: Vec::new(),
            idle_timeout: Duration::from_mins(15),
            max_lifetime: Duration::from_hours(8),
            stop_delay: Duration::ZERO,
            command_semantics: CommandSemantics::default(),
            join_quotes: true,
            timeout_kills: TimeoutKills::default(),
            env: Vec::new(),
            faults: Vec::new(),
        }
    }
}

// By hand: values of `env` and tokens are secrets.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("port", &self.port)
            .field("region", &self.region)
            .field("agent_runtime_arn", &self.agent_runtime_arn)
            .finish_non_exhaustive()
    }
}

/// Options, checked and completed.
pub(super) struct Config {
    pub(super) region: String,
    pub(super) agent_runtime_arn: String,
    pub(super) credentials: Credentials,
    pub(super) bearer_tokens: Vec<String>,
    pub(super) jwt: Option<jwt::Verifier>,
    pub(super) qualifiers: Vec<String>,
    pub(super) command_semantics: CommandSemantics,
    pub(super) join_quotes: bool,
    pub(super) timeout_kills: TimeoutKills,
}

impl Config {
    pub(super) fn resolve(options: &Options) -> io::Result<Self> {
        if let Some((name, _)) = options
            .env
            .iter()
            .find(|(name, value)| !is_env_pair(name, value))
        {
            return Err(invalid(format!(
                "env: {name:?} cannot be set as a variable"
            )));
        }
        let (region, agent_runtime_arn) = resolve_name(options)?;
        Ok(Self {
            region,
            agent_runtime_arn,
            credentials: options
                .credentials
                .clone()
                .unwrap_or_else(Credentials::random),
            bearer_tokens: options.bearer_tokens.clone(),
            jwt: options
                .jwt_authorizer
                .as_ref()
                .map(jwt::Verifier::new)
                .transpose()
                .map_err(invalid)?,
            qualifiers: options.qualifiers.clone(),
            command_semantics: options.command_semantics,
            join_quotes: options.join_quotes,
            timeout_kills: options.timeout_kills,
        })
    }

    /// The account in the ARN, for requests that name the agent by its bare id.
    pub(super) fn account(&self) -> &str {
        self.agent_runtime_arn.split(':').nth(4).unwrap_or_default()
    }

    /// The agent's bare id.
    pub(super) fn agent_id(&self) -> &str {
        self.agent_runtime_arn
            .rsplit('/')
            .next()
            .unwrap_or_default()
    }
}

fn resolve_name(options: &Options) -> io::Result<(String, String)> {
    let Some(arn) = &options.agent_runtime_arn else {
        let region = options
            .region
            .clone()
            .unwrap_or_else(|| "us-west-2".to_owned());
        let id = &Uuid::new_v4().simple().to_string()[..10];
        let arn = format!("arn:aws:bedrock-agentcore:{region}:000000000000:runtime/local-{id}");
        return Ok((region, arn));
    };
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    let ["arn", _, "bedrock-agentcore", arn_region, _, resource] = parts[..] else {
        return Err(invalid(format!(
            "agentRuntimeArn: {arn:?} is not an AgentCore ARN"
        )));
    };
    if arn_region.is_empty() || !resource.contains('/') {
        return Err(invalid(format!(
            "agentRuntimeArn: {arn:?} lacks a region or a resource"
        )));
    }
    match &options.region {
        Some(region) if region != arn_region => Err(invalid(format!(
            "region: {region:?} contradicts the region of agentRuntimeArn, {arn_region:?}"
        ))),
        _ => Ok((arn_region.to_owned(), arn.clone())),
    }
}

fn is_env_pair(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_credentials_are_fresh_each_time() {
        let first = Config::resolve(&Options::default()).unwrap();
        let second = Config::resolve(&Options::default()).unwrap();
        assert_eq!(first.region, "us-west-2");
        assert_eq!(first.account(), "000000000000");
        assert!(first.agent_id().starts_with("local-"));
        assert_ne!(first.agent_runtime_arn, second.agent_runtime_arn);
        assert_ne!(first.credentials, second.credentials);
    }

    #[test]
    fn the_region_comes_from_the_arn_and_may_not_contradict_it() {
        let arn = "arn:aws-us-gov:bedrock-agentcore:us-gov-west-1:123456789012:harness/h-1";
        let mut options = Options {
            agent_runtime_arn: Some(arn.to_owned()),
            ..Options::default()
        };
        let config = Config::resolve(&options).unwrap();
        assert_eq!(
            (config.region.as_str(), config.agent_id()),
            ("us-gov-west-1", "h-1")
        );
        options.region = Some("eu-west-1".to_owned());
        assert!(Config::resolve(&options).is_err());
    }

    #[test]
    fn what_cannot_work_is_refused_by_name() {
        let options = Options {
            env: vec![("A=B".to_owned(), "secret".to_owned())],
            ..Options::default()
        };
        let message = Config::resolve(&options).err().unwrap().to_string();
        assert!(
            message.starts_with("env:") && !message.contains("secret"),
            "{message}"
        );
        let options = Options {
            agent_runtime_arn: Some("arn:aws:s3:::b".to_owned()),
            ..Options::default()
        };
        assert!(Config::resolve(&options).is_err());
    }

    #[test]
    fn debug_output_holds_no_secret() {
        let credentials = Credentials::random();
        assert!(!format!("{credentials:?}").contains(&credentials.secret_access_key));
    }
}
