//! What another plausible value of what is assumed would change in a cell.

use stormeter_results::AssumedEffect;
use stormeter_study::Metric;

use crate::alternative::SiteAlternative;
use crate::rerun::Rerun;

/// By how much metrics of a cell change with each alternative to its site. An alternative that changes no part which the
/// cell's datastore uses is left out.
pub(crate) fn assumed_effects<'a>(
    rerun: &Rerun<'_>,
    cell: usize,
    metrics: &[Metric],
    alternatives: impl Iterator<Item = &'a SiteAlternative>,
) -> Vec<AssumedEffect> {
    let datastore = rerun.datastore();
    let concerns =
        |one: &&SiteAlternative| one.site.used_by(datastore) != rerun.site().used_by(datastore);
    let effects = |one: &SiteAlternative| {
        let changed = rerun.on(&one.site);
        let ratios = metrics.iter().filter_map(|&metric| {
            let ratio = rerun.ratio(metric, changed.as_ref()?)?;
            Some(AssumedEffect { cell, of: one.value.clone(), metric, ratio })
        });
        ratios.collect::<Vec<_>>()
    };
    alternatives.filter(concerns).flat_map(effects).collect()
}
