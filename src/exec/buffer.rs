//! One stream's bytes, in order, in blocks: a tail that grows, a cursor up to which
//! they were delivered, and behind it the newest `limit` bytes kept for the result.
//!
//! A block is never moved or copied once written, so the cost of a byte does not depend
//! on how much is retained; a block that is no longer wanted is dropped whole, and the
//! last one dropped is written again.

use std::collections::VecDeque;

/// The largest block, and with it the largest piece delivered at once. Strings above
/// about 128 KiB are made outside V8's young generation and never copied by it.
pub const BLOCK: usize = 256 * 1024;
const FIRST_BLOCK: usize = 1024;

/// A block is filled with whole events, and with whole characters where an event is
/// larger than a block: every piece cut from one is valid UTF-8.
#[derive(Debug)]
pub struct Buffer {
    blocks: VecDeque<Vec<u8>>,
    spare: Option<Vec<u8>>,
    /// The offset in the stream of the first byte of the first block.
    start: u64,
    /// How many bytes came in all.
    end: u64,
    delivered: u64,
    /// The block and the offset in it that `delivered` stands for.
    cursor: (usize, usize),
    limit: u64,
}

impl Buffer {
    /// A buffer that retains the newest `limit` bytes of what is delivered.
    pub fn new(limit: u64) -> Self {
        Self {
            blocks: VecDeque::new(),
            spare: None,
            start: 0,
            end: 0,
            delivered: 0,
            cursor: (0, 0),
            limit,
        }
    }

    /// How many bytes came in all.
    pub fn total(&self) -> u64 {
        self.end
    }

    /// How many bytes wait to be delivered.
    pub fn undelivered(&self) -> u64 {
        self.end - self.delivered
    }

    /// How many bytes are held, delivered or not.
    pub fn held(&self) -> u64 {
        self.end - self.start
    }

    /// Retains no more than `limit` bytes from now on.
    pub fn lower_limit(&mut self, limit: u64) {
        self.limit = self.limit.min(limit);
        self.trim();
    }

    /// Appends `text`.
    pub fn push(&mut self, mut text: &str) {
        self.end += text.len() as u64;
        while !text.is_empty() {
            let cut = text.floor_char_boundary(BLOCK);
            let (head, rest) = text.split_at(cut);
            self.block_for(head.len())
                .extend_from_slice(head.as_bytes());
            text = rest;
        }
    }

    /// The block to append `length` bytes to: the last one if they fit.
    fn block_for(&mut self, length: usize) -> &mut Vec<u8> {
        let fits = self
            .blocks
            .back()
            .is_some_and(|block| block.capacity() - block.len() >= length);
        if !fits {
            let grown = self
                .blocks
                .back()
                .map_or(FIRST_BLOCK, |block| block.capacity() * 2);
            let capacity = grown.max(length).min(BLOCK);
            let block = self
                .spare
                .take_if(|spare| spare.capacity() >= capacity)
                .unwrap_or_else(|| Vec::with_capacity(capacity));
            self.blocks.push_back(block);
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    /// The next undelivered text, at most `length` bytes and at most to the end of a
    /// block. It counts as delivered with [`Self::advance`].
    pub fn peek(&mut self, length: usize) -> &str {
        let (mut block, mut offset) = self.cursor;
        while let Some(bytes) = self.blocks.get(block) {
            if offset < bytes.len() {
                break;
            }
            if block + 1 == self.blocks.len() {
                return "";
            }
            (block, offset) = (block + 1, 0);
        }
        self.cursor = (block, offset);
        let Some(bytes) = self.blocks.get(block) else {
            return "";
        };
        let rest = &bytes[offset..];
        let piece = &rest[..length.min(rest.len())];
        // Pieces are asked for in lengths of whole events, and blocks hold whole
        // characters, so this finds nothing to repair.
        simdutf8::basic::from_utf8(piece).unwrap_or("\u{FFFD}")
    }

    /// Counts `length` bytes of what [`Self::peek`] gave as delivered.
    pub fn advance(&mut self, length: usize) {
        self.cursor.1 += length;
        self.delivered += length as u64;
        self.trim();
    }

    /// Counts all that came as delivered.
    pub fn advance_all(&mut self) {
        self.delivered = self.end;
        let last = self.blocks.len().saturating_sub(1);
        self.cursor = (last, self.blocks.back().map_or(0, Vec::len));
        self.trim();
    }

    fn trim(&mut self) {
        let keep_from = self.delivered.saturating_sub(self.limit);
        while let Some(front) = self.blocks.front() {
            let after = self.start + front.len() as u64;
            if after > keep_from {
                return;
            }
            // Where it is the cursor's own block, the cursor stands at its end.
            self.cursor = match self.cursor {
                (0, _) => (0, 0),
                (block, offset) => (block - 1, offset),
            };
            self.start = after;
            if let Some(mut block) = self.blocks.pop_front() {
                block.clear();
                self.spare = Some(block);
            }
        }
    }

    /// Ends the stream: drops what was never delivered, cuts what is retained to the
    /// limit, between characters, and says how many of the delivered bytes are dropped.
    pub fn seal(&mut self) -> u64 {
        let mut undelivered = self.undelivered();
        while undelivered > 0 {
            let Some(last) = self.blocks.back_mut() else {
                break;
            };
            let drop = (last.len() as u64).min(undelivered);
            undelivered -= drop;
            last.truncate(last.len() - usize::try_from(drop).unwrap_or(last.len()));
            if last.is_empty() {
                self.blocks.pop_back();
            }
        }
        self.end = self.delivered;
        self.spare = None;
        let keep_from = self.end.saturating_sub(self.limit);
        let mut surplus = usize::try_from(keep_from.saturating_sub(self.start)).unwrap_or(0);
        while surplus > 0 {
            let Some(front) = self.blocks.front_mut() else {
                break;
            };
            while surplus < front.len() && is_continuation(front[surplus]) {
                surplus += 1;
            }
            let drop = surplus.min(front.len());
            front.drain(..drop);
            self.start += drop as u64;
            surplus -= drop;
            if front.is_empty() {
                self.blocks.pop_front();
            }
        }
        self.start
    }

    /// Takes the next block of what is retained, in order. Only after [`Self::seal`].
    pub fn take(&mut self) -> Option<Vec<u8>> {
        self.blocks.pop_front()
    }

    /// The number of UTF-16 code units of what is held.
    pub fn utf16_length(&self) -> u64 {
        self.blocks.iter().map(|block| utf16_length(block)).sum()
    }
}

/// The number of UTF-16 code units of valid UTF-8.
pub fn utf16_length(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .map(|&byte| u64::from(!is_continuation(byte)) + u64::from(byte >= 0xF0))
        .sum()
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}
