//! The CPU time that this machine spends while it is idle.
//!
//! A machine is never quite idle, and its background activity would be charged to the I/Os of a trial: the fewer
//! they are, the more to each. So its idle time is read once before any load, and the busy share is subtracted from
//! the host's CPU time of every trial.
//!
//! `/proc/stat` advances in steps of 10 ms. An error of one step in a second would be 100 µs per I/O at 100 I/Os a
//! second, so the reading starts and ends at a step: it polls until the account advances, and subtracts the cost of
//! polling.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::time::ClockId;
use stormeter_results::IdleReading;
use stormeter_trial::{CpuUsage, Pressure};

use crate::account::cpu_ns;
use crate::host_time::HostTime;

/// The length of the reading, unless trials are shorter.
pub(crate) const IDLE_READING: Duration = Duration::from_secs(1);
/// A shorter reading would be meaningless.
const LEAST: Duration = Duration::from_millis(100);
/// The longest wait for a step on a machine with an idle CPU; without one there are no steps.
const STEP: Duration = Duration::from_millis(25);
/// How often cancellation is polled.
const LOOK_UP: Duration = Duration::from_millis(50);
/// A larger share of time spent waiting for storage indicates I/O of other programs.
const OTHERS_IO: f64 = 0.10;

/// The activity of an idle machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct IdleHost {
    /// Busy share of all CPUs' time.
    busy: f64,
    length: Duration,
    pressure: Pressure,
}

/// The source of readings: the machine, or a test.
pub(crate) trait Watch {
    fn read(&mut self) -> HostTime;
    /// CPU time of this thread.
    fn own_ns(&mut self) -> u64;
    fn pause(&mut self, time: Duration);
}

pub(crate) struct Machine;

impl Watch for Machine {
    fn read(&mut self) -> HostTime {
        HostTime::cpu_now()
    }

    fn own_ns(&mut self) -> u64 {
        cpu_ns(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
    }

    fn pause(&mut self, time: Duration) {
        thread::sleep(time);
    }
}

impl IdleHost {
    /// Reads for `length`, without load. `None` if CPU time cannot be read, or if it was cancelled.
    pub(crate) fn read(length: Duration, cancel: &AtomicBool) -> Option<Self> {
        let before = HostTime::now();
        let busy = busy_share(&mut Machine, length.max(LEAST), cancel)?;
        let after = HostTime::now();
        Some(Self {
            busy,
            length: after.at.saturating_duration_since(before.at),
            pressure: after.pressure_since(&before),
        })
    }

    /// Adds the background activity to a trial's figures.
    pub(crate) fn apply(&self, cpu: &mut CpuUsage) {
        let host = &mut cpu.host;
        if host.capacity_ns > 0 {
            host.background_ns = Some((self.busy * host.capacity_ns as f64) as u64);
        }
    }

    /// The reading, as it is recorded.
    pub(crate) fn reading(&self) -> IdleReading {
        let length_ns = self.length.as_nanos() as u64;
        let waited = self.pressure.io_ns.map(|ns| ns as f64 / length_ns.max(1) as f64);
        let others_io_share = waited.filter(|share| *share > OTHERS_IO);
        IdleReading { busy_share: self.busy, length_ns, others_io_share }
    }
}

fn busy_share(watch: &mut impl Watch, length: Duration, cancel: &AtomicBool) -> Option<f64> {
    let first = at_a_step(watch);
    let own_ns = watch.own_ns();
    let mut left = length;
    while !left.is_zero() {
        let pause = left.min(LOOK_UP);
        watch.pause(pause);
        left -= pause;
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
    }
    let last = at_a_step(watch);
    let own_ns = watch.own_ns().saturating_sub(own_ns);
    let host = last.since(&first);
    (host.capacity_ns > 0)
        .then(|| host.busy_ns().saturating_sub(own_ns) as f64 / host.capacity_ns as f64)
}

/// The first reading after the account of idle time moved.
pub(crate) fn at_a_step(watch: &mut impl Watch) -> HostTime {
    let first = watch.read();
    loop {
        let now = watch.read();
        let moved =
            (now.cpu.idle_ns, now.cpu.iowait_ns) != (first.cpu.idle_ns, first.cpu.iowait_ns);
        if moved || now.at.saturating_duration_since(first.at) > STEP {
            return now;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use stormeter_trial::HostCpu;

    use super::*;

    const STEP_NS: u64 = 10_000_000;

    /// Two CPUs, one of which polls; the time of other programs is spread evenly.
    struct Simulated {
        begin: Instant,
        now_ns: u64,
        own_ns: u64,
        busy: f64,
        offset_ns: u64,
    }

    impl Simulated {
        fn new(busy: f64, offset_ns: u64) -> Self {
            Self { begin: Instant::now(), now_ns: 0, own_ns: 0, busy, offset_ns }
        }

        fn share(mut self, length: Duration) -> Option<f64> {
            busy_share(&mut self, length, &AtomicBool::new(false))
        }
    }

    impl Watch for Simulated {
        fn read(&mut self) -> HostTime {
            let at = self.begin + Duration::from_nanos(self.now_ns);
            let spent_ns = (self.busy * 2.0 * self.now_ns as f64) as u64 + self.own_ns;
            let idle_ns = self.offset_ns + 2 * self.now_ns - spent_ns;
            let cpu =
                HostCpu { idle_ns: idle_ns / STEP_NS * STEP_NS, cpus: 2, ..HostCpu::default() };
            // A reading takes 20 µs.
            self.now_ns += 20_000;
            self.own_ns += 20_000;
            HostTime { at, cpu, pressure: Pressure::default() }
        }

        fn own_ns(&mut self) -> u64 {
            self.own_ns
        }

        fn pause(&mut self, time: Duration) {
            self.now_ns += time.as_nanos() as u64;
        }
    }

    #[test]
    fn steps_of_the_account_are_no_error_of_the_share() {
        for busy in [0.0, 0.001, 0.03, 0.2] {
            for phase in 0..20 {
                let machine = Simulated::new(busy, 3 * STEP_NS + phase * STEP_NS / 20);
                let share = machine.share(Duration::from_secs(1)).unwrap();
                assert!((share - busy).abs() < 1e-4, "{busy} {phase}: {share}");
            }
        }
    }

    #[test]
    fn a_machine_without_an_idle_cpu_has_no_steps_and_a_share() {
        let share = Simulated::new(0.5, 0).share(Duration::from_millis(100)).unwrap();
        assert!((share - 0.5).abs() < 0.05, "{share}");
    }

    #[test]
    fn a_cancelled_reading_is_none() {
        let mut machine = Simulated::new(0.1, 0);
        let hour = Duration::from_secs(3600);
        assert_eq!(busy_share(&mut machine, hour, &AtomicBool::new(true)), None);
        assert!(machine.now_ns < 1_000_000_000, "{}", machine.now_ns);
    }

    #[test]
    fn the_share_is_applied_to_the_time_that_the_trial_took() {
        let idle = IdleHost {
            busy: 0.02,
            length: Duration::from_secs(1),
            pressure: Pressure { io_ns: Some(300_000_000), ..Pressure::default() },
        };
        let mut cpu = CpuUsage::default();
        idle.apply(&mut cpu);
        assert_eq!(cpu.host.background_ns, None, "it was not clocked");
        cpu.host.capacity_ns = 4_000_000_000;
        idle.apply(&mut cpu);
        assert_eq!(cpu.host.background_ns, Some(80_000_000));
        let others_io_share = Some(0.3);
        let expected = IdleReading { busy_share: 0.02, length_ns: 1_000_000_000, others_io_share };
        assert_eq!(idle.reading(), expected);
    }

    /// This machine, whatever it is doing.
    #[test]
    fn the_real_host_is_read() {
        let idle = IdleHost::read(Duration::ZERO, &AtomicBool::new(false)).unwrap();
        assert!((0.0..=1.0).contains(&idle.busy) && idle.length >= LEAST, "{idle:?}");
    }
}
