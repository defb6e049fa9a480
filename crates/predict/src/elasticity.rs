//! The gain from making each component a tenth faster: a cell's first block is predicted again, with the same seed,
//! on a site with that component sped up.

use stormeter_results::Elasticity;
use stormeter_simulator::SitePart;
use stormeter_study::{Metric, WorkloadKind};
use stormeter_trial::{ComponentKind, ComponentUse};

use crate::faster::faster;
use crate::rerun::Rerun;
use crate::trial::SiteEnd;

/// The speed-up of a component in its rerun.
const FACTOR: f64 = 1.1;
/// Components below both shares are not worth a rerun: hardly used, and hardly part of the response time.
const LEAST_SHARE: f64 = 0.01;
const LEAST_BUSY: f64 = 0.2;

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

/// The gain in a cell's trial from speeding up each component, the largest first.
pub(crate) fn elasticities(rerun: &Rerun<'_>, cell: usize) -> Vec<Elasticity> {
    let metric = metric_of(&rerun.order().work);
    let faster_part = |part: &Part| {
        let mut site = rerun.site().clone();
        for (_, of_site) in &part.0 {
            site = faster(&site, *of_site, FACTOR)?;
        }
        Some(Elasticity {
            cell,
            component: part.name(),
            kind: part.0[0].0.kind,
            factor: FACTOR,
            metric,
            ratio: rerun.ratio(metric, &rerun.on(&site)?)?,
        })
    };
    let SiteEnd { end, parts: of_site } = &rerun.plain;
    let uses = end.modelled.as_ref().map_or(&[][..], |modelled| &modelled.components);
    let mut found: Vec<Elasticity> = parts(uses, of_site).iter().filter_map(faster_part).collect();
    found.sort_by(|a, b| b.gain().total_cmp(&a.gain()));
    found
}
