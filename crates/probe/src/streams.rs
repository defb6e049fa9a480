//! Throughput: several streams at once, each over its own connection and in its own thread.
//!
//! All streams share the boundaries of the window. A stream to the far end counts what the far end
//! acknowledges, block by block, when the acknowledgement arrives; a separate thread reads those, or
//! a full socket would block them. A stream from the far end is driven by credits, so that it ends
//! when this end requests no more: at most 8 MiB per stream are in flight, which is enough for 10
//! Gbit/s at 6 ms.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::content::Content;
use crate::link::{Link, Wait};
use crate::outgoing::Outgoing;
use crate::request::{BLOCK_BYTES, Direction, GO, NO_MORE, Request, STREAM_ENDED};
use crate::{ProbeError, Throughput};

/// Blocks of a stream from the far end that may be in flight.
const CREDITS: u64 = 64;

/// A throughput test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    /// Number of connections.
    pub streams: u32,
    /// The direction.
    pub direction: Direction,
    /// Load before the window, which does not count: meanwhile TCP opens its window.
    pub warm_up: Duration,
    /// The measured time.
    pub window: Duration,
}

/// The boundaries of the window.
#[derive(Debug, Clone, Copy)]
struct Window {
    begin: Instant,
    end: Instant,
}

/// Counts what was acknowledged within the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    before_bytes: u64,
    until_bytes: u64,
}

impl Tally {
    /// Records the total number of bytes of the stream that are acknowledged at this time.
    fn acknowledge(&mut self, total_bytes: u64, now: Instant, window: Window) {
        if now < window.begin {
            self.before_bytes = total_bytes;
        }
        if now < window.end {
            self.until_bytes = total_bytes;
        }
    }

    fn within_bytes(self) -> u64 {
        self.until_bytes.saturating_sub(self.before_bytes)
    }
}

/// Runs one stream in each session.
pub(crate) fn measure(
    sessions: &mut [Outgoing],
    streams: &Streams,
) -> Result<Throughput, ProbeError> {
    let request = match streams.direction {
        Direction::Send => Request::StreamIn,
        Direction::Fetch => Request::StreamOut,
    };
    for session in sessions.iter() {
        session.request(request)?;
    }
    let begin = Instant::now() + streams.warm_up;
    let window = Window { begin, end: begin + streams.window };
    let results: Vec<_> = std::thread::scope(|scope| {
        let start = |session| {
            let stream = move || match streams.direction {
                Direction::Send => send(session, window),
                Direction::Fetch => fetch(session, window),
            };
            std::thread::Builder::new().spawn_scoped(scope, stream).map_err(ProbeError::Thread)
        };
        // All are started before any is waited for.
        let threads: Vec<_> = sessions.iter_mut().map(start).collect();
        threads.into_iter().map(|thread| joined(thread?)).collect()
    });
    let stream_bytes = results.into_iter().collect::<Result<_, _>>()?;
    Ok(Throughput {
        direction: streams.direction,
        warm_up_ns: nanoseconds(streams.warm_up),
        window_ns: nanoseconds(streams.window),
        stream_bytes,
    })
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn send(session: &mut Outgoing, window: Window) -> Result<u64, ProbeError> {
    let Outgoing { link, limits, content, .. } = session;
    let link: &Link = link;
    let limit = limits.stall;
    let failed = AtomicBool::new(false);
    // The first thread to fail knows the cause. It ends the connection, because the other would
    // wait for something that can no longer arrive; the other's error is only a consequence.
    let end = || {
        let is_first = !failed.swap(true, Ordering::AcqRel);
        link.shut_down();
        is_first
    };
    std::thread::scope(|scope| {
        let count = || {
            let counted = count_acknowledged(link, window, limit);
            let is_first = counted.is_err() && end();
            (counted, is_first)
        };
        let reader = std::thread::Builder::new().spawn_scoped(scope, count);
        let reader = reader.map_err(ProbeError::Thread)?;
        let written = write_blocks(link, content, window, limit);
        if written.is_err() {
            end();
        }
        let (counted, is_first) = joined(reader);
        if is_first { counted } else { written.and(counted) }
    })
}

fn write_blocks(
    link: &Link,
    content: &mut Content,
    window: Window,
    limit: Duration,
) -> Result<(), ProbeError> {
    let wait = Wait::silence("sending a stream", limit);
    while Instant::now() < window.end {
        let block = content.next(BLOCK_BYTES as u64);
        link.write(&(BLOCK_BYTES as u32).to_be_bytes(), wait)?;
        link.write(block, wait)?;
    }
    link.write(&0_u32.to_be_bytes(), wait)
}

fn count_acknowledged(link: &Link, window: Window, limit: Duration) -> Result<u64, ProbeError> {
    let wait = Wait::silence("waiting for acknowledgements of a stream", limit);
    let mut tally = Tally::default();
    loop {
        let mut bytes = [0; 8];
        link.read(&mut bytes, wait)?;
        match u64::from_be_bytes(bytes) {
            STREAM_ENDED => return Ok(tally.within_bytes()),
            total_bytes => tally.acknowledge(total_bytes, Instant::now(), window),
        }
    }
}

fn fetch(session: &mut Outgoing, window: Window) -> Result<u64, ProbeError> {
    let Outgoing { link, limits, memory, .. } = session;
    let wait = Wait::silence("receiving a stream", limits.stall);
    let mut tally = Tally::default();
    let mut total_bytes = 0;
    let mut due_bytes = CREDITS * BLOCK_BYTES as u64;
    link.write(&[GO; CREDITS as usize], wait)?;
    while total_bytes < due_bytes {
        let place = memory.next(BLOCK_BYTES as u64);
        let block_bytes = place.len() as u64;
        link.read(place, wait)?;
        total_bytes += block_bytes;
        let now = Instant::now();
        tally.acknowledge(total_bytes, now, window);
        if now < window.end {
            link.write(&[GO], wait)?;
            due_bytes += block_bytes;
        }
    }
    link.write(&[NO_MORE], wait)?;
    Ok(tally.within_bytes())
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_acknowledged_within_the_window_counts() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let window = Window { begin: at(100), end: at(200) };
        let mut tally = Tally::default();
        for (ms, total_bytes) in [(10, 5), (99, 7), (100, 20), (150, 30), (199, 47), (200, 90)] {
            tally.acknowledge(total_bytes, at(ms), window);
        }
        assert_eq!(tally.within_bytes(), 40);
    }

    #[test]
    fn nothing_in_the_window_is_nothing() {
        let start = Instant::now();
        let window = Window { begin: start, end: start };
        let mut tally = Tally::default();
        tally.acknowledge(9, start, window);
        assert_eq!(tally.within_bytes(), 0);
    }
}
