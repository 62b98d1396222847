//! What a shell does to give a command its meaning, before and around the user's text:
//!
//! 1. it closes stdin, which the service holds open for ever;
//! 2. where the session must be a known one, it ends unless that has its file;
//! 3. it changes the directory, or ends with that failure's status;
//! 4. it hands over to `env`, which gives the variables to the process: a shell that
//!    exports them refuses some names (`UID`) and changes its own ways with others (`IFS`);
//! 5. the user's text is an argument of a shell of its own, so that nothing around it can
//!    change its meaning, nor it the meaning of what is around it. Text that is too long for an
//!    argument is read from a file by that shell.
//!
//! Private variables come encrypted: what decrypts to `NAME=value` words stands before `env`.
//!
//! Where the command is to be killed on abort, the variables include its mark, and only a
//! process that has the mark looks whether it was cancelled. The kill leaves its note first
//! and looks for marked processes then: whichever comes later sees the other.

use super::kill::{MARKER_VARIABLE, cancellation_note};
use super::quote::{double_quote, quote};
use super::wrapper::wrap;
use std::borrow::Cow;
use std::fmt::Write;

/// The parts of a script.
#[derive(Debug)]
pub struct Script<'a> {
    /// The shell's path, plain characters only.
    pub shell: &'a str,
    /// The directory, as `cd` takes it.
    pub directory: Option<String>,
    /// Variables, in order.
    pub env: &'a [(String, String)],
    /// Variables that only the session can read.
    pub private: Option<PrivateEnv<'a>>,
    /// The command's mark.
    pub marker: Option<&'a str>,
    /// What tells whether the session is the one that is meant.
    pub session: Option<SessionCheck<'a>>,
    /// The user's text.
    pub user_text: &'a str,
}

/// A file that a session was given tells it from the fresh one that follows when it ended.
#[derive(Debug, Clone, Copy)]
pub struct SessionCheck<'a> {
    /// The file's name, plain characters only; it lies where temporary files do.
    pub file: &'a str,
    /// The line that a command prints to stderr instead, where there is no such file.
    pub missing: &'a str,
}

impl SessionCheck<'_> {
    /// The line of a script that ends it where there is no such file.
    pub fn line(&self) -> String {
        let Self { file, missing } = self;
        format!(
            "[ -e \"${{TMPDIR:-/tmp}}/{file}\" ] || {{ echo {missing} >&2; exit {SESSION_MISSING}; }}\n"
        )
    }
}

/// Variables for the holder of a private key in the session: quoted `NAME=value` words,
/// encrypted with AES-256-CTR under a key of their own, that with RSA-OAEP (SHA-256).
#[derive(Debug, Clone, Copy)]
pub struct PrivateEnv<'a> {
    /// The variables' names, for the displayed text.
    pub names: &'a [String],
    /// The private key's file; its name is plain and it lies where temporary files do.
    pub key_file: &'a str,
    /// The encrypted key, in Base64.
    pub key: &'a str,
    /// The encrypted words, in Base64.
    pub words: &'a str,
    /// The line that a command prints to stderr instead, where they can't be decrypted.
    pub failed: &'a str,
}

/// The exit code of a command that found no file of its session.
pub const SESSION_MISSING: i32 = 113;
/// The exit code of a command that could not decrypt its private variables.
pub const PRIVATE_UNREADABLE: i32 = 114;

/// A command whose script lies in files of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staged {
    /// The script, for the file `script`.
    pub script: String,
    /// The user's text, for the file `text`.
    pub text: String,
}

impl Script<'_> {
    /// The script in its wrapper.
    pub fn to_wire(&self) -> String {
        // Without a `'` in any part, double quotes keep the script free of them, and the
        // wrapper carries it as it is: shorter, and readable in the service's log.
        let parts = self.env.iter().map(|(_, value)| value.as_str());
        let mut parts = parts
            .chain(self.directory.as_deref())
            .chain([self.user_text]);
        let text = if parts.any(|part| part.contains('\'')) {
            self.text(&|part| quote(part), None)
        } else {
            self.text(&|part| double_quote(part), None)
        };
        wrap(self.shell, &text)
    }

    /// The command that runs the script from `directory`, which lies where temporary files do
    /// and has a plain name, and the files that it needs.
    pub fn to_staged(&self, directory: &str) -> (String, Staged) {
        let place = format!("${{TMPDIR:-/tmp}}/{directory}");
        let staged = Staged {
            script: self.text(&|part| quote(part), Some(&place)),
            text: self.user_text.to_owned(),
        };
        let run = format!("exec {} \"{place}/script\"", self.shell);
        (wrap(self.shell, &run), staged)
    }

    /// `place`: where the user's text is read from, when it is no part of the script.
    fn text(&self, quote: &dyn Fn(&str) -> Cow<'_, str>, place: Option<&str>) -> String {
        let mut text = String::from("exec </dev/null\n");
        if let Some(session) = self.session {
            text.push_str(&session.line());
        }
        if let Some(private) = &self.private {
            private.decrypt(&mut text);
        }
        if let Some(directory) = &self.directory {
            let _ = writeln!(text, "cd {} || exit", quote(directory));
        }
        let words = self.words(quote, place);
        if self.private.is_some() {
            let _ = write!(
                text,
                "set -- {words}\neval \"exec env $private \\\"\\$@\\\"\""
            );
        } else if self.env.is_empty() && self.marker.is_none() {
            let _ = write!(text, "exec {words}");
        } else {
            let _ = write!(text, "exec env {words}");
        }
        text
    }

    /// Variables, and the shell that runs the user's text.
    fn words(&self, quote: &dyn Fn(&str) -> Cow<'_, str>, place: Option<&str>) -> String {
        let Self { shell, .. } = self;
        let mut words = String::new();
        for (name, value) in self.env {
            let _ = write!(words, "{name}={} ", quote(value));
        }
        let run = match place {
            None => format!("exec {shell} -c \"$1\""),
            // As long as it is, and with the standard cat, whatever PATH the user gave.
            Some(_) => "eval \"set --\n$(command -p cat \"$1\")\"".to_owned(),
        };
        if let Some(marker) = self.marker {
            let note = cancellation_note(marker);
            let check = format!("[ ! -e {note} ] || {{ rm -f {note}; exit 137; }}\n{run}");
            let _ = write!(
                words,
                "{MARKER_VARIABLE}={marker} {shell} -c {} {shell} ",
                quote(&check)
            );
        } else if place.is_some() {
            let _ = write!(words, "{shell} -c {} {shell} ", quote(&run));
        } else {
            let _ = write!(words, "{shell} -c ");
        }
        match place {
            None => words.push_str(&quote(self.user_text)),
            Some(place) => {
                let _ = write!(words, "\"{place}/text\"");
            }
        }
        words
    }
}

impl PrivateEnv<'_> {
    /// Sets `$private` to the words, or ends.
    fn decrypt(&self, text: &mut String) {
        let Self {
            key_file,
            key,
            words,
            failed,
            ..
        } = self;
        let fail = format!("{{ echo {failed} >&2; exit {PRIVATE_UNREADABLE}; }}");
        let _ = write!(
            text,
            "key=$(echo {key} | openssl base64 -d -A 2>/dev/null | openssl pkeyutl -decrypt \
             -inkey \"${{TMPDIR:-/tmp}}/{key_file}\" -pkeyopt rsa_padding_mode:oaep \
             -pkeyopt rsa_oaep_md:sha256 2>/dev/null) && [ ${{#key}} -eq 64 ] || {fail}\n\
             private=$(echo {words} | openssl enc -d -aes-256-ctr -base64 -A -K $key \
             -iv 00000000000000000000000000000000 2>/dev/null) || {fail}\n"
        );
    }
}
