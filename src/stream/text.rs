//! Makes valid UTF-8 of the text of a stream of events, losing nothing that can be read.
//!
//! A surrogate pair or a character that two events share is joined; a lone surrogate or
//! an undecodable byte becomes U+FFFD.

const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// Decodes one stream's pieces. What cannot be decided yet waits, four bytes at most.
#[derive(Debug, Default)]
pub struct TextDecoder {
    waiting: Vec<u8>,
    joined: Vec<u8>,
}

impl TextDecoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `emit` with the text of `bytes`, in one piece where it is whole as it is.
    pub fn decode(&mut self, bytes: &[u8], emit: &mut impl FnMut(&str)) {
        if self.waiting.is_empty() {
            self.decode_from(bytes, emit);
            return;
        }
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        joined.append(&mut self.waiting);
        joined.extend_from_slice(bytes);
        self.decode_from(&joined, emit);
        self.joined = joined;
    }

    /// Ends the stream: what still waits will not be completed.
    pub fn finish(&mut self, emit: &mut impl FnMut(&str)) {
        if !self.waiting.is_empty() {
            self.waiting.clear();
            emit("\u{FFFD}");
        }
    }

    fn decode_from(&mut self, bytes: &[u8], emit: &mut impl FnMut(&str)) {
        if bytes.is_empty() {
            return;
        }
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            return emit(text);
        }
        let Err(error) = std::str::from_utf8(bytes) else {
            return;
        };
        // Rare from here on: one owned piece, so that a broken character does not cut an
        // event in several.
        let mut text = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        let mut next = Some(error);
        while let Some(error) = next {
            let (valid, broken) = rest.split_at(error.valid_up_to());
            text.extend_from_slice(valid);
            let Some(used) = self.repair(broken, error.error_len(), &mut text) else {
                rest = &[];
                break;
            };
            rest = &broken[used..];
            next = std::str::from_utf8(rest).err();
        }
        text.extend_from_slice(rest);
        if let Ok(text) = std::str::from_utf8(&text)
            && !text.is_empty()
        {
            emit(text);
        }
    }

    /// Repairs the start of `broken` and says how much of it that used, or keeps all of
    /// it for the next piece.
    fn repair(
        &mut self,
        broken: &[u8],
        error_len: Option<usize>,
        text: &mut Vec<u8>,
    ) -> Option<usize> {
        match surrogate(broken) {
            Surrogate::Whole(high @ 0xD800..=0xDBFF) => match surrogate(&broken[3..]) {
                Surrogate::Whole(low @ 0xDC00..=0xDFFF) => {
                    let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                    let joined = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                    text.extend_from_slice(joined.encode_utf8(&mut [0; 4]).as_bytes());
                    Some(6)
                }
                Surrogate::Cut => {
                    self.waiting.extend_from_slice(broken);
                    None
                }
                _ => {
                    text.extend_from_slice(REPLACEMENT);
                    Some(3)
                }
            },
            Surrogate::Whole(_) => {
                text.extend_from_slice(REPLACEMENT);
                Some(3)
            }
            // The end of the piece is inside a character: the next piece may complete it.
            kind if error_len.is_none() || matches!(kind, Surrogate::Cut) => {
                self.waiting.extend_from_slice(broken);
                None
            }
            _ => {
                text.extend_from_slice(REPLACEMENT);
                Some(error_len.unwrap_or(1))
            }
        }
    }
}

enum Surrogate {
    /// A surrogate, encoded in three bytes as `serde_json` does.
    Whole(u32),
    /// Nothing, or the start of what may become one.
    Cut,
    None,
}

fn surrogate(bytes: &[u8]) -> Surrogate {
    match *bytes {
        [] | [0xED] | [0xED, 0xA0..=0xBF] => Surrogate::Cut,
        [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, ..] => {
            Surrogate::Whole(0xD000 | (u32::from(second & 0x3F) << 6) | u32::from(third & 0x3F))
        }
        _ => Surrogate::None,
    }
}
