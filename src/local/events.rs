//! Events of a command → frames of an AWS event stream (pure).

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::BytesMut;
use serde::Serialize;

/// Longest scripted header value, in bytes; the format's own limit is 65,535.
const MAX_HEADER: usize = 8 * 1024;

/// Which of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Stdout,
    Stderr,
}

/// What can be said in the stream of one command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event<'a> {
    Start,
    Delta(Output, &'a str),
    Stop {
        exit_code: i32,
        status: &'static str,
    },
    Exception {
        exception_type: &'a str,
        message: &'a str,
    },
    Error {
        code: &'a str,
        message: &'a str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::enum_variant_names, reason = "the names are the protocol's")]
enum Chunk<'a> {
    ContentStart {},
    ContentDelta(Delta<'a>),
    #[serde(rename_all = "camelCase")]
    ContentStop {
        exit_code: i32,
        status: &'static str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Delta<'a> {
    Stdout(&'a str),
    Stderr(&'a str),
}

/// Appends `event` to `buffer` as one frame.
pub(super) fn write(event: Event<'_>, buffer: &mut BytesMut) {
    let (message_type, payload) = match event {
        Event::Start => ("event", json(&Chunk::ContentStart {})),
        Event::Delta(Output::Stdout, text) => {
            ("event", json(&Chunk::ContentDelta(Delta::Stdout(text))))
        }
        Event::Delta(Output::Stderr, text) => {
            ("event", json(&Chunk::ContentDelta(Delta::Stderr(text))))
        }
        Event::Stop { exit_code, status } => {
            ("event", json(&Chunk::ContentStop { exit_code, status }))
        }
        Event::Exception { message, .. } => (
            "exception",
            json(&serde_json::json!({ "message": message })),
        ),
        Event::Error { .. } => ("error", Vec::new()),
    };
    let mut headers = vec![header(":message-type", message_type)];
    match event {
        Event::Start | Event::Delta(..) | Event::Stop { .. } => {
            headers.push(header(":event-type", "chunk"));
            headers.push(header(":content-type", "application/json"));
        }
        Event::Exception { exception_type, .. } => {
            headers.push(header(":exception-type", scripted(exception_type)));
            headers.push(header(":content-type", "application/json"));
        }
        Event::Error { code, message } => {
            headers.push(header(":error-code", scripted(code)));
            headers.push(header(":error-message", scripted(message)));
        }
    }
    write_message_to(&Message::new_from_parts(headers, payload), buffer)
        .expect("lines::MAX_PIECE and MAX_HEADER keep frames within the format's limits");
}

/// A scripted text as a header's value, within what the format allows.
fn scripted(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_HEADER)].to_owned()
}

fn header(name: &'static str, value: impl Into<aws_smithy_types::str_bytes::StrBytes>) -> Header {
    Header::new(name, HeaderValue::String(value.into()))
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("strings and integers serialize")
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_smithy_eventstream::frame::read_message_from;

    fn written(event: Event<'_>) -> (Vec<(String, String)>, String) {
        let mut buffer = BytesMut::new();
        write(event, &mut buffer);
        let message = read_message_from(&mut buffer).unwrap();
        assert!(buffer.is_empty());
        let text = |header: &Header| {
            let value = header.value().as_string().unwrap().as_str().to_owned();
            (header.name().as_str().to_owned(), value)
        };
        let payload = String::from_utf8(message.payload().to_vec()).unwrap();
        (message.headers().iter().map(text).collect(), payload)
    }

    #[test]
    fn events_are_chunks_with_one_member() {
        let (headers, payload) = written(Event::Start);
        let expected = [
            (":message-type", "event"),
            (":event-type", "chunk"),
            (":content-type", "application/json"),
        ];
        let headers: Vec<_> = headers
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        assert_eq!(headers, expected);
        assert_eq!(payload, r#"{"contentStart":{}}"#);
        let (_, payload) = written(Event::Delta(Output::Stderr, "\"é\n"));
        assert_eq!(payload, r#"{"contentDelta":{"stderr":"\"é\n"}}"#);
        let (_, payload) = written(Event::Stop {
            exit_code: -1,
            status: "TIMED_OUT",
        });
        assert_eq!(
            payload,
            r#"{"contentStop":{"exitCode":-1,"status":"TIMED_OUT"}}"#
        );
    }

    #[test]
    fn exceptions_and_errors_are_named_in_headers() {
        let event = Event::Exception {
            exception_type: "runtimeClientError",
            message: "no",
        };
        let (headers, payload) = written(event);
        assert_eq!(headers[0].1, "exception");
        assert_eq!(
            headers[1],
            (
                ":exception-type".to_owned(),
                "runtimeClientError".to_owned()
            )
        );
        assert_eq!(payload, r#"{"message":"no"}"#);
        let long = "x".repeat(100_000);
        let (headers, payload) = written(Event::Error {
            code: "Gone",
            message: &long,
        });
        assert_eq!(headers[1], (":error-code".to_owned(), "Gone".to_owned()));
        assert_eq!((headers[2].1.len(), payload.as_str()), (MAX_HEADER, ""));
    }
}
