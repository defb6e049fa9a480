//! The hosts of a run: their activity over time, and the last that is known of each.

use stormeter_report::live::HostPoint;
use stormeter_trial::{Interval, MonitorRow};

use crate::thinned::{Merge, Thinned};

/// Points of a host.
const MOST: usize = 400;

/// A mean over the time of its points.
#[derive(Debug, Clone)]
pub(crate) struct Activity {
    pub(crate) point: HostPoint,
    weight_ns: u64,
}

impl Merge for Activity {
    fn merge(&mut self, next: Self) {
        let all = (self.weight_ns + next.weight_ns).max(1) as f64;
        let mean = |one: f64, other: f64| {
            (one * self.weight_ns as f64 + other * next.weight_ns as f64) / all
        };
        self.point = HostPoint {
            at_ns: mean(self.point.at_ns as f64, next.point.at_ns as f64) as u64,
            cpu: mean(self.point.cpu, next.point.cpu),
            network: mean(self.point.network, next.point.network),
            loopback: mean(self.point.loopback, next.point.loopback),
        };
        self.weight_ns += next.weight_ns;
    }
}

/// A host.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    /// `None`: this machine.
    pub(crate) name: Option<String>,
    pub(crate) iops: Option<f64>,
    pub(crate) latest: Option<MonitorRow>,
    pub(crate) activity: Thinned<Activity>,
}

impl Host {
    /// One of which nothing is known.
    pub(crate) fn new(name: Option<&str>) -> Self {
        let name = name.map(str::to_owned);
        Self { name, iops: None, latest: None, activity: Thinned::new(MOST) }
    }

    /// What was read of it at this time.
    pub(crate) fn read(&mut self, at_ns: u64, row: &MonitorRow) {
        let point = HostPoint {
            at_ns,
            cpu: row.cpu_busy,
            network: row.network_receive_bytes_per_s + row.network_transmit_bytes_per_s,
            loopback: row.loopback_bytes_per_s,
        };
        self.activity.push(Activity { point, weight_ns: row.length_ns });
        self.latest = Some(row.clone());
    }

    /// What it did in an interval.
    pub(crate) fn did(&mut self, row: &Interval) {
        let operations = row.reads.operations + row.writes.operations;
        self.iops = (row.length_ns > 0).then(|| operations as f64 * 1e9 / row.length_ns as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_weighted_with_time() {
        let of = |at_ns, cpu, weight_ns| Activity {
            point: HostPoint { at_ns, cpu, network: 2.0 * cpu, loopback: 0.0 },
            weight_ns,
        };
        let mut both = of(100, 1.0, 300);
        both.merge(of(500, 0.0, 100));
        assert_eq!(both.point, HostPoint { at_ns: 200, cpu: 0.75, network: 1.5, loopback: 0.0 });
    }
}
