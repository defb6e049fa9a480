//! What limits each cell of a prediction, and what its figures rest on.

use stormeter_results::{AssumedEffect, Elasticity, Header};
use stormeter_statistics::bottleneck::{Seen, why};

use crate::full::effects;
use crate::model::CellReasons;

/// What limits each cell whose components are known; `seen` has the trials of a cell that know them.
pub(crate) fn reasons<'a>(
    header: &Header,
    seen: impl Fn(usize) -> Vec<Seen<'a>>,
    elasticities: &[Elasticity],
    assumed: &[AssumedEffect],
) -> Vec<CellReasons> {
    let metric = header.plan.design.metric;
    let of_cell = |cell: usize| {
        let why = why(&seen(cell))?;
        let elasticities = elasticities.iter().filter(|one| one.cell == cell).cloned().collect();
        let own = assumed.iter().filter(|one| one.cell == cell && one.metric == metric);
        Some(CellReasons { cell, why, elasticities, assumed: effects(own.cloned()) })
    };
    (0..header.plan.cells().len()).filter_map(of_cell).collect()
}
