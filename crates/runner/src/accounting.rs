//! Checks whether the kernel's account of this machine's CPU time is accurate, by doing work of a known length.

use nix::time::ClockId;

use crate::account::cpu_ns;
use crate::idle::{Machine, at_a_step};

/// The CPU time that the check uses.
const WORK_NS: u64 = 50_000_000;
/// The smallest share of it that the account must show.
const SEEN: f64 = 0.95;

/// The work that was done, and what the account of the whole machine showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accounting {
    /// CPU time used, by this thread's clock.
    spent_ns: u64,
    /// Busy time of the machine, from its idle time; other programs included.
    clocked_ns: u64,
    /// Busy time as the kernel counted it.
    counted_ns: u64,
}

impl Accounting {
    /// Works, and reads the account before and after. `None` if it cannot be read.
    pub(crate) fn probe() -> Option<Self> {
        let own_ns = || cpu_ns(ClockId::CLOCK_THREAD_CPUTIME_ID);
        let before = at_a_step(&mut Machine);
        let began_ns = own_ns()?;
        while own_ns()? < began_ns + WORK_NS {
            std::hint::spin_loop();
        }
        let after = at_a_step(&mut Machine);
        let spent_ns = own_ns()?.saturating_sub(began_ns);
        let host = after.since(&before);
        (host.capacity_ns > 0).then(|| Self {
            spent_ns,
            clocked_ns: host.busy_ns(),
            counted_ns: host.counted_ns(),
        })
    }

    /// Whether the account shows all work.
    pub(crate) fn is_sound(&self) -> bool {
        self.clocked_ns as f64 >= SEEN * self.spent_ns as f64
    }

    /// The result, as a sentence without full stop.
    pub(crate) fn sentence(&self) -> String {
        let ms = |ns: u64| ns as f64 / 1e6;
        format!(
            "of {:.1} ms of work the idle clocks show {:.1} ms and the ticks {:.1} ms (with other \
             programs' work)",
            ms(self.spent_ns),
            ms(self.clocked_ns),
            ms(self.counted_ns)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_the_account_misses_is_seen_to_be_missed() {
        let of =
            |clocked_ns| Accounting { spent_ns: 50_000_000, clocked_ns, counted_ns: 40_000_000 };
        assert!(of(50_100_000).is_sound() && of(90_000_000).is_sound());
        assert!(!of(40_000_000).is_sound());
        let text = of(40_000_000).sentence();
        assert!(text.contains("50.0 ms of work") && text.contains("ticks 40.0 ms"), "{text}");
    }

    #[test]
    fn this_machine_is_probed() {
        let probe = Accounting::probe().unwrap();
        assert!(probe.spent_ns >= WORK_NS && probe.clocked_ns > 0, "{probe:?}");
    }
}
