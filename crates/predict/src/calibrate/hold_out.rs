//! Which measurements are kept back, so that what the fitted site predicts can be held against what it
//! has not seen.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_study::Cell;

use super::observation::Observation;

/// The observations that are fitted to and those that are kept back.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// Fitted to.
    pub fitted: Vec<Observation>,
    /// Kept back.
    pub kept_back: Vec<Observation>,
}

/// Deals out whole cells, for two figures of one trial are one observation in two guises: of every
/// datastore's cells about this share is kept back, at random by the seed. A datastore with fewer than
/// three cells keeps none back.
pub fn hold_back(observations: Vec<Observation>, share: f64, seed: u64) -> Parts {
    let mut cells: Vec<Cell> = Vec::new();
    for cell in observations.iter().flat_map(|observation| observation.of.cells()) {
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut kept: Vec<Cell> = Vec::new();
    let mut datastores: Vec<usize> = cells.iter().map(|cell| cell.datastore).collect();
    datastores.sort_unstable();
    datastores.dedup();
    for datastore in datastores {
        let mut of_one: Vec<Cell> =
            cells.iter().copied().filter(|cell| cell.datastore == datastore).collect();
        let count = match of_one.len() {
            0..3 => 0,
            all => ((all as f64 * share).round() as usize).min(all - 2),
        };
        for _ in 0..count {
            let at = (random.next_u64() % of_one.len() as u64) as usize;
            kept.push(of_one.swap_remove(at));
        }
    }
    let (kept_back, fitted) = observations
        .into_iter()
        .partition(|observation| observation.of.cells().any(|cell| kept.contains(&cell)));
    Parts { fitted, kept_back }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::observation::Observed;
    use stormeter_study::Metric;

    fn observation(datastore: usize, vms: u32, metric: Metric) -> Observation {
        let cell = Cell { datastore, workload: 0, vms, outstanding: None };
        Observation { label: String::new(), of: Observed::Figure { cell, metric }, value: 1.0 }
    }

    fn all() -> Vec<Observation> {
        let cells = (0..2).flat_map(|store| (1..=8).map(move |vms| (store, vms)));
        cells
            .flat_map(|(store, vms)| {
                [Metric::LatencyMean, Metric::CpuPerIo].map(|m| observation(store, vms, m))
            })
            .chain([observation(2, 1, Metric::Iops), observation(2, 2, Metric::Iops)])
            .collect()
    }

    #[test]
    fn a_quarter_of_each_datastores_cells_is_kept_back_with_all_their_figures() {
        let parts = hold_back(all(), 0.25, 1);
        assert_eq!((parts.fitted.len(), parts.kept_back.len()), (26, 8));
        for kept in &parts.kept_back {
            let cell = kept.of.cells().next();
            assert!(parts.fitted.iter().all(|fitted| fitted.of.cells().next() != cell));
        }
        for store in 0..3 {
            let of_store = |o: &&Observation| o.of.cells().all(|cell| cell.datastore == store);
            let expected = if store == 2 { 0 } else { 4 };
            assert_eq!(parts.kept_back.iter().filter(of_store).count(), expected, "{store}");
        }
        assert_eq!(parts, hold_back(all(), 0.25, 1));
        assert_ne!(parts, hold_back(all(), 0.25, 2));
        assert_eq!(hold_back(all(), 0.0, 1).kept_back, []);
    }
}
