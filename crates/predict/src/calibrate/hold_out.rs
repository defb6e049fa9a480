//! Holds out a part of the measurements, so that the predictions of the fitted site can be checked against data that
//! it was not fitted to.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_study::Cell;

use super::observation::Observation;

/// The observations, split into those for the fit and those held out.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// For the fit.
    pub fitted: Vec<Observation>,
    /// Held out.
    pub held_out: Vec<Observation>,
}

/// Holds out about this share of each datastore's cells, drawn at random by the seed. Cells are held out whole,
/// because two figures of one trial are not independent. A datastore with fewer than three cells keeps all for the fit.
pub fn hold_out(observations: Vec<Observation>, share: f64, seed: u64) -> Split {
    let mut cells: Vec<Cell> = Vec::new();
    for cell in observations.iter().flat_map(|observation| observation.of.cells()) {
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut drawn: Vec<Cell> = Vec::new();
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
            drawn.push(of_one.swap_remove(at));
        }
    }
    let (held_out, fitted) = observations
        .into_iter()
        .partition(|observation| observation.of.cells().any(|cell| drawn.contains(&cell)));
    Split { fitted, held_out }
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
    fn a_quarter_of_each_datastores_cells_is_held_out_with_all_their_figures() {
        let split = hold_out(all(), 0.25, 1);
        assert_eq!((split.fitted.len(), split.held_out.len()), (26, 8));
        for held_out in &split.held_out {
            let cell = held_out.of.cells().next();
            assert!(split.fitted.iter().all(|fitted| fitted.of.cells().next() != cell));
        }
        for store in 0..3 {
            let of_store = |o: &&Observation| o.of.cells().all(|cell| cell.datastore == store);
            let expected = if store == 2 { 0 } else { 4 };
            assert_eq!(split.held_out.iter().filter(of_store).count(), expected, "{store}");
        }
        assert_eq!(split, hold_out(all(), 0.25, 1));
        assert_ne!(split, hold_out(all(), 0.25, 2));
        assert_eq!(hold_out(all(), 0.0, 1).held_out, []);
    }
}
