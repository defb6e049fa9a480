//! Why a cell is as fast as it is: which component holds it back, and what is possible while that one
//! stays as it is.
//!
//! Operational analysis, whose laws hold for any system that was watched long enough, whatever its
//! distributions: utilisation law U = X·D, Little's law N = X·R, and the asymptotic bounds
//! X ≤ min(1/D_max, N/R₀), where D_max is the demand at the component that is busiest and R₀ the response
//! time without queueing (P. J. Denning & J. P. Buzen, "The operational analysis of queueing network
//! models", ACM Computing Surveys 10(3), 1978; E. D. Lazowska, J. Zahorjan, G. S. Graham & K. C. Sevcik,
//! *Quantitative System Performance*, 1984, chapter 5). The think time Z is 0: the loops have none.

use serde::{Deserialize, Serialize};
use stormeter_driver::{ComponentKind, ComponentUse, Sample};

/// Busy so much of the time, a unit is full: queues before it grow with the load and little else.
pub const SATURATED: f64 = 0.9;

/// Why a cell is as fast as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellWhy {
    /// Its components, in the order in which a request meets them; means over its trials, without
    /// what they did over time.
    pub components: Vec<ComponentUse>,
    /// By component: of the response time of an operation, what is spent there.
    pub parts: Vec<ResponsePart>,
    /// The component that holds the cell back: an index into `components`.
    pub bottleneck: usize,
    /// Whether a unit of it is full ([`SATURATED`]); otherwise it has the largest part of the response
    /// time.
    pub is_saturated: bool,
    /// Operations a second.
    pub rate_per_s: f64,
    /// Mean response time of an operation.
    pub response_ns: f64,
    /// Operations outstanding on average (N).
    pub outstanding: f64,
    /// What is possible.
    pub bounds: Bounds,
}

/// Of the response time of an operation, what is spent at a component, in nanoseconds. The sum is
/// [`ComponentUse::response_share`] of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponsePart {
    /// Being worked on. Work that nobody waits for is not in it.
    pub service_ns: f64,
    /// Waiting for its turn.
    pub queue_ns: f64,
    /// Neither: latency of wires and interrupts, which no faster part shortens.
    pub latency_ns: f64,
}

/// The asymptotic bounds of the operational analysis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// With any number outstanding, the busiest component lets no more pass (1/D_max), per second.
    pub saturated_per_s: f64,
    /// With as many outstanding as there were and no queue anywhere (N/R₀), per second.
    pub unqueued_per_s: f64,
    /// So many outstanding I/Os make the busiest component full (N* = R₀/D_max).
    pub outstanding_to_saturate: f64,
    /// The busiest component: an index into [`CellWhy::components`].
    pub busiest: usize,
}

/// Why a cell is as fast as it is, from the components of its trials; `None` where nothing is known of
/// them or nothing was done.
pub fn why(trials: &[(&Sample, &[ComponentUse])]) -> Option<CellWhy> {
    let known = |(sample, uses): &&(&Sample, &[ComponentUse])| {
        !uses.is_empty() && sample.operations() > 0 && sample.window_ns > 0
    };
    let trials: Vec<_> = trials.iter().filter(known).collect();
    let n = trials.len() as f64;
    let mean =
        |of: &dyn Fn(&Sample) -> f64| trials.iter().map(|(sample, _)| of(sample)).sum::<f64>() / n;
    let components = merged(&trials.iter().map(|(_, uses)| *uses).collect::<Vec<_>>())?;
    let rate_per_s = mean(&|sample| sample.operations() as f64 * 1e9 / sample.window_ns as f64);
    let response_ns = mean(&|sample| sample.total().latency_mean_ns().unwrap_or(0.0));
    let outstanding = mean(&|sample| sample.outstanding_mean);
    let window_ns = mean(&|sample| sample.window_ns as f64);
    let operations = rate_per_s * window_ns / 1e9;
    let parts: Vec<ResponsePart> =
        components.iter().map(|one| part(one, response_ns, rate_per_s, operations)).collect();
    let most = |key: &dyn Fn(usize) -> f64| {
        (0..components.len()).max_by(|&a, &b| key(a).total_cmp(&key(b)).then(b.cmp(&a)))
    };
    let busiest = most(&|index| components[index].utilisation_most)?;
    let longest = most(&|index| components[index].response_share)?;
    let most_busy = components[busiest].utilisation_most;
    let is_saturated = most_busy >= SATURATED;
    let unqueued_ns = response_ns - parts.iter().map(|part| part.queue_ns).sum::<f64>();
    let saturated_per_s = rate_per_s / most_busy;
    Some(CellWhy {
        bottleneck: if is_saturated { busiest } else { longest },
        is_saturated,
        rate_per_s,
        response_ns,
        outstanding,
        bounds: Bounds {
            saturated_per_s,
            unqueued_per_s: outstanding * 1e9 / unqueued_ns,
            outstanding_to_saturate: saturated_per_s * unqueued_ns / 1e9,
            busiest,
        },
        components,
        parts,
    })
}

/// Service, queue and latency of an operation at a component, by Little's law for it: jobs there are
/// rate × (service + queue).
fn part(one: &ComponentUse, response_ns: f64, rate_per_s: f64, operations: f64) -> ResponsePart {
    let residence_ns = one.response_share * response_ns;
    // What works while nobody waits for it (destaging, a mirror) is more than the residence.
    let service_ns = (one.busy_ns as f64 / operations).min(residence_ns);
    let there_ns = (one.queue_mean * 1e9 / rate_per_s).min(residence_ns);
    // Waiting for the slowest part is waiting, although there is no queue.
    if one.kind == ComponentKind::Parts {
        return ResponsePart { service_ns: 0.0, queue_ns: residence_ns, latency_ns: 0.0 };
    }
    let queue_ns = (there_ns - service_ns).max(0.0);
    ResponsePart { service_ns, queue_ns, latency_ns: residence_ns - service_ns - queue_ns }
}

/// The means of components over trials of one cell, whose machines are alike.
fn merged(trials: &[&[ComponentUse]]) -> Option<Vec<ComponentUse>> {
    let first = trials.first()?;
    let n = trials.len() as f64;
    let one = |(number, component): (usize, &ComponentUse)| {
        let all = || trials.iter().filter_map(|uses| uses.get(number));
        let mean = |of: fn(&ComponentUse) -> f64| all().map(of).sum::<f64>() / n;
        ComponentUse {
            name: component.name.clone(),
            kind: component.kind,
            units: component.units,
            utilisation: mean(|one| one.utilisation),
            utilisation_most: mean(|one| one.utilisation_most),
            busy_ns: mean(|one| one.busy_ns as f64) as u64,
            queue_mean: mean(|one| one.queue_mean),
            visits: mean(|one| one.visits as f64) as u64,
            lost: mean(|one| one.lost as f64) as u64,
            response_share: mean(|one| one.response_share),
            series: Vec::new(),
        }
    };
    Some(first.iter().enumerate().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_driver::{Ended, KindTotals};

    /// So many reads in a second, so many outstanding: their latency follows (Little).
    fn sample(operations: u64, outstanding: f64) -> Sample {
        let latency_ns = outstanding * 1e9 / operations as f64;
        Sample {
            window_ns: 1_000_000_000,
            interval_ns: 1_000_000_000,
            reads: KindTotals {
                operations,
                latency_sum_ns: (latency_ns * operations as f64) as u64,
                ..KindTotals::default()
            },
            writes: KindTotals::default(),
            intervals: vec![],
            disks: vec![],
            outstanding_mean: outstanding,
            carried_ns: 0,
            outstanding_configured: None,
            offered_rate_per_s: None,
            ramp_operations: 0,
            due_operations: 0,
            backlog_operations: 0,
            faults: vec![],
            verified: None,
            steps: vec![],
            ended: Ended::Completed,
        }
    }

    /// A component with one unit, which works `service_ns` on each of so many operations a second.
    fn component(
        kind: ComponentKind,
        operations: u64,
        (service_ns, queue_ns): (f64, f64),
        response_share: f64,
    ) -> ComponentUse {
        let busy = operations as f64 * service_ns / 1e9;
        ComponentUse {
            name: kind.name().into(),
            kind,
            units: 1,
            utilisation: busy,
            utilisation_most: busy,
            busy_ns: (busy * 1e9) as u64,
            queue_mean: operations as f64 * (service_ns + queue_ns) / 1e9,
            visits: operations,
            lost: 0,
            response_share,
            series: vec![],
        }
    }

    #[test]
    fn a_full_component_is_the_bottleneck_even_where_another_takes_longer() {
        // 10 000 a second, 8 outstanding: 800 µs. The CPU works 97 µs of them and lets 300 µs wait;
        // the rest is the network's latency.
        let uses = [
            component(ComponentKind::HostCpu, 10_000, (97_000.0, 300_000.0), 397.0 / 800.0),
            component(ComponentKind::Network, 10_000, (1000.0, 0.0), 403.0 / 800.0),
        ];
        let why = why(&[(&sample(10_000, 8.0), &uses)]).unwrap();
        assert!(why.is_saturated);
        assert_eq!(why.components[why.bottleneck].kind, ComponentKind::HostCpu);
        let [cpu, network] = why.parts.as_slice() else { panic!("{:?}", why.parts) };
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
        assert!(near(cpu.service_ns, 97_000.0) && near(cpu.queue_ns, 300_000.0), "{cpu:?}");
        assert!(near(network.latency_ns, 402_000.0) && network.queue_ns == 0.0, "{network:?}");
        // 1/97 µs; 8/500 µs; 500 µs/97 µs.
        let Bounds { saturated_per_s, unqueued_per_s, outstanding_to_saturate, busiest } =
            why.bounds;
        assert!(near(saturated_per_s, 1e9 / 97_000.0) && near(unqueued_per_s, 16_000.0));
        assert!(near(outstanding_to_saturate, 500.0 / 97.0) && busiest == 0);
    }

    #[test]
    fn where_nothing_is_full_the_longest_part_is_it() {
        let uses = [
            component(ComponentKind::HostCpu, 1000, (100_000.0, 0.0), 0.1),
            component(ComponentKind::Disks, 1000, (50_000.0, 10_000.0), 0.9),
        ];
        let why = why(&[(&sample(1000, 1.0), &uses)]).unwrap();
        assert!(!why.is_saturated);
        assert_eq!(why.components[why.bottleneck].kind, ComponentKind::Disks);
        assert_eq!(why.bounds.busiest, 0);
        assert!((why.parts[1].latency_ns / 840_000.0 - 1.0).abs() < 1e-6, "{:?}", why.parts);
    }

    #[test]
    fn work_that_nobody_waits_for_is_no_part_of_the_response() {
        // The disks destage for 900 µs each; the write cache answered long before.
        let uses = [
            component(ComponentKind::Cache, 1000, (0.0, 0.0), 1.0),
            component(ComponentKind::Disks, 1000, (900_000.0, 50_000_000.0), 0.0),
        ];
        let why = why(&[(&sample(1000, 1.0), &uses)]).unwrap();
        assert_eq!(why.components[why.bottleneck].kind, ComponentKind::Disks);
        assert!(why.is_saturated && why.parts[1] == ResponsePart::default());
        assert!((why.bounds.unqueued_per_s - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_is_said_of_a_measured_trial() {
        assert_eq!(why(&[(&sample(1000, 1.0), &[])]), None);
        assert_eq!(why(&[]), None);
    }
}
