//! Studies of desktops on demand: what their metrics are called.
//!
//! An operation of such a study is a user served, and its latency is the wait until the desktop is usable: the usual titles
//! would say the wrong thing.

use crate::plan::Metric;
use crate::study_plan::StudyPlan;

impl Metric {
    /// Its title where operations are users served.
    pub fn title_of_users(self) -> &'static str {
        match self {
            Metric::Iops => "users served an hour",
            Metric::Throughput => "throughput of desktops",
            Metric::LatencyMean => "mean wait until usable",
            Metric::LatencyP50 => "p50 wait until usable",
            Metric::LatencyP95 => "p95 wait until usable",
            Metric::LatencyP99 => "p99 wait until usable",
            Metric::LatencyP999 => "p99.9 wait until usable",
            Metric::LatencyMax => "longest wait until usable",
            Metric::CpuPerIo => "initiator CPU per user",
            Metric::TargetCpuPerIo => "target CPU per user",
            Metric::HostCpuPerIo => "host CPU per user",
            other => other.title(),
        }
    }

    /// Whether it is the latency of an operation, which of desktops on demand is the wait until one is usable.
    pub fn is_of_waits(self) -> bool {
        use Metric::{LatencyMax, LatencyMean, LatencyP50, LatencyP95, LatencyP99, LatencyP999};
        matches!(
            self,
            LatencyMean | LatencyP50 | LatencyP95 | LatencyP99 | LatencyP999 | LatencyMax
        )
    }
}

impl StudyPlan {
    /// Whether all its workloads are desktops on demand.
    pub fn is_of_desktops(&self) -> bool {
        let mut kinds = self.workloads.iter().map(|workload| &workload.kind);
        !self.workloads.is_empty() && kinds.all(|kind| kind.desktops().is_some())
    }

    /// The title of a metric in this study.
    pub fn title_of(&self, metric: Metric) -> &'static str {
        if self.is_of_desktops() { metric.title_of_users() } else { metric.title() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_operations_or_their_latency_is_named_after_users() {
        for metric in Metric::ALL {
            let renamed = metric.title_of_users() != metric.title();
            let counts = matches!(metric, Metric::Iops | Metric::Throughput);
            let expected = counts || metric.is_of_waits() || metric.is_of_cpu_per_io();
            assert_eq!(renamed, expected, "{metric:?}");
        }
    }
}
