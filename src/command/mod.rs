//! Request → command text. Pure: no I/O, no clock.
//!
//! - [`quote`](mod@quote) makes a shell word of a string;
//! - [`env`] checks variables' names;
//! - [`cwd`] says which directory is meant;
//! - [`script`] is what a shell shall do;
//! - [`wrapper`] carries a script through every reading of a command line;
//! - [`kill`](mod@kill) ends what a command started.
//!
//! A command has two texts. The *displayed* one, `cd DIR && K=V COMMAND`, is what
//! `@mastra/agentcore` sends and what people read. The *wire* text is sent instead, because
//! the service runs no shell and never closes stdin: there the displayed one would look for
//! a program called `cd`.

pub mod cwd;
pub mod env;
pub mod kill;
pub mod quote;
pub mod script;
pub mod wrapper;

pub use kill::{MARKER_VARIABLE, kill};
pub use quote::quote;
pub use script::{PRIVATE_UNREADABLE, PrivateEnv, SESSION_MISSING, SessionCheck, Staged};

use std::borrow::Cow;
use std::fmt;

/// The longest command that the service takes. Whether it counts bytes or characters is
/// not documented; bytes are the stricter reading.
pub const MAX_COMMAND_BYTES: usize = 65_536;

/// What a command's texts are made from.
#[derive(Debug, Clone, Copy, Default)]
pub struct CommandRequest<'a> {
    /// Shell text, or with `args` the program.
    pub command: &'a str,
    /// Words, to arrive as they are.
    pub args: &'a [String],
    /// The directory of this command; empty counts as none.
    pub cwd: Option<&'a str>,
    /// The directory of all commands; empty counts as none.
    pub working_directory: Option<&'a str>,
    /// Variables, in order.
    pub env: &'a [(String, String)],
    /// The shell's path; without one the displayed text is sent.
    pub shell: Option<&'a str>,
    /// Marks the command's processes, so that [`kill`](fn@kill) finds them.
    pub marker: Option<&'a str>,
    /// Lets the command only run in a session that has this file.
    pub session: Option<SessionCheck<'a>>,
    /// Variables that only the session can read; needs a shell.
    pub private: Option<PrivateEnv<'a>>,
    /// Where a command that is too long for the wire may be put: a directory's plain name. Needs
    /// a shell.
    pub stage: Option<&'a str>,
}

/// A command's two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandText {
    /// What people read.
    pub displayed: String,
    /// What people read in a log: without the values of variables.
    pub logged: String,
    /// What is sent.
    pub wire: String,
    /// What must be in the session before; most commands need nothing.
    pub staged: Option<Staged>,
}

/// Why a request has no command text. No value of a variable stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandTextError {
    /// There is no command.
    Empty,
    /// A NUL, which no process can be given, in what is named.
    Nul(&'static str),
    /// A name that no variable can have.
    EnvName(String),
    /// More bytes on the wire than the service takes.
    TooLong {
        /// Bytes on the wire.
        wire: usize,
        /// Bytes of the displayed command.
        displayed: usize,
    },
}

impl CommandTextError {
    /// Whether JavaScript should see a `RangeError`.
    pub fn is_range(&self) -> bool {
        !matches!(self, Self::EnvName(_))
    }
}

impl fmt::Display for CommandTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("AgentCore Runtime command must not be empty"),
            Self::Nul(what) => {
                write!(
                    f,
                    "AgentCore Runtime command must not contain a NUL character ({what})"
                )
            }
            Self::EnvName(name) => write!(
                f,
                "Invalid environment variable name for AgentCore Runtime command: {name}"
            ),
            Self::TooLong { wire, displayed } => write!(
                f,
                "AgentCore Runtime command must be at most {MAX_COMMAND_BYTES} bytes on the wire: \
                 this one takes {wire} (the command itself {displayed}). Put long text into a \
                 file in the session and run that"
            ),
        }
    }
}

impl std::error::Error for CommandTextError {}

/// Builds both texts of a command.
///
/// # Errors
/// [`CommandTextError`], before anything is sent.
pub fn build(request: &CommandRequest<'_>) -> Result<CommandText, CommandTextError> {
    check(request)?;
    let user_text = user_text(request.command, request.args);
    let displayed = shown(request, &user_text, |value| quote(value));
    let logged = shown(request, &user_text, |_| Cow::Borrowed("***"));
    let (wire, staged) = wire(request, &user_text, &displayed)?;
    Ok(CommandText {
        displayed,
        logged,
        wire,
        staged,
    })
}

fn wire(
    request: &CommandRequest<'_>,
    user_text: &str,
    displayed: &str,
) -> Result<(String, Option<Staged>), CommandTextError> {
    let script = request.shell.map(|shell| script::Script {
        shell,
        directory: cwd::resolve(request.cwd, request.working_directory),
        env: request.env,
        private: request.private,
        marker: request.marker,
        session: request.session,
        user_text,
    });
    let wire = script
        .as_ref()
        .map_or_else(|| displayed.to_owned(), script::Script::to_wire);
    if wire.len() <= MAX_COMMAND_BYTES {
        return Ok((wire, None));
    }
    if let (Some(script), Some(directory)) = (script, request.stage) {
        let (wire, staged) = script.to_staged(directory);
        return Ok((wire, Some(staged)));
    }
    Err(CommandTextError::TooLong {
        wire: wire.len(),
        displayed: displayed.len(),
    })
}

fn check(request: &CommandRequest<'_>) -> Result<(), CommandTextError> {
    if request.command.trim().is_empty() {
        return Err(CommandTextError::Empty);
    }
    for (name, _) in request.env {
        if !env::is_name(name) {
            return Err(CommandTextError::EnvName(name.clone()));
        }
    }
    let nul = |text: &str| text.contains('\0');
    let found = if nul(request.command) {
        Some("in the command")
    } else if request.args.iter().any(|arg| nul(arg)) {
        Some("in an argument")
    } else if [request.cwd, request.working_directory]
        .into_iter()
        .flatten()
        .any(nul)
    {
        Some("in the working directory")
    } else if request.env.iter().any(|(_, value)| nul(value)) {
        Some("in the value of an environment variable")
    } else {
        None
    };
    found.map_or(Ok(()), |what| Err(CommandTextError::Nul(what)))
}

fn user_text(command: &str, args: &[String]) -> String {
    let mut text = command.to_owned();
    for arg in args {
        text.push(' ');
        text.push_str(&quote(arg));
    }
    text
}

fn shown<'a>(
    request: &CommandRequest<'a>,
    user_text: &str,
    value_text: impl Fn(&'a str) -> Cow<'a, str>,
) -> String {
    let mut text = String::new();
    if let Some(directory) = cwd::given(request.cwd, request.working_directory) {
        text.push_str("cd ");
        text.push_str(&quote(directory));
        text.push_str(" && ");
    }
    for (name, value) in request.env {
        text.push_str(name);
        text.push('=');
        text.push_str(&value_text(value));
        text.push(' ');
    }
    for name in request.private.map_or(&[][..], |private| private.names) {
        text.push_str(name);
        text.push_str("=*** ");
    }
    text.push_str(user_text);
    text
}
