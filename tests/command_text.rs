//! Command text: the displayed form to the letter, and the same meaning on the wire under
//! every reading of a command line, in every shell.

use mastra_agentcore::command::{
    CommandRequest, CommandTextError, PRIVATE_UNREADABLE, PrivateEnv, SESSION_MISSING,
    SessionCheck, build,
};
use proptest::prelude::*;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn request<'a>(command: &'a str, args: &'a [String]) -> CommandRequest<'a> {
    CommandRequest {
        command,
        args,
        cwd: None,
        working_directory: None,
        env: &[],
        shell: Some("/bin/sh"),
        marker: None,
        ..CommandRequest::default()
    }
}

fn pairs(env: &[(&str, &str)]) -> Vec<(String, String)> {
    env.iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn strings(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

mod displayed {
    use super::*;

    #[test]
    fn directory_variables_command_arguments() {
        let (args, env) = (strings(&["test"]), pairs(&[("NODE_ENV", "test")]));
        let text = build(&CommandRequest {
            cwd: Some("/workspace/app"),
            working_directory: Some("/srv"),
            env: &env,
            shell: None,
            ..request("npm", &args)
        })
        .expect("a command");
        assert_eq!(
            text.displayed,
            "cd /workspace/app && NODE_ENV=test npm test"
        );
        assert_eq!(text.wire, text.displayed);
        assert_eq!(text.logged, "cd /workspace/app && NODE_ENV=*** npm test");
    }

    #[test]
    fn is_the_same_in_every_mode() {
        let env = pairs(&[("A", "b c"), ("D", "")]);
        let of = |shell, marker| {
            let request = CommandRequest {
                working_directory: Some("/srv/my app"),
                env: &env,
                shell,
                marker,
                ..request("echo $A; ls", &[])
            };
            build(&request).expect("a command").displayed
        };
        let expected = "cd '/srv/my app' && A='b c' D='' echo $A; ls";
        assert_eq!(of(None, None), expected);
        assert_eq!(of(Some("/bin/sh"), None), expected);
        assert_eq!(of(Some("/bin/bash"), Some("m")), expected);
    }
}

mod refused {
    use super::*;

    #[test]
    fn before_anything_is_sent() {
        let nul_args = strings(&["a\0"]);
        let nul_env = pairs(&[("A", "secret\0")]);
        let bad_env = pairs(&[("A-B", "secret")]);
        let cases = [
            (request("", &[]), "must not be empty"),
            (request(" \n", &[]), "must not be empty"),
            (request("a\0b", &[]), "NUL character (in the command)"),
            (request("a", &nul_args), "(in an argument)"),
            (
                CommandRequest {
                    cwd: Some("/\0"),
                    ..request("a", &[])
                },
                "(in the working directory)",
            ),
            (
                CommandRequest {
                    env: &nul_env,
                    ..request("a", &[])
                },
                "(in the value of an environment variable)",
            ),
            (
                CommandRequest {
                    env: &bad_env,
                    ..request("a", &[])
                },
                "Invalid environment variable name for AgentCore Runtime command: A-B",
            ),
        ];
        for (request, sentence) in cases {
            let error = build(&request).expect_err(sentence).to_string();
            assert!(error.contains(sentence), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn past_the_services_limit_of_bytes() {
        let longest = "x".repeat(65_536);
        let wire = CommandRequest {
            shell: None,
            ..request(&longest, &[])
        };
        assert_eq!(build(&wire).expect("just short enough").wire.len(), 65_536);
        let longer = "é".repeat(32_769);
        let error = build(&CommandRequest {
            shell: None,
            ..request(&longer, &[])
        });
        assert_eq!(
            error,
            Err(CommandTextError::TooLong {
                wire: 65_538,
                displayed: 65_538
            })
        );
        let error = build(&request(&longest, &[])).expect_err("the wrapper counts");
        assert!(error.is_range() && error.to_string().contains("65536 bytes on the wire"));
    }
}

/// The splitter of the service: white space; `'…'` verbatim; in `"…"` only `\"` and `\\` are
/// escapes. `join`: adjacent quoted pieces are one word.
fn service_words(line: &str, join: bool) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                word.extend(characters.by_ref().take_while(|c| *c != '\''));
                quoted = true;
            }
            '"' => {
                while let Some(inner) = characters.next().filter(|c| *c != '"') {
                    match (inner, characters.peek()) {
                        ('\\', Some('"' | '\\')) => word.extend(characters.next()),
                        _ => word.push(inner),
                    }
                }
                quoted = true;
            }
            ' ' | '\t' | '\n' => {
                if quoted || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                quoted = false;
                continue;
            }
            other => {
                word.push(other);
                continue;
            }
        }
        if !join {
            words.push(std::mem::take(&mut word));
            quoted = false;
        }
    }
    if quoted || !word.is_empty() {
        words.push(word);
    }
    words
}

/// Words as POSIX splits and unquotes them, without expansion.
fn posix_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut open) = (Vec::new(), String::new(), false);
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                word.extend(characters.by_ref().take_while(|c| *c != '\''));
                open = true;
            }
            '"' => {
                while let Some(inner) = characters.next().filter(|c| *c != '"') {
                    match inner {
                        '\\' => match characters.next() {
                            Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                            other => {
                                word.push('\\');
                                word.extend(other);
                            }
                        },
                        _ => word.push(inner),
                    }
                }
                open = true;
            }
            '\\' => {
                word.extend(characters.next());
                open = true;
            }
            ' ' | '\t' | '\n' => {
                if open || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            _ => word.push(character),
        }
    }
    if open || !word.is_empty() {
        words.push(word);
    }
    words
}

/// The shells to try, each under a path that the option `shell` takes.
fn shells() -> Vec<(&'static str, String)> {
    let mut shells = vec![
        ("dash", "/bin/dash".to_owned()),
        ("bash", "/bin/bash".to_owned()),
    ];
    // busybox is a shell when it is called `ash`.
    let link = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command-text-busybox");
    let busybox = ["/bin/busybox", "/usr/bin/busybox"]
        .into_iter()
        .find(|p| Path::new(p).exists());
    match busybox {
        Some(busybox) => {
            let directory = link.join("bin");
            std::fs::create_dir_all(&directory).expect("a temporary directory");
            let ash = directory.join("ash");
            let _ = std::os::unix::fs::symlink(busybox, &ash);
            shells.push(("busybox", ash.to_str().expect("plain").to_owned()));
        }
        None => assert!(
            std::env::var_os("CI").is_none(),
            "busybox is not installed: apt-get install busybox"
        ),
    }
    shells
}

fn run(program: &str, args: &[String], directory: &Path, env: &[(String, String)]) -> Output {
    let variables = env
        .iter()
        .map(|(n, v)| (OsString::from(n), OsString::from(v)));
    Command::new(program)
        .args(args)
        .current_dir(directory)
        .envs(variables)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"))
}

fn seen(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// What the command line gives under each reading must be what the shell gives when it is
/// handed the text in that directory with those variables.
fn same_everywhere(text: &str, args: &[String], env: &[(String, String)], directory: &Path) {
    // The parts of a pipeline run side by side: how their errors mingle is nobody's to say.
    let mingled = text.contains('|');
    let seen = |output: &Output| {
        let (status, stdout, stderr) = seen(output);
        let mut stderr = stderr.into_bytes();
        if mingled {
            stderr.sort_unstable();
        }
        (
            status,
            stdout,
            String::from_utf8_lossy(&stderr).into_owned(),
        )
    };
    let start = std::env::temp_dir();
    for (name, shell) in shells() {
        let direct_text = build(&CommandRequest {
            shell: None,
            ..request(text, args)
        })
        .expect("a command")
        .displayed;
        let expected = seen(&run(
            &shell,
            &["-c".to_owned(), direct_text],
            directory,
            env,
        ));
        for marker in [None, Some("11111111-2222-3333-4444-555555555555")] {
            let wire = build(&CommandRequest {
                cwd: directory.to_str(),
                env,
                shell: Some(&shell),
                marker,
                ..request(text, args)
            })
            .expect("a command")
            .wire;
            let service = service_words(&wire, true);
            assert_eq!(
                service,
                service_words(&wire, false),
                "no adjacent pieces: {wire}"
            );
            assert_eq!(service, posix_words(&wire), "{wire}");
            let words = seen(&run(&service[0], &service[1..], &start, &[]));
            assert_eq!(words, expected, "{name} {marker:?}, as words: {wire}");
            let in_shell = ["-c".to_owned(), wire.clone()];
            let text = seen(&run(&shell, &in_shell, &start, &[]));
            assert_eq!(text, expected, "{name} {marker:?}, as shell text: {wire}");
        }
    }
}

const SCRIPTS: &[&str] = &[
    "echo a; echo b | wc -l",
    "echo it's; echo never",
    "for i in 1 2; do echo $i \"$i\" '$i'; done",
    "cat <<EOF\nhere $((1+1)) `echo tick` it's\nEOF",
    "cat <<'E'\n$HOME \\ %s \"\nE",
    "(cd / && pwd); pwd",
    "echo visible # comment",
    "true & wait; echo done",
    "echo a && false || echo b",
    "exit 3",
    "false",
    "printf '%s\\n' \"a\\nb\" 'c%d' \"\\\\\"",
    "echo $FOO \"$FOO\" ${FOO:-none}",
    "true && echo \"$FOO\"",
    "if [ -n \"$FOO\" ]; then echo set; else echo unset; fi",
    "set -e; false; echo never",
    "exec printf gone",
    "nosuchcommand-at-all",
    "read x; echo \"status $?\"",
    "cat",
    "echo \"$0\"",
    "echo trailing\n",
    "echo continued\\\n line",
    "echo é€😀 \"!history\" !x",
    "f() { echo \"$1\"; return 7; }; f 'a b'",
    "echo err >&2; exit 143",
    "if",
];

#[test]
fn scripts_keep_their_meaning() {
    let directory = std::env::temp_dir().join(format!("agentcore it's-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    for foo in ["x", "it's \"$HOME\" `id` \\ %d\n\n", ""] {
        let env = pairs(&[("FOO", foo)]);
        for script in SCRIPTS {
            same_everywhere(script, &[], &env, &directory);
        }
    }
    std::fs::remove_dir(&directory).expect("the directory");
}

#[test]
fn variables_that_a_shell_cannot_export() {
    let env = pairs(&[
        ("UID", "7"),
        ("IFS", ":"),
        ("PPID", "8"),
        ("HOME", "/nowhere"),
        ("_x", ""),
    ]);
    for (name, shell) in shells() {
        let wire = build(&CommandRequest {
            env: &env,
            shell: Some(&shell),
            ..request("env", &[])
        })
        .expect("a command")
        .wire;
        let words = service_words(&wire, true);
        let (_, stdout, _) = seen(&run(&words[0], &words[1..], Path::new("/"), &[]));
        for line in ["UID=7", "HOME=/nowhere", "_x="] {
            assert!(
                stdout.lines().any(|found| found == line),
                "{name}: {line} in\n{stdout}"
            );
        }
    }
}

#[test]
fn arguments_arrive_as_they_are() {
    let args = strings(&[
        "%s|", "it's", "$HOME", "", "a b", "\\n", "*", "`id`", "!x", "é\n", "--",
    ]);
    let expected = args[1..].join("|") + "|";
    for (name, shell) in shells() {
        let request = CommandRequest {
            shell: Some(&shell),
            ..request("printf", &args)
        };
        let words = service_words(&build(&request).expect("a command").wire, true);
        let (_, stdout, _) = seen(&run(&words[0], &words[1..], Path::new("/"), &[]));
        assert_eq!(stdout, expected, "{name}");
    }
}

#[test]
fn a_missing_directory_never_runs_the_command_elsewhere() {
    for (name, shell) in shells() {
        for cwd in ["/no/such/directory", "-", "~", "no-such"] {
            let wire = build(&CommandRequest {
                cwd: Some(cwd),
                shell: Some(&shell),
                ..request("echo ran", &[])
            })
            .expect("a command")
            .wire;
            let words = service_words(&wire, true);
            let (status, stdout, stderr) = seen(&run(&words[0], &words[1..], Path::new("/"), &[]));
            assert_eq!(stdout, "", "{name} {cwd}");
            assert!(status.is_some_and(|status| status != 0), "{name} {cwd}");
            assert!(stderr.contains(cwd), "{name}: {stderr}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn random_text_keeps_its_meaning(
        pieces in prop::collection::vec(prop_oneof![
            // No letters that could make the name of a command whose output changes.
            "[q0-9 ]{0,6}",
            prop::sample::select(vec![
                "echo ", "exit ", "false", "'", "\"", "\\", "$FOO", "`", "%s", ";", "\n", "#", "&&", "|cat", "(", ")",
                "<<E\nE\n", "é", "!", "*", "$(", "{", "}", "\\\n", "'x'", "\"$FOO\"",
            ]).prop_map(str::to_owned),
        ], 1..8),
        foo in "[a-z'\"$`\\\\ \n%é]{0,8}",
    ) {
        let script = format!("echo {}", pieces.concat());
        same_everywhere(&script, &[], &pairs(&[("FOO", &foo)]), Path::new("/"));
    }

    #[test]
    fn random_arguments_arrive_as_they_are(args in prop::collection::vec("[ -~\n\té€😀]{0,12}", 1..6)) {
        let mut all = strings(&["%s|"]);
        all.extend(args.clone());
        let expected = args.join("|") + "|";
        let wire = build(&request("printf", &all)).expect("a command").wire;
        let words = service_words(&wire, false);
        let (_, stdout, _) = seen(&run(&words[0], &words[1..], Path::new("/"), &[]));
        prop_assert_eq!(stdout, expected);
    }
}

/// A fresh directory for temporary files, removed with this.
struct Temporary(std::path::PathBuf);

impl Temporary {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("command-text-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    /// Runs a wire text as a shell would, with this for temporary files.
    fn run(&self, wire: &str) -> (Option<i32>, String, String) {
        let variables = pairs(&[("TMPDIR", self.0.to_str().expect("UTF-8"))]);
        let [program, args @ ..] = &posix_words(wire)[..] else {
            panic!("no words: {wire}");
        };
        seen(&run(program, args, &std::env::temp_dir(), &variables))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_text_that_is_too_long_means_in_files_what_it_means_on_the_wire() {
    let env = pairs(&[("A", "it's"), ("IFS", "x"), ("PATH", "/usr/bin:/bin")]);
    for (name, shell) in shells() {
        for marker in [None, Some("11111111-2222-3333-4444-555555555555")] {
            for text in [
                "echo \"$A\"; echo $#; echo \"${1-none}\"; (exit 3)",
                "cat <<'END' # a comment\nit's \"$A\"\nEND",
                "cat; f() { return 4; }; f",
            ] {
                let temporary = Temporary::new();
                let mut request = CommandRequest {
                    cwd: Some("/usr"),
                    env: &env,
                    shell: Some(&shell),
                    marker,
                    ..request(text, &[])
                };
                let short = build(&request).expect("a command");
                assert_eq!(short.staged, None);
                let long = format!("{text}\n:{}", " 'pad'".repeat(20_000));
                request.command = &long;
                assert!(build(&request).is_err(), "there is nowhere to put it");
                request.stage = Some("stage");
                let staged = build(&request).expect("a command");
                let files = staged.staged.expect("files");
                let directory = temporary.0.join("stage");
                std::fs::create_dir(&directory).expect("a directory");
                std::fs::write(directory.join("script"), files.script).expect("a file");
                std::fs::write(directory.join("text"), files.text).expect("a file");
                let expected = temporary.run(&short.wire);
                let result = temporary.run(&staged.wire);
                assert_eq!(
                    (&result.1, &result.2),
                    (&expected.1, &expected.2),
                    "{name} {marker:?}: {text}"
                );
            }
        }
    }
}

#[test]
fn a_session_without_its_file_runs_nothing() {
    for (name, shell) in shells() {
        let temporary = Temporary::new();
        let wire = build(&CommandRequest {
            cwd: Some("/nowhere"),
            shell: Some(&shell),
            session: Some(SessionCheck {
                file: ".known",
                missing: "replaced-1234",
            }),
            ..request("echo ran", &[])
        })
        .expect("a command")
        .wire;
        let (code, stdout, stderr) = temporary.run(&wire);
        assert_eq!(
            (code, stdout.as_str(), stderr.as_str()),
            (Some(SESSION_MISSING), "", "replaced-1234\n"),
            "{name}"
        );
        std::fs::write(temporary.0.join(".known"), "").expect("a file");
        let (code, stdout, stderr) = temporary.run(&wire);
        assert!(code != Some(SESSION_MISSING), "{name}");
        assert!(
            stdout.is_empty() && stderr.contains("/nowhere"),
            "{name}: {stderr}"
        );
    }
}

#[test]
fn private_variables_are_shown_by_name_alone() {
    let names = strings(&["TOKEN"]);
    let text = build(&CommandRequest {
        private: Some(PrivateEnv {
            names: &names,
            key_file: ".key",
            key: "a2V5",
            words: "d29yZHM=",
            failed: "unreadable-1234",
        }),
        ..request("echo ran", &[])
    })
    .expect("a command");
    assert_eq!(text.displayed, "TOKEN=*** echo ran");
    let (code, stdout, stderr) = Temporary::new().run(&text.wire);
    assert_eq!(
        (code, stdout.as_str(), stderr.as_str()),
        (Some(PRIVATE_UNREADABLE), "", "unreadable-1234\n")
    );
}
