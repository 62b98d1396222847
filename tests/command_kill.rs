//! The kill, on real processes: the whole tree, no one else, and a command that has not
//! begun yet.
#![cfg(target_os = "linux")]

use mastra_agentcore::command::{CommandRequest, build, kill};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use uuid::Uuid;

const SHELLS: &[&str] = &["/bin/dash", "/bin/bash"];

fn shells() -> Vec<String> {
    let mut shells: Vec<String> = SHELLS.iter().map(|&shell| shell.to_owned()).collect();
    let busybox = ["/bin/busybox", "/usr/bin/busybox"]
        .into_iter()
        .find(|p| Path::new(p).exists());
    if let Some(busybox) = busybox {
        let directory = std::env::temp_dir().join(format!("agentcore-kill-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let ash = directory.join("ash");
        let _ = std::os::unix::fs::symlink(busybox, &ash);
        shells.push(ash.to_str().expect("plain").to_owned());
    } else {
        assert!(std::env::var_os("CI").is_none(), "apt-get install busybox");
    }
    shells
}

/// Runs a command line as the service does.
fn service(wire: &str) -> Child {
    Command::new("/bin/sh")
        .args(["-c", wire])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("a shell")
}

fn command(shell: &str, marker: &str, text: &str) -> Child {
    let request = CommandRequest {
        command: text,
        args: &[],
        cwd: None,
        working_directory: None,
        env: &[],
        shell: Some(shell),
        marker: Some(marker),
        ..CommandRequest::default()
    };
    service(&build(&request).expect("a command").wire)
}

fn alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .trim_start()
            .starts_with('Z')
    })
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "not within 10 s: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

struct Files(PathBuf);

impl Files {
    fn new() -> Self {
        let directory = std::env::temp_dir().join(format!("agentcore-kill-{}", Uuid::new_v4()));
        std::fs::create_dir(&directory).expect("a directory");
        Self(directory)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("plain").to_owned()
    }

    fn exists(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    /// The pid that a process wrote.
    fn pid(&self, name: &str) -> i32 {
        let mut pid = 0;
        wait_until(name, || {
            pid = std::fs::read_to_string(self.0.join(name))
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .unwrap_or(0);
            pid != 0
        });
        pid
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn note(marker: &str) -> PathBuf {
    PathBuf::from(format!("/tmp/.mastra-agentcore-cancelled-{marker}"))
}

#[test]
fn the_whole_tree_dies_and_no_shell_goes_on() {
    for shell in shells() {
        let (files, marker) = (Files::new(), Uuid::new_v4().to_string());
        let other_marker = Uuid::new_v4().to_string();
        let (own, left, cleared, bystander) = (
            files.path("own"),
            files.path("left"),
            files.path("cleared"),
            files.path("bystander"),
        );
        // One that left the group, one that also cleared its environment, and a shell that
        // would go on as soon as its child dies.
        let text = format!(
            "setsid sh -c 'echo $$ >{left}; exec sleep 60' &\n\
             env -i /bin/sh -c 'echo $$ >{cleared}; exec /bin/sleep 60' &\n\
             sh -c 'echo $$ >{own}; exec sleep 60'\n\
             echo went on >{}\n",
            files.path("went-on")
        );
        let mut killed = command(&shell, &marker, &text);
        let mut other = command(
            &shell,
            &other_marker,
            &format!("echo $$ >{bystander}; exec sleep 60"),
        );
        let pids = ["own", "left", "cleared"].map(|name| files.pid(name));
        let bystander = files.pid("bystander");

        let started = Instant::now();
        let status = service(&kill(&shell, &marker, true))
            .wait()
            .expect("a status");
        assert!(status.success(), "{shell}: {status}");
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{shell}: {:?}",
            started.elapsed()
        );

        for pid in pids {
            wait_until("death", || !alive(pid));
        }
        killed.wait().expect("ended");
        assert!(!files.exists("went-on"), "{shell}");
        assert!(!note(&marker).exists(), "{shell}: the note stays behind");
        assert!(alive(bystander), "{shell}: another command's process");
        assert!(
            service(&kill(&shell, &other_marker, true))
                .wait()
                .expect("a status")
                .success()
        );
        wait_until("death", || !alive(bystander));
        other.wait().expect("ended");
    }
}

#[test]
fn a_command_that_has_not_begun_finds_itself_cancelled() {
    for shell in shells() {
        let (files, marker) = (Files::new(), Uuid::new_v4().to_string());
        let mut kill = service(&kill(&shell, &marker, false));
        wait_until("the note", || note(&marker).exists());
        let text = format!("echo ran >{}", files.path("ran"));
        let status = command(&shell, &marker, &text).wait().expect("a status");
        // Cancelled by itself, or killed on the way there.
        assert!(!status.success(), "{shell}");
        assert!(kill.wait().expect("a status").success(), "{shell}");
        assert!(!files.exists("ran"), "{shell}");
        assert!(!note(&marker).exists(), "{shell}: the note stays behind");
    }
}

#[test]
fn a_command_that_ended_costs_no_wait() {
    for shell in shells() {
        let marker = Uuid::new_v4().to_string();
        assert!(
            command(&shell, &marker, "true")
                .wait()
                .expect("a status")
                .success()
        );
        let started = Instant::now();
        assert!(
            service(&kill(&shell, &marker, true))
                .wait()
                .expect("a status")
                .success()
        );
        assert!(started.elapsed() < Duration::from_secs(5), "{shell}");
    }
}

#[test]
fn a_command_whose_variables_and_names_are_odd_is_found() {
    for shell in shells() {
        let (files, marker) = (Files::new(), Uuid::new_v4().to_string());
        // A process name with a parenthesis and a space, variables with newlines.
        let odd = files.path("odd) S 1");
        std::fs::copy("/bin/sleep", &odd).expect("a copy");
        let env = [
            ("A".to_owned(), "line\nline\n\n".to_owned()),
            ("B".to_owned(), ") R 1".to_owned()),
        ];
        let text = format!("'{odd}' 60 & echo $! >{}; wait", files.path("pid"));
        let request = CommandRequest {
            command: &text,
            args: &[],
            cwd: None,
            working_directory: None,
            env: &env,
            shell: Some(&shell),
            marker: Some(&marker),
            ..CommandRequest::default()
        };
        let mut child = service(&build(&request).expect("a command").wire);
        let pid = files.pid("pid");
        assert!(
            service(&kill(&shell, &marker, true))
                .wait()
                .expect("a status")
                .success()
        );
        wait_until("death", || !alive(pid));
        child.wait().expect("ended");
    }
}
