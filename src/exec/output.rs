//! Both streams of one command between the network and whoever delivers them: ordered,
//! bounded, merged when delivery lags, and closed by the command's end.
//!
//! One side pushes ([`Output::push`], [`Output::end`]) and waits when too much lies
//! here; the other is woken once, reads pieces until there are none, and is woken again
//! only then. What streams nobody listens to is delivered at once.

use super::buffer::{BLOCK, Buffer, utf16_length};
use super::outcome::{End, Outcome};
use crate::error::Failure;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Past so many undelivered bytes the network is no longer read.
const HIGH_WATER: u64 = 1024 * 1024;
/// Below so many it is read again.
const LOW_WATER: u64 = HIGH_WATER / 2;
/// What one queued piece costs besides its bytes.
const PIECE_COST: u64 = 32;
/// So many pieces may wait one by one, each to be delivered as it came. Past that,
/// delivery lags, and neighbours of the same stream become one.
const SEPARATE_PIECES: usize = 16;
/// Neighbours become no larger than this. Strings of up to 128 KiB live in V8's young generation,
/// whose memory is used again and again; a larger one is mapped, faulted in and unmapped.
const MERGED: u64 = 64 * 1024;
/// What is still retained of output that is too large for a string.
const TOO_LARGE_TAIL: u64 = BLOCK as u64;

/// V8's limit for a string on 64-bit machines, in UTF-16 code units.
pub const MAX_STRING: u64 = 0x1fff_ffe8;

/// One of a command's two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Stream {
    /// Standard output.
    Stdout = 0,
    /// Standard error.
    Stderr = 1,
}

impl Stream {
    /// Both, in the order of delivery within one event.
    pub const BOTH: [Self; 2] = [Self::Stdout, Self::Stderr];

    /// As it is called everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// What the caller wants of a command's output.
#[derive(Debug, Clone, Copy)]
pub struct OutputOptions {
    /// The newest bytes retained per stream; all without a limit.
    pub max_retained_bytes: Option<u64>,
    /// Whether somebody listens, per [`Stream`].
    pub listened: [bool; 2],
    /// The longest string that can be handed over: [`MAX_STRING`] but in tests.
    pub max_string: u64,
}

/// The output that a finished command leaves.
#[derive(Debug)]
pub struct Sealed {
    /// How it ended.
    pub outcome: Outcome,
    /// Bytes that were delivered and not retained, per [`Stream`].
    pub dropped_bytes: [u64; 2],
    /// From the command's start to its end.
    pub elapsed: Duration,
}

/// What a reader finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<T> {
    /// The next piece.
    Text(T),
    /// Nothing now; the reader will be woken.
    Pending,
    /// Nothing, ever again: the command has ended.
    Ended,
}

/// See the module.
pub struct Output {
    state: Mutex<State>,
    writable: Notify,
    ended: Notify,
    wake: Mutex<Option<Wake>>,
    started: Instant,
}

/// Wakes the reader; `false` when there is none any more.
type Wake = Box<dyn Fn() -> bool + Send + Sync>;

#[derive(Debug)]
struct State {
    buffers: [Buffer; 2],
    listened: [bool; 2],
    utf16: [u64; 2],
    too_large: [bool; 2],
    unlimited: bool,
    max_string: u64,
    queue: VecDeque<(Stream, u64)>,
    reader_scheduled: bool,
    end: Option<(End, Instant)>,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}

impl Output {
    /// An empty output whose reader is woken by `wake`, from any thread. Where `wake` finds
    /// no reader any more, the command ends as if aborted.
    pub fn new(options: OutputOptions, wake: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let limit = options.max_retained_bytes.unwrap_or(u64::MAX);
        Self {
            state: Mutex::new(State {
                buffers: [Buffer::new(limit), Buffer::new(limit)],
                listened: options.listened,
                utf16: [0; 2],
                too_large: [false; 2],
                unlimited: options.max_retained_bytes.is_none(),
                max_string: options.max_string,
                queue: VecDeque::new(),
                reader_scheduled: false,
                end: None,
            }),
            writable: Notify::new(),
            ended: Notify::new(),
            wake: Mutex::new(Some(Box::new(wake))),
            started: Instant::now(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No user code runs under the lock: a poisoned state is still a whole one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends `text` to `stream` and wakes the reader if it sleeps. After the end,
    /// nothing.
    pub fn push(&self, stream: Stream, text: &str) {
        let mut state = self.state();
        state.push(stream, text);
        self.schedule(state);
    }

    /// For many pushes in a row.
    pub fn writer(&self) -> Writer<'_> {
        Writer {
            output: self,
            staging: STAGING.take(),
        }
    }

    /// Ends the command, once: a later end is not heard.
    pub fn end(&self, end: End) {
        let mut state = self.state();
        if state.end.is_some() {
            return;
        }
        state.end = Some((end, Instant::now()));
        self.schedule(state);
        self.ended.notify_waiters();
        self.writable.notify_waiters();
    }

    /// Wakes the reader, unless it was and has not yet found nothing.
    fn schedule(&self, mut state: MutexGuard<'_, State>) {
        let something = !state.queue.is_empty() || state.end.is_some();
        if something && !std::mem::replace(&mut state.reader_scheduled, true) {
            drop(state);
            if !self.wake().as_ref().is_none_or(|wake| wake()) {
                self.end(End::Aborted);
            }
        }
    }

    fn wake(&self) -> MutexGuard<'_, Option<Wake>> {
        self.wake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets who is to be woken. What keeps a process alive hangs on it.
    pub fn release(&self) {
        drop(self.wake().take());
    }

    /// Hands the next piece to `take`; it counts as delivered.
    pub fn read<T>(&self, take: impl FnOnce(Stream, &str) -> T) -> Piece<T> {
        let mut state = self.state();
        let Some(&(stream, length)) = state.queue.front() else {
            if state.end.is_some() {
                return Piece::Ended;
            }
            state.reader_scheduled = false;
            return Piece::Pending;
        };
        let length = usize::try_from(length).map_or(BLOCK, |length| length.min(BLOCK));
        let buffer = &mut state.buffers[stream as usize];
        let text = buffer.peek(length);
        let (taken, length) = (take(stream, text), text.len());
        buffer.advance(length);
        state.consume(length);
        if state.waiting() < LOW_WATER {
            self.writable.notify_waiters();
        }
        Piece::Text(taken)
    }

    /// Whether more may be pushed now.
    pub fn is_writable(&self) -> bool {
        let state = self.state();
        state.end.is_some() || state.waiting() < HIGH_WATER
    }

    /// Waits until more may be pushed, or the end.
    pub async fn writable(&self) {
        if self.is_writable() {
            return;
        }
        loop {
            let notified = self.writable.notified();
            {
                let state = self.state();
                if state.end.is_some() || state.waiting() < LOW_WATER {
                    return;
                }
            }
            notified.await;
        }
    }

    /// Whether the end is known.
    pub fn has_ended(&self) -> bool {
        self.state().end.is_some()
    }

    /// Waits for the end, wherever it comes from.
    pub async fn ended(&self) {
        loop {
            let notified = self.ended.notified();
            if self.has_ended() {
                return;
            }
            notified.await;
        }
    }

    /// What ended the command.
    pub fn end_reason(&self) -> Option<End> {
        self.state().end.as_ref().map(|(end, _)| end.clone())
    }

    /// Closes the output of a command that has ended: what was not delivered until now
    /// never will be, and is not retained either.
    pub fn seal(&self) -> Option<Sealed> {
        let mut state = self.state();
        let (end, at) = state.end.clone()?;
        state.queue.clear();
        let dropped_bytes = Stream::BOTH.map(|stream| state.buffers[stream as usize].seal());
        let mut outcome = Outcome::from(end);
        for stream in Stream::BOTH {
            if !matches!(outcome, Outcome::Failed(_)) && state.is_too_large(stream) {
                let limit = usize::try_from(state.max_string).unwrap_or(usize::MAX);
                outcome = Outcome::Failed(Failure::output_too_large(stream.name(), limit));
            }
            if state.is_too_large(stream) {
                state.buffers[stream as usize].lower_limit(TOO_LARGE_TAIL);
                state.buffers[stream as usize].seal();
            }
        }
        Some(Sealed {
            outcome,
            dropped_bytes,
            elapsed: at.duration_since(self.started),
        })
    }

    /// Takes the next block of what `stream` retained; only after [`Self::seal`].
    pub fn take_retained(&self, stream: Stream) -> Option<Vec<u8>> {
        self.state().buffers[stream as usize].take()
    }
}

/// Where a [`Writer`] gathers small pieces.
#[derive(Debug, Default)]
struct Staging {
    text: String,
    pieces: Vec<(Stream, usize)>,
}

thread_local! {
    /// Kept from batch to batch: one for a thread, not one for each running command.
    static STAGING: Cell<Staging> = Cell::default();
}

/// Pushes small pieces in batches: the lock is taken once for many, and only to append them,
/// so that the reader hardly ever waits for it.
#[derive(Debug)]
pub struct Writer<'o> {
    output: &'o Output,
    staging: Staging,
}

impl Writer<'_> {
    const MOST_PIECES: usize = 128;
    /// A larger piece is not copied once more.
    const SMALL: usize = 4 * 1024;

    /// As [`Output::push`].
    pub fn push(&mut self, stream: Stream, text: &str) {
        if text.len() > Self::SMALL {
            self.flush();
            self.output.push(stream, text);
            return;
        }
        self.staging.text.push_str(text);
        self.staging.pieces.push((stream, text.len()));
        if self.staging.pieces.len() >= Self::MOST_PIECES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.staging.pieces.is_empty() {
            return;
        }
        let mut state = self.output.state();
        let mut rest = self.staging.text.as_str();
        for (stream, length) in self.staging.pieces.drain(..) {
            let (text, after) = rest.split_at(length);
            state.push(stream, text);
            rest = after;
        }
        self.output.schedule(state);
        self.staging.text.clear();
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.flush();
        STAGING.set(std::mem::take(&mut self.staging));
    }
}

impl State {
    fn push(&mut self, stream: Stream, text: &str) {
        if self.end.is_some() || text.is_empty() {
            return;
        }
        let index = stream as usize;
        self.buffers[index].push(text);
        if self.unlimited {
            self.watch_size(index, text);
        }
        if !self.listened[index] {
            self.buffers[index].advance_all();
            return;
        }
        let length = text.len() as u64;
        let lags = self.queue.len() >= SEPARATE_PIECES;
        match self.queue.back_mut() {
            Some((last, merged)) if *last == stream && lags && *merged + length <= MERGED => {
                *merged += length;
            }
            _ => self.queue.push_back((stream, length)),
        }
    }

    /// Counts code units once there are enough bytes for too many of them.
    fn watch_size(&mut self, index: usize, text: &str) {
        let buffer = &mut self.buffers[index];
        if self.too_large[index] || buffer.total() <= self.max_string {
            return;
        }
        self.utf16[index] = match self.utf16[index] {
            0 => buffer.utf16_length(),
            units => units + utf16_length(text.as_bytes()),
        };
        if self.utf16[index] > self.max_string {
            self.too_large[index] = true;
            buffer.lower_limit(TOO_LARGE_TAIL);
        }
    }

    fn is_too_large(&self, stream: Stream) -> bool {
        let buffer = &self.buffers[stream as usize];
        self.too_large[stream as usize]
            || (buffer.held() > self.max_string && buffer.utf16_length() > self.max_string)
    }

    fn waiting(&self) -> u64 {
        let bytes: u64 = self.buffers.iter().map(Buffer::undelivered).sum();
        bytes + self.queue.len() as u64 * PIECE_COST
    }

    fn consume(&mut self, length: usize) {
        if let Some((_, left)) = self.queue.front_mut() {
            *left = left.saturating_sub(length as u64);
            if *left == 0 {
                self.queue.pop_front();
            }
        }
    }
}
