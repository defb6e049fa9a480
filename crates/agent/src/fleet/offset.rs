//! The offset of an agent's clocks from the controller's, as one round trip shows it.
//!
//! The agent's time at the middle of a round trip is that in its answer, plus or minus half of the round
//! trip (Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989, section 3).

/// An agent's clocks minus the controller's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ClockOffset {
    /// The clocks that time trials. Each has its own origin.
    pub(super) monotonic_ns: i64,
    /// The times of day.
    pub(super) unix_ns: i64,
    /// Half of the shortest round trip: the largest possible error of either.
    pub(super) error_ns: u64,
}

impl ClockOffset {
    /// Computes it from one round trip: sent and received by the controller's clock, answered by the
    /// agent's clocks; `unix_base_ns` is the controller's time of day when its clock was 0.
    pub(super) fn of(
        sent_ns: u64,
        received_ns: u64,
        agent: (u64, u64),
        unix_base_ns: i128,
    ) -> Self {
        let middle_ns = i128::from(sent_ns) + i128::from(received_ns.saturating_sub(sent_ns)) / 2;
        let (now_ns, unix_ns) = agent;
        Self {
            monotonic_ns: (i128::from(now_ns) - middle_ns) as i64,
            unix_ns: (i128::from(unix_ns) - (unix_base_ns + middle_ns)) as i64,
            error_ns: received_ns.saturating_sub(sent_ns).div_ceil(2),
        }
    }

    /// The same moment on the agent's clock.
    pub(super) fn there(self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.monotonic_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_round_trip_is_the_agents_moment() {
        // The controller's clock started at 1 000 000 of its time of day; the agent's is 500 behind
        // in both.
        let offset = ClockOffset::of(1000, 1040, (520, 1_000_520), 1_000_000);
        assert_eq!(offset, ClockOffset { monotonic_ns: -500, unix_ns: -500, error_ns: 20 });
        assert_eq!(offset.there(10_000), 9500);
        assert_eq!(ClockOffset { monotonic_ns: 7, ..offset }.there(1), 8);
    }
}
