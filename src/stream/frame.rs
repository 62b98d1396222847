//! A walk over event stream frames: lengths, checksums, headers. What the headers and
//! the payload mean is the business of [`super::event`].
//!
//! A frame is `total length (4) · headers length (4) · CRC of those 8 (4) · headers ·
//! payload · CRC of all before it (4)`, all big-endian.

use bytes::{Buf, BytesMut};
use std::fmt;

const PRELUDE: usize = 12;
const TRAILER: usize = 4;

/// The largest frame that is read, in bytes. The service's own limit for a message is
/// 16 MiB; twice that leaves room for headers and for a limit that grows, and still
/// bounds what a corrupt length can make us hold.
pub const MAX_FRAME: usize = 32 * 1024 * 1024;

/// One whole frame whose lengths, checksums and headers were found right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The raw header block, known to be well-formed.
    pub headers: &'a [u8],
    /// What the frame carries.
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The headers in order, as name and value.
    pub fn headers(&self) -> Headers<'a> {
        Headers { rest: self.headers }
    }

    /// The value of the string header `name`, if there is one.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers().find_map(|header| match header {
            Ok((found, HeaderValue::String(value))) if found == name => Some(value),
            _ => None,
        })
    }
}

/// What is wrong with the bytes of a stream that is no event stream, or a damaged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// A length that no frame can have.
    Length(u32),
    /// A frame larger than [`MAX_FRAME`].
    TooLarge(u32),
    /// The first eight bytes do not match their checksum.
    PreludeChecksum,
    /// The frame does not match its checksum.
    MessageChecksum,
    /// The header block is malformed.
    Headers,
    /// The stream ended inside a frame, with so many bytes of it read.
    Incomplete(usize),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(length) => write!(f, "a frame claims to be {length} bytes long"),
            Self::TooLarge(length) => write!(
                f,
                "a frame of {length} bytes is larger than the {MAX_FRAME} that are read"
            ),
            Self::PreludeChecksum => f.write_str("the checksum of a frame's prelude is wrong"),
            Self::MessageChecksum => f.write_str("the checksum of a frame is wrong"),
            Self::Headers => f.write_str("the headers of a frame are malformed"),
            Self::Incomplete(read) => {
                write!(f, "the stream ended {read} bytes into a frame")
            }
        }
    }
}

impl std::error::Error for FrameError {}

/// Cuts the bytes of a stream into frames, however they arrive.
///
/// Frames that lie whole in what arrives are read in place; only one that is cut by the
/// end of a piece is copied, once.
#[derive(Debug, Default)]
pub struct FrameWalker {
    partial: BytesMut,
    known: Known,
}

/// What was found right in the last frame. A stream repeats its headers to the letter, and
/// its lengths often: comparing costs less than checking.
#[derive(Debug, Default)]
struct Known {
    prelude: Option<[u8; PRELUDE]>,
    headers: Vec<u8>,
}

impl FrameWalker {
    /// A walker at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `on_frame` for every frame that `bytes` completes.
    ///
    /// # Errors
    /// [`FrameError`] turned into `E` for the first malformed frame, or the first error
    /// of `on_frame`. The walker is of no use afterwards.
    pub fn feed<E: From<FrameError>>(
        &mut self,
        mut bytes: &[u8],
        mut on_frame: impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !self.partial.is_empty() {
            // Only as much as is known to belong to the frame that was cut.
            let want = match self.known.frame_length(&self.partial)? {
                Some(length) => length - self.partial.len(),
                None => PRELUDE - self.partial.len(),
            };
            let take = want.min(bytes.len());
            self.partial.extend_from_slice(&bytes[..take]);
            bytes.advance(take);
            match self.known.frame_length(&self.partial)? {
                Some(length) if length == self.partial.len() => {
                    let whole = self.partial.split();
                    on_frame(self.known.read(&whole)?)?;
                }
                Some(length) => {
                    if bytes.is_empty() {
                        self.partial.reserve(length - self.partial.len());
                        return Ok(());
                    }
                }
                None => return Ok(()),
            }
        }
        while let Some(length) = self.known.frame_length(bytes)? {
            if length > bytes.len() {
                break;
            }
            on_frame(self.known.read(&bytes[..length])?)?;
            bytes.advance(length);
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    /// Says whether the stream may end here.
    ///
    /// # Errors
    /// [`FrameError::Incomplete`] inside a frame.
    pub fn finish(&self) -> Result<(), FrameError> {
        if self.partial.is_empty() {
            Ok(())
        } else {
            Err(FrameError::Incomplete(self.partial.len()))
        }
    }
}

impl Known {
    /// The length of the frame that starts `bytes`, once its prelude is whole and right.
    fn frame_length(&mut self, bytes: &[u8]) -> Result<Option<usize>, FrameError> {
        let Some(prelude) = bytes.first_chunk::<PRELUDE>() else {
            return Ok(None);
        };
        let length = u32_at(prelude, 0) as usize;
        if self.prelude != Some(*prelude) {
            check_prelude(prelude)?;
            self.prelude = Some(*prelude);
        }
        Ok(Some(length))
    }

    /// Reads one frame that is whole.
    fn read<'a>(&mut self, bytes: &'a [u8]) -> Result<Frame<'a>, FrameError> {
        let (body, trailer) = bytes.split_at(bytes.len() - TRAILER);
        if crc32fast::hash(body) != u32_at(trailer, 0) {
            return Err(FrameError::MessageChecksum);
        }
        let (headers, payload) = body[PRELUDE..].split_at(u32_at(body, 4) as usize);
        if headers != self.headers.as_slice() {
            for header in (Headers { rest: headers }) {
                header?;
            }
            self.headers.clear();
            self.headers.extend_from_slice(headers);
        }
        Ok(Frame { headers, payload })
    }
}

fn check_prelude(prelude: &[u8; PRELUDE]) -> Result<(), FrameError> {
    if crc32fast::hash(&prelude[..8]) != u32_at(prelude, 8) {
        return Err(FrameError::PreludeChecksum);
    }
    let (total, headers) = (u32_at(prelude, 0), u32_at(prelude, 4));
    let length = total as usize;
    if length < PRELUDE + TRAILER {
        return Err(FrameError::Length(total));
    }
    if length > MAX_FRAME {
        return Err(FrameError::TooLarge(total));
    }
    if headers as usize > length - PRELUDE - TRAILER {
        return Err(FrameError::Headers);
    }
    Ok(())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// A header's value. Only strings matter to this protocol; the rest is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderValue<'a> {
    /// A UTF-8 string.
    String(&'a str),
    /// Any other type, passed over.
    Other,
}

/// The headers of a frame.
#[derive(Debug, Clone)]
pub struct Headers<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Headers<'a> {
    type Item = Result<(&'a str, HeaderValue<'a>), FrameError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let header = next_header(&mut self.rest).ok_or(FrameError::Headers);
        if header.is_err() {
            self.rest = &[];
        }
        Some(header)
    }
}

fn next_header<'a>(rest: &mut &'a [u8]) -> Option<(&'a str, HeaderValue<'a>)> {
    let name_length = take(rest, 1)?[0];
    let name = std::str::from_utf8(take(rest, name_length.into())?).ok()?;
    let value = match take(rest, 1)?[0] {
        0 | 1 => HeaderValue::Other,
        2 => skip(rest, 1)?,
        3 => skip(rest, 2)?,
        4 => skip(rest, 4)?,
        5 | 8 => skip(rest, 8)?,
        9 => skip(rest, 16)?,
        kind @ (6 | 7) => {
            let length = take(rest, 2)?;
            let value = take(rest, u16::from_be_bytes([length[0], length[1]]).into())?;
            if kind == 7 {
                HeaderValue::String(std::str::from_utf8(value).ok()?)
            } else {
                HeaderValue::Other
            }
        }
        _ => return None,
    };
    Some((name, value))
}

fn skip<'a>(rest: &mut &'a [u8], length: usize) -> Option<HeaderValue<'a>> {
    take(rest, length).map(|_| HeaderValue::Other)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}
