//! What a shell does to give a command its meaning, before and around the user's text:
//!
//! 1. it closes stdin, which the service holds open for ever;
//! 2. it changes the directory, or ends with that failure's status;
//! 3. it hands over to `env`, which gives the variables to the process: a shell that
//!    exports them refuses some names (`UID`) and changes its own ways with others (`IFS`);
//! 4. the user's text is an argument of a shell of its own, so that nothing around it can
//!    change its meaning, nor it the meaning of what is around it.
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
    /// The command's mark.
    pub marker: Option<&'a str>,
    /// The user's text.
    pub user_text: &'a str,
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
            self.text(&|part| quote(part))
        } else {
            self.text(&|part| double_quote(part))
        };
        wrap(self.shell, &text)
    }

    fn text(&self, quote: &dyn Fn(&str) -> Cow<'_, str>) -> String {
        let Self {
            shell,
            directory,
            env,
            marker,
            user_text,
        } = self;
        let mut text = String::from("exec </dev/null\n");
        if let Some(directory) = directory {
            let _ = writeln!(text, "cd {} || exit", quote(directory));
        }
        text.push_str("exec ");
        if !env.is_empty() || marker.is_some() {
            text.push_str("env ");
        }
        for (name, value) in *env {
            let _ = write!(text, "{name}={} ", quote(value));
        }
        if let Some(marker) = marker {
            let note = cancellation_note(marker);
            let check =
                format!("[ ! -e {note} ] || {{ rm -f {note}; exit 137; }}\nexec {shell} -c \"$1\"");
            let _ = write!(
                text,
                "{MARKER_VARIABLE}={marker} {shell} -c {} {shell} ",
                quote(&check)
            );
        } else {
            let _ = write!(text, "{shell} -c ");
        }
        text.push_str(&quote(user_text));
        text
    }
}
