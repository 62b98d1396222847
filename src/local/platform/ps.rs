//! Processes from `ps`, for macOS, which has no `/proc`.
//!
//! macOS hides the environment of its own protected programs: one of those that left both its
//! group and its parents is not found.

#[cfg(target_os = "macos")]
use std::io;

use super::ProcessEntry;

/// All processes alive; `marked` where the environment holds the variable `marker`.
#[cfg(target_os = "macos")]
pub(in crate::local) fn processes(marker: &str) -> io::Result<Vec<ProcessEntry>> {
    let output = std::process::Command::new("/bin/ps")
        .args(["-axEww", "-o", "pid=,ppid=,pgid=,stat=,command="])
        .stdin(std::process::Stdio::null())
        .output()?;
    Ok(parse(&String::from_utf8_lossy(&output.stdout), marker))
}

fn parse(listing: &str, marker: &str) -> Vec<ProcessEntry> {
    listing
        .lines()
        .filter_map(|line| parse_line(line, marker))
        .collect()
}

fn parse_line(line: &str, marker: &str) -> Option<ProcessEntry> {
    let mut words = line.split_ascii_whitespace();
    let mut number = || words.next()?.parse().ok();
    let (pid, parent, group) = (number()?, number()?, number()?);
    if words.next()?.starts_with('Z') {
        return None;
    }
    Some(ProcessEntry {
        pid,
        parent,
        group,
        marked: words.any(|word| word == marker),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ps_are_entries() {
        let listing = "    1     0     1 Ss   /sbin/launchd\n  77     1    70 S    sleep 9 A=1 M=x\n\
                       78 77 70 Z (sh)\n79 77 70 S+ sh M=xy\nnoise\n";
        let entry = |pid, parent, group, marked| ProcessEntry {
            pid,
            parent,
            group,
            marked,
        };
        let expected = [
            entry(1, 0, 1, false),
            entry(77, 1, 70, true),
            entry(79, 77, 70, false),
        ];
        assert_eq!(parse(listing, "M=x"), expected);
    }
}
