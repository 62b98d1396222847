//! Bytes of any kind, in pieces of any size, through the fold: no panic, the oracle's verdict on
//! the frames, and the same output however the bytes are cut.
//!
//! Most inputs are given right checksums, as no fuzzer guesses a CRC: what it changes is then
//! met by more than the check of it.
#![no_main]

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use bytes::{Buf, Bytes};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
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

/// Writes the checksums of all whole frames anew.
fn checksum(bytes: &mut [u8]) {
    let mut rest = bytes;
    while let Some(length) = rest.first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*length)).expect("64 bits");
        if length < 16 || length > rest.len() {
            return;
        }
        let (frame, after) = std::mem::take(&mut rest).split_at_mut(length);
        let prelude = crc32fast::hash(&frame[..8]).to_be_bytes();
        frame[8..12].copy_from_slice(&prelude);
        let (message, sum) = frame.split_at_mut(length - 4);
        sum.copy_from_slice(&crc32fast::hash(message).to_be_bytes());
        rest = after;
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let size = fuzzer_mutate(data, size, max_size);
    if seed % 8 != 0 && size > 1 {
        checksum(&mut data[1..size]);
    }
    size
});

fuzz_target!(|input: &[u8]| {
    let Some((&size, bytes)) = input.split_first() else {
        return;
    };
    assert_eq!(ours(bytes), theirs(bytes));
    let whole = folded(std::iter::once(bytes));
    assert_eq!(folded(bytes.chunks(usize::from(size).max(1))), whole);
});
