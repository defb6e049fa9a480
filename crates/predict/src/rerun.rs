//! A cell's first block once more on changed sites: with the same seed, and in a short window, so that what differs is due
//! to the change.

use stormeter_runner::TrialOrder;
use stormeter_site::Site;
use stormeter_statistics::metrics::value_of;
use stormeter_study::{Metric, Timing};

use crate::trial::{SiteEnd, TrialRun};

/// A rerun has at most this ramp and window: it is compared with a run of the same length and seed.
const MOST_RAMP_NS: u64 = 1_000_000_000;
const MOST_WINDOW_NS: u64 = 5_000_000_000;

/// A trial in a short window.
pub(crate) fn short(order: &TrialOrder) -> TrialOrder {
    let timing = order.timing;
    let timing = Timing {
        ramp_ns: timing.ramp_ns.min(MOST_RAMP_NS),
        duration_ns: timing.duration_ns.min(MOST_WINDOW_NS),
        interval_ns: timing.interval_ns.min(MOST_WINDOW_NS),
    };
    TrialOrder { timing, ..order.clone() }
}

/// A trial that was predicted, and can be again.
pub(crate) struct Rerun<'a> {
    run: TrialRun<'a>,
    /// Its outcome on the site as it is.
    pub(crate) plain: SiteEnd,
}

impl<'a> Rerun<'a> {
    /// Predicts the trial of `run` on its site; `None` if the site cannot carry it.
    pub(crate) fn of(run: TrialRun<'a>) -> Option<Self> {
        let plain = run.carry_out().ok()?;
        Some(Self { run, plain })
    }

    /// The trial.
    pub(crate) fn order(&self) -> &'a TrialOrder {
        self.run.order
    }

    /// The site as it is.
    pub(crate) fn site(&self) -> &'a Site {
        self.run.site
    }

    /// The index of the datastore in it.
    pub(crate) fn datastore(&self) -> usize {
        self.run.place.datastore
    }

    /// The outcome on a changed site; `None` if that cannot carry it.
    pub(crate) fn on(&self, site: &Site) -> Option<SiteEnd> {
        TrialRun { site, ..self.run }.carry_out().ok()
    }

    /// A metric on a changed site divided by the metric on the site as it is; `None` if one of them is unknown or nothing.
    pub(crate) fn ratio(&self, metric: Metric, changed: &SiteEnd) -> Option<f64> {
        let value = |SiteEnd { end, .. }: &SiteEnd| match end.failure() {
            None => value_of(metric, &end.sample, &end.cpu),
            Some(_) => None,
        };
        let ratio = value(changed)? / value(&self.plain)?;
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    }
}
