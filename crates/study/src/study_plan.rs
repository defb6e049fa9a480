//! The plan of a study: the contents of its file, with every default filled in, as a plain value.
//!
//! It is stored before the first trial and a killed run resumes from it. Cells, their order and the
//! seeds of their trials follow from it alone, so the same file and seed give the same plan on
//! every machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_fault::ScheduledFault;
use stormeter_trial::{
    Deployment, DesktopLoad, FileTest, FtpLoad, ServiceLoad, Transfer, VncLoad, Workload,
};

use crate::dealing::vms_of_host;
use crate::plan::{EqualLoad, Metric, Timing};
use crate::reach::Reach;
use crate::server_url::{is_desktops, is_server};
use crate::step::Step;

/// A study ready to be executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyPlan {
    /// A one-line description.
    pub study: String,
    /// The levels of the factor `datastore`, in the order of the file. At least one.
    #[schemars(length(min = 1))]
    pub datastores: Vec<NamedDatastore>,
    /// The hosts that run the trials, in the order of the file; empty: this machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<StudyHost>,
    /// Index of the datastore that the others are relative to.
    pub baseline: usize,
    /// The levels of the factor `workload`. At least one.
    #[schemars(length(min = 1))]
    pub workloads: Vec<StudyWorkload>,
    /// The levels of the factor `vms`: virtual disks driven at once. At least one.
    #[schemars(length(min = 1))]
    pub vms: Vec<u32>,
    /// The levels of the factor `outstanding`, per VM; empty: each workload's own.
    pub outstanding: Vec<u32>,
    /// Size of each virtual disk, for workloads without their own.
    pub disk_bytes: u64,
    /// The contents of the disks before the first trial.
    pub prepare: Prepare,
    /// The timing of a timed trial.
    pub timing: Timing,
    /// What is done to the storage during every trial, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// How trials are repeated and ordered, and what is concluded from them.
    pub design: Design,
    /// What fails in every trial of a prediction besides the steps; nothing can be measured then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub site_faults: Vec<ScheduledFault>,
    /// What is asked, in the grammar of questions; each was checked.
    pub questions: Vec<String>,
    /// I/O threads; 0: one per CPU, but no more than there are VMs.
    pub threads: u32,
    /// Verify every read against what was written.
    pub verify: bool,
    /// The seed of orders, offsets and contents.
    pub seed: u64,
}

/// A datastore with its name in questions and tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedDatastore {
    /// Its name in the study.
    pub name: String,
    /// Its URL, without a password.
    pub url: String,
    /// Changes to the site for which it is predicted, such as `nics=2`; nothing can be measured then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub site_changes: Vec<String>,
    /// The URL of a datastore that is reached in the same way but lacks what limits this one: a LUN in
    /// memory, a disk without a limit, a server that stores nothing. Its rate is the ceiling of
    /// everything in front of the storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub ceiling: Option<String>,
    /// The numbers of the study's hosts that drive it, in order; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<u32>,
}

impl NamedDatastore {
    /// Whether it is desktops of a lab, which are machines made on demand.
    pub fn is_desktops(&self) -> bool {
        is_desktops(&self.url)
    }

    /// Whether it is a server whose services are used; it has no disks.
    pub fn is_server(&self) -> bool {
        is_server(&self.url)
    }
}

/// A host that runs trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StudyHost {
    /// Its name in the study.
    pub name: String,
    /// How it is reached.
    #[schemars(with = "String")]
    pub reached_by: Reach,
    /// Where clients of a transfer reach it over TCP, if that does not follow from the transport: `host`
    /// or `host:port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub address: Option<String>,
}

/// A level of the factor `workload`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyWorkload {
    /// Its name in the study, which is unique.
    pub name: String,
    /// Size of each disk, if it differs from the study's.
    pub disk_bytes: Option<u64>,
    /// What it does.
    pub kind: WorkloadKind,
}

/// What a workload of a study does: timed load, or fixed work until it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum WorkloadKind {
    /// Load on virtual disks for the time in `measure`.
    Io(Workload),
    /// One pass over a file.
    File(FileTest),
    /// Messages between a client and a server over TCP.
    Transfer(Transfer),
    /// VMs deployed from a template.
    Deploy(Deployment),
    /// Sessions with an FTP server for the time in `measure`.
    Ftp(FtpLoad),
    /// Viewers of a desktop over VNC for the time in `measure`.
    Vnc(VncLoad),
    /// Desktops on demand for the time in `measure`.
    Desktops(Box<DesktopLoad>),
}

impl WorkloadKind {
    /// Whether disks are made as clones by the storage.
    pub fn clones(&self) -> bool {
        matches!(self, WorkloadKind::Deploy(deployment) if deployment.clone)
    }

    /// Whether disks are made from a template's, which is one disk more.
    pub fn has_template(&self) -> bool {
        matches!(self, WorkloadKind::Deploy(_) | WorkloadKind::Desktops(_))
    }

    /// The users of desktops and their broker.
    pub fn desktops(&self) -> Option<&DesktopLoad> {
        match self {
            WorkloadKind::Desktops(load) => Some(load),
            _ => None,
        }
    }

    /// The timed I/O; `None` for fixed work.
    pub fn io(&self) -> Option<&Workload> {
        match self {
            WorkloadKind::Io(io) => Some(io),
            _ => None,
        }
    }

    /// What sessions with a service do; `None` for work on disks.
    pub fn service(&self) -> Option<ServiceLoad> {
        match self {
            WorkloadKind::Ftp(load) => Some(ServiceLoad::Ftp(load.clone())),
            WorkloadKind::Vnc(load) => Some(ServiceLoad::Vnc(load.clone())),
            _ => None,
        }
    }

    /// Whether it lasts for the time in `measure`; otherwise it ends when its work is done.
    pub fn is_timed(&self) -> bool {
        match self {
            WorkloadKind::Io(_)
            | WorkloadKind::Ftp(_)
            | WorkloadKind::Vnc(_)
            | WorkloadKind::Desktops(_) => true,
            WorkloadKind::File(_) | WorkloadKind::Transfer(_) | WorkloadKind::Deploy(_) => false,
        }
    }

    /// The timed I/O, to change it.
    pub(crate) fn io_mut(&mut self) -> Option<&mut Workload> {
        match self {
            WorkloadKind::Io(io) => Some(io),
            _ => None,
        }
    }

    /// Whether requests come at a fixed rate, an open loop.
    pub(crate) fn has_rate(&self) -> bool {
        matches!(self, WorkloadKind::Io(io) if io.arrivals.rate_per_s().is_some())
    }
}

/// The disks on each datastore of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StudyDisks {
    /// Number of disks.
    pub count: u32,
    /// How many of them are templates: disks that belong to no VM, and from which others are made.
    pub templates: u32,
    /// Size of each.
    pub bytes: u64,
}

/// The contents of the disks before the first trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prepare {
    /// Every byte written, with what the workloads write: random unless they say otherwise.
    #[default]
    Random,
    /// Every byte written with zeros. Many datastores read zeros for free; a sanity check reports
    /// it.
    Zero,
}

/// The design: repetition and order of trials, and what is concluded from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// The number of measurements of every cell.
    pub blocks: Blocks,
    /// `auto` ends when the interval on each ratio to the baseline has this half-width.
    pub precision: f64,
    /// Differences within this are called equivalent.
    pub margin: f64,
    /// Confidence level of intervals, and one minus the error level of tests.
    pub level: f64,
    /// The metric that carries precision and verdicts.
    pub metric: Metric,
    /// The order of the cells in a block.
    pub order: Order,
    /// What is done to the disks before every trial.
    pub reset: Reset,
    /// What counts as one observation.
    pub unit: Unit,
    /// The study ends if the next block would exceed this, in nanoseconds; `None`: no limit.
    pub time_limit_ns: Option<u64>,
    /// Drive all datastores of a load at one rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "EqualLoad")]
    pub equal_load: Option<EqualLoad>,
}

/// The number of measurements of every cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blocks {
    /// Until the precision is reached, within these limits.
    Auto {
        /// The least number of blocks.
        min: u32,
        /// The most.
        max: u32,
    },
    /// This many.
    Fixed(u32),
}

impl Blocks {
    /// The most possible blocks.
    pub fn most(self) -> u32 {
        match self {
            Blocks::Auto { max, .. } => max,
            Blocks::Fixed(blocks) => blocks,
        }
    }
}

/// The order of the cells in a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A new random order in each block: drift over time affects all cells equally.
    #[default]
    Randomized,
    /// As written, then backwards, and so on: a linear drift cancels over two blocks.
    Abba,
    /// As written in every block. Drift over time looks like a difference.
    AsWritten,
}

/// What is done to the disks before every trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reset {
    /// Nothing: each trial starts from the state that the previous one left.
    #[default]
    None,
    /// The disks are removed, created and written again.
    Recreate,
    /// The storage is informed that the disks' contents are no longer needed (TRIM, UNMAP, a hole), then
    /// they are written again.
    Discard,
    /// The storage is rolled back to the snapshot taken when the disks had been written. What does that,
    /// such as a lab, is not part of the study.
    Snapshot,
    /// A shell command is run, such as one that rolls a snapshot back. The variables
    /// `STORMETER_DATASTORE` (name) and `STORMETER_URL` identify the datastore.
    Command(String),
}

/// What counts as one observation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A trial: repeated trials are independent.
    #[default]
    Trial,
    /// An interval of a trial, as in some published studies. Intervals of one run are correlated; the
    /// report shows by how much.
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
    /// Outstanding I/Os per VM, if the study sets them.
    pub outstanding: Option<u32>,
}

impl Cell {
    /// Whether the two differ only in their datastore: then one may be shown relative to the other.
    pub fn same_load(&self, other: &Cell) -> bool {
        (self.workload, self.vms, self.outstanding)
            == (other.workload, other.vms, other.outstanding)
    }
}

impl StudyPlan {
    /// Every combination of levels, workload by workload, load by load, the datastores side by side.
    /// A cell is identified by its index here.
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

    /// Whether the study compares datastores under one load and asks nothing else: what `compare` makes, or a file
    /// that says the same. It has one verdict for each candidate, so a report can be short, and a result that is
    /// invalid ends it.
    pub fn is_comparison(&self) -> bool {
        let design = &self.design;
        self.datastores.len() > 1
            && matches!(
                self.workloads.as_slice(),
                [StudyWorkload { kind: WorkloadKind::Io(_), .. }]
            )
            && self.vms.len() == 1
            && self.outstanding.len() < 2
            && self.questions.is_empty()
            && self.steps.is_empty()
            && self.site_faults.is_empty()
            && self.hosts.is_empty()
            && self.datastores.iter().all(|it| it.ceiling.is_none() && it.site_changes.is_empty())
            && self.prepare == Prepare::Random
            && matches!(design.blocks, Blocks::Auto { .. })
            && design.order == Order::Randomized
            && design.reset == Reset::None
            && design.unit == Unit::Trial
    }

    /// Whether options say the plan and no study file, which always has a title. Its seed may have been drawn, and its
    /// datastores have no names but their URLs.
    pub fn is_from_options(&self) -> bool {
        self.study.is_empty()
    }

    /// Whether a datastore was named twice, so that no difference is to be expected.
    pub fn is_a_a_test(&self) -> bool {
        let url = |place: usize| (&self.datastores[place].url, &self.datastores[place].hosts);
        (1..self.datastores.len()).any(|place| (0..place).any(|other| url(other) == url(place)))
    }

    /// Confidence level of the interval on each ratio to the baseline: with several candidates the error that the
    /// design allows is shared among them (Bonferroni), so that all verdicts about one load hold together.
    pub fn level_of_ratios(&self) -> f64 {
        let candidates = self.datastores.len().saturating_sub(1).max(1) as f64;
        1.0 - (1.0 - self.design.level) / candidates
    }

    /// Blocks that are measured whatever the time limit: a comparison has no verdict before the second.
    pub fn least_blocks(&self) -> u32 {
        if self.is_comparison() { 2 } else { 1 }
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

    /// Everything to open: the URLs of the datastores in order, followed by
    /// [`StudyPlan::ceilings`].
    pub fn urls(&self) -> Vec<&str> {
        let datastores = self.datastores.iter().map(|datastore| datastore.url.as_str());
        datastores.chain(self.ceilings()).collect()
    }

    /// The hosts that drive each of [`StudyPlan::urls`]; empty: all. A ceiling is driven by the hosts of its first
    /// datastore.
    pub fn drivers(&self) -> Vec<Vec<u32>> {
        let datastores = self.datastores.iter().map(|datastore| datastore.hosts.clone());
        let of_ceiling = |url: &str| {
            let named = |datastore: &&NamedDatastore| datastore.ceiling.as_deref() == Some(url);
            self.datastores.iter().find(named).map(|of| of.hosts.clone()).unwrap_or_default()
        };
        datastores.chain(self.ceilings().into_iter().map(of_ceiling)).collect()
    }

    /// How many of `vms` VMs on a datastore a host drives: they are assigned to its hosts in turn.
    pub fn vms_of_host(&self, datastore: &NamedDatastore, vms: u32, host: u32) -> u32 {
        let (place, hosts) = match datastore.hosts.as_slice() {
            [] => (Some(host), self.hosts.len()),
            some => (some.iter().position(|of| *of == host).map(|place| place as u32), some.len()),
        };
        place.map_or(0, |place| vms_of_host(vms, place, hosts as u32))
    }

    /// The levels of `outstanding` for a workload: an open loop and a transfer have none.
    fn outstanding_levels(&self, workload: &StudyWorkload) -> Vec<Option<u32>> {
        let takes_it = match &workload.kind {
            WorkloadKind::Io(io) => io.arrivals.rate_per_s().is_none(),
            WorkloadKind::File(_) | WorkloadKind::Deploy(_) => true,
            WorkloadKind::Transfer(_)
            | WorkloadKind::Ftp(_)
            | WorkloadKind::Vnc(_)
            | WorkloadKind::Desktops(_) => false,
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

    /// The disks on each datastore for the whole study: for the most VMs, with the largest disk of any
    /// workload. One set serves all cells, so that no trial finds new disks where another
    /// does not.
    pub fn disks(&self) -> StudyDisks {
        let vms = self.vms.iter().copied().max().unwrap_or(1);
        let kinds = || self.workloads.iter().map(|workload| &workload.kind);
        // A deployment copies from a disk that belongs to no VM.
        let templates = u32::from(kinds().any(WorkloadKind::has_template));
        let sizes = (0..self.workloads.len()).map(|workload| self.disk_bytes_of(workload));
        StudyDisks {
            count: vms.saturating_add(templates),
            templates,
            bytes: sizes.max().unwrap_or(self.disk_bytes),
        }
    }

    /// The load of a cell in tables: `4 VMs × 8`, `4 sessions`; without factors that have one level.
    pub fn load_label(&self, cell: &Cell) -> String {
        let workload = self.workloads.get(cell.workload);
        let what = match workload.map(|workload| &workload.kind) {
            Some(kind) if kind.service().is_some() => "session",
            Some(WorkloadKind::Desktops(_)) => "desktop",
            _ => "VM",
        };
        let vms = format!("{} {what}{}", cell.vms, if cell.vms == 1 { "" } else { "s" });
        match cell.outstanding {
            Some(outstanding) => format!("{vms} × {outstanding}"),
            None => vms,
        }
    }
}
