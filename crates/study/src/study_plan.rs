//! The plan of a study: what its file says, every default filled in, as a plain value.
//!
//! It is stored before the first trial and a killed run goes on from it. Cells, their order and
//! the seeds of their trials follow from it alone, so the same file and seed give the same plan on
//! every machine.

use serde::{Deserialize, Serialize};
use stormeter_fault::ScheduledFault;
use stormeter_trial::{Deployment, FileTest, Transfer, Workload};

use crate::plan::{EqualLoad, Metric, Timing};
use crate::reach::Reach;
use crate::step::Step;

/// A study ready to be carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyPlan {
    /// What is asked, in a line.
    pub study: String,
    /// The levels of the factor `datastore`, in the order of the file. At least one.
    pub datastores: Vec<NamedDatastore>,
    /// The hosts that carry out the trials, in the order of the file; empty: this machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<StudyHost>,
    /// Index of the datastore that the others are relative to (= 100).
    pub baseline: usize,
    /// The levels of the factor `workload`. At least one.
    pub workloads: Vec<StudyWorkload>,
    /// The levels of the factor `vms`: virtual disks driven at once. At least one.
    pub vms: Vec<u32>,
    /// The levels of the factor `outstanding`, per VM; empty: as each workload says.
    pub outstanding: Vec<u32>,
    /// Size of each virtual disk, unless a workload has its own.
    pub disk_bytes: u64,
    /// What the disks hold before the first trial.
    pub prepare: Prepare,
    /// How a timed trial passes.
    pub timing: Timing,
    /// What is done to the storage during every trial, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// How trials are repeated and ordered, and what is concluded from them.
    pub design: Design,
    /// What fails in every trial of a prediction besides the steps; nothing can be measured then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub site_faults: Vec<ScheduledFault>,
    /// What is asked, in the grammar of questions; each was checked.
    pub questions: Vec<String>,
    /// Driving threads; 0: one a CPU, but no more than there are VMs.
    pub threads: u32,
    /// Hold every read against what was written.
    pub verify: bool,
    /// Orders, offsets and contents follow from it.
    pub seed: u64,
}

/// A datastore with the name that questions and tables use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedDatastore {
    /// Its name in the study.
    pub name: String,
    /// Its URL, without a password.
    pub url: String,
    /// What is changed in the site that it is predicted for, such as `nics=2`; nothing can be measured
    /// then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub site_changes: Vec<String>,
    /// The URL of a datastore that is reached in the same way and lacks what limits this one: a LUN in
    /// memory, a disk without a limit, a server that answers from nothing. What it does is the ceiling of
    /// all that lies before the storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<String>,
}

/// A host that carries out trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyHost {
    /// Its name in the study.
    pub name: String,
    /// How it is reached.
    pub reached_by: Reach,
    /// Where clients of a transfer reach it over TCP, where the way does not tell: `host` or `host:port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// A level of the factor `workload`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyWorkload {
    /// Its name in the study; each only once.
    pub name: String,
    /// Size of each disk, where it differs from the study's.
    pub disk_bytes: Option<u64>,
    /// What is done.
    pub kind: WorkloadKind,
}

/// What a workload of a study does: load for a time, or a trial of fixed work until it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum WorkloadKind {
    /// Load on virtual disks for the time that `measure` says.
    Io(Workload),
    /// One pass over a file.
    File(FileTest),
    /// Messages between a client and a server over TCP.
    Transfer(Transfer),
    /// VMs deployed from a template.
    Deploy(Deployment),
}

/// What the disks hold before the first trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prepare {
    /// Every byte written, with what the workloads write: random unless they say otherwise.
    #[default]
    Random,
    /// Every byte written with zeros. Reads of zeros are a gift to many datastores; a law says so.
    Zero,
}

/// How trials are repeated and ordered, and what is concluded from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// How often every cell is measured.
    pub blocks: Blocks,
    /// `auto` ends when the interval on each ratio to the baseline is this wide to either side.
    pub precision: f64,
    /// Differences within this are called equivalent.
    pub margin: f64,
    /// Confidence level of intervals, and one less the error of tests.
    pub level: f64,
    /// The metric that carries precision and verdicts.
    pub metric: Metric,
    /// In which order the cells of a block take their turns.
    pub order: Order,
    /// What happens to the disks before every trial.
    pub reset: Reset,
    /// What counts as one observation.
    pub unit: Unit,
    /// The study ends when the next block would not fit, in nanoseconds; `None`: it takes what it
    /// takes.
    pub time_limit_ns: Option<u64>,
    /// Drive all datastores of a load at one rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equal_load: Option<EqualLoad>,
}

/// How often every cell is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blocks {
    /// Until the precision is reached, at most so many times.
    Auto {
        /// The least number of blocks.
        min: u32,
        /// The most.
        max: u32,
    },
    /// So many times.
    Fixed(u32),
}

impl Blocks {
    /// The most blocks there will be.
    pub fn most(self) -> u32 {
        match self {
            Blocks::Auto { max, .. } => max,
            Blocks::Fixed(blocks) => blocks,
        }
    }
}

/// In which order the cells of a block take their turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A new random order each block: what drifts with time meets every cell alike.
    #[default]
    Randomized,
    /// As written, then backwards, and so on: a linear drift cancels out over two blocks.
    Abba,
    /// As written in every block. What drifts with time looks like a difference.
    AsWritten,
}

/// What happens to the disks before every trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reset {
    /// Nothing: each trial finds what the one before left.
    #[default]
    None,
    /// The disks are removed, made and written again.
    Recreate,
    /// The storage is told that the disks' content is no longer needed (TRIM, UNMAP, a hole), then it is
    /// written again.
    Discard,
    /// The storage is brought back to the snapshot that was taken when the disks had been written. Who does
    /// that, such as a lab, is beside the study.
    Snapshot,
    /// A command is run by the shell, such as one that rolls a snapshot back. The variables
    /// `STORMETER_DATASTORE` (name) and `STORMETER_URL` say for which datastore.
    Command(String),
}

/// What counts as one observation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A trial: repeated trials are independent.
    #[default]
    Trial,
    /// An interval of a trial, as some published studies have it. Intervals of one run are correlated;
    /// the report shows by how much.
    Interval,
}

/// One combination of levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// Index of the datastore.
    pub datastore: usize,
    /// Index of the workload.
    pub workload: usize,
    /// Virtual disks driven at once.
    pub vms: u32,
    /// Outstanding I/Os per VM where the study sets them.
    pub outstanding: Option<u32>,
}

impl Cell {
    /// Whether the two differ in nothing but their datastore: then one may be shown relative to the
    /// other.
    pub fn same_load(&self, other: &Cell) -> bool {
        (self.workload, self.vms, self.outstanding)
            == (other.workload, other.vms, other.outstanding)
    }
}

impl StudyPlan {
    /// Every combination of levels, workload by workload, load by load, the datastores side by side.
    /// A cell is named by its place here.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (workload, spec) in self.workloads.iter().enumerate() {
            for &vms in &self.vms {
                for outstanding in self.outstanding_levels(spec) {
                    cells.extend((0..self.datastores.len()).map(|datastore| Cell {
                        datastore,
                        workload,
                        vms,
                        outstanding,
                    }));
                }
            }
        }
        cells
    }

    /// The URLs of the datastores' ceilings, each once, in the order of the datastores.
    pub fn ceilings(&self) -> Vec<&str> {
        let mut urls: Vec<&str> = Vec::new();
        for url in self.datastores.iter().filter_map(|datastore| datastore.ceiling.as_deref()) {
            if !urls.contains(&url) {
                urls.push(url);
            }
        }
        urls
    }

    /// All that is opened: the URLs of the datastores in their order, and behind them
    /// [`StudyPlan::ceilings`].
    pub fn urls(&self) -> Vec<&str> {
        let datastores = self.datastores.iter().map(|datastore| datastore.url.as_str());
        datastores.chain(self.ceilings()).collect()
    }

    /// The levels of `outstanding` that a workload takes: an open loop and a transfer have none.
    fn outstanding_levels(&self, workload: &StudyWorkload) -> Vec<Option<u32>> {
        let takes_it = match &workload.kind {
            WorkloadKind::Io(io) => io.arrivals.rate_per_s().is_none(),
            WorkloadKind::File(_) | WorkloadKind::Deploy(_) => true,
            WorkloadKind::Transfer(_) => false,
        };
        if self.outstanding.is_empty() || !takes_it {
            return vec![None];
        }
        self.outstanding.iter().copied().map(Some).collect()
    }

    /// The cell that this one is relative to: the same load on the baseline. `None` for the
    /// baseline's own.
    pub fn baseline_of(&self, cell: usize) -> Option<usize> {
        let cells = self.cells();
        let this = cells.get(cell)?;
        if this.datastore == self.baseline {
            return None;
        }
        cells.iter().position(|other| other.datastore == self.baseline && other.same_load(this))
    }

    /// Size of each disk of a workload.
    pub fn disk_bytes_of(&self, workload: usize) -> u64 {
        let own = self.workloads.get(workload).and_then(|workload| workload.disk_bytes);
        own.unwrap_or(self.disk_bytes)
    }

    /// The disks that each datastore has for the whole study, and the size of each: the most VMs, and the
    /// largest disk that any workload has. One set serves all cells, so that no trial finds disks made
    /// anew where another does not.
    pub fn disks(&self) -> (u32, u64) {
        let vms = self.vms.iter().copied().max().unwrap_or(1);
        let kinds = || self.workloads.iter().map(|workload| &workload.kind);
        // A deployment copies from a disk that no VM has.
        let templates = u32::from(kinds().any(|kind| matches!(kind, WorkloadKind::Deploy(_))));
        let sizes = (0..self.workloads.len()).map(|workload| self.disk_bytes_of(workload));
        (vms.saturating_add(templates), sizes.max().unwrap_or(self.disk_bytes))
    }

    /// The load of a cell, as tables show it: `4 VMs × 8`; without the factors that have one level.
    pub fn load_label(&self, cell: &Cell) -> String {
        let vms = format!("{} VM{}", cell.vms, if cell.vms == 1 { "" } else { "s" });
        match cell.outstanding {
            Some(outstanding) => format!("{vms} × {outstanding}"),
            None => vms,
        }
    }
}
