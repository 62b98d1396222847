//! Processes from `/proc`.

use std::io;

use super::ProcessEntry;

/// All processes alive; `marked` where the environment holds the variable `marker`
/// (`NAME=value`). Other users' environments cannot be read and count as unmarked.
pub(in crate::local) fn processes(variable: &str) -> io::Result<Vec<ProcessEntry>> {
    let mut entries = Vec::new();
    for directory in std::fs::read_dir("/proc")? {
        let Ok(directory) = directory else { continue };
        let Some(pid) = directory
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        // A process may end between any two reads: then it is no entry.
        let Ok(stat) = std::fs::read(directory.path().join("stat")) else {
            continue;
        };
        let Some((parent, group)) = parse_stat(&stat) else {
            continue;
        };
        let environment = std::fs::read(directory.path().join("environ")).unwrap_or_default();
        let marked = environment
            .split(|byte| *byte == 0)
            .any(|pair| pair == variable.as_bytes());
        entries.push(ProcessEntry {
            pid,
            parent,
            group,
            marked,
        });
    }
    Ok(entries)
}

/// Parent and group of a live process: `pid (name) state ppid pgrp …`, where the name may hold
/// anything, spaces and parentheses included.
fn parse_stat(stat: &[u8]) -> Option<(u32, u32)> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = std::str::from_utf8(&stat[after_name..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_mislead_and_zombies_do_not_count() {
        assert_eq!(parse_stat(b"12 (a) Z 1 (b)) S 7 9 9 0"), Some((7, 9)));
        assert_eq!(parse_stat(b"12 (\xFF) R 7 9 9 0"), Some((7, 9)));
        assert_eq!(parse_stat(b"12 (sh) Z 7 9 9 0"), None);
        assert_eq!(parse_stat(b"nonsense"), None);
    }

    #[test]
    fn this_process_is_among_them() {
        let own = std::process::id();
        let path = std::env::var("PATH").unwrap();
        let find = |marker: &str| {
            processes(marker)
                .unwrap()
                .into_iter()
                .find(|entry| entry.pid == own)
                .unwrap()
        };
        assert!(find(&format!("PATH={path}")).marked);
        assert!(!find(&format!("PATH={path}x")).marked);
    }
}
