//! What a frame says: an event of the command, an exception, or nothing we know.
//!
//! Reading is lenient where the service may grow (unknown events, members, statuses,
//! exit codes of any size) and strict where leniency would lie (JSON that is no JSON).

use super::frame::Frame;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// One frame's meaning.
#[derive(Debug, PartialEq)]
pub enum Event<'r> {
    /// A chunk of the command's life.
    Chunk(&'r mut Chunk),
    /// A modelled exception: its shape's name, and its message.
    Exception {
        /// As in `:exception-type`, `throttlingException` for one.
        kind: String,
        /// The payload's `message`, empty if it has none.
        message: String,
    },
    /// `:message-type=error`: an error outside the model.
    Error {
        /// As in `:error-code`.
        code: String,
        /// As in `:error-message`.
        message: String,
    },
    /// An event of a kind that this version does not know.
    Unknown,
}

/// How a command ended, as the service tells it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stop {
    /// The exit code, if the service gave one. Any JSON number is taken.
    pub exit_code: Option<f64>,
    /// `COMPLETED`, `TIMED_OUT`, or a word that this version does not know.
    pub status: Option<String>,
}

/// The members of one `chunk` event. The buffers are reused from event to event.
#[derive(Debug, Default, PartialEq)]
pub struct Chunk {
    /// `contentStart` was there.
    pub started: bool,
    /// `contentDelta.stdout`: UTF-8, but for lone surrogates and undecodable bytes.
    pub stdout: Vec<u8>,
    /// `contentDelta.stderr`, likewise.
    pub stderr: Vec<u8>,
    /// `contentStop`.
    pub stop: Option<Stop>,
}

impl Chunk {
    fn clear(&mut self) {
        self.started = false;
        self.stdout.clear();
        self.stderr.clear();
        self.stop = None;
    }
}

/// A frame that cannot be part of a command's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventError {
    /// The frame has no `:message-type`, or an unknown one.
    MessageType(Option<String>),
    /// The payload of a chunk is not the JSON it should be.
    Payload(String),
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MessageType(None) => f.write_str("a frame has no :message-type"),
            Self::MessageType(Some(kind)) => {
                write!(f, "a frame has the unknown :message-type {kind:?}")
            }
            Self::Payload(why) => write!(f, "an event's payload cannot be read: {why}"),
        }
    }
}

impl std::error::Error for EventError {}

/// Reads the frames of one stream.
#[derive(Debug, Default)]
pub struct EventReader {
    chunk: Chunk,
    /// The headers of the last chunk event. A stream repeats them to the letter, and
    /// comparing them costs less than reading them.
    chunk_headers: Vec<u8>,
}

impl EventReader {
    /// Reads `frame`.
    ///
    /// # Errors
    /// [`EventError`] when the frame is no message of this protocol.
    pub fn read(&mut self, frame: &Frame<'_>) -> Result<Event<'_>, EventError> {
        if !self.chunk_headers.is_empty() && frame.headers == self.chunk_headers {
            return self.read_chunk(frame.payload);
        }
        match frame.header(":message-type") {
            Some("event") => match frame.header(":event-type") {
                Some("chunk") => {
                    self.chunk_headers.clear();
                    self.chunk_headers.extend_from_slice(frame.headers);
                    self.read_chunk(frame.payload)
                }
                _ => Ok(Event::Unknown),
            },
            Some("exception") => Ok(Event::Exception {
                kind: frame
                    .header(":exception-type")
                    .unwrap_or_default()
                    .to_owned(),
                message: exception_message(frame.payload),
            }),
            Some("error") => Ok(Event::Error {
                code: frame.header(":error-code").unwrap_or_default().to_owned(),
                message: frame
                    .header(":error-message")
                    .unwrap_or_default()
                    .to_owned(),
            }),
            other => Err(EventError::MessageType(other.map(str::to_owned))),
        }
    }

    fn read_chunk(&mut self, payload: &[u8]) -> Result<Event<'_>, EventError> {
        self.chunk.clear();
        let mut json = serde_json::Deserializer::from_slice(payload);
        ChunkSeed(&mut self.chunk)
            .deserialize(&mut json)
            .and_then(|()| json.end())
            .map_err(|error| EventError::Payload(error.to_string()))?;
        Ok(Event::Chunk(&mut self.chunk))
    }
}

/// An exception whose payload cannot be read is still that exception.
fn exception_message(payload: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Payload<'a> {
        #[serde(borrow, alias = "Message")]
        message: Option<Cow<'a, str>>,
    }
    serde_json::from_slice::<Payload<'_>>(payload)
        .ok()
        .and_then(|payload| payload.message)
        .map(Cow::into_owned)
        .unwrap_or_default()
}

struct ChunkSeed<'c>(&'c mut Chunk);

impl<'de> DeserializeSeed<'de> for ChunkSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ChunkSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(member) = map.next_key()? {
            match member {
                ChunkMember::ContentStart => {
                    map.next_value::<IgnoredAny>()?;
                    self.0.started = true;
                }
                ChunkMember::ContentDelta => map.next_value_seed(Optional(DeltaSeed(self.0)))?,
                ChunkMember::ContentStop => {
                    if let Some(RawStop { exit_code, status }) = map.next_value()? {
                        self.0.stop = Some(Stop {
                            exit_code: exit_code.and_then(|code| code.as_f64()),
                            status: status.and_then(|s| s.as_str().map(str::to_owned)),
                        });
                    }
                }
                ChunkMember::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum ChunkMember {
    ContentStart,
    ContentDelta,
    ContentStop,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum DeltaMember {
    Stdout,
    Stderr,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawStop {
    #[serde(default)]
    exit_code: Option<serde_json::Value>,
    #[serde(default)]
    status: Option<serde_json::Value>,
}

struct DeltaSeed<'c>(&'c mut Chunk);

impl<'de> DeserializeSeed<'de> for DeltaSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DeltaSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(member) = map.next_key()? {
            match member {
                DeltaMember::Stdout => {
                    map.next_value_seed(Optional(TextSeed(&mut self.0.stdout)))?;
                }
                DeltaMember::Stderr => {
                    map.next_value_seed(Optional(TextSeed(&mut self.0.stderr)))?;
                }
                DeltaMember::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// `null` is taken for absent.
struct Optional<S>(S);

impl<'de, S: DeserializeSeed<'de, Value = ()>> DeserializeSeed<'de> for Optional<S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, S: DeserializeSeed<'de, Value = ()>> Visitor<'de> for Optional<S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.deserialize(deserializer)
    }
}

/// Appends a JSON string's text. Asking for bytes is what makes `serde_json` let lone
/// surrogates (as three bytes each) and undecodable bytes through; as `str` it fails.
struct TextSeed<'c>(&'c mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for TextSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for TextSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<(), E> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}
