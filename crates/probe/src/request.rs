//! Requests and replies: 16 bytes each, nothing of variable length.

use serde::{Deserialize, Serialize};

use crate::refusal::RefusalReason;

pub(crate) const REQUEST_BYTES: usize = 16;

/// A block of a stream, in bytes.
pub(crate) const BLOCK_BYTES: usize = 128 << 10;
/// The acknowledgement of the end of a stream.
pub(crate) const STREAM_ENDED: u64 = u64::MAX;
/// "Ready" and "go" for a repetition; a credit of a stream.
pub(crate) const GO: u8 = 1;
/// No more credits.
pub(crate) const NO_MORE: u8 = 0;

/// The direction of the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the client to the far end: a write there.
    Send,
    /// From the far end to the client: a read there.
    Fetch,
}

impl Direction {
    /// `send` or `fetch`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Send => "send",
            Direction::Fetch => "fetch",
        }
    }
}

/// Where at the far end the payload is stored or comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sink {
    /// Its memory: 4 MiB, reused cyclically, however long the payload is.
    Memory,
    /// A file on its disk.
    Disk,
}

impl Sink {
    /// `memory` or `disk`.
    pub fn name(self) -> &'static str {
        match self {
            Sink::Memory => "memory",
            Sink::Disk => "disk",
        }
    }
}

/// A client's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    RoundTrips { length_bytes: u64, count: u32 },
    Send { sink: Sink, sync: bool, length_bytes: u64, count: u32 },
    Fetch { sink: Sink, cold: bool, length_bytes: u64, count: u32 },
    StreamIn,
    StreamOut,
}

impl Request {
    pub(crate) fn to_bytes(self) -> [u8; REQUEST_BYTES] {
        let (operation, sink, flag, count, length_bytes) = match self {
            Request::RoundTrips { length_bytes, count } => {
                (1, Sink::Memory, false, count, length_bytes)
            }
            Request::Send { sink, sync, length_bytes, count } => {
                (2, sink, sync, count, length_bytes)
            }
            Request::Fetch { sink, cold, length_bytes, count } => {
                (3, sink, cold, count, length_bytes)
            }
            Request::StreamIn => (4, Sink::Memory, false, 0, 0),
            Request::StreamOut => (5, Sink::Memory, false, 0, 0),
        };
        let [c0, c1, c2, c3] = count.to_be_bytes();
        let [l0, l1, l2, l3, l4, l5, l6, l7] = length_bytes.to_be_bytes();
        let sink = u8::from(sink == Sink::Disk);
        let flag = u8::from(flag);
        [operation, sink, flag, 0, c0, c1, c2, c3, l0, l1, l2, l3, l4, l5, l6, l7]
    }

    pub(crate) fn from_bytes(bytes: [u8; REQUEST_BYTES]) -> Result<Self, RefusalReason> {
        let [operation, sink, flag, zero, c0, c1, c2, c3, l0, l1, l2, l3, l4, l5, l6, l7] = bytes;
        let count = u32::from_be_bytes([c0, c1, c2, c3]);
        let length_bytes = u64::from_be_bytes([l0, l1, l2, l3, l4, l5, l6, l7]);
        let sink = match sink {
            0 => Sink::Memory,
            1 => Sink::Disk,
            _ => return Err(RefusalReason::Unknown),
        };
        if flag > 1 || zero != 0 {
            return Err(RefusalReason::Unknown);
        }
        let flag = flag == 1;
        let request = match operation {
            1 => Request::RoundTrips { length_bytes, count },
            2 => Request::Send { sink, sync: flag, length_bytes, count },
            3 => Request::Fetch { sink, cold: flag, length_bytes, count },
            4 => Request::StreamIn,
            5 => Request::StreamOut,
            _ => return Err(RefusalReason::Unknown),
        };
        // Unused fields of a request are zero, so that a later version can give them a meaning.
        if request.to_bytes() == bytes { Ok(request) } else { Err(RefusalReason::Unknown) }
    }

    /// The number of repetitions, and the length of each.
    pub(crate) fn extent(self) -> (u32, u64) {
        match self {
            Request::RoundTrips { length_bytes, count }
            | Request::Send { length_bytes, count, .. }
            | Request::Fetch { length_bytes, count, .. } => (count, length_bytes),
            Request::StreamIn | Request::StreamOut => (0, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_read_back() {
        let length_bytes = 0x0102_0304_0506_0708;
        for request in [
            Request::RoundTrips { length_bytes, count: 0x0a0b_0c0d },
            Request::Send { sink: Sink::Disk, sync: true, length_bytes, count: 3 },
            Request::Fetch { sink: Sink::Memory, cold: false, length_bytes, count: 3 },
            Request::StreamIn,
            Request::StreamOut,
        ] {
            assert_eq!(Request::from_bytes(request.to_bytes()), Ok(request));
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let good = Request::Send { sink: Sink::Disk, sync: true, length_bytes: 1, count: 1 };
        for (at, value) in [(0, 0), (0, 6), (0, 255), (1, 2), (2, 2), (3, 1)] {
            let mut bytes = good.to_bytes();
            bytes[at] = value;
            assert_eq!(Request::from_bytes(bytes), Err(RefusalReason::Unknown), "{at} {value}");
        }
        let mut stream = Request::StreamIn.to_bytes();
        stream[15] = 1;
        assert_eq!(Request::from_bytes(stream), Err(RefusalReason::Unknown));
    }
}
