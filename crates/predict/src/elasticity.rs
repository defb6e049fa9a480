//! The gain from making each component a tenth faster: a cell's first block is predicted again, with the same seed,
//! on a site with that component sped up.

use stormeter_results::Elasticity;
use stormeter_runner::TrialOrder;
use stormeter_simulator::SitePart;
use stormeter_statistics::metrics;
use stormeter_study::{Metric, Timing, WorkloadKind};
use stormeter_trial::{ComponentKind, ComponentUse};

use crate::faster::faster;
use crate::trial::{SiteEnd, TrialRun};

/// The speed-up of a component in its rerun.
const FACTOR: f64 = 1.1;
/// A rerun has at most this ramp and window: it is compared with a run of the same length and seed.
const MOST_RAMP_NS: u64 = 1_000_000_000;
const MOST_WINDOW_NS: u64 = 5_000_000_000;
/// Components below both shares are not worth a rerun: hardly used, and hardly part of the response time.
const LEAST_SHARE: f64 = 0.01;
const LEAST_BUSY: f64 = 0.2;

/// The windows of reruns.
pub(crate) fn short(timing: Timing) -> Timing {
    Timing {
        ramp_ns: timing.ramp_ns.min(MOST_RAMP_NS),
        duration_ns: timing.duration_ns.min(MOST_WINDOW_NS),
        interval_ns: timing.interval_ns.min(MOST_WINDOW_NS),
    }
}

/// The metric that shows a gain: one that a fixed rate, or a fixed amount of work, does not hold constant.
fn metric_of(work: &WorkloadKind) -> Metric {
    match work {
        WorkloadKind::Io(io) if io.arrivals.rate_per_s().is_some() => Metric::LatencyMean,
        WorkloadKind::Io(_) => Metric::Iops,
        _ => Metric::Elapsed,
    }
}

/// The components that are sped up together in one rerun.
struct Part<'a>(Vec<(&'a ComponentUse, SitePart)>);

impl Part<'_> {
    /// `esx nic-1g and filer e1`.
    fn name(&self) -> String {
        self.0.iter().map(|(one, _)| one.name.as_str()).collect::<Vec<_>>().join(" and ")
    }
}

/// The parts worth a rerun. The ports at both ends of a wire are one part: alone, each would be masked by the
/// other.
fn parts<'a>(uses: &'a [ComponentUse], of_site: &[Option<SitePart>]) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let is_port = |kind| matches!(kind, ComponentKind::HostPort | ComponentKind::ControllerPort);
    let known = uses.iter().zip(of_site).filter_map(|(one, part)| Some((one, (*part)?)));
    for (one, of_site) in known {
        match parts.iter_mut().find(|part| is_port(part.0[0].0.kind) && is_port(one.kind)) {
            // The host's end comes first.
            Some(wire) if one.kind == ComponentKind::HostPort => wire.0.insert(0, (one, of_site)),
            Some(wire) => wire.0.push((one, of_site)),
            None => parts.push(Part(vec![(one, of_site)])),
        }
    }
    let matters = |one: &ComponentUse| {
        one.response_share >= LEAST_SHARE || one.utilisation_most >= LEAST_BUSY
    };
    parts.retain(|part| part.0.iter().any(|(one, _)| matters(one)));
    parts
}

/// The gain in a cell's trial from speeding up each component, the largest first. Empty if the cell cannot be
/// predicted.
pub(crate) fn elasticities(run: &TrialRun<'_>, cell: usize) -> Vec<Elasticity> {
    // Users take their time: in a short window nobody would have come.
    if run.order.work.desktops().is_some() {
        return Vec::new();
    }
    let order = TrialOrder { timing: short(run.order.timing), ..run.order.clone() };
    let run = TrialRun { order: &order, ..*run };
    let metric = metric_of(&order.work);
    let value = |SiteEnd { end, .. }: &SiteEnd| match end.failure() {
        None => metrics::value_of(metric, &end.sample, &end.cpu),
        Some(_) => None,
    };
    let Some((plain, SiteEnd { end, parts: of_site })) =
        run.carry_out().ok().and_then(|end| Some((value(&end)?, end)))
    else {
        return Vec::new();
    };
    let rerun = |part: &Part| {
        let mut site = run.site.clone();
        for (_, of_site) in &part.0 {
            site = faster(&site, *of_site, FACTOR)?;
        }
        let end = TrialRun { site: &site, ..run }.carry_out().ok()?;
        let ratio = value(&end)? / plain;
        ratio.is_finite().then(|| Elasticity {
            cell,
            component: part.name(),
            kind: part.0[0].0.kind,
            factor: FACTOR,
            metric,
            ratio,
        })
    };
    let uses = end.modelled.map_or_else(Vec::new, |modelled| modelled.components);
    let mut found: Vec<Elasticity> = parts(&uses, &of_site).iter().filter_map(rerun).collect();
    found.sort_by(|a, b| b.gain().total_cmp(&a.gain()));
    found
}
