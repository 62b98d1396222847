//! Any text as a command: no panic, and on the wire one of the two shapes that every reading of a
//! command line takes alike.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mastra_agentcore::command::{CommandRequest, build};

fuzz_target!(|input: (String, Vec<String>, String, Vec<(String, String)>)| {
    let (command, args, cwd, env) = input;
    let request = CommandRequest {
        command: &command,
        args: &args,
        cwd: Some(&cwd),
        working_directory: None,
        env: &env,
        shell: Some("/bin/sh"),
        marker: Some("11111111-2222-3333-4444-555555555555"),
        ..CommandRequest::default()
    };
    let Ok(text) = build(&request) else {
        return;
    };
    let script = text
        .wire
        .strip_prefix("/bin/sh -c '")
        .and_then(|rest| rest.strip_suffix('\''))
        .expect("one quoted word");
    assert!(!script.contains('\'') && !script.contains('\0'));
});
