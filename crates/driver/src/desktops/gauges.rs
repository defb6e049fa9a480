//! How many users wait and what desktops do, as means over time.
//!
//! Numbers change at moments and hold in between; their mean weights each by how long it held. A sample at the end of each
//! row would miss what is shorter than a row, such as a class that waits for a minute.

use stormeter_trial::DesktopRow;

use super::broker::BrokerCounts;

/// Number of gauges.
const GAUGES: usize = 6;

/// The integrals of the current row.
#[derive(Debug, Default)]
pub(super) struct Gauges {
    last_ns: u64,
    integrals_ns: [u128; GAUGES],
    most_desktops: u32,
}

impl Gauges {
    /// Time has come to `now_ns`, and the numbers were these since the last call.
    pub(super) fn pass(&mut self, now_ns: u64, counts: BrokerCounts) {
        let passed_ns = u128::from(now_ns.saturating_sub(self.last_ns));
        self.last_ns = self.last_ns.max(now_ns);
        for (integral_ns, count) in self.integrals_ns.iter_mut().zip(values(counts)) {
            *integral_ns += passed_ns * u128::from(count);
        }
        self.most_desktops = self.most_desktops.max(counts.desktops());
    }

    /// The window opens: what was before does not count.
    pub(super) fn open(&mut self, counts: BrokerCounts) {
        *self = Self { last_ns: self.last_ns, ..Self::default() };
        self.most_desktops = counts.desktops();
    }

    /// The most desktops that there were at once.
    pub(super) fn most_desktops(&self) -> u32 {
        self.most_desktops
    }

    /// The current row, which ends now.
    pub(super) fn row(&mut self, start_ns: u64, length_ns: u64) -> DesktopRow {
        let integrals_ns = std::mem::take(&mut self.integrals_ns);
        let [waiting, deploying, ready, used, idle, leaving] =
            integrals_ns.map(|integral_ns| integral_ns as f64 / length_ns.max(1) as f64);
        DesktopRow { start_ns, length_ns, waiting, deploying, ready, used, idle, leaving }
    }
}

fn values(counts: BrokerCounts) -> [u32; GAUGES] {
    let BrokerCounts { waiting, deploying, ready, used, idle, leaving } = counts;
    [waiting, deploying, ready, used, idle, leaving]
}
