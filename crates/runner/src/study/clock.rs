//! The clock by which the trials of a run are dated: the machine's, or that of a model.

use std::time::Instant;

use crate::journal::unix_ms;

/// The clock of a run.
#[derive(Debug)]
pub(crate) enum RunClock {
    /// The machine's.
    Real,
    /// A model's. Trials are dated as if they ran one after another, whenever they were computed.
    Virtual {
        /// When the run started, on the machine's clock.
        begin_unix_ms: u64,
        /// Virtual time of all trials so far.
        passed_ns: u64,
    },
}

/// When a trial started, on the machine's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Began {
    unix_ms: u64,
    at: Instant,
}

impl Began {
    pub(crate) fn now() -> Self {
        Self { unix_ms: unix_ms(), at: Instant::now() }
    }
}

impl RunClock {
    /// The start of a trial that has just ended, in milliseconds since 1970, and its duration in nanoseconds. On a model
    /// the duration is `virtual_ns`.
    pub(crate) fn date(&mut self, began: Began, virtual_ns: u64) -> (u64, u64) {
        match self {
            RunClock::Real => (began.unix_ms, began.at.elapsed().as_nanos() as u64),
            RunClock::Virtual { begin_unix_ms, passed_ns } => {
                let started_unix_ms = *begin_unix_ms + *passed_ns / 1_000_000;
                *passed_ns += virtual_ns;
                (started_unix_ms, virtual_ns)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_of_a_model_follow_one_another_in_its_own_time() {
        let mut clock = RunClock::Virtual { begin_unix_ms: 1000, passed_ns: 0 };
        let began = Began::now();
        assert_eq!(clock.date(began, 2_500_000_000), (1000, 2_500_000_000));
        assert_eq!(clock.date(began, 1_000_000), (3500, 1_000_000));
        assert_eq!(clock.date(began, 0), (3501, 0));
        let real = RunClock::Real.date(began, 7);
        assert_eq!(real.0, began.unix_ms);
        assert!(real.1 > 0, "it has passed since");
    }
}
