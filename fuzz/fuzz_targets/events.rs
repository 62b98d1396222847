//! The events of a command, of any text and in any order, written as the service may write them:
//! what the fold keeps is what was sent, in whatever pieces it arrives, and the first end counts.
#![no_main]

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use mastra_agentcore::exec::output::MAX_STRING;
use mastra_agentcore::exec::{End, Fold, Output, OutputOptions, Stream};
use serde_json::{Map, Value, json};
use std::fmt::Write;

#[derive(Arbitrary, Debug)]
struct Input {
    events: Vec<Event>,
    /// Where the bytes are cut.
    pieces: Vec<u16>,
}

#[derive(Arbitrary, Debug)]
enum Event {
    Chunk {
        started: bool,
        stdout: Option<String>,
        stderr: Option<String>,
        stop: Option<(Option<i32>, bool)>,
        /// Every character of the payload's strings as `\uXXXX`.
        escaped: bool,
        /// A member that no version knows.
        more: Option<String>,
    },
    /// An event that no version knows.
    Unknown { kind: String, payload: Vec<u8> },
}

/// JSON in which strings are written in escapes alone.
fn escaped(value: &Value, json: &mut String) {
    match value {
        Value::Object(members) => {
            json.push('{');
            for (at, (name, member)) in members.iter().enumerate() {
                write!(json, "{}\"{name}\":", if at == 0 { "" } else { "," }).expect("a string");
                escaped(member, json);
            }
            json.push('}');
        }
        Value::String(text) => {
            json.push('"');
            for unit in text.encode_utf16() {
                write!(json, "\\u{unit:04x}").expect("a string");
            }
            json.push('"');
        }
        other => json.push_str(&other.to_string()),
    }
}

fn frame(event_type: &str, payload: Vec<u8>, bytes: &mut Vec<u8>) {
    let header = |name: &'static str, value: &str| {
        Header::new(name, HeaderValue::String(value.to_owned().into()))
    };
    let headers = vec![
        header(":message-type", "event"),
        header(":event-type", event_type),
        header(":content-type", "application/json"),
    ];
    // A header of more than 32 KiB has no place in a frame.
    let _ = write_message_to(&Message::new_from_parts(headers, payload), bytes);
}

fuzz_target!(|input: Input| {
    let mut bytes = Vec::new();
    let mut sent = [String::new(), String::new()];
    let mut first_stop = None;
    for event in &input.events {
        match event {
            Event::Chunk { started, stdout, stderr, stop, escaped: escape, more } => {
                let mut chunk = Map::new();
                if *started {
                    chunk.insert("contentStart".into(), json!({}));
                }
                let mut delta = Map::new();
                for (at, (name, text)) in
                    [("stdout", stdout), ("stderr", stderr)].into_iter().enumerate()
                {
                    if let Some(text) = text {
                        sent[at].push_str(text);
                        delta.insert(name.into(), text.clone().into());
                    }
                }
                if !delta.is_empty() {
                    chunk.insert("contentDelta".into(), delta.into());
                }
                if let Some((exit_code, completed)) = stop {
                    let status = if *completed { "COMPLETED" } else { "TIMED_OUT" };
                    first_stop.get_or_insert((exit_code.map(f64::from), status));
                    let stop = json!({ "exitCode": exit_code, "status": status });
                    chunk.insert("contentStop".into(), stop);
                }
                if let Some(text) = more {
                    chunk.insert("contentLater".into(), json!({ "text": text }));
                }
                let chunk = Value::Object(chunk);
                let payload = if *escape {
                    let mut json = String::new();
                    escaped(&chunk, &mut json);
                    json
                } else {
                    chunk.to_string()
                };
                frame("chunk", payload.into_bytes(), &mut bytes);
            }
            Event::Unknown { kind, payload } if kind != "chunk" => {
                frame(kind, payload.clone(), &mut bytes);
            }
            Event::Unknown { .. } => {}
        }
    }

    let options =
        OutputOptions { max_retained_bytes: None, listened: [false; 2], max_string: MAX_STRING };
    let output = Output::new(options, || true);
    let mut fold = Fold::new();
    let mut rest = bytes.as_slice();
    for &piece in &input.pieces {
        let (fed, after) = rest.split_at(usize::from(piece).min(rest.len()));
        fold.feed(fed, &output).expect("a sound stream");
        rest = after;
    }
    fold.feed(rest, &output).expect("a sound stream");
    let stop = fold.finish(&output).ok();
    assert_eq!(
        stop.as_ref().map(|stop| (stop.exit_code, stop.status.as_deref())),
        first_stop.map(|(exit_code, status)| (exit_code, Some(status))),
    );

    output.end(End::Aborted);
    output.seal();
    for stream in Stream::BOTH {
        let mut kept = Vec::new();
        while let Some(block) = output.take_retained(stream) {
            kept.extend(block);
        }
        assert_eq!(String::from_utf8_lossy(&kept), sent[stream as usize]);
    }
});
