//! Metrics that no trial of a plan can have: those of steps without steps, those of rates without a rate, those
//! of flushes and durable writes without any.

use stormeter_trial::RECOVERED_INTERVALS;

use crate::plan::Metric;
use crate::study_plan::{StudyPlan, StudyWorkload, WorkloadKind};

const EXAMPLE: &str = "steps: [{at: 10s, do: link-down nas}, {at: 15s, do: link-up nas}]";

impl StudyPlan {
    /// The reason why no trial of the plan can have this metric; `None` if none is known.
    pub(crate) fn lacks(&self, metric: Metric) -> Option<String> {
        self.no_recovery(metric)
            .or_else(|| self.no_open_loop(metric))
            .or_else(|| self.no_durability(metric))
            .or_else(|| self.no_viewers(metric))
            .or_else(|| self.no_desktops(metric))
    }

    fn no_durability(&self, metric: Metric) -> Option<String> {
        let title = metric.title();
        let mut loads = self.workloads.iter().filter_map(|workload| workload.kind.io());
        if metric.is_of_flushes() && !loads.clone().any(|io| io.flush.is_some()) {
            return Some(format!(
                "{title} is of workloads that flush, and this study has none; write, for example, flush: every \
                 8 writes in a workload"
            ));
        }
        if metric.is_of_durable_writes() && !loads.any(|io| io.durable) {
            return Some(format!(
                "{title} is of workloads with durable writes, and this study has none; write durable: true in a \
                 workload"
            ));
        }
        None
    }

    fn no_viewers(&self, metric: Metric) -> Option<String> {
        let is_viewer = |workload: &StudyWorkload| matches!(workload.kind, WorkloadKind::Vnc(_));
        if metric != Metric::Updates || self.workloads.iter().any(is_viewer) {
            return None;
        }
        Some(
            "updates are those of viewers' screens, and this study has no workload with vnc; ask for iops or \
             throughput"
                .into(),
        )
    }

    fn no_desktops(&self, metric: Metric) -> Option<String> {
        let has = |workload: &StudyWorkload| workload.kind.desktops().is_some();
        if !metric.is_of_desktops() || self.workloads.iter().any(has) {
            return None;
        }
        Some(format!(
            "{} is of desktops on demand, and this study has no workload with desktops; ask for elapsed or latency",
            metric.title()
        ))
    }

    fn no_open_loop(&self, metric: Metric) -> Option<String> {
        let is_open = |workload: &StudyWorkload| workload.kind.has_rate();
        if !metric.is_of_open_loops() || self.workloads.iter().any(is_open) {
            return None;
        }
        Some(format!(
            "{} is of workloads with a rate, and this study has none; in a closed loop service time is \
             latency, so ask for that",
            metric.title()
        ))
    }

    /// The reason why no trial of the plan can have this metric of steps; `None` for other metrics.
    fn no_recovery(&self, metric: Metric) -> Option<String> {
        if metric.is_of_steps() && self.steps.is_empty() {
            let name = metric.name();
            return Some(format!(
                "{name} is of trials with steps, and this study has none; write {EXAMPLE}"
            ));
        }
        if metric == Metric::Recovery { self.no_room() } else { None }
    }

    /// The reason why recovery from the steps could not be seen within the window; `None` if it could.
    fn no_room(&self) -> Option<String> {
        let timing = self.timing;
        let some_ns = timing.interval_ns.saturating_mul(RECOVERED_INTERVALS as u64);
        let (first, last) = (self.steps.first()?, self.steps.last()?);
        let end_ns = timing.ramp_ns.saturating_add(timing.duration_ns);
        let words = |what: &str| {
            format!(
                "recovery is compared with at least {RECOVERED_INTERVALS} intervals before the first \
                 step, and seen in {RECOVERED_INTERVALS} in a row after the last; {what}"
            )
        };
        if first.at_ns < timing.ramp_ns.saturating_add(some_ns) {
            return Some(words("let the first step come later, or shorten ramp or interval"));
        }
        if end_ns.saturating_sub(last.at_ns) < some_ns.saturating_add(timing.interval_ns) {
            return Some(words("let the last step come earlier, or lengthen duration"));
        }
        None
    }
}
