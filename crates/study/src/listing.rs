//! The trials of a study in order, their time and space, and the plan for people.
//!
//! Everything follows from the plan and its seed, so what is shown before a run is what will be
//! run.

use std::fmt::Write;

use stormeter_units::{format_bytes, format_duration_ns};

use stormeter_trial::Start;

use crate::plan::{block_order, content_seed, trial_seed, trial_start};
use crate::step::StepAction;
use crate::study_plan::{Blocks, Order, Prepare, Reset, StudyPlan, Unit};

/// The time and space that a study needs, as far as its plan determines them: trials of fixed work take as
/// long as they need, and so do preparing and resetting the disks.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Ramps and windows of the timed trials of a block, in nanoseconds.
    pub block_ns: u64,
    /// Number of trials in a block whose time is known.
    pub timed_trials: usize,
    /// Number of trials in a block that end when their work is done.
    pub fixed_work_trials: usize,
    /// The fewest possible blocks.
    pub blocks_least: u32,
    /// The most possible blocks.
    pub blocks_most: u32,
    /// Time of the timed trials with the fewest blocks, in nanoseconds.
    pub least_ns: u64,
    /// Time with the most blocks, limited by the time limit.
    pub most_ns: u64,
    /// Space needed on each datastore, in bytes, in the order of the plan.
    pub space_bytes: Vec<u64>,
}

impl StudyPlan {
    /// The cells of a block in the order of their trials; a cell is identified by its index in
    /// [`StudyPlan::cells`].
    pub fn trials_of_block(&self, block: u32) -> Vec<usize> {
        let cells = self.cells().len();
        match self.design.order {
            Order::Randomized => block_order(self.seed, block, cells),
            Order::Abba if block % 2 == 1 => (0..cells).rev().collect(),
            Order::Abba | Order::AsWritten => (0..cells).collect(),
        }
    }

    /// The seed of all trials of a block: cells with the same workload get the same operations, so
    /// that a difference between them is due to their datastores.
    pub fn seed_of(&self, block: u32) -> u64 {
        trial_seed(self.seed, block)
    }

    /// Where the sequential streams of a cell's trial start: the same place for all datastores, and far from
    /// where other trials start, of this cell and of all that share its disks.
    pub fn start_of(&self, block: u32, cell: usize) -> Start {
        // In the list of cells, datastores vary fastest.
        let datastores = self.datastores.len().max(1);
        let loads = (self.cells().len() / datastores) as u64;
        trial_start(self.seed, u64::from(block) * loads + (cell / datastores) as u64)
    }

    /// The seed of what a cell's trial writes: unique to that trial.
    pub fn content_seed_of(&self, block: u32, cell: usize) -> u64 {
        content_seed(self.seed, cell, u64::from(block))
    }

    /// Estimates time and space.
    pub fn estimate(&self) -> Estimate {
        let cells = self.cells();
        let is_timed =
            |workload: usize| self.workloads.get(workload).is_some_and(|w| w.kind.is_timed());
        let timed_trials = cells.iter().filter(|cell| is_timed(cell.workload)).count();
        let trial_ns = self.timing.ramp_ns.saturating_add(self.timing.duration_ns);
        let block_ns = trial_ns.saturating_mul(timed_trials as u64);
        let (blocks_least, blocks_most) = match self.design.blocks {
            Blocks::Auto { min, max } => (min, max),
            Blocks::Fixed(blocks) => (blocks, blocks),
        };
        let limit_ns = self.design.time_limit_ns.unwrap_or(u64::MAX);
        let total = |blocks: u32| block_ns.saturating_mul(u64::from(blocks)).min(limit_ns);
        Estimate {
            block_ns,
            timed_trials,
            fixed_work_trials: cells.len() - timed_trials,
            blocks_least,
            blocks_most,
            least_ns: total(blocks_least),
            most_ns: total(blocks_most),
            space_bytes: vec![self.space_bytes(); self.datastores.len()],
        }
    }

    /// Space of all disks on a datastore.
    fn space_bytes(&self) -> u64 {
        let disks = self.disks();
        disks.bytes.saturating_mul(u64::from(disks.count))
    }

    /// A cell in words: datastore, workload, load.
    fn cell_words(&self, index: usize) -> [String; 3] {
        let cells = self.cells();
        let Some(cell) = cells.get(index) else { return Default::default() };
        let datastore = self.datastores.get(cell.datastore).map(|d| d.name.clone());
        let workload = self.workloads.get(cell.workload).map(|w| w.name.clone());
        [datastore.unwrap_or_default(), workload.unwrap_or_default(), self.load_label(cell)]
    }
}

/// Number of trials that are listed before the rest is summarized.
const MOST_LINES: usize = 200;
/// Number of blocks that are listed if the total is unknown.
const BLOCKS_SHOWN: u32 = 2;

/// The plan for people: what is compared, the trials in order, their time and space.
pub fn plan_text(plan: &StudyPlan) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_plan(plan, &mut text);
    text
}

fn write_plan(plan: &StudyPlan, out: &mut String) -> std::fmt::Result {
    let estimate = plan.estimate();
    writeln!(out, "{}\n", plan.study)?;
    let facts = facts(plan, &estimate);
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in &facts {
        writeln!(out, "  {name:width$}  {value}")?;
    }
    writeln!(out, "\nDatastores, and the space that each must have")?;
    let names = plan.datastores.iter().map(|datastore| datastore.name.chars().count());
    let width = names.max().unwrap_or(0);
    for (index, datastore) in plan.datastores.iter().enumerate() {
        let space = estimate.space_bytes.get(index).copied().unwrap_or(0);
        let baseline = if index == plan.baseline { "  (baseline)" } else { "" };
        let (name, url) = (&datastore.name, &datastore.url);
        writeln!(out, "  {name:width$}  {:>9}  {url}{baseline}", format_bytes(space))?;
    }
    if !plan.hosts.is_empty() {
        writeln!(out, "\nHosts, and the most VMs that each drives")?;
        let width = plan.hosts.iter().map(|host| host.name.chars().count()).max().unwrap_or(0);
        let most = plan.vms.iter().copied().max().unwrap_or(0);
        for (number, host) in (0..).zip(&plan.hosts) {
            let of = |datastore| plan.vms_of_host(datastore, most, number);
            let vms = plan.datastores.iter().map(of).max().unwrap_or(0);
            writeln!(out, "  {:width$}  {vms:>6}  {}", host.name, host.reached_by)?;
        }
    }
    if !plan.site_faults.is_empty() {
        writeln!(out, "\nFaults in each trial")?;
        for fault in &plan.site_faults {
            writeln!(out, "  {fault}")?;
        }
    }
    write_steps(plan, out)?;
    writeln!(out, "\nTrials in their order")?;
    write_trials(plan, &estimate, out)?;
    if !plan.questions.is_empty() {
        writeln!(out, "\nQuestions")?;
        for (index, question) in plan.questions.iter().enumerate() {
            writeln!(out, "  {}. {question}", index + 1)?;
        }
    }
    Ok(())
}

/// Facts that precede the list of trials.
fn facts(plan: &StudyPlan, estimate: &Estimate) -> Vec<(&'static str, String)> {
    let duration = |ns: u64| format_duration_ns(ns as f64);
    let cells = plan.cells().len();
    let blocks = match plan.design.blocks {
        Blocks::Fixed(blocks) => format!("{blocks}"),
        Blocks::Auto { min, max } => format!(
            "{min} to {max}, until each ratio to the baseline is known to ±{}",
            percent(plan.design.precision)
        ),
    };
    let order = match plan.design.order {
        Order::Randomized => "a new random order in each block",
        Order::Abba => "as written, then backwards, and so on",
        Order::AsWritten => "as written in each block",
    };
    let reset = match &plan.design.reset {
        Reset::None => "none (each trial starts from the state the previous one left)".into(),
        Reset::Recreate => "the disks are recreated and written again".into(),
        Reset::Discard => "the disks are discarded and written again".into(),
        Reset::Snapshot => "the storage is rolled back to its snapshot of the written disks".into(),
        Reset::Command(command) => format!("the command {command}"),
    };
    let prepare = match plan.prepare {
        Prepare::Random => "written with random bytes",
        Prepare::Zero => "written with zeros",
    };
    let mut facts = vec![
        ("cells", format!("{cells}, each once in a block")),
        ("blocks", blocks),
        ("order", order.into()),
        ("reset between trials", reset),
    ];
    if plan.workloads.iter().any(|workload| workload.kind.service().is_none()) {
        facts.push(("disks", prepare.into()));
    }
    if estimate.timed_trials > 0 {
        let timing = plan.timing;
        let rows = duration(timing.interval_ns);
        let (ramp, window) = (duration(timing.ramp_ns), duration(timing.duration_ns));
        facts.push(("a timed trial", format!("ramp {ramp}, window {window}, a row every {rows}")));
    }
    let unit = match plan.design.unit {
        Unit::Trial => "a trial",
        Unit::Interval => "an interval of a trial (intervals of one run are correlated)",
    };
    facts.push(("unit of observation", unit.into()));
    facts.push(("metric", plan.title_of(plan.design.metric).into()));
    facts.push(("seed", plan.seed.to_string()));
    facts.push(("time", time(estimate)));
    if let Some(limit_ns) = plan.design.time_limit_ns {
        facts.push(("time limit", duration(limit_ns)));
    }
    facts
}

fn percent(fraction: f64) -> String {
    format!("{}%", (fraction * 1e8).round() / 1e6)
}

/// The time in words, including what is unknown.
fn time(estimate: &Estimate) -> String {
    let duration = |ns: u64| format_duration_ns(ns as f64);
    let Estimate { least_ns, most_ns, fixed_work_trials, timed_trials, .. } = estimate;
    let known = match (least_ns, most_ns) {
        _ if *timed_trials == 0 => {
            return format!(
                "{fixed_work_trials} trials of fixed work a block, as long as they take, and preparing the disks"
            );
        }
        (least, most) if least == most => duration(*most),
        (least, most) => format!("{} to {}", duration(*least), duration(*most)),
    };
    match fixed_work_trials {
        0 => format!("{known}, and preparing the disks"),
        _ => format!(
            "{known}, {fixed_work_trials} trials of fixed work a block as long as they take, and preparing the disks"
        ),
    }
}

fn write_steps(plan: &StudyPlan, out: &mut String) -> std::fmt::Result {
    if plan.steps.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nSteps of every trial, from the start of its ramp")?;
    let times = plan.steps.iter().map(|step| format_duration_ns(step.at_ns as f64));
    let times: Vec<String> = times.collect();
    let width = times.iter().map(|time| time.chars().count()).max().unwrap_or(0);
    for (time, step) in times.iter().zip(&plan.steps) {
        writeln!(out, "  {time:>width$}  {}", step.what)?;
        if let StepAction::Command { undo: Some(undo), .. } = &step.what {
            writeln!(out, "  {:>width$}  after the trial: {undo}", "")?;
        }
    }
    Ok(())
}

fn write_trials(plan: &StudyPlan, estimate: &Estimate, out: &mut String) -> std::fmt::Result {
    let cells = plan.cells().len();
    let words: Vec<[String; 3]> = (0..cells).map(|cell| plan.cell_words(cell)).collect();
    let width = |column: usize| words.iter().map(|w| w[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1)];
    let shown = match plan.design.blocks {
        Blocks::Fixed(blocks) => blocks,
        Blocks::Auto { min, .. } => min.min(BLOCKS_SHOWN),
    };
    let most = u64::from(estimate.blocks_most) * cells as u64;
    let number_width = most.to_string().len();
    let mut number = 0u64;
    for block in 0..shown {
        for cell in plan.trials_of_block(block) {
            if number as usize >= MOST_LINES {
                return writeln!(out, "  and so on: {} more trials", most - number);
            }
            number += 1;
            let Some([datastore, workload, load]) = words.get(cell) else { continue };
            writeln!(
                out,
                "  {number:>number_width$}  block {:<3}  {datastore:w0$}  {workload:w1$}  {load}",
                block + 1,
                w0 = widths[0],
                w1 = widths[1],
            )?;
        }
    }
    if shown < estimate.blocks_most {
        let least = u64::from(estimate.blocks_least) * cells as u64;
        writeln!(out, "  and so on, block after block: {least} to {most} trials")?;
    }
    Ok(())
}
