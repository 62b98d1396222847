//! Ends every process of a session, those that daemonised included.
//!
//! A process belongs to the session if its environment holds the session's marker, if it is in
//! the group of one of its commands, or if it descends from one that does. A process that cleared
//! its environment, left its group and outlived its parents is beyond reach.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use super::platform::{self, ProcessEntry};

/// How long processes may keep appearing or refuse to go.
const LIMIT: Duration = Duration::from_secs(10);

/// Kills until nothing of the session is left. Blocks, usually for some milliseconds.
pub(super) fn kill_all(marker: &str, groups: &[u32]) -> io::Result<()> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let victims = victims(&platform::processes(marker)?, groups, std::process::id());
        if victims.is_empty() {
            return Ok(());
        }
        if start.elapsed() > LIMIT {
            let message = format!("{} processes of the session cannot be ended", victims.len());
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        for pid in victims {
            platform::kill_process(pid);
        }
        // Killed is not gone yet, and what a process started meanwhile is seen next time.
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn victims(processes: &[ProcessEntry], groups: &[u32], own: u32) -> HashSet<u32> {
    let mut victims: HashSet<u32> = processes
        .iter()
        .filter(|process| process.marked || groups.contains(&process.group))
        .map(|process| process.pid)
        .collect();
    loop {
        let before = victims.len();
        for process in processes {
            if victims.contains(&process.parent) {
                victims.insert(process.pid);
            }
        }
        if victims.len() == before {
            break;
        }
    }
    victims.remove(&own);
    victims
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent: u32, group: u32, marked: bool) -> ProcessEntry {
        ProcessEntry {
            pid,
            parent,
            group,
            marked,
        }
    }

    #[test]
    fn marked_grouped_and_descended_processes_are_found_and_no_others() {
        let processes = [
            // A child listed before its parent, which is itself only a descendant.
            process(14, 13, 14, false),
            process(13, 12, 13, false),
            process(12, 1, 12, true),
            process(20, 1, 50, false),
            process(30, 1, 30, false),
            process(99, 12, 99, true),
        ];
        let found = victims(&processes, &[50], 99);
        assert_eq!(found, HashSet::from([12, 13, 14, 20]));
    }
}
