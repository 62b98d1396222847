//! Output: order, bounds, retention, wake-ups.

use mastra_agentcore::error::Failure;
use mastra_agentcore::exec::output::MAX_STRING;
use mastra_agentcore::exec::{End, Outcome, Output, OutputOptions, Piece, Stream};
use mastra_agentcore::stream::Stop;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn output(max_retained_bytes: Option<u64>, listened: [bool; 2]) -> (Output, Arc<AtomicUsize>) {
    let wakes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&wakes);
    let options = OutputOptions {
        max_retained_bytes,
        listened,
        max_string: MAX_STRING,
    };
    let output = Output::new(options, move || {
        counter.fetch_add(1, Ordering::SeqCst);
        true
    });
    (output, wakes)
}

fn completed() -> End {
    End::Stopped(Stop {
        exit_code: Some(0.0),
        status: Some("COMPLETED".to_owned()),
    })
}

fn read_all(output: &Output) -> Vec<(Stream, String)> {
    let mut pieces = Vec::new();
    while let Piece::Text(piece) = output.read(|stream, text| (stream, text.to_owned())) {
        pieces.push(piece);
    }
    pieces
}

fn retained(output: &Output, stream: Stream) -> String {
    let mut text = String::new();
    while let Some(block) = output.take_retained(stream) {
        text += std::str::from_utf8(&block).expect("every slice is text by itself");
    }
    text
}

#[test]
fn a_reader_that_keeps_up_sees_each_event() {
    let (output, _) = output(None, [true, true]);
    for line in ["one\n", "two\n"] {
        output.push(Stream::Stdout, line);
    }
    output.push(Stream::Stderr, "three\n");
    let texts: Vec<_> = read_all(&output)
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    assert_eq!(texts, ["one\n", "two\n", "three\n"]);
}

#[test]
fn neighbours_merge_when_delivery_lags_and_never_across_the_streams() {
    let (output, _) = output(None, [true, true]);
    for _ in 0..100 {
        output.push(Stream::Stdout, "line\n");
    }
    output.push(Stream::Stderr, "err\n");
    output.push(Stream::Stdout, "last\n");
    let pieces = read_all(&output);
    assert_eq!(
        pieces.len(),
        16 + 2,
        "16 apart, the rest of the stream in one"
    );
    assert_eq!(pieces[15].1, "line\n".repeat(85));
    assert_eq!(pieces[16], (Stream::Stderr, "err\n".to_owned()));
    assert_eq!(pieces[17], (Stream::Stdout, "last\n".to_owned()));
}

#[test]
fn at_most_one_wake_up_is_outstanding() {
    let (output, wakes) = output(None, [true, true]);
    output.push(Stream::Stdout, "a");
    output.push(Stream::Stdout, "b");
    assert_eq!(wakes.load(Ordering::SeqCst), 1);
    read_all(&output);
    output.push(Stream::Stderr, "c");
    assert_eq!(wakes.load(Ordering::SeqCst), 2);
    output.end(completed());
    assert_eq!(wakes.load(Ordering::SeqCst), 2);
}

#[test]
fn a_stream_that_nobody_hears_wakes_nobody_before_the_end() {
    let (output, wakes) = output(None, [false, false]);
    output.push(Stream::Stdout, "a");
    assert_eq!(wakes.load(Ordering::SeqCst), 0);
    output.end(completed());
    assert_eq!(wakes.load(Ordering::SeqCst), 1);
    output.seal().expect("ended");
    assert_eq!(retained(&output, Stream::Stdout), "a");
}

#[test]
fn a_reader_that_is_gone_ends_the_command() {
    let options = OutputOptions {
        max_retained_bytes: None,
        listened: [true; 2],
        max_string: MAX_STRING,
    };
    let output = Output::new(options, || false);
    output.push(Stream::Stdout, "a");
    assert_eq!(output.end_reason(), Some(End::Aborted));
}

#[test]
fn the_first_end_holds_and_nothing_follows_it() {
    let (output, _) = output(None, [true, true]);
    output.push(Stream::Stdout, "before");
    output.end(End::Aborted);
    output.end(completed());
    output.push(Stream::Stdout, "after");
    assert_eq!(read_all(&output), [(Stream::Stdout, "before".to_owned())]);
    assert_eq!(output.seal().expect("ended").outcome, Outcome::Aborted);
    assert_eq!(retained(&output, Stream::Stdout), "before");
}

#[test]
fn what_was_never_delivered_is_not_retained() {
    let (output, _) = output(None, [true, true]);
    output.push(Stream::Stdout, "seen");
    read_all(&output);
    output.push(Stream::Stdout, "unseen");
    output.end(End::Aborted);
    output.seal().expect("ended");
    assert_eq!(retained(&output, Stream::Stdout), "seen");
}

#[tokio::test]
async fn past_the_high_water_mark_the_network_waits_and_low_water_lets_it_go_on() {
    let (output, _) = output(Some(0), [true, true]);
    let block = "x".repeat(64 * 1024);
    let mut pushed = 0;
    while output.is_writable() {
        output.push(Stream::Stdout, &block);
        pushed += 1;
    }
    assert!(
        (15..=17).contains(&pushed),
        "about a mebibyte, not {pushed} blocks"
    );
    let waits = tokio::time::timeout(Duration::from_millis(20), output.writable());
    assert!(waits.await.is_err());
    read_all(&output);
    output.writable().await;
}

#[test]
fn output_too_large_for_a_string_is_delivered_and_then_an_error() {
    let options = OutputOptions {
        max_retained_bytes: None,
        listened: [true, false],
        max_string: 1000,
    };
    let output = Output::new(options, || true);
    let mut seen = 0;
    for _ in 0..300 {
        output.push(Stream::Stdout, "é23456\n");
        for (_, text) in read_all(&output) {
            seen += text.len();
        }
    }
    output.end(completed());
    assert_eq!(seen, 300 * 8);
    let sealed = output.seal().expect("ended");
    let Outcome::Failed(Failure {
        code,
        message,
        may_have_run,
        ..
    }) = sealed.outcome
    else {
        panic!("{:?}", sealed.outcome);
    };
    assert_eq!(code, "OUTPUT_TOO_LARGE");
    assert!(
        message.contains("maxRetainedBytes") && message.contains("1000"),
        "{message}"
    );
    assert!(may_have_run);
}

#[test]
fn exactly_the_longest_string_is_not_too_large() {
    // Eight bytes, but seven code units, a line.
    for (lines, too_large) in [(142, false), (143, true)] {
        let options = OutputOptions {
            max_retained_bytes: None,
            listened: [false; 2],
            max_string: 1000,
        };
        let output = Output::new(options, || true);
        for _ in 0..lines {
            output.push(Stream::Stderr, "é23456\n");
        }
        output.end(completed());
        let sealed = output.seal().expect("ended");
        assert_eq!(
            matches!(sealed.outcome, Outcome::Failed(_)),
            too_large,
            "{lines} lines"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_is_lost_and_the_newest_is_retained(
        pushes in prop::collection::vec((any::<bool>(), "[a-zé€😀]{0,30}", any::<bool>()), 0..200),
        scale in prop_oneof![Just(1usize), Just(500), Just(20_000)],
        limit in prop::option::of(0u64..5000),
        listened in any::<[bool; 2]>(),
    ) {
        let (output, _) = output(limit, listened);
        let mut expected = [String::new(), String::new()];
        let mut delivered = Vec::new();
        for (index, (stderr, text, read)) in pushes.iter().enumerate() {
            // A few of the pushes are larger than a block.
            let text = if index % 50 == 7 { text.repeat(scale) } else { text.clone() };
            let stream = if *stderr { Stream::Stderr } else { Stream::Stdout };
            expected[stream as usize].push_str(&text);
            output.push(stream, &text);
            if *read {
                delivered.extend(read_all(&output));
            }
        }
        delivered.extend(read_all(&output));
        output.end(completed());
        let sealed = output.seal().expect("ended");
        for stream in Stream::BOTH {
            let index = stream as usize;
            let heard: String = delivered
                .iter()
                .filter(|(from, _)| *from == stream)
                .map(|(_, text)| text.as_str())
                .collect();
            prop_assert_eq!(&heard, if listened[index] { &expected[index] } else { "" });
            let kept = retained(&output, stream);
            prop_assert!(expected[index].ends_with(&kept));
            let total = expected[index].len() as u64;
            prop_assert_eq!(kept.len() as u64 + sealed.dropped_bytes[index], total);
            let limit = limit.unwrap_or(u64::MAX);
            prop_assert!(kept.len() as u64 <= limit);
            // A cut costs three bytes at most.
            prop_assert!(kept.len() as u64 + 4 > limit.min(total));
        }
    }
}
