//! Carries a script through every reading of a command line: words that are executed,
//! words as POSIX splits them, or text for a real shell.

use std::fmt::Write;

/// The command line that runs `script` in `shell`.
///
/// All readings take `'…'` verbatim, and whether adjacent quoted pieces join is not known:
/// a script with a `'` in it is therefore written without any of the characters that a
/// reading could touch, for `printf` to restore.
pub fn wrap(shell: &str, script: &str) -> String {
    if !script.contains('\'') {
        return format!("{shell} -c '{script}'");
    }
    let mut encoded = String::with_capacity(script.len() * 2);
    for character in script.chars() {
        match character {
            '\'' | '"' | '\\' | '$' | '`' | '%' => {
                let _ = write!(encoded, "\\{:03o}", u32::from(character));
            }
            _ => encoded.push(character),
        }
    }
    format!("{shell} -c 'eval \"$(printf \"{encoded}\")\"'")
}
