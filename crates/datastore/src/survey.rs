//! What the way to a datastore is like: round trips and sizes, found out without writing anything.
//!
//! A reader who sees a round trip of 2 ms, or a largest READ of 8 KiB, knows the reason for a result before the hours
//! of a measurement, and a load of one outstanding I/O can be no faster than the round trip allows.

use serde::Serialize;

use crate::DatastoreError;

/// Calls that are measured.
const CALLS: usize = 32;

/// The call that makes a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// NFSPROC3_NULL (RFC 1813, section 3.3.0).
    NfsNull,
    /// NOP-Out and NOP-In (RFC 7143, sections 11.18 and 11.19).
    NopOut,
}

/// Times of calls that do nothing, one after another on one connection, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RoundTrips {
    /// What was called.
    pub call: Call,
    /// How often.
    pub count: usize,
    /// The shortest.
    pub least_ns: u64,
    /// A quarter were at most this long.
    pub lower_quartile_ns: u64,
    /// Half were at most this long.
    pub median_ns: u64,
    /// Three quarters were at most this long.
    pub upper_quartile_ns: u64,
    /// The longest.
    pub most_ns: u64,
}

/// The sizes of READ and WRITE that an NFS server gives (FSINFO, RFC 1813, section 3.3.19), in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TransferSizes {
    /// `rtmax`.
    pub read_max_bytes: u32,
    /// `rtpref`.
    pub read_preferred_bytes: u32,
    /// `wtmax`.
    pub write_max_bytes: u32,
    /// `wtpref`.
    pub write_preferred_bytes: u32,
}

/// What was found out about the way to a datastore. Storage on this host has no round trips, and local protocols no
/// sizes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// Times of calls that do nothing.
    pub round_trips: Option<RoundTrips>,
    /// Of NFS: the sizes that the server gives.
    pub transfer_sizes: Option<TransferSizes>,
    /// Of a device or LUN, which has no free space: its size, in bytes.
    pub capacity_bytes: Option<u64>,
}

impl RoundTrips {
    /// From times in any order; zeros if there are none.
    #[must_use]
    pub fn of(call: Call, mut times_ns: Vec<u64>) -> Self {
        times_ns.sort_unstable();
        let at = |quarter: usize| {
            let last = times_ns.len().saturating_sub(1);
            times_ns.get(last * quarter / 4).copied().unwrap_or(0)
        };
        Self {
            call,
            count: times_ns.len(),
            least_ns: at(0),
            lower_quartile_ns: at(1),
            median_ns: at(2),
            upper_quartile_ns: at(3),
            most_ns: at(4),
        }
    }
}

/// The times of calls after one that is not counted, because it may have to connect, or wake what slept.
pub(crate) fn repeated(
    mut call: impl FnMut() -> Result<u64, DatastoreError>,
) -> Result<Vec<u64>, DatastoreError> {
    call()?;
    (0..CALLS).map(|_| call()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_times_that_were_seen() {
        let found = RoundTrips::of(Call::NfsNull, vec![50, 10, 30, 20, 40]);
        let quartiles = [found.lower_quartile_ns, found.median_ns, found.upper_quartile_ns];
        assert_eq!((found.least_ns, quartiles, found.most_ns), (10, [20, 30, 40], 50));
        assert_eq!(RoundTrips::of(Call::NopOut, vec![7]).upper_quartile_ns, 7);
        assert_eq!(RoundTrips::of(Call::NopOut, Vec::new()).count, 0);
    }

    #[test]
    fn the_first_call_is_not_counted_and_a_failure_ends_it() {
        let mut calls = 0;
        let times = repeated(|| {
            calls += 1;
            Ok(calls)
        });
        assert_eq!(times.unwrap(), (2..=CALLS as u64 + 1).collect::<Vec<_>>());
        let refused = repeated(|| Err(DatastoreError::RunId { run_id: String::new() }));
        assert!(refused.is_err());
    }
}
