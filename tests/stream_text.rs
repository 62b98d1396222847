//! Text decoding loses nothing that can be read.

use mastra_agentcore::stream::TextDecoder;
use proptest::prelude::*;

fn decode(pieces: &[&[u8]]) -> Vec<String> {
    let mut decoder = TextDecoder::new();
    let mut out = Vec::new();
    for piece in pieces {
        decoder.decode(piece, &mut |text| out.push(text.to_owned()));
    }
    decoder.finish(&mut |text| out.push(text.to_owned()));
    out
}

fn whole(pieces: &[&[u8]]) -> String {
    decode(pieces).concat()
}

const HIGH: &[u8] = b"\xED\xA0\xBD"; // U+D83D
const LOW: &[u8] = b"\xED\xB8\x80"; // U+DE00

#[test]
fn sound_text_passes_in_one_piece() {
    assert_eq!(decode(&["grüß dich 😀\n".as_bytes()]), ["grüß dich 😀\n"]);
    assert_eq!(decode(&[b""]), Vec::<String>::new());
}

#[test]
fn surrogates_of_two_events_join() {
    assert_eq!(whole(&[b"a", HIGH, LOW, b"b"]), "a😀b");
    assert_eq!(
        whole(&[&[b"a", HIGH].concat(), &[LOW, b"b"].concat()]),
        "a😀b"
    );
    assert_eq!(whole(&[&[HIGH, LOW].concat()]), "😀");
}

#[test]
fn lone_surrogates_cost_one_character() {
    assert_eq!(whole(&[&[b"a", HIGH, b"b"].concat()]), "a\u{FFFD}b");
    assert_eq!(whole(&[&[b"a", LOW, b"b"].concat()]), "a\u{FFFD}b");
    assert_eq!(whole(&[HIGH, b"b"]), "\u{FFFD}b");
    assert_eq!(whole(&[HIGH]), "\u{FFFD}");
    assert_eq!(whole(&[&[HIGH, HIGH, LOW].concat()]), "\u{FFFD}😀");
    assert_eq!(whole(&[&[LOW, HIGH].concat(), LOW]), "\u{FFFD}😀");
}

#[test]
fn undecodable_bytes_cost_one_character_each() {
    assert_eq!(whole(&[b"a\xFF\xFEb"]), "a\u{FFFD}\u{FFFD}b");
    assert_eq!(whole(&[b"a\xE2\x82b"]), "a\u{FFFD}b");
    assert_eq!(whole(&[b"a\xE2\x82"]), "a\u{FFFD}");
    assert_eq!(whole(&[b"nul\0nul"]), "nul\0nul");
}

#[test]
fn a_broken_character_does_not_cut_an_event_in_pieces() {
    assert_eq!(decode(&[b"one \xFF two \xFF three"]).len(), 1);
}

fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    let mut start = 0;
    ends.into_iter()
        .map(|end| &bytes[std::mem::replace(&mut start, end)..end])
        .collect()
}

proptest! {
    #[test]
    fn cut_anywhere_text_comes_out_whole(
        text in "[a-zé€😀\u{10FFFF}\0]{0,40}",
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        prop_assert_eq!(whole(&cut(text.as_bytes(), &cuts)), text);
    }

    #[test]
    fn any_bytes_in_any_pieces_decode_alike(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xED), 0xA0u8..=0xBF], 0..24),
        cuts in prop::collection::vec(any::<usize>(), 0..3),
    ) {
        prop_assert_eq!(whole(&cut(&bytes, &cuts)), whole(&[&bytes]));
    }

    #[test]
    fn as_the_standard_library_does_where_there_are_no_surrogates(
        bytes in prop::collection::vec(any::<u8>().prop_filter("surrogate", |b| *b != 0xED), 0..40),
    ) {
        prop_assert_eq!(whole(&[&bytes]), String::from_utf8_lossy(&bytes));
    }
}
