//! The fold, against the generic decoder that it replaces: one hundred thousand events of
//! one line each, and blocks of 4 KB.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder, write_message_to};
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::BytesMut;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mastra_agentcore::exec::output::MAX_STRING;
use mastra_agentcore::exec::{Fold, Output, OutputOptions, Piece};
use mastra_agentcore::stream::{EventReader, FrameError, FrameWalker};
use serde::Deserialize;
use std::borrow::Cow;
use std::hint::black_box;

/// As much as hyper hands over at once.
const READ: usize = 256 * 1024;

fn stream(events: usize, bytes: usize) -> Vec<u8> {
    let line = format!("{}\\n", "x".repeat(bytes - 1));
    let payload = format!("{{\"contentDelta\":{{\"stdout\":\"{line}\"}}}}");
    let text = |value: &'static str| HeaderValue::String(value.into());
    let message = Message::new_from_parts(
        vec![
            Header::new(":message-type", text("event")),
            Header::new(":event-type", text("chunk")),
            Header::new(":content-type", text("application/json")),
        ],
        payload,
    );
    let mut frame = Vec::new();
    write_message_to(&message, &mut frame).expect("a valid message");
    frame.repeat(events)
}

/// The official decoder; `text_length` reads a payload.
fn generic(bytes: &[u8], text_length: impl Fn(&[u8]) -> usize) -> usize {
    let mut decoder = MessageFrameDecoder::new();
    let mut buffer = BytesMut::new();
    let mut seen = 0;
    for read in bytes.chunks(READ) {
        buffer.extend_from_slice(read);
        while let Ok(DecodedFrame::Complete(message)) = decoder.decode_frame(&mut buffer) {
            seen += text_length(message.payload());
        }
    }
    seen
}

fn json_value(payload: &[u8]) -> usize {
    let payload: serde_json::Value = serde_json::from_slice(payload).expect("JSON");
    payload["contentDelta"]["stdout"]
        .as_str()
        .map_or(0, str::len)
}

/// JSON read into a type of its own: the most that can be had on that decoder.
fn json_typed(payload: &[u8]) -> usize {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Payload<'a> {
        #[serde(borrow)]
        content_delta: Delta<'a>,
    }
    #[derive(Deserialize)]
    struct Delta<'a> {
        #[serde(borrow)]
        stdout: Cow<'a, str>,
    }
    let payload: Payload<'_> = serde_json::from_slice(payload).expect("JSON");
    payload.content_delta.stdout.len()
}

fn walk(bytes: &[u8]) -> usize {
    let mut walker = FrameWalker::new();
    let mut seen = 0;
    for read in bytes.chunks(READ) {
        walker
            .feed::<FrameError>(read, |frame| {
                seen += frame.payload.len();
                Ok(())
            })
            .expect("sound frames");
    }
    seen
}

fn events(bytes: &[u8]) -> usize {
    let mut walker = FrameWalker::new();
    let mut reader = EventReader::default();
    let mut seen = 0;
    for read in bytes.chunks(READ) {
        walker
            .feed::<FrameError>(read, |frame| {
                seen += usize::from(reader.read(&frame).is_ok());
                Ok(())
            })
            .expect("sound frames");
    }
    seen
}

fn fold(bytes: &[u8], listened: bool) -> usize {
    let options = OutputOptions {
        max_retained_bytes: Some(1024 * 1024),
        listened: [listened; 2],
        max_string: MAX_STRING,
    };
    let output = Output::new(options, || true);
    let mut fold = Fold::new();
    let mut seen = 0;
    for read in bytes.chunks(READ) {
        fold.feed(read, &output).expect("sound frames");
        while let Piece::Text(length) = output.read(|_, text| text.len()) {
            seen += length;
        }
    }
    seen
}

fn benches(criterion: &mut Criterion) {
    for (name, count, size) in [
        ("100k lines of 80 B", 100_000, 80),
        ("5k blocks of 4 KB", 5_000, 4096),
    ] {
        let bytes = stream(count, size);
        let mut group = criterion.benchmark_group(name);
        group
            .sample_size(10)
            .throughput(Throughput::Elements(count as u64));
        let mut case = |id: &str, run: &dyn Fn(&[u8]) -> usize| {
            group.bench_with_input(BenchmarkId::from_parameter(id), &bytes, |bencher, bytes| {
                bencher.iter(|| black_box(run(bytes)));
            });
        };
        case("generic decoder and JSON values", &|bytes| {
            generic(bytes, json_value)
        });
        case("generic decoder and typed JSON", &|bytes| {
            generic(bytes, json_typed)
        });
        case("walk", &walk);
        case("walk and events", &events);
        case("fold, retained", &|bytes| fold(bytes, false));
        case("fold, delivered", &|bytes| fold(bytes, true));
        group.finish();
    }
}

criterion_group!(all, benches);
criterion_main!(all);
