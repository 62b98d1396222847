//! The frame walk gives the same verdict as `aws-smithy-eventstream` on every input.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder, write_message_to};
use aws_smithy_types::DateTime;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::{Buf, Bytes};
use mastra_agentcore::stream::frame::HeaderValue as OurValue;
use mastra_agentcore::stream::{FrameError, FrameWalker};
use proptest::prelude::*;

/// A frame's string headers and its payload.
type Plain = (Vec<(String, String)>, Vec<u8>);
/// The whole frames, and whether the stream is sound to its end.
type Verdict = (Vec<Plain>, bool);

fn ours(bytes: &[u8], cuts: &[usize]) -> Verdict {
    let mut walker = FrameWalker::new();
    let mut frames = Vec::new();
    let mut start = 0;
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    for end in ends {
        let fed = walker.feed::<FrameError>(&bytes[start..end], |frame| {
            let headers = frame
                .headers()
                .filter_map(|header| match header.expect("checked by the walk") {
                    (name, OurValue::String(value)) => Some((name.to_owned(), value.to_owned())),
                    _ => None,
                })
                .collect();
            frames.push((headers, frame.payload.to_vec()));
            Ok(())
        });
        if fed.is_err() {
            return (frames, false);
        }
        start = end;
    }
    let sound = walker.finish().is_ok();
    (frames, sound)
}

fn theirs(bytes: &[u8]) -> Verdict {
    let mut decoder = MessageFrameDecoder::new();
    let mut frames = Vec::new();
    let mut rest = Bytes::copy_from_slice(bytes);
    loop {
        let before = rest.remaining();
        match decoder.decode_frame(&mut rest) {
            Ok(DecodedFrame::Complete(message)) => frames.push(plain(&message)),
            Ok(DecodedFrame::Incomplete) => return (frames, before == 0),
            Err(_) => return (frames, false),
        }
    }
}

fn plain(message: &Message) -> Plain {
    let headers = message
        .headers()
        .iter()
        .filter_map(|header| match header.value() {
            HeaderValue::String(value) => {
                Some((header.name().as_str().to_owned(), value.as_str().to_owned()))
            }
            _ => None,
        })
        .collect();
    (headers, message.payload().to_vec())
}

fn header_value() -> impl Strategy<Value = HeaderValue> {
    prop_oneof![
        any::<bool>().prop_map(HeaderValue::Bool),
        any::<i8>().prop_map(HeaderValue::Byte),
        any::<i16>().prop_map(HeaderValue::Int16),
        any::<i32>().prop_map(HeaderValue::Int32),
        any::<i64>().prop_map(HeaderValue::Int64),
        prop::collection::vec(any::<u8>(), 0..20)
            .prop_map(|bytes| HeaderValue::ByteArray(bytes.into())),
        "[ -~é]{0,20}".prop_map(|text| HeaderValue::String(text.into())),
        (0i64..4_000_000_000_000).prop_map(|at| HeaderValue::Timestamp(DateTime::from_millis(at))),
        any::<u128>().prop_map(HeaderValue::Uuid),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let headers = prop::collection::vec(("[:a-z-]{1,12}", header_value()), 0..4);
    (headers, prop::collection::vec(any::<u8>(), 0..300)).prop_map(|(headers, payload)| {
        let headers = headers
            .into_iter()
            .map(|(name, value)| Header::new(name, value))
            .collect();
        Message::new_from_parts(headers, payload)
    })
}

fn encode(messages: &[Message]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        write_message_to(message, &mut bytes).expect("a valid message");
    }
    bytes
}

/// Writes both checksums anew, so that what was changed is met by more than a checksum.
fn checksum(frame: &mut [u8]) {
    let end = frame.len() - 4;
    let prelude = crc32fast::hash(&frame[..8]).to_be_bytes();
    frame[8..12].copy_from_slice(&prelude);
    let message = crc32fast::hash(&frame[..end]).to_be_bytes();
    frame[end..].copy_from_slice(&message);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sound_streams_in_any_pieces(
        messages in prop::collection::vec(message(), 0..6),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let bytes = encode(&messages);
        let expected = messages.iter().map(plain).collect::<Vec<_>>();
        prop_assert_eq!(theirs(&bytes), (expected.clone(), true));
        prop_assert_eq!(ours(&bytes, &cuts), (expected, true));
    }

    #[test]
    fn damaged_streams(
        messages in prop::collection::vec(message(), 1..4),
        cuts in prop::collection::vec(any::<usize>(), 0..4),
        at in any::<usize>(),
        to in any::<u8>(),
        length in any::<usize>(),
    ) {
        let mut bytes = encode(&messages);
        let at = at % bytes.len();
        bytes[at] = to;
        bytes.truncate(length % (bytes.len() + 1));
        prop_assert_eq!(ours(&bytes, &cuts), theirs(&bytes));
    }

    #[test]
    fn damaged_frames_with_right_checksums(
        message in message(),
        changes in prop::collection::vec((4usize..400, any::<u8>()), 1..3),
    ) {
        let mut bytes = encode(&[message]);
        for (at, to) in changes {
            let at = at % bytes.len();
            // The length itself stays: it says where the checksum is.
            if at >= 4 {
                bytes[at] = to;
            }
        }
        checksum(&mut bytes);
        prop_assert_eq!(ours(&bytes, &[]), theirs(&bytes));
    }

    #[test]
    fn noise(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(ours(&bytes, &[]).1, theirs(&bytes).1);
    }
}

fn event(payload: &[u8]) -> Vec<u8> {
    let headers = vec![Header::new(
        ":message-type",
        HeaderValue::String("event".into()),
    )];
    encode(&[Message::new_from_parts(headers, payload.to_vec())])
}

#[test]
fn each_fault_has_its_name() {
    let walk = |bytes: &[u8]| {
        let mut walker = FrameWalker::new();
        walker
            .feed::<FrameError>(bytes, |_| Ok(()))
            .and_then(|()| walker.finish())
    };
    let sound = event(b"payload");
    assert_eq!(walk(&sound), Ok(()));
    assert_eq!(walk(&sound[..12]), Err(FrameError::Incomplete(12)));
    assert_eq!(
        walk(&sound[..sound.len() - 1]),
        Err(FrameError::Incomplete(sound.len() - 1))
    );

    let mut bad = sound.clone();
    bad[9] ^= 1;
    assert_eq!(walk(&bad), Err(FrameError::PreludeChecksum));

    let mut bad = sound.clone();
    let in_payload = bad.len() - 6;
    bad[in_payload] ^= 1;
    assert_eq!(walk(&bad), Err(FrameError::MessageChecksum));

    let mut short = vec![0, 0, 0, 15, 0, 0, 0, 0];
    short.extend(crc32fast::hash(&short).to_be_bytes());
    assert_eq!(walk(&short), Err(FrameError::Length(15)));

    let mut huge = vec![0x7f, 0, 0, 0, 0, 0, 0, 0];
    huge.extend(crc32fast::hash(&huge).to_be_bytes());
    assert_eq!(walk(&huge), Err(FrameError::TooLarge(0x7f00_0000)));

    let mut bad = sound.clone();
    bad[12] = 200;
    checksum(&mut bad);
    assert_eq!(walk(&bad), Err(FrameError::Headers));
}

#[test]
fn a_frame_of_sixteen_megabytes() {
    let bytes = event(&vec![b'x'; 16 * 1024 * 1024]);
    let mut walker = FrameWalker::new();
    let mut seen = 0;
    for piece in bytes.chunks(65_536) {
        walker
            .feed::<FrameError>(piece, |frame| {
                seen += frame.payload.len();
                Ok(())
            })
            .expect("a sound frame");
    }
    assert_eq!(seen, 16 * 1024 * 1024);
    assert_eq!(walker.finish(), Ok(()));
}
