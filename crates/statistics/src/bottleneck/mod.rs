//! Why a cell is as fast as it is: which component holds it back, and what is possible while that one
//! stays as it is.
//!
//! Operational analysis, whose laws hold for any system that was observed long enough, with any
//! distributions: utilisation law U = X·D, Little's law N = X·R, and the asymptotic bounds
//! X ≤ min(1/D_max, N/R₀), where D_max is the demand at the busiest component and R₀ the response
//! time without queueing (P. J. Denning & J. P. Buzen, "The operational analysis of queueing network
//! models", ACM Computing Surveys 10(3), 1978; E. D. Lazowska, J. Zahorjan, G. S. Graham & K. C. Sevcik,
//! *Quantitative System Performance*, 1984, chapter 5). The think time Z is 0: the loops have none.

use serde::{Deserialize, Serialize};
use stormeter_trial::{ComponentKind, ComponentUse, Sample};

/// A unit that is busy for this share of the time is full: more load lengthens its queue and does little else.
pub const SATURATED: f64 = 0.9;
/// A unit holds requests back only if they spend this share of their time at it. A queue is no sign of
/// that: with one I/O outstanding nothing ever queues, and destaging queues although no request waits
/// for it.
const WAITED_FOR: f64 = 0.05;
/// Below this share no request waits for a unit: it works in the background.
const UNNOTICED: f64 = 0.005;
/// A unit that works this many times as long as requests can be waiting for it works in the background.
const MORE_THAN_WAITED_FOR: f64 = 1.5;
/// Writes that spend this share of the response time waiting for room arrive as fast as the disks take
/// them, and no faster with more outstanding.
const MOSTLY: f64 = 0.5;

/// Why a cell is as fast as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellWhy {
    /// Its components, in the order in which a request meets them; means over its trials, without
    /// their course over time.
    pub components: Vec<ComponentUse>,
    /// By component: its part of the response time of an operation.
    pub parts: Vec<ResponsePart>,
    /// The component that holds the cell back: an index into `components`.
    pub bottleneck: usize,
    /// Whether a unit of it is full ([`SATURATED`]) and requests wait for it; otherwise it has the largest
    /// part of the response time.
    pub is_saturated: bool,
    /// Where requests wait for room in a cache because the disks behind it, which are the bottleneck then,
    /// do not take writes as fast as they come: the cache, an index into `components`. It is full then,
    /// however busy those disks are: they need not all be at work at the same time.
    pub room_in: Option<usize>,
    /// Components that are full of work that requests do not wait for, or hardly, such as destaging: indices
    /// into `components`. They limit nothing as long as a cache has room.
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

/// The part of an operation's response time that is spent at a component, in nanoseconds. The sum is
/// [`ComponentUse::response_share`] of the response time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponsePart {
    /// Being served. Work that no request waits for is not included.
    pub service_ns: f64,
    /// Waiting for its turn, or at a cache for room.
    pub queue_ns: f64,
    /// Neither: latency of wires and interrupts, which no faster component shortens.
    pub latency_ns: f64,
}

/// The asymptotic bounds of the operational analysis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// With the same number outstanding and no queue anywhere (N/R₀), per second.
    pub unqueued_per_s: f64,
    /// The bound of the busiest component that requests wait for; `None` where all busy components
    /// work in the background.
    pub saturation: Option<Saturation>,
    /// The bound of the disks that destage for a cache, in the long run, when the cache has no room left: the
    /// utilisation law holds for background work as well. `None` where there are none, or where they are busy
    /// for their own caches: those are emptied at any load, so that the busy time does not show how much more
    /// is possible.
    #[serde(default)]
    pub long_run: Option<Saturation>,
}

/// The bound of a component. The fill level of a memory is no bound.
///
/// For disks with moving heads it holds for the queue that they have: from a longer one they choose better, and
/// each request takes less time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// The most that it serves with any number outstanding (1/D_max), per second.
    pub per_s: f64,
    /// The number of outstanding I/Os that fills it (N* = R₀/D_max).
    pub outstanding: f64,
    /// Which one: an index into [`CellWhy::components`].
    pub component: usize,
}

/// What is known of a trial.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The driver's counts.
    pub sample: &'a Sample,
    /// What its components did; empty if nothing is known about them.
    pub components: &'a [ComponentUse],
    /// Of the bytes that came into memories for writes, the share that left them, 0 to 1: less than 1 where they
    /// were still filling.
    pub drained: f64,
}

/// Why a cell is as fast as it is, from the components of its trials; `None` where nothing is known about
/// them or no I/O was done.
pub fn why(trials: &[Seen<'_>]) -> Option<CellWhy> {
    let known = |trial: &&Seen<'_>| {
        !trial.components.is_empty() && trial.sample.operations() > 0 && trial.sample.window_ns > 0
    };
    let trials: Vec<_> = trials.iter().filter(known).collect();
    let n = trials.len() as f64;
    let mean =
        |of: &dyn Fn(&Sample) -> f64| trials.iter().map(|trial| of(trial.sample)).sum::<f64>() / n;
    let components = merged(&trials.iter().map(|trial| trial.components).collect::<Vec<_>>())?;
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
        let (one, part) = (&components[*index], &parts[*index]);
        let alone_ns = one.busy_ns as f64 / operations;
        let residence_ns = part.service_ns + part.queue_ns + part.latency_ns;
        let unnoticed = one.response_share < UNNOTICED
            && alone_ns > MORE_THAN_WAITED_FOR * one.response_share * response_ns;
        // While a unit works for a request, that request is here; so requests are here for at least that
        // share of the time, and no request waits for the work beyond it.
        let here = rate_per_s * residence_ns / 1e9;
        let hardly =
            one.kind == ComponentKind::Disks && one.utilisation_most > MORE_THAN_WAITED_FOR * here;
        unnoticed || hardly
    };
    let room_in = room(&components, &parts, response_ns);
    let in_line =
        |index: &usize| components[*index].kind != ComponentKind::Cache && !is_background(index);
    let full = busiest_waited_for(&components, is_background);
    let unqueued_ns = response_ns - parts.iter().map(|part| part.queue_ns).sum::<f64>();
    let bound = |index: usize, busy: f64| {
        let per_s = rate_per_s / busy;
        Saturation { per_s, outstanding: per_s * unqueued_ns / 1e9, component: index }
    };
    let of_busiest = |among: &dyn Fn(&usize) -> bool| {
        let index = busiest(&components, among)?;
        let busy = components[index].utilisation_most;
        (busy > 0.0).then(|| bound(index, busy))
    };
    let saturation = match room_in {
        // The cache without room is full.
        Some(NoRoom { cache, disks }) => {
            let waits = parts[cache].queue_ns > MOSTLY * response_ns;
            let busy = if waits { 1.0 } else { components[disks].utilisation_most };
            (busy > 0.0).then(|| bound(disks, busy))
        }
        None => of_busiest(&in_line),
    };
    let has_cache = components.iter().any(|one| one.kind == ComponentKind::Cache);
    let destages = |index: &usize| {
        has_cache && components[*index].kind == ComponentKind::Disks && is_background(index)
    };
    // While a memory fills, its disks are busy with what leaves it, which is less than what comes; in the long run
    // all of it has to leave. What they do for requests that wait is done already.
    let drained = trials.iter().map(|trial| trial.drained).sum::<f64>() / n;
    let in_long_run = |index: usize| {
        let busy = components[index].utilisation_most;
        let units = f64::from(components[index].units.max(1));
        let waited_for = (rate_per_s * parts[index].service_ns / 1e9 / units).min(busy);
        let all = waited_for + (busy - waited_for) / drained;
        (busy > 0.0).then(|| bound(index, all))
    };
    let long_run = match room_in.is_none() && drained > 0.0 {
        true => busiest(&components, destages).and_then(in_long_run),
        false => None,
    };
    let disks = room_in.map(|found| found.disks);
    let in_background = (0..components.len())
        .filter(|index| components[*index].kind != ComponentKind::Cache && is_background(index))
        .filter(|&index| components[index].utilisation_most >= SATURATED && disks != Some(index))
        .collect();
    Some(CellWhy {
        bottleneck: disks.or(full).unwrap_or(longest),
        is_saturated: disks.or(full).is_some(),
        room_in: room_in.map(|found| found.cache),
        in_background,
        rate_per_s,
        response_ns,
        outstanding,
        bounds: Bounds { unqueued_per_s: outstanding * 1e9 / unqueued_ns, saturation, long_run },
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

/// The component that is full and that requests wait for. Waiting for the slowest part fills
/// no component, and the utilisation of a cache is its fill level, not how busy it is.
fn busiest_waited_for(
    components: &[ComponentUse],
    is_background: impl Fn(&usize) -> bool,
) -> Option<usize> {
    busiest(components, |&index| {
        let one = &components[index];
        !matches!(one.kind, ComponentKind::Cache | ComponentKind::Parts)
            && one.utilisation_most >= SATURATED
            && one.response_share >= WAITED_FOR
            && !is_background(&index)
    })
}

/// A cache without room, and the disks behind it: indices of components.
#[derive(Clone, Copy)]
struct NoRoom {
    cache: usize,
    disks: usize,
}

/// The cache in which writes wait for room, and the busiest disks. It does not matter whether all disks are full:
/// a sweep, a stripe or a log keeps some of them waiting for others, and that limits the rate just the same.
fn room(components: &[ComponentUse], parts: &[ResponsePart], response_ns: f64) -> Option<NoRoom> {
    let waits = |&index: &usize| {
        components[index].kind == ComponentKind::Cache
            && parts[index].queue_ns >= WAITED_FOR * response_ns
    };
    let cache = (0..components.len())
        .filter(waits)
        .max_by(|&a, &b| parts[a].queue_ns.total_cmp(&parts[b].queue_ns).then(b.cmp(&a)))?;
    let disks = busiest(components, |&index| components[index].kind == ComponentKind::Disks)?;
    // Of the two, the one that takes longer holds the cell back: with few writes among reads it is the disks.
    let (of_cache, of_disks) = (&components[cache], &components[disks]);
    let by_disks =
        of_disks.utilisation_most >= SATURATED && of_disks.response_share > of_cache.response_share;
    (!by_disks).then_some(NoRoom { cache, disks })
}

/// Service, queue and latency of an operation at a component, by Little's law for it: jobs there are
/// rate × (service + queue).
fn part(one: &ComponentUse, response_ns: f64, rate_per_s: f64, operations: f64) -> ResponsePart {
    let residence_ns = one.response_share * response_ns;
    // The fill level of a memory is no work; the queue beyond it is writes that wait for room.
    if one.kind == ComponentKind::Cache {
        let full_ns = one.busy_ns as f64 / operations;
        let queue_ns = (one.queue_mean * 1e9 / rate_per_s - full_ns).clamp(0.0, residence_ns);
        return ResponsePart { service_ns: 0.0, queue_ns, latency_ns: residence_ns - queue_ns };
    }
    // Work that no request waits for (destaging, a mirror) is more than the residence.
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
mod tests;
