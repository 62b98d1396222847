//! A stream of bytes → pieces of text, one per line (pure).
//!
//! A piece is a line with its newline, or a part of one: what stands when the line took too long
//! to arrive, or 64 KiB of a line that is longer. Characters are never divided between pieces;
//! bytes that are no UTF-8 become U+FFFD, exactly as if the whole output were decoded at once.

/// Longest piece without a newline, in bytes.
const MAX_PIECE: usize = 64 * 1024;

/// Collects bytes until they make a line.
#[derive(Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    /// Takes `bytes` and emits the lines they complete.
    pub(super) fn push(&mut self, bytes: &[u8], mut emit: impl FnMut(&str)) {
        let searched = self.pending.len();
        self.pending.extend_from_slice(bytes);
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', bytes) {
            let end = searched + newline + 1;
            start += emit_long(&self.pending[start..end], &mut emit);
            emit(&String::from_utf8_lossy(&self.pending[start..end]));
            start = end;
        }
        start += emit_long(&self.pending[start..], &mut emit);
        self.pending.drain(..start);
    }

    /// Whether [`flush`](Self::flush) would emit something.
    pub(super) fn has_partial(&self) -> bool {
        whole_characters(&self.pending, self.pending.len()) > 0
    }

    /// Emits the line so far; the beginning of a character waits for its end.
    pub(super) fn flush(&mut self, emit: impl FnOnce(&str)) {
        let end = whole_characters(&self.pending, self.pending.len());
        if end > 0 {
            emit(&String::from_utf8_lossy(&self.pending[..end]));
            self.pending.drain(..end);
        }
    }

    /// Emits all that is left: no more bytes will come.
    pub(super) fn finish(self, emit: impl FnOnce(&str)) {
        if !self.pending.is_empty() {
            emit(&String::from_utf8_lossy(&self.pending));
        }
    }
}

/// Emits full pieces of `line` while it is longer than one; how many bytes that took.
fn emit_long(line: &[u8], mut emit: impl FnMut(&str)) -> usize {
    let mut start = 0;
    while line.len() - start > MAX_PIECE {
        let end = start + whole_characters(&line[start..], MAX_PIECE);
        emit(&String::from_utf8_lossy(&line[start..end]));
        start = end;
    }
    start
}

/// The largest end ≤ `limit` at which `bytes` can be cut without dividing a character.
///
/// Only a lead byte among the last three whose sequence could still go on matters: a stray byte
/// is a character (U+FFFD) of its own wherever the cut falls.
fn whole_characters(bytes: &[u8], limit: usize) -> usize {
    let head = &bytes[..limit];
    for back in 1..=limit.min(3) {
        let at = limit - back;
        match head[at] {
            0x80..=0xBF => {}
            0xC2..=0xF4 => {
                let incomplete = std::str::from_utf8(&head[at..])
                    .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none());
                return if incomplete { at } else { limit };
            }
            _ => return limit,
        }
    }
    limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut pieces = Vec::new();
        for chunk in chunks {
            lines.push(chunk, |piece| pieces.push(piece.to_owned()));
        }
        lines.finish(|piece| pieces.push(piece.to_owned()));
        pieces
    }

    #[test]
    fn one_piece_per_line_however_the_bytes_arrive() {
        assert_eq!(pieces(&[b"a\n\nb\nc"]), ["a\n", "\n", "b\n", "c"]);
        assert_eq!(
            pieces(&[b"a", b"\n", b"\nb", b"\nc"]),
            ["a\n", "\n", "b\n", "c"]
        );
        assert!(pieces(&[b"", b""]).is_empty());
    }

    #[test]
    fn a_flush_emits_whole_characters_only() {
        let mut lines = Lines::default();
        lines.push("né€".as_bytes().split_last().unwrap().1, |_| {
            panic!("no line yet")
        });
        let mut seen = String::new();
        lines.flush(|piece| seen.push_str(piece));
        assert_eq!(seen, "né");
        assert!(!lines.has_partial());
        lines.push(&["€".as_bytes()[2]], |_| panic!("no line yet"));
        assert!(lines.has_partial());
        lines.flush(|piece| seen.push_str(piece));
        assert_eq!(seen, "né€");
    }

    #[test]
    fn a_sequence_that_never_ends_becomes_a_replacement_character() {
        assert_eq!(pieces(&[b"a\xE2\x82"]), ["a\u{FFFD}"]);
        assert_eq!(pieces(&[b"\xFF\n\xC3", b"("]), ["\u{FFFD}\n", "\u{FFFD}("]);
    }

    #[test]
    fn a_long_line_comes_in_pieces() {
        let line = "€".repeat(50_000) + "\n";
        let pieces = pieces(&[line.as_bytes()]);
        assert_eq!(pieces.concat(), line);
        assert_eq!(pieces.len(), 3);
        assert!(pieces.iter().all(|piece| piece.len() <= MAX_PIECE));
        // Still unfinished, it is not held back.
        let mut lines = Lines::default();
        let mut count = 0;
        lines.push(&line.as_bytes()[..100_000], |_| count += 1);
        assert_eq!(count, 1);
    }

    proptest! {
        #[test]
        fn pieces_add_up_to_the_decoded_whole(
            chunks in prop::collection::vec(
                (prop::collection::vec(prop_oneof![
                    4 => Just(b'\n'), 4 => Just(b'a'), 2 => 0x80u8..=0xBF,
                    1 => Just(0xE2u8), 1 => Just(0xC3u8), 1 => Just(0xF0u8), 1 => any::<u8>(),
                ], 0..20), any::<bool>()),
                0..20,
            )
        ) {
            let mut lines = Lines::default();
            let mut seen = String::new();
            for (chunk, flush) in &chunks {
                lines.push(chunk, |piece| {
                    assert!(!piece.is_empty() && piece.matches('\n').count() <= 1);
                    seen.push_str(piece);
                });
                if *flush {
                    lines.flush(|piece| seen.push_str(piece));
                }
            }
            lines.finish(|piece| seen.push_str(piece));
            let whole: Vec<u8> = chunks.into_iter().flat_map(|(chunk, _)| chunk).collect();
            prop_assert_eq!(seen, String::from_utf8_lossy(&whole));
        }
    }
}
