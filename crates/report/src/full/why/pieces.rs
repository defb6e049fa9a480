//! Pieces of the sentences on what limits a cell, whatever its operations are.

use stormeter_statistics::CellWhy;
use stormeter_statistics::bottleneck::Saturation;
use stormeter_trial::{ComponentKind, ComponentUse};

/// A share of something: `< 1 %`, `42 %`.
pub(super) fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p < 0.95 && p > 0.0 => "< 1 %".into(),
        p => format!("{p:.0} %"),
    }
}

/// The subject of a sentence on a component: the part that is full, or that takes the time.
pub(super) fn named(why: &CellWhy, index: usize) -> &str {
    why.components.get(index).map_or("", |one| one.name.as_str())
}

/// How busy a component is, in a sentence.
pub(super) fn busy(one: &ComponentUse) -> String {
    match one.units {
        0 | 1 => format!("{} busy", share(one.utilisation_most)),
        units => format!(
            "the busiest of {units} is {} busy, all together {}",
            share(one.utilisation_most),
            share(one.utilisation)
        ),
    }
}

/// The bound of a component that works in the background, where it is the lowest.
pub(super) fn long_run(why: &CellWhy) -> Option<Saturation> {
    let others = why.bounds.saturation.map_or(f64::INFINITY, |bound| bound.per_s);
    why.bounds.long_run.filter(|bound| bound.per_s < others)
}

/// What a component in the background lets pass in the long run, which is `rate`.
pub(super) fn in_long_run(why: &CellWhy, bound: Saturation, rate: &str) -> String {
    let one = &why.components[bound.component];
    format!(
        " In the long run {}, which destages ({}), lets no more than {rate} pass: with more, the cache \
         before it fills until writes wait for room.",
        one.name,
        busy(one)
    )
}

/// The component that is full of work for which hardly any request waits.
pub(super) fn background(why: &CellWhy) -> String {
    let has_cache = why.components.iter().any(|one| one.kind == ComponentKind::Cache);
    // Already named with its bound.
    let named = if why.is_saturated { None } else { long_run(why).map(|bound| bound.component) };
    let full = why.in_background.iter().filter(|&&index| named != Some(index));
    let each = full.filter_map(|&index| why.components.get(index)).map(|one| {
        let busy = share(one.utilisation_most);
        // Without another cache, background work of disks is for their own caches.
        if one.kind == ComponentKind::Disks && !has_cache {
            return format!(
                " {} is {busy} busy, most of it with emptying the caches of its disks, which requests \
                 hardly wait for: that happens at any load and does not tell how much more it could take.",
                one.name
            );
        }
        let work = match one.kind {
            ComponentKind::Disks => "destaging",
            _ => "work in the background",
        };
        let yet = match one.response_share {
            0.0..0.005 => "which no request waits for yet",
            _ => "which requests hardly wait for yet",
        };
        format!(" {} is {busy} busy with {work}, {yet}.", one.name)
    });
    each.collect()
}
