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
/// A unit holds requests back only if they spend such a share of their time at it. A queue is no sign of
/// that: of a loop with one outstanding nothing ever queues, and destaging queues although no request waits
/// for it.
const WAITED_FOR: f64 = 0.05;
/// Below this share no request waits for it: what it does, it does in the background.
const UNNOTICED: f64 = 0.005;

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
    /// Whether a unit of it is full ([`SATURATED`]) and requests wait for it; otherwise it has the largest
    /// part of the response time.
    pub is_saturated: bool,
    /// Where requests wait for room in a cache because the disks behind it, which are the bottleneck then,
    /// do not take writes as fast as they come: the cache, an index into `components`.
    pub room_in: Option<usize>,
    /// Components that are full of work that no request waits for, such as destaging: indices into
    /// `components`. They bound nothing as long as a cache has room.
    pub in_background: Vec<usize>,
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
    /// With as many outstanding as there were and no queue anywhere (N/R₀), per second.
    pub unqueued_per_s: f64,
    /// What the busiest component lets pass; `None` where all that is busy works in the background.
    pub saturation: Option<Saturation>,
}

/// The bound of the busiest component among those that requests wait for. How full a memory is bounds
/// nothing, and so does work in the background.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// With any number outstanding it lets no more pass (1/D_max), per second.
    pub per_s: f64,
    /// So many outstanding I/Os make it full (N* = R₀/D_max).
    pub outstanding: f64,
    /// Which one: an index into [`CellWhy::components`].
    pub component: usize,
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
    let longest = (0..components.len()).max_by(|&a, &b| {
        components[a].response_share.total_cmp(&components[b].response_share).then(b.cmp(&a))
    })?;
    let is_background = |index: &usize| {
        let one = &components[*index];
        let alone_ns = one.busy_ns as f64 / operations;
        one.response_share < UNNOTICED && alone_ns > 1.5 * one.response_share * response_ns
    };
    let room_in = room(&components, &parts);
    let in_line =
        |index: &usize| components[*index].kind != ComponentKind::Cache && !is_background(index);
    let busiest = busiest(&components, in_line);
    let full = busiest_waited_for(&components);
    let unqueued_ns = response_ns - parts.iter().map(|part| part.queue_ns).sum::<f64>();
    let saturation =
        busiest.filter(|&index| components[index].utilisation_most > 0.0).map(|index| {
            let per_s = rate_per_s / components[index].utilisation_most;
            Saturation { per_s, outstanding: per_s * unqueued_ns / 1e9, component: index }
        });
    let disks = room_in.map(|(_, disks)| disks);
    let in_background = (0..components.len())
        .filter(|index| components[*index].kind != ComponentKind::Cache && is_background(index))
        .filter(|&index| components[index].utilisation_most >= SATURATED && disks != Some(index))
        .collect();
    Some(CellWhy {
        bottleneck: disks.or(full).unwrap_or(longest),
        is_saturated: disks.or(full).is_some(),
        room_in: room_in.map(|(cache, _)| cache),
        in_background,
        rate_per_s,
        response_ns,
        outstanding,
        bounds: Bounds { unqueued_per_s: outstanding * 1e9 / unqueued_ns, saturation },
        components,
        parts,
    })
}

/// The component whose busiest unit is busiest, among some; of those within a percent of it (both ends of
/// a wire are), the one with the larger part of the response time.
fn busiest(components: &[ComponentUse], among: impl Fn(&usize) -> bool) -> Option<usize> {
    let key = |index: usize| {
        let one = &components[index];
        ((one.utilisation_most * 100.0).round(), one.response_share)
    };
    (0..components.len()).filter(among).max_by(|&a, &b| {
        let (a_key, b_key) = (key(a), key(b));
        a_key.0.total_cmp(&b_key.0).then(a_key.1.total_cmp(&b_key.1)).then(b.cmp(&a))
    })
}

/// The component that is full and waited for. Waiting for the slowest part is no work that fills
/// anything, and of a cache it is known how full it is, not how busy.
fn busiest_waited_for(components: &[ComponentUse]) -> Option<usize> {
    busiest(components, |&index| {
        let one = &components[index];
        !matches!(one.kind, ComponentKind::Cache | ComponentKind::Parts)
            && one.utilisation_most >= SATURATED
            && one.response_share >= WAITED_FOR
    })
}

/// The cache that writes wait for room in, and the busiest disks, where those are full: a cache that is
/// full, or at which time passes that is neither work nor a queue of its devices.
fn room(components: &[ComponentUse], parts: &[ResponsePart]) -> Option<(usize, usize)> {
    let waits = |&index: &usize| {
        let (one, part) = (&components[index], &parts[index]);
        let residence_ns = part.service_ns + part.queue_ns + part.latency_ns;
        one.kind == ComponentKind::Cache
            && one.response_share >= WAITED_FOR
            && (one.utilisation_most >= SATURATED || part.latency_ns > 0.5 * residence_ns)
    };
    let cache = (0..components.len()).filter(waits).max_by(|&a, &b| {
        components[a].response_share.total_cmp(&components[b].response_share).then(b.cmp(&a))
    })?;
    let disks = busiest(components, |&index| components[index].kind == ComponentKind::Disks)?;
    let (of_cache, of_disks) = (&components[cache], &components[disks]);
    // What takes longer is what holds back: with few writes among reads it is the disks themselves.
    (of_disks.utilisation_most >= SATURATED && of_cache.response_share >= of_disks.response_share)
        .then_some((cache, disks))
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
        let bound = why.bounds.saturation.unwrap();
        assert!(near(bound.per_s, 1e9 / 97_000.0) && near(why.bounds.unqueued_per_s, 16_000.0));
        assert!(near(bound.outstanding, 500.0 / 97.0) && bound.component == 0);
        assert!(why.room_in.is_none() && why.in_background.is_empty());
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
        assert_eq!(why.bounds.saturation.unwrap().component, 0);
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
        assert!(why.is_saturated && why.parts[1] == ResponsePart::default());
        // The time at the cache is waiting for room, which the disks do not make.
        assert_eq!((why.bottleneck, why.room_in), (1, Some(0)));
        assert!((why.bounds.unqueued_per_s - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn disks_that_destage_for_a_cache_with_room_hold_nothing_back_and_bound_nothing() {
        let uses = [
            component(ComponentKind::HostCpu, 1000, (600_000.0, 0.0), 0.99),
            component(ComponentKind::Cache, 1000, (5000.0, 0.0), 0.005),
            component(ComponentKind::Disks, 1000, (950_000.0, 50_000_000.0), 0.0),
        ];
        let why = why(&[(&sample(1000, 1.0), &uses)]).unwrap();
        assert!(!why.is_saturated && why.bottleneck == 0 && why.room_in.is_none());
        assert_eq!(why.in_background, [2]);
        assert_eq!(why.bounds.saturation.unwrap().component, 0);
    }

    #[test]
    fn a_cache_that_is_full_is_no_bottleneck_by_itself() {
        // As full as can be, and nobody waits: the disks make room in time.
        let mut uses = [
            component(ComponentKind::HostCpu, 1000, (400_000.0, 0.0), 0.9),
            component(ComponentKind::Cache, 1000, (990_000.0, 0.0), 0.1),
            component(ComponentKind::Disks, 1000, (500_000.0, 0.0), 0.0),
        ];
        let calm = why(&[(&sample(1000, 1.0), &uses)]).unwrap();
        assert!(!calm.is_saturated && calm.bottleneck == 0, "{calm:?}");
        assert_eq!(calm.bounds.saturation.unwrap().component, 0);
        uses[2] = component(ComponentKind::Disks, 1000, (950_000.0, 0.0), 0.0);
        let late = why(&[(&sample(1000, 1.0), &uses)]).unwrap();
        assert_eq!((late.bottleneck, late.room_in, late.is_saturated), (2, Some(1), true));
    }

    #[test]
    fn busy_without_being_waited_for_is_not_full_and_of_two_alike_the_longer_counts() {
        let uses = [
            component(ComponentKind::HostCpu, 1000, (950_000.0, 0.0), 0.02),
            component(ComponentKind::Network, 1000, (1000.0, 0.0), 0.98),
        ];
        let busy = why(&[(&sample(1000, 64.0), &uses)]).unwrap();
        assert!(!busy.is_saturated && busy.bottleneck == 1, "{busy:?}");
        // Both ends of a wire; requests queue at the second.
        let uses = [
            component(ComponentKind::HostPort, 1000, (992_000.0, 0.0), 0.1),
            component(ComponentKind::ControllerPort, 1000, (990_000.0, 5_000_000.0), 0.9),
        ];
        let wire = why(&[(&sample(1000, 8.0), &uses)]).unwrap();
        assert!(wire.is_saturated && wire.bottleneck == 1, "{wire:?}");
    }

    #[test]
    fn nothing_is_said_of_a_measured_trial() {
        assert_eq!(why(&[(&sample(1000, 1.0), &[])]), None);
        assert_eq!(why(&[]), None);
    }
}
