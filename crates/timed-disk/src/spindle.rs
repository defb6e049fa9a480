//! A disk with one arm: it serves one request after another, and each takes the time to get to its place, unless it
//! follows the one before it, and the time of its bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stormeter_units::{parse_bytes, parse_duration_ns};

use crate::schedule::{Access, Schedule};
use crate::{COUNTERS, SPEED};

/// How fast a disk is: `8ms,100MB/s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Speed {
    /// The time to get to a place: the mean seek and half a turn, which every access takes that does not begin where
    /// the one before it ended, or that follows a flush, when the place has just passed by.
    pub position_ns: u64,
    /// The rate of transfer, at least 1.
    pub bytes_per_s: u64,
}

/// Why a text is no speed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not the speed of a disk; write the time to get to a place and the rate of transfer, such as 8ms,100MB/s"
)]
pub struct SpeedError {
    text: String,
}

impl FromStr for Speed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Self, SpeedError> {
        let parse = || {
            let (position, rate) = text.trim().split_once(',')?;
            let position_ns = parse_duration_ns(position.trim()).ok()?;
            let bytes_per_s = parse_bytes(rate.trim().strip_suffix("/s")?).ok()?;
            (bytes_per_s > 0).then_some(Self { position_ns, bytes_per_s })
        };
        parse().ok_or_else(|| SpeedError { text: text.to_owned() })
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Exact, which a rounded number for readers is not.
        let whole = |value: u64, units: [(u64, &'static str); 4]| {
            let unit = units.into_iter().find(|(one, _)| value.is_multiple_of(*one));
            unit.map_or((value, ""), |(one, name)| (value / one, name))
        };
        let times = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")];
        let rates = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "KB"), (1, "B")];
        let (position, time) = whole(self.position_ns, times);
        let (rate, bytes) = whole(self.bytes_per_s, rates);
        write!(f, "{position}{time},{rate}{bytes}/s")
    }
}

stormeter_units::by_text!(Speed, SpeedError);

impl Speed {
    /// So fast that it takes no time: for what is not to be measured.
    pub const FASTEST: Speed = Speed { position_ns: 0, bytes_per_s: 1_000_000_000_000 };

    /// A disk whose accesses take as many times as long.
    #[must_use]
    pub fn slowed(self, times: f64) -> Self {
        let Self { position_ns, bytes_per_s } = self;
        Self {
            position_ns: (position_ns as f64 * times) as u64,
            bytes_per_s: ((bytes_per_s as f64 / times) as u64).max(1),
        }
    }

    fn transfer_ns(self, bytes: u64) -> u64 {
        let ns = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_s.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

/// What a disk has done since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Reads and writes that were accepted.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The time for which it was busy.
    pub busy_ns: u64,
    /// The time since it began: of two readings, the difference of `busy_ns` over the difference of this is its
    /// utilisation.
    pub elapsed_ns: u64,
}

/// The disk. Its files are [`SPEED`] and [`COUNTERS`].
#[derive(Debug)]
pub struct Spindle {
    speed: Speed,
    /// Where the last access ended.
    place: Option<u64>,
    free_ns: u64,
    requests: u64,
    bytes: u64,
    /// The service times of all that was accepted, served or not.
    service_ns: u64,
}

impl Spindle {
    /// A disk with this speed.
    #[must_use]
    pub fn new(speed: Speed) -> Self {
        Self { speed, place: None, free_ns: 0, requests: 0, bytes: 0, service_ns: 0 }
    }

    pub(crate) fn free_ns(&self) -> u64 {
        self.free_ns
    }

    pub(crate) fn counters(&self, now_ns: u64) -> Counters {
        let waiting_ns = self.free_ns.saturating_sub(now_ns);
        let busy_ns = self.service_ns.saturating_sub(waiting_ns);
        Counters { requests: self.requests, bytes: self.bytes, busy_ns, elapsed_ns: now_ns }
    }
}

impl Schedule for Spindle {
    fn admit(&mut self, arrived_ns: u64, access: Access) -> u64 {
        let follows = self.place == Some(access.offset_bytes);
        let position_ns = if follows { 0 } else { self.speed.position_ns };
        let service_ns = position_ns + self.speed.transfer_ns(access.length_bytes);
        self.place = Some(access.offset_bytes + access.length_bytes);
        self.requests += 1;
        self.bytes += access.length_bytes;
        self.service_ns += service_ns;
        self.free_ns = arrived_ns.max(self.free_ns) + service_ns;
        self.free_ns
    }

    /// There is no cache that could lose writes: a flush waits for those before it.
    fn flush(&mut self, arrived_ns: u64) -> u64 {
        self.place = None;
        arrived_ns.max(self.free_ns)
    }

    fn files(&self) -> &'static [&'static str] {
        &[SPEED, COUNTERS]
    }

    fn read_file(&self, name: &str, now_ns: u64) -> String {
        match name {
            SPEED => format!("{}\n", self.speed),
            _ => serde_json::to_string(&self.counters(now_ns)).unwrap_or_default(),
        }
    }

    fn write_file(&mut self, name: &str, text: &str) -> bool {
        match text.parse() {
            Ok(speed) if name == SPEED => self.speed = speed,
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Speed = Speed { position_ns: 8_000_000, bytes_per_s: 100_000_000 };

    fn at(offset_bytes: u64, length_bytes: u64) -> Access {
        Access { offset_bytes, length_bytes, is_write: false }
    }

    #[test]
    fn a_speed_is_read_as_written() {
        for (text, speed) in [("8ms,100MB/s", SLOW), (" 8ms , 100MB/s\n", SLOW)] {
            assert_eq!(text.parse(), Ok(speed));
            assert_eq!(speed.to_string().parse(), Ok(speed), "{speed}");
        }
        for (position_ns, bytes_per_s) in [(0, 32 << 20), (1_234_567, 1), (80_000, 1 << 40)] {
            let speed = Speed { position_ns, bytes_per_s };
            assert_eq!(speed.to_string().parse(), Ok(speed), "{speed}");
        }
        assert_eq!(Speed::FASTEST.to_string().parse(), Ok(Speed::FASTEST));
        for text in ["", "8ms", "8ms,100MB", "8ms,0MB/s", "100MB/s,8ms"] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }

    #[test]
    fn one_request_follows_another_and_only_a_new_place_is_searched_for() {
        let mut disk = Spindle::new(SLOW);
        assert_eq!(disk.admit(0, at(0, 100_000)), 9_000_000);
        assert_eq!(disk.admit(0, at(100_000, 100_000)), 10_000_000);
        assert_eq!(disk.admit(0, at(0, 100_000)), 19_000_000);
        assert_eq!(disk.admit(50_000_000, at(100_000, 100_000)), 51_000_000);
    }

    #[test]
    fn a_flush_waits_for_what_was_written_and_the_place_is_lost() {
        let mut disk = Spindle::new(SLOW);
        assert_eq!(disk.flush(5), 5);
        assert_eq!(disk.admit(10, at(0, 100_000)), 9_000_010);
        assert_eq!(disk.flush(20), 9_000_010);
        assert_eq!(disk.admit(20, at(100_000, 100_000)), 18_000_010);
    }

    #[test]
    fn it_counts_the_time_it_was_busy_up_to_now() {
        let mut disk = Spindle::new(SLOW);
        disk.admit(1_000_000, at(0, 100_000));
        disk.admit(1_000_000, at(500_000, 100_000));
        let busy_ns = |now_ns| disk.counters(now_ns).busy_ns;
        assert_eq!([busy_ns(1_000_000), busy_ns(11_000_000)], [0, 10_000_000]);
        assert_eq!([busy_ns(19_000_000), busy_ns(90_000_000)], [18_000_000, 18_000_000]);
        let text = disk.read_file(COUNTERS, 90_000_000);
        let counters: Counters = serde_json::from_str(&text).unwrap();
        assert_eq!((counters.requests, counters.bytes), (2, 200_000));
    }

    #[test]
    fn its_speed_changes_when_it_is_written() {
        let mut disk = Spindle::new(SLOW);
        assert!(disk.write_file(SPEED, &SLOW.slowed(10.0).to_string()));
        assert_eq!(disk.read_file(SPEED, 0), "80ms,10MB/s\n");
        assert_eq!(disk.admit(0, at(0, 100_000)), 90_000_000);
        assert!(!disk.write_file(SPEED, "fast") && !disk.write_file(COUNTERS, "8ms,1MB/s"));
    }
}
