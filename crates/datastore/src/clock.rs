//! Real time for the I/O loop, which reads it twice per I/O and therefore needs it to be cheap.
//!
//! The processor's time stamp counter, scaled by a calibrated factor, costs about half as much as
//! `clock_gettime`. It is used only where it counts at a constant rate and never stops (as CPUID
//! reports) and where the kernel trusts it too; elsewhere the system's monotonic clock is read.

use std::time::Instant;

use stormeter_disk::Clock;

/// The file in which the kernel lists the clock sources that it considers sound.
const KERNEL_SOURCES: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// A real monotonic clock. Clones share calibration and origin, so times read by different threads
/// are comparable.
#[derive(Clone)]
pub struct RealClock {
    source: Source,
    last_ns: u64,
}

#[derive(Clone)]
enum Source {
    Counter {
        clock: quanta::Clock,
        origin: u64,
        /// Nanoseconds per tick, times 2^32.
        scale: u64,
    },
    System {
        origin: Instant,
    },
}

impl RealClock {
    /// A clock that starts at zero now. The first one in a process takes some milliseconds to
    /// calibrate: create it before anything is measured.
    pub fn new() -> Self {
        let source = if kernel_distrusts_counter(std::fs::read_to_string(KERNEL_SOURCES).ok()) {
            Source::System { origin: Instant::now() }
        } else {
            let clock = quanta::Clock::new();
            let origin = clock.raw();
            let scale = clock.delta_as_nanos(0, 1 << 52) >> 20;
            Source::Counter { clock, origin, scale }
        };
        Self { source, last_ns: 0 }
    }

    /// The rate of the processor's counter, in hertz: on x86 the nominal clock of a core. `None` where the system's
    /// clock is read.
    pub fn counter_hz(&self) -> Option<f64> {
        match &self.source {
            Source::Counter { scale, .. } if *scale != 1 << 32 && *scale > 0 => {
                Some((1_u64 << 32) as f64 / *scale as f64 * 1e9)
            }
            _ => None,
        }
    }

    /// The source of the time, for the record of the environment.
    pub fn source(&self) -> String {
        match &self.source {
            Source::System { .. } => "clock_gettime (the kernel distrusts the TSC)".into(),
            // Only a calibrated counter is scaled; the system's clock counts nanoseconds.
            Source::Counter { scale, .. } if *scale == 1 << 32 && cfg!(target_arch = "x86_64") => {
                "clock_gettime (the TSC is not invariant)".into()
            }
            Source::Counter { scale, .. } => {
                let name = if cfg!(target_arch = "x86_64") { "TSC" } else { "system counter" };
                format!("calibrated {name} at {:.3} GHz", (1_u64 << 32) as f64 / *scale as f64)
            }
        }
    }
}

impl Default for RealClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RealClock {
    #[inline]
    fn now_ns(&mut self) -> u64 {
        let now_ns = match &self.source {
            // One multiplication and a fixed shift; `quanta::Instant` would divide.
            Source::Counter { clock, origin, scale } => {
                let ticks = clock.raw().saturating_sub(*origin);
                ((u128::from(ticks) * u128::from(*scale)) >> 32) as u64
            }
            Source::System { origin } => origin.elapsed().as_nanos() as u64,
        };
        // Counters of different sockets may differ by a few ticks when a thread migrates.
        self.last_ns = self.last_ns.max(now_ns);
        self.last_ns
    }
}

/// On x86 the kernel removes the TSC from its list once it has seen it drift or stop. Without a list
/// (a container without sysfs) only CPUID is checked.
fn kernel_distrusts_counter(sources: Option<String>) -> bool {
    let listed = |list: String| list.split_whitespace().any(|name| name == "tsc");
    cfg!(target_arch = "x86_64") && sources.is_some_and(|list| !listed(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_and_never_back() {
        let mut clock = RealClock::new();
        let first = clock.now_ns();
        let mut last = first;
        for _ in 0..100_000 {
            let now = clock.now_ns();
            assert!(now >= last);
            last = now;
        }
        assert!(last > first, "100 000 readings took no time: {}", clock.source());
    }

    #[test]
    fn clones_share_the_origin() {
        let mut one = RealClock::new();
        let mut other = one.clone();
        let before = one.now_ns();
        let between = other.now_ns();
        let after = one.now_ns();
        assert!(before <= between && between <= after, "{before} {between} {after}");
    }

    #[test]
    fn it_agrees_with_the_system_clock() {
        // Only the scale is checked, generously: a wrong factor would be off by a multiple.
        let mut clock = RealClock::new();
        let (system, start_ns) = (Instant::now(), clock.now_ns());
        while system.elapsed().as_millis() < 20 {}
        let (system_ns, ours_ns) = (system.elapsed().as_nanos() as f64, clock.now_ns() - start_ns);
        let ratio = ours_ns as f64 / system_ns;
        assert!((0.5..2.0).contains(&ratio), "{ratio} by {}", clock.source());
    }

    #[test]
    fn a_counter_off_the_kernels_list_is_not_used() {
        let list = |text: &str| kernel_distrusts_counter(Some(text.into()));
        assert!(!list("tsc kvm-clock \n"));
        assert!(!kernel_distrusts_counter(None));
        assert_eq!(list("hpet acpi_pm \n"), cfg!(target_arch = "x86_64"));
    }

    #[test]
    fn the_source_is_named() {
        let source = RealClock::new().source();
        assert!(source.contains("GHz") || source.contains("clock_gettime"), "{source}");
    }
}
