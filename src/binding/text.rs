//! Command text and strings.

use crate::command::{self, CommandRequest, PrivateEnv, SessionCheck};
use napi::JsString;
use napi::bindgen_prelude::{Env, Result};
use napi_derive::napi;

/// What a command's text is made from.
#[napi(object)]
pub struct BindingCommandSpec {
    pub command: String,
    pub args: Option<Vec<String>>,
    pub cwd: Option<String>,
    pub working_directory: Option<String>,
    /// Names and values, in order.
    pub env: Vec<Vec<String>>,
    /// The shell's path; none sends the text as it is.
    pub shell: Option<String>,
    /// Marks the command's processes, where they are to be killed on abort.
    pub marker: Option<String>,
    /// Where the command must find a known session.
    pub session: Option<BindingSessionCheck>,
    pub private: Option<BindingPrivateEnv>,
    /// A directory's plain name, where a command may be put that is too long for the wire.
    pub stage: Option<String>,
}

impl BindingSessionCheck {
    fn check(&self) -> SessionCheck<'_> {
        SessionCheck {
            file: &self.file,
            missing: &self.missing,
        }
    }
}

/// Encrypted variables.
#[napi(object)]
pub struct BindingPrivateEnv {
    pub names: Vec<String>,
    pub key_file: String,
    /// In Base64, as the words.
    pub key: String,
    pub words: String,
    /// Printed to stderr where they cannot be decrypted, with exit code 114.
    pub failed: String,
}

/// What tells a known session from a fresh one.
#[napi(object)]
pub struct BindingSessionCheck {
    pub file: String,
    /// Printed to stderr where there is no such file, with exit code 113.
    pub missing: String,
}

/// A command's text, as shown and as sent.
#[napi(object)]
pub struct BindingCommandText {
    pub displayed: String,
    /// Without the values of variables.
    pub logged: String,
    pub wire: String,
    pub staged: Option<BindingStaged>,
}

/// What a command that is too long for the wire reads from the session.
#[napi(object)]
pub struct BindingStaged {
    pub script: String,
    pub text: String,
}

/// Builds a command's text.
#[napi(catch_unwind)]
pub fn build_command(spec: BindingCommandSpec) -> Result<BindingCommandText> {
    let env: Vec<(String, String)> = spec
        .env
        .into_iter()
        .filter_map(|pair| {
            <[String; 2]>::try_from(pair)
                .ok()
                .map(|[name, value]| (name, value))
        })
        .collect();
    let text = command::build(&CommandRequest {
        command: &spec.command,
        args: spec.args.as_deref().unwrap_or_default(),
        cwd: spec.cwd.as_deref(),
        working_directory: spec.working_directory.as_deref(),
        env: &env,
        shell: spec.shell.as_deref(),
        marker: spec.marker.as_deref(),
        session: spec.session.as_ref().map(BindingSessionCheck::check),
        private: spec.private.as_ref().map(|private| PrivateEnv {
            names: &private.names,
            key_file: &private.key_file,
            key: &private.key,
            words: &private.words,
            failed: &private.failed,
        }),
        stage: spec.stage.as_deref(),
    })
    .map_err(|error| {
        let kind = if error.is_range() { "RangeError: " } else { "" };
        napi::Error::from_reason(format!("{kind}{error}"))
    })?;
    Ok(BindingCommandText {
        displayed: text.displayed,
        logged: text.logged,
        wire: text.wire,
        staged: text.staged.map(|staged| BindingStaged {
            script: staged.script,
            text: staged.text,
        }),
    })
}

/// The command line that runs a script of ours in `shell`, with stdin closed.
#[napi(catch_unwind)]
pub fn script_command(
    shell: String,
    script: String,
    session: Option<BindingSessionCheck>,
) -> String {
    let check = session.map_or_else(String::new, |session| session.check().line());
    command::wrapper::wrap(&shell, &format!("exec </dev/null\n{check}{script}"))
}

/// One word of a script of ours: in double quotes where that does, for a script without `'` goes
/// over the wire as it is.
#[napi(catch_unwind)]
pub fn script_word(text: String) -> String {
    let word = if text.contains('\'') {
        command::quote(&text)
    } else {
        command::quote::double_quote(&text)
    };
    word.into_owned()
}

/// The directory that a command runs in.
#[napi(catch_unwind)]
pub fn resolve_directory(cwd: Option<String>, working_directory: Option<String>) -> Option<String> {
    command::cwd::resolve(cwd.as_deref(), working_directory.as_deref())
}

/// The variable that carries a command's mark.
#[napi(catch_unwind)]
pub fn marker_variable() -> &'static str {
    command::MARKER_VARIABLE
}

/// The longest command that the service takes, in bytes.
#[napi(catch_unwind)]
pub fn max_command_bytes() -> u32 {
    u32::try_from(command::MAX_COMMAND_BYTES).unwrap_or(u32::MAX)
}

/// Makes one shell word of `text`, as commands' arguments are quoted.
#[napi(catch_unwind)]
pub fn quote(text: String) -> String {
    command::quote(&text).into_owned()
}

/// The text of the command that kills the processes marked `marker`, for a client that
/// sends it itself.
#[napi(catch_unwind)]
pub fn kill_command(shell: String, marker: String, begun: bool) -> String {
    command::kill(&shell, &marker, begun)
}

/// A JavaScript string of `text`. V8 copies one-byte text as it is; UTF-8 it must decode.
pub(super) fn js_string<'env>(env: &'env Env, text: &[u8]) -> Result<JsString<'env>> {
    if text.is_ascii() {
        env.create_string_latin1(text)
    } else {
        env.create_string(String::from_utf8_lossy(text))
    }
}

/// UTF-16 → UTF-8, but for lone surrogates, which take three bytes each: the other half
/// may come with the next event.
pub(super) fn wtf8(units: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(units.len());
    for unit in char::decode_utf16(units.iter().copied()) {
        match unit {
            Ok(character) => {
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Err(lone) => {
                let [high, low] = lone.unpaired_surrogate().to_be_bytes();
                bytes.extend_from_slice(&[
                    0xE0 | (high >> 4),
                    0x80 | ((high & 0x0F) << 2) | (low >> 6),
                    0x80 | (low & 0x3F),
                ]);
            }
        }
    }
    bytes
}

/// A random UUID, as text. Importing `node:crypto` for it would cost as much as the addon.
#[napi(catch_unwind)]
pub fn random_uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}
