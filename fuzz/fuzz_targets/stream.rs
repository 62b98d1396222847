//! Bytes of any kind, in pieces of any size, through the fold: no panic, the oracle's verdict on
//! the frames, and the same output however the bytes are cut.
#![no_main]

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use bytes::{Buf, Bytes};
use libfuzzer_sys::fuzz_target;
use mastra_agentcore::exec::output::MAX_STRING;
use mastra_agentcore::exec::{End, Fold, Output, OutputOptions, Stream};
use mastra_agentcore::stream::{FrameError, FrameWalker};

fn ours(bytes: &[u8]) -> (usize, bool) {
    let mut walker = FrameWalker::new();
    let mut frames = 0;
    let fed = walker.feed::<FrameError>(bytes, |_| {
        frames += 1;
        Ok(())
    });
    (frames, fed.is_ok() && walker.finish().is_ok())
}

fn theirs(bytes: &[u8]) -> (usize, bool) {
    let mut decoder = MessageFrameDecoder::new();
    let mut rest = Bytes::copy_from_slice(bytes);
    let mut frames = 0;
    loop {
        let before = rest.remaining();
        match decoder.decode_frame(&mut rest) {
            Ok(DecodedFrame::Complete(_)) => frames += 1,
            Ok(DecodedFrame::Incomplete) => return (frames, before == 0),
            Err(_) => return (frames, false),
        }
    }
}

fn folded<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let options =
        OutputOptions { max_retained_bytes: None, listened: [false; 2], max_string: MAX_STRING };
    let output = Output::new(options, || true);
    let mut fold = Fold::new();
    for piece in pieces {
        if fold.feed(piece, &output).is_err() {
            break;
        }
    }
    let _ = fold.finish(&output);
    output.end(End::Aborted);
    output.seal();
    let mut kept = Vec::new();
    for stream in Stream::BOTH {
        while let Some(block) = output.take_retained(stream) {
            kept.extend(block);
        }
    }
    assert!(std::str::from_utf8(&kept).is_ok());
    kept
}

fuzz_target!(|input: &[u8]| {
    let Some((&size, bytes)) = input.split_first() else {
        return;
    };
    assert_eq!(ours(bytes), theirs(bytes));
    let whole = folded(std::iter::once(bytes));
    assert_eq!(folded(bytes.chunks(usize::from(size).max(1))), whole);
});
