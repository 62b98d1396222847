//! Every failure that is known by name: when it happens and what to do. Errors take their advice
//! from here, and so does the table in `docs/errors.md` (`tests/error_table.rs`).

use std::fmt::Write;

/// A failure that this package finds.
#[derive(Debug)]
pub struct Situation {
    /// What stands before an error's message.
    pub name: &'static str,
    /// The stable code.
    pub code: &'static str,
    /// When it happens.
    pub when: &'static str,
    /// What to do.
    pub advice: &'static str,
    /// The command may have been run, in part or whole.
    pub may_have_run: bool,
}

/// A failure that the service answers with.
#[derive(Debug)]
pub struct ServiceSituation {
    /// The HTTP status, from and to.
    pub status: (u16, u16),
    /// The error's names; empty: any.
    pub names: &'static [&'static str],
    /// What the message contains, in lower case.
    pub mentions: &'static str,
    /// When it happens.
    pub when: &'static str,
    /// What to do.
    pub advice: &'static str,
}

macro_rules! situations {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $code:literal, $may_have_run:literal, $when:literal, $advice:literal;)*) => {
        $($(#[$doc])* pub const $id: Situation = Situation {
            name: $name,
            code: $code,
            when: $when,
            advice: $advice,
            may_have_run: $may_have_run,
        };)*
        /// All that this package finds, in the order of a command's way.
        pub const SITUATIONS: &[&Situation] = &[$(&$id),*];
    };
}

situations! {
    /// No region.
    REGION_MISSING = "RegionMissing", "REGION_MISSING", false,
        "no region is known",
        "set the option region, give the runtime's full ARN, or set AWS_REGION or a region in the AWS profile";
    /// A file of certificates.
    CERTIFICATES_UNREADABLE = "CertificatesUnreadable", "CERTIFICATES_UNREADABLE", false,
        "a file that AWS_CA_BUNDLE or NODE_EXTRA_CA_CERTS names is missing or holds no certificates",
        "correct the variable, or the file: it must hold certificates in PEM";
    /// No token.
    BEARER_TOKEN_MISSING = "BearerTokenMissing", "BEARER_TOKEN_MISSING", false,
        "the option bearerToken is a function that threw, or gave no usable token",
        "look at the function: it must resolve to a token, without line breaks";
    /// No credentials.
    CREDENTIALS_MISSING = "CredentialsMissing", "CREDENTIALS_MISSING", false,
        "there are no AWS credentials, or they cannot be loaded",
        "set the option credentials or profile, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, sign in with aws sso login, or run where a role is attached";
    /// The host has no address.
    HOST_NOT_FOUND = "HostNotFound", "HOST_NOT_FOUND", false,
        "the host's name has no address",
        "the host's name is not known: check the region (AgentCore is not offered in every one), the endpoint and the network";
    /// Nothing listens.
    CONNECTION_REFUSED = "ConnectionRefused", "CONNECTION_REFUSED", false,
        "nothing listens at the address",
        "nothing listens there: check the option endpoint and AWS_ENDPOINT_URL, or start the local runtime";
    /// No connection in time.
    CONNECT_TIMEOUT = "ConnectTimeout", "CONNECT_TIMEOUT", false,
        "no connection within ten seconds",
        "check the network, the proxy and the endpoint";
    /// The proxy.
    PROXY_FAILED = "ProxyError", "PROXY_FAILED", false,
        "the proxy cannot be reached or refuses",
        "check HTTPS_PROXY and NO_PROXY";
    /// TLS.
    TLS_FAILED = "TlsError", "TLS_FAILED", false,
        "the server's certificate is not trusted, or TLS fails otherwise",
        "if a proxy or a private endpoint uses its own certificate authority, name its file in AWS_CA_BUNDLE or NODE_EXTRA_CA_CERTS";
    /// No connection, for another reason.
    CONNECTION_FAILED = "ConnectionFailed", "CONNECTION_FAILED", false,
        "there is no connection, for another reason",
        "nothing was sent: the same call is safe to repeat";
    /// The connection was lost after the request.
    CONNECTION_LOST = "ConnectionLost", "CONNECTION_LOST", true,
        "the connection was lost after the request was sent and before an answer came",
        "The command may have run; check before you run it again";
    /// An answer that is none.
    RESPONSE_UNREADABLE = "ResponseError", "RESPONSE_UNREADABLE", true,
        "the answer is no HTTP that can be read",
        "look for a proxy or another server at that address; the command may have run";
    /// The answer broke off.
    STREAM_BROKEN = "StreamError", "STREAM_BROKEN", true,
        "the command's answer broke off, or is no event stream",
        "The command may have run, in part or to its end; check before you run it again";
    /// Too much output for a string.
    OUTPUT_TOO_LARGE = "OutputTooLarge", "OUTPUT_TOO_LARGE", true,
        "the output is longer than a JavaScript string can be; the command ran to its end and callbacks received all of it",
        "Set maxRetainedBytes to keep only the newest output";
    /// A stop without an answer.
    STOP_TIMEOUT = "StopTimeout", "STOP_TIMEOUT", false,
        "the service did not answer a stop within a minute",
        "the session ends by itself when it idles";
    /// A warm-up without an answer.
    WARMUP_TIMED_OUT = "WarmupTimedOut", "WARMUP_TIMED_OUT", false,
        "with warmup, the session did not answer within commandTimeout",
        "see the runtime's logs, or give it longer";
    /// Another microVM.
    SESSION_REPLACED = "SessionReplaced", "SESSION_REPLACED", false,
        "with requireExistingSession, the session's microVM is not the one that was started: it idled, reached its lifetime or was stopped, and its files are gone",
        "make a new sandbox, or stop and start this one, to go on in the fresh microVM";
    /// A tool that the image lacks.
    TOOL_MISSING = "ToolMissing", "TOOL_MISSING", false,
        "the session's image lacks a tool that the operation needs",
        "install the tool that is named in the image";
    /// A file's transfer.
    FILE_FAILED = "FileError", "FILE_FAILED", true,
        "a file cannot be written or read; the message names it",
        "check the path, its rights and the disk; a file that could not be written whole was not replaced";
    /// A background process.
    PROCESS_FAILED = "ProcessError", "PROCESS_FAILED", true,
        "a background process cannot be started or reached",
        "see the message; the session may have been replaced";
    /// A bug.
    INTERNAL = "InternalError", "INTERNAL", true,
        "the command's task broke down",
        "this is a bug of mastra-agentcore. The command may have run";
}

/// What the service answers, the first that fits.
pub const SERVICE_SITUATIONS: &[ServiceSituation] = &[
    ServiceSituation {
        status: (400, 400),
        names: &["ExpiredTokenException", "ExpiredToken"],
        mentions: "",
        when: "temporary credentials are past their end",
        advice: EXPIRED,
    },
    ServiceSituation {
        status: (400, 400),
        names: &[],
        mentions: "",
        when: "the service does not accept a parameter, or what its message says",
        advice: "",
    },
    ServiceSituation {
        status: (403, 403),
        names: &[],
        mentions: "authorization method mismatch",
        when: "a runtime with a JWT authorizer met an AWS signature, or the other way round",
        advice: "this runtime has a JWT authorizer and does not accept AWS signatures (or the \
                 other way round): set the option bearerToken to a token of its identity provider",
    },
    ServiceSituation {
        status: (401, 401),
        names: &[],
        mentions: "",
        when: "a bearer token is missing, expired or not that runtime's",
        advice: "this runtime wants a bearer token: set the option bearerToken to a valid, \
                 unexpired token of its identity provider",
    },
    ServiceSituation {
        status: (402, 402),
        names: &[],
        mentions: "",
        when: "a quota of the account is used up",
        advice: "a quota of the account is used up: see Service Quotas for Bedrock AgentCore",
    },
    ServiceSituation {
        status: (403, 403),
        names: &["ExpiredTokenException", "ExpiredToken"],
        mentions: "",
        when: "temporary credentials are past their end",
        advice: EXPIRED,
    },
    ServiceSituation {
        status: (403, 403),
        names: &["InvalidSignatureException", "SignatureDoesNotMatch"],
        mentions: "",
        when: "the secret key is wrong, or this machine's clock",
        advice: "the signature was refused: check the secret key and this machine's clock, which \
                 may be off by five minutes at most",
    },
    ServiceSituation {
        status: (403, 403),
        names: &["UnrecognizedClientException", "InvalidClientTokenId"],
        mentions: "",
        when: "the access key does not exist, or not in that partition",
        advice: "the AWS access key is not known: check the credentials and the region's \
                 partition",
    },
    ServiceSituation {
        status: (403, 403),
        names: &[],
        mentions: "",
        when: "the credentials may not do this",
        advice: "the credentials need the actions bedrock-agentcore:InvokeAgentRuntimeCommand and \
                 bedrock-agentcore:StopRuntimeSession on this runtime's ARN",
    },
    ServiceSituation {
        status: (404, 404),
        names: &[],
        mentions: "",
        when: "the runtime, its endpoint or (of a stop: counts as stopped) the session is not there, \
               or the runtime is older than command execution",
        advice: "check agentRuntimeArn, qualifier and region; a runtime made before command \
                 execution existed must be deployed anew",
    },
    ServiceSituation {
        status: (409, 409),
        names: &[],
        mentions: "",
        when: "the session is being started or stopped; tried again, up to maxAttempts",
        advice: "the session is being started or stopped: the same call works in a moment",
    },
    ServiceSituation {
        status: (424, 424),
        names: &[],
        mentions: "",
        when: "the container is cold, has crashed or does not answer /ping",
        advice: "the runtime's container is not ready, has crashed or does not answer /ping; on a \
                 session's first command that can be its cold start: look at the runtime's logs",
    },
    ServiceSituation {
        status: (429, 429),
        names: &[],
        mentions: "",
        when: "too many requests at once; tried again, up to maxAttempts",
        advice: "too many requests: fewer commands at once, or a higher quota",
    },
    ServiceSituation {
        status: (500, 599),
        names: &[],
        mentions: "",
        when: "the service failed",
        advice: "on a session's first command this can be its cold start; the command may have run",
    },
];

const EXPIRED: &str =
    "the AWS credentials have expired: renew them (aws sso login, or your role's session)";

/// What to do about what the service answered; empty when nothing is known.
pub fn service_advice(status: u16, name: &str, message: &str) -> &'static str {
    let message = message.to_ascii_lowercase();
    SERVICE_SITUATIONS
        .iter()
        .find(|known| {
            (known.status.0..=known.status.1).contains(&status)
                && (known.names.is_empty() || known.names.contains(&name))
                && message.contains(known.mentions)
        })
        .map_or("", |known| known.advice)
}

/// Whether a command that was answered with `status` may have been run.
pub fn may_have_run(status: u16) -> bool {
    // A refusal of the request itself, or one that proves that nothing was started.
    !((400..424).contains(&status) || status == 429)
}

/// The situation of a code of ours.
pub fn of_code(code: &str) -> Option<&'static Situation> {
    SITUATIONS
        .iter()
        .copied()
        .find(|situation| situation.code == code)
}

/// The table of the documentation, in Markdown.
pub fn table() -> String {
    let mut table = String::from(
        "| `code` | HTTP | when | may have run | what to do |\n|---|---|---|---|---|\n",
    );
    let yes = |may| if may { "yes" } else { "no" };
    for known in SERVICE_SITUATIONS {
        let names: Vec<String> = known.names.iter().map(|name| format!("`{name}`")).collect();
        let names = if names.is_empty() {
            "the service's name".to_owned()
        } else {
            names.join(", ")
        };
        let status = match known.status {
            (from, to) if from == to => from.to_string(),
            (from, to) => format!("{from}–{to}"),
        };
        let advice = if known.advice.is_empty() {
            "see the message"
        } else {
            known.advice
        };
        let _ = writeln!(
            table,
            "| {names} | {status} | {} | {} | {advice} |",
            known.when,
            yes(may_have_run(known.status.0)),
        );
    }
    for known in SITUATIONS {
        let _ = writeln!(
            table,
            "| `{}` | | {} | {} | {} |",
            known.code,
            known.when,
            yes(known.may_have_run),
            known.advice,
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_particular_row_comes_first() {
        let expired = service_advice(403, "ExpiredTokenException", "");
        assert!(expired.contains("expired"), "{expired}");
        let jwt = service_advice(
            403,
            "AccessDeniedException",
            "Authorization method mismatch.",
        );
        assert!(jwt.contains("bearerToken"), "{jwt}");
        assert!(service_advice(403, "AccessDeniedException", "").contains("actions"));
        assert_eq!(service_advice(418, "Teapot", ""), "");
    }

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = SITUATIONS.iter().map(|known| known.code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), SITUATIONS.len());
        assert!(of_code("TLS_FAILED").is_some() && of_code("NONE").is_none());
    }
}
