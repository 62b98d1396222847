//! The command that ends what another command started.
//!
//! The script is `kill.sh`; it needs `/proc` and a POSIX shell, and uses `grep` where that can
//! search environments.

use super::wrapper::wrap;

/// The variable that carries a command's mark, in its processes' environment.
pub const MARKER_VARIABLE: &str = "MASTRA_AGENTCORE_COMMAND";

const SCRIPT: &str = include_str!("kill.sh");

/// The file that tells a command which has not begun yet that it is cancelled.
pub(super) fn cancellation_note(marker: &str) -> String {
    format!("/tmp/.mastra-agentcore-cancelled-{marker}")
}

/// The text on the wire of the command that kills the processes marked `marker`. Unless
/// the command has `begun` for sure, it also waits for one that begins late.
pub fn kill(shell: &str, marker: &str, begun: bool) -> String {
    let mut script = format!(
        "marker={MARKER_VARIABLE}={marker}\nnote={}\nbegun={}\n",
        cancellation_note(marker),
        if begun { "1" } else { "" }
    );
    let lines = SCRIPT.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        script.push_str(line);
        script.push('\n');
    }
    wrap(shell, &script)
}
