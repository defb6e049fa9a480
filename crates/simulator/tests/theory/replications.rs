//! Replications of a case, their intervals, and whether these cover the theory.

use stormeter_driver::drive;
use stormeter_simulator::{ComponentUse, Load, Machine, Window};
use stormeter_site::Site;
use stormeter_statistics::Estimate;
use stormeter_trial::{
    Arrivals, Content, Distribution, Ended, Limits, Sample, SizeShare, Trial, Workload,
};

/// Replications per interval.
const REPLICATIONS: usize = 10;
/// More than any queue of the open loops ever reaches.
const OPEN_SLOTS: u32 = 2000;
/// The nominal level of an interval.
const LEVEL: f64 = 0.95;
/// The error probability of each of some forty tests, on either side.
const RARE: f64 = 1e-4;

/// A site under a load, and its theoretical values.
pub(crate) struct Case<'a> {
    pub(crate) name: &'a str,
    pub(crate) site: Site,
    pub(crate) vms: u32,
    pub(crate) arrivals: Arrivals,
    pub(crate) read_percent: f64,
    pub(crate) disk_bytes: u64,
    pub(crate) ramp_s: f64,
    pub(crate) window_s: f64,
    pub(crate) expected: Vec<Expected<'a>>,
}

/// A figure with its theoretical value and where to find it.
pub(crate) struct Expected<'a> {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) of: Box<dyn Fn(&Observed) -> Ratio + 'a>,
}

/// The result of a replication.
pub(crate) struct Observed {
    pub(crate) sample: Sample,
    pub(crate) uses: Vec<ComponentUse>,
}

/// A figure as a ratio of two counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    pub(crate) of: f64,
    pub(crate) over: f64,
}

/// The extent of a test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) intervals: usize,
    /// Factor on the length of windows.
    pub(crate) longer: f64,
}

impl Extent {
    /// For the normal test run.
    pub(crate) fn short(intervals: usize) -> Self {
        Self { intervals, longer: 1.0 }
    }

    /// For `cargo xtask truth`.
    pub(crate) fn full(intervals: usize) -> Self {
        Self { intervals: intervals * 10, longer: 8.0 }
    }
}

impl<'a> Expected<'a> {
    /// A figure.
    pub(crate) fn new(
        name: impl Into<String>,
        value: f64,
        of: impl Fn(&Observed) -> Ratio + 'a,
    ) -> Self {
        Self { name: name.into(), value, of: Box::new(of) }
    }

    /// Mean response time.
    pub(crate) fn response_s(value: f64) -> Self {
        Self::new("response time", value, |observed| {
            let total = observed.sample.total();
            Ratio { of: total.latency_sum_ns as f64 / 1e9, over: total.operations as f64 }
        })
    }

    /// Requests a second.
    pub(crate) fn throughput_per_s(value: f64) -> Self {
        Self::new("throughput", value, |observed| Ratio { of: observed.sample.iops(), over: 1.0 })
    }

    /// Busy share of a component.
    pub(crate) fn utilisation(component: &'a str, value: f64) -> Self {
        let name = format!("utilisation of {component}");
        Self::new(name, value, |observed| Ratio {
            of: observed.used(component).utilisation,
            over: 1.0,
        })
    }

    /// Mean number of requests at a component.
    pub(crate) fn queue(component: &'a str, value: f64) -> Self {
        let name = format!("queue of {component}");
        Self::new(name, value, |observed| Ratio {
            of: observed.used(component).queue_mean,
            over: 1.0,
        })
    }
}

impl Observed {
    fn used(&self, component: &str) -> &ComponentUse {
        self.uses.iter().find(|usage| usage.name == component).expect("a component of that name")
    }
}

impl Case<'_> {
    /// One replication.
    pub(crate) fn replicate(&self, longer: f64, seed: u64) -> Observed {
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let trial = Trial {
            workload: Workload {
                name: self.name.into(),
                sizes: vec![SizeShare { bytes: 4096, share: 1.0 }],
                read_percent: self.read_percent,
                random_percent: 100.0,
                distribution: Distribution::Uniform,
                alignment_bytes: None,
                arrivals: self.arrivals,
                burst: None,
                content: Content::default(),
                durable: false,
                flush: None,
            },
            first_disk: 0,
            disks: self.vms,
            disk_bytes: self.disk_bytes,
            seed,
            start: Default::default(),
            content_seed: 0,
            ramp_ns: ns(self.ramp_s),
            duration_ns: ns(self.window_s * longer),
            interval_ns: ns(self.window_s * longer),
            limits: Limits { open_loop_outstanding: OPEN_SLOTS, ..Limits::default() },
            verify: false,
        };
        let load = Load {
            vms: self.vms,
            disk_bytes: self.disk_bytes,
            working_set_bytes: self.disk_bytes,
            random: 1.0,
            zipf: None,
            flushes: false,
        };
        let window = Window { from_ns: trial.ramp_ns, interval_ns: trial.interval_ns };
        // A different stream from the driver's for the same seed.
        let machine_seed = seed ^ 0x5bd1_e995_9e37_79b9;
        let mut machine =
            Machine::new(&self.site, 0, load, window, machine_seed).expect("a machine");
        let mut clock = machine.time().clock();
        let sample = drive(&trial, || Some(0), &mut machine, &mut clock, &mut ()).expect("a trial");
        assert_eq!(sample.ended, Ended::Completed, "{}", self.name);
        Observed { sample, uses: machine.usage() }
    }

    /// Runs the replications, compares all figures with the theory and prints the outcome.
    pub(crate) fn hold(&self, extent: Extent) {
        let count = extent.intervals * REPLICATIONS;
        let mut figures: Vec<Vec<Ratio>> = vec![Vec::with_capacity(count); self.expected.len()];
        for replication in 0..count {
            let observed = self.replicate(extent.longer, 1 + replication as u64);
            for (figures, expected) in figures.iter_mut().zip(&self.expected) {
                figures.push((expected.of)(&observed));
            }
        }
        let mut broken = Vec::new();
        for (figures, expected) in figures.iter().zip(&self.expected) {
            let found = hold(figures, expected.value);
            println!("{}, {}: {found}", self.name, expected.name);
            if !found.covers || !found.is_unbiased {
                broken.push(format!("{}: {found}", expected.name));
            }
        }
        assert!(broken.is_empty(), "{}:\n{}", self.name, broken.join("\n"));
    }
}

/// A figure's replications compared with the theory.
#[derive(Debug)]
pub(crate) struct Found {
    expected: f64,
    /// All replications together.
    value: f64,
    /// Half-width of the interval of all replications, at a level that excludes chance.
    reach: f64,
    covered: usize,
    intervals: usize,
    covers: bool,
    is_unbiased: bool,
}

fn hold(figures: &[Ratio], expected: f64) -> Found {
    let covering = |group: &&[Ratio]| {
        let values: Vec<f64> = group.iter().map(|ratio| ratio.of / ratio.over).collect();
        let estimate = Estimate::of_mean(&values, LEVEL).expect("an interval");
        estimate.interval.contains(expected)
    };
    let groups: Vec<&[Ratio]> = figures.chunks_exact(REPLICATIONS).collect();
    let covered = groups.iter().filter(|group| covering(group)).count();
    let sum = |part: fn(&Ratio) -> f64| figures.iter().map(part).sum::<f64>();
    let over = sum(|ratio| ratio.over);
    // The mean of these is 0 whatever the correlation of numerator and denominator.
    let differences: Vec<f64> = figures
        .iter()
        .map(|ratio| (ratio.of - expected * ratio.over) * figures.len() as f64 / over)
        .collect();
    let difference = Estimate::of_mean(&differences, 1.0 - RARE).expect("an interval");
    // A trial in whole nanoseconds cannot be exact to all digits.
    let grain = 1e-6 * expected;
    let reach = difference.interval.high - difference.value;
    Found {
        expected,
        value: sum(|ratio| ratio.of) / over,
        reach,
        covered,
        intervals: groups.len(),
        covers: is_likely(covered, groups.len()),
        is_unbiased: difference.value.abs() <= reach + grain,
    }
}

/// Whether this coverage is plausible if each interval has probability [`LEVEL`].
fn is_likely(covered: usize, intervals: usize) -> bool {
    // The binomial distribution from below, in logarithms so that nothing underflows.
    let (mut below, mut at_most, mut term) = (0.0, 0.0, intervals as f64 * (1.0 - LEVEL).ln());
    for k in 0..=covered {
        below = at_most;
        at_most += term.exp();
        term += ((intervals - k) as f64 / (k + 1) as f64).ln() + (LEVEL / (1.0 - LEVEL)).ln();
    }
    at_most >= RARE && 1.0 - below >= RARE
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { expected, value, reach, covered, intervals, .. } = self;
        let off = (value / expected - 1.0) * 100.0;
        let within = reach / expected * 100.0;
        let share = *covered as f64 / *intervals as f64 * 100.0;
        write!(
            f,
            "theory {expected:.6}, simulated {value:.6} ({off:+.3} %, within {within:.3} %); {covered} of \
             {intervals} intervals cover it ({share:.1} %)"
        )
    }
}

#[test]
fn coverage_that_chance_explains_is_told_from_other() {
    // Of 200: 190 expected, 3.1 standard deviation.
    for (covered, likely) in [(176, false), (180, true), (190, true), (198, true), (200, false)] {
        assert_eq!(is_likely(covered, 200), likely, "{covered}");
    }
    assert!(!is_likely(1850, 2000) && is_likely(1875, 2000) && is_likely(1930, 2000));
    assert!(!is_likely(1950, 2000));
}

#[test]
fn a_figure_that_is_off_by_little_is_found() {
    // Means of twelve uniform words, approximately normal around 6 with standard deviation 1.
    let mut state = 1u64;
    let mut word = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let figures: Vec<Ratio> =
        (0..4000).map(|_| Ratio { of: (0..12).map(|_| word()).sum(), over: 1.0 }).collect();
    let right = hold(&figures, 6.0);
    assert!(right.covers && right.is_unbiased, "{right}");
    let wrong = hold(&figures, 6.1);
    assert!(!wrong.is_unbiased, "{wrong}");
    let far = hold(&figures, 6.5);
    assert!(!far.covers, "{far}");
}
