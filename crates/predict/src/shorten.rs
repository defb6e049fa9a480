//! Shorter windows and fewer blocks.
//!
//! A measured trial is long because storage drifts and other load interferes; a model has neither, so its window only
//! needs enough requests. The number of intervals stays the same, because some studies use intervals as observations;
//! trials of fixed work, which last as long as their work, keep the plan's interval.

use stormeter_study::{Blocks, Order, StudyPlan, Timing};

const MOST_RAMP_NS: u64 = 2_000_000_000;
const MOST_WINDOW_NS: u64 = 6_000_000_000;
/// Enough for an interval on each figure.
const MOST_BLOCKS: u32 = 5;

/// The plan with a ramp of at most 2 s, a window of at most 6 s (if it has no steps and no desktops) and at most 5 blocks; and the
/// original values, if any was larger. The time limit, which is for real storage, is removed.
pub fn shortened(mut plan: StudyPlan) -> (StudyPlan, Option<(Timing, Blocks)>) {
    let planned = (plan.timing, plan.design.blocks);
    // The effects of steps take time, and steps are scheduled for the trial as planned.
    // So do users, whose day is what is asked about.
    let has_users = plan.workloads.iter().any(|workload| workload.kind.desktops().is_some());
    if plan.steps.is_empty() && !has_users {
        plan.timing = timing(plan.timing);
    }
    // Drift cancels out over pairs of blocks.
    let most = if plan.design.order == Order::Abba { MOST_BLOCKS - 1 } else { MOST_BLOCKS };
    plan.design.blocks = match plan.design.blocks {
        Blocks::Fixed(blocks) => Blocks::Fixed(blocks.min(most)),
        Blocks::Auto { min, max } => Blocks::Auto { min: min.min(most), max: max.min(most) },
    };
    plan.design.time_limit_ns = None;
    let is_shorter = planned != (plan.timing, plan.design.blocks);
    (plan, is_shorter.then_some(planned))
}

fn timing(timing: Timing) -> Timing {
    let duration_ns = timing.duration_ns.min(MOST_WINDOW_NS);
    let scaled = u128::from(timing.interval_ns) * u128::from(duration_ns)
        / u128::from(timing.duration_ns.max(1));
    Timing {
        ramp_ns: timing.ramp_ns.min(MOST_RAMP_NS),
        duration_ns,
        interval_ns: (scaled as u64).max(1_000_000).min(timing.interval_ns.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_minutes_become_six_seconds_with_as_many_intervals() {
        let long = Timing {
            ramp_ns: 60_000_000_000,
            duration_ns: 300_000_000_000,
            interval_ns: 1_000_000_000,
        };
        let short = timing(long);
        assert_eq!((short.ramp_ns, short.duration_ns), (MOST_RAMP_NS, MOST_WINDOW_NS));
        assert_eq!(short.duration_ns / short.interval_ns, 300);
        assert_eq!(timing(short), short, "what is short stays as it is");
    }
}
