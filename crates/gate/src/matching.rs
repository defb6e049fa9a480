//! Which cells of runs belong together.
//!
//! Where each side has one datastore, loads are compared whatever the datastores are called, since the sides are the
//! datastores; otherwise a cell is a load on a datastore of that name.

use std::collections::BTreeSet;

use crate::run::{GateCell, GateRun};

/// The runs of a side, with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedRuns {
    /// The name.
    pub name: String,
    /// At least one.
    pub runs: Vec<GateRun>,
}

/// Which cells of different sides are of one load.
pub(crate) struct Matching {
    /// Whether the datastores' names are left out.
    by_load: bool,
    /// The one load of all, if each side has one alone.
    only: Option<String>,
}

impl Matching {
    pub(crate) fn of(named: &[NamedRuns]) -> Self {
        let distinct = |side: &NamedRuns, of: fn(&GateCell) -> &str| {
            let cells = side.runs.iter().flat_map(|run| &run.cells);
            cells.map(of).collect::<BTreeSet<&str>>().len()
        };
        let by_load = named.iter().all(|side| distinct(side, |cell| &cell.datastore) == 1);
        let has_one = by_load && named.iter().all(|side| distinct(side, |cell| &cell.load) == 1);
        let first = named.iter().flat_map(|side| &side.runs).flat_map(|run| &run.cells).next();
        let only = first.filter(|_| has_one).map(|cell| cell.load.clone());
        Self { by_load, only }
    }

    pub(crate) fn name(&self, cell: &GateCell) -> String {
        match (&self.only, self.by_load || cell.datastore.is_empty()) {
            (Some(only), _) => only.clone(),
            (None, true) => cell.load.clone(),
            (None, false) => format!("{}, {}", cell.datastore, cell.load),
        }
    }

    /// The loads of a side, in the order of its runs.
    pub(crate) fn loads(&self, side: &NamedRuns) -> Vec<String> {
        let mut loads = Vec::new();
        for cell in side.runs.iter().flat_map(|run| &run.cells) {
            let name = self.name(cell);
            if !loads.contains(&name) {
                loads.push(name);
            }
        }
        loads
    }

    pub(crate) fn cell<'a>(&self, run: &'a GateRun, load: &str) -> Option<&'a GateCell> {
        run.cells.iter().find(|cell| self.name(cell) == load)
    }
}
