//! The study file: YAML in, a [`StudyPlan`] out, or every mistake with its position.
//!
//! `docs/study-file.md` documents what each key means and its default. Reading has two steps: the
//! text becomes a tree that knows its positions ([`document`]), then each mapping is read with the
//! list of its keys ([`keys`], [`Section`]). What concerns no single key is checked at the end
//! ([`checks`]).

mod checks;
mod datastores;
mod design;
mod desktops;
mod drivers;
mod fixed_work;
mod hosts;
mod io;
mod keys;
mod layout;
mod measure;
mod questions;
mod service;
mod site;
mod steps;
mod workloads;
mod write;

use self::datastores::UNQUOTED_NULL_URL;
use crate::plan::Metric;
use crate::study_plan::{Design, StudyPlan, StudyWorkload, WorkloadKind};
use stormeter_yaml::{Diagnostics, Form, Node, Section, Source, Value, document};

pub use keys::key_lists;
pub use stormeter_yaml::{
    FileError as StudyError, FileErrors as StudyErrors, FileNote as StudyNote,
};
pub use write::workloads_text;

/// The default seed: always the same, so that the same file gives the same plan.
pub const DEFAULT_SEED: u64 = 1;

/// How messages describe study files.
const FORM: Form = Form {
    name: "a study file",
    holds: "study",
    levels: "four",
    empty: "the file is empty; write at least the datastores, such as\n  datastores: {local: /srv/vm, \
            nas: \"nfs://nas1/export/vm\"}",
    hint: unquoted_null_url,
};

/// What a study file says.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyFile {
    /// The plan.
    pub plan: StudyPlan,
    /// Remarks about the file, such as old spellings of keys.
    pub notes: Vec<StudyNote>,
}

/// The plan of a study file; see [`parse_study_file`].
pub fn parse_study(text: &str) -> Result<StudyPlan, StudyErrors> {
    parse_study_file(text).map(|file| file.plan)
}

/// Reads a study file and fills in every default. Looks at nothing but the text.
pub fn parse_study_file(text: &str) -> Result<StudyFile, StudyErrors> {
    // Some editors put this before the first character.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut diagnostics = Diagnostics::default();
    let plan = document(text, 0, &FORM, &mut diagnostics).and_then(|mut root| {
        if let Some(design) = root.value_mut("design") {
            design.rename_keys(&keys::RENAMED_OF_DESIGN, &mut diagnostics);
        }
        if let Some(Node { value: Value::List(workloads), .. }) = root.value_mut("workloads") {
            for workload in workloads {
                workload.rename_keys(&keys::RENAMED_OF_WORKLOADS, &mut diagnostics);
            }
        }
        study(&root, &mut diagnostics)
    });
    match plan {
        Some(plan) if diagnostics.is_empty() => {
            Ok(StudyFile { plan, notes: diagnostics.into_notes() })
        }
        _ => Err(diagnostics.into_errors(&[Source { name: "study.yaml", text }])),
    }
}

/// Finds an unquoted `null:` as a value in a line.
fn unquoted_null_url(line: &str) -> Option<(usize, usize, &'static str)> {
    let at =
        line.find(": null:").map(|at| at + 2).or_else(|| line.find("- null:").map(|at| at + 2))?;
    let before = &line[..at];
    (!before.contains('#')).then(|| (before.chars().count() + 1, 5, UNQUOTED_NULL_URL))
}

/// The plan of a whole document; `None` if there was too little to make one. If there were errors, the
/// plan must not be used.
fn study(root: &Node, diagnostics: &mut Diagnostics) -> Option<StudyPlan> {
    let section = Section::open(root, "a study file", &keys::STUDY, diagnostics)?;
    let mut datastores = datastores::read(&section, diagnostics);
    layout::apply(&section, &mut datastores, diagnostics);
    let baseline = datastores::baseline(&section, &datastores, diagnostics);
    let hosts = hosts::read(&section, diagnostics);
    drivers::read(&section, &mut datastores, &hosts, diagnostics);
    let (datastores, variants) = site::expand(&section, datastores, diagnostics);
    let baseline = baseline * variants;
    let before = diagnostics.count();
    let workloads = workloads::read(&section, diagnostics);
    // A datastore with an invalid URL still has its name; a workload with a mistake may be missing.
    let names = !datastores.is_empty() && diagnostics.count() == before;
    let before = diagnostics.count();
    let load = measure::load(&section, diagnostics);
    let levels = diagnostics.count() == before;
    let disk = measure::disk(&section, diagnostics);
    let measure = measure::measure(&section, diagnostics);
    let before = diagnostics.count();
    let (steps, step_places): (Vec<_>, Vec<_>) =
        steps::read(&section, measure.timing, diagnostics).into_iter().unzip();
    let steps_known = diagnostics.count() == before;
    let kinds: Vec<&StudyWorkload> = workloads.iter().map(|found| &found.workload).collect();
    let before = diagnostics.count();
    let design = design::read(&section, default_metric(&kinds, load.equal.is_some()), diagnostics);
    let metric = diagnostics.count() == before;
    let known = questions::Known { names, levels, metric, steps: steps_known };
    let title = section.text("study", diagnostics).map(str::to_owned).unwrap_or_else(|| {
        let names: Vec<&str> = datastores.iter().map(|datastore| datastore.name.as_str()).collect();
        format!("Comparison of {}", names.join(", "))
    });
    let seed = seed(&section, diagnostics).unwrap_or(DEFAULT_SEED);
    let questions = questions::read(&section, diagnostics);
    let at = workloads.iter().map(|found| found.place).collect();
    let places = checks::Places::of(&section, at);
    let mut plan = StudyPlan {
        study: title,
        datastores,
        hosts,
        baseline,
        workloads: workloads.into_iter().map(|found| found.workload).collect(),
        vms: load.vms,
        outstanding: load.outstanding,
        disk_bytes: disk.bytes,
        prepare: disk.prepare,
        timing: measure.timing,
        steps,
        design: Design { unit: measure.unit, equal_load: load.equal, ..design.design },
        site_faults: site::faults(&section, diagnostics),
        questions: questions.iter().map(|(text, _)| text.clone()).collect(),
        threads: measure.threads,
        verify: measure.verify,
        seed,
    };
    questions::demand(&mut plan, known, &questions);
    if diagnostics.is_empty() {
        checks::check(&plan, &places, step_places.first(), design.metric_given, diagnostics);
    }
    questions::check(&plan, known, &questions, diagnostics);
    Some(plan)
}

/// The default metric for such workloads: one that a fixed rate or a fixed amount of work does not
/// equalize.
fn default_metric(workloads: &[&StudyWorkload], equal_load: bool) -> Metric {
    let all = |holds: fn(&WorkloadKind) -> bool| {
        !workloads.is_empty() && workloads.iter().all(|workload| holds(&workload.kind))
    };
    if all(|kind| kind.desktops().is_some()) {
        Metric::LatencyP95
    } else if all(|kind| matches!(kind, WorkloadKind::Transfer(_)))
        || all(|kind| kind.service().is_some())
        || workloads.iter().any(|workload| workload.kind.has_rate())
        || equal_load && workloads.iter().any(|it| matches!(it.kind, WorkloadKind::Io(_)))
    {
        Metric::LatencyMean
    } else if all(|kind| matches!(kind, WorkloadKind::File(_))) {
        Metric::Throughput
    } else if all(|kind| !kind.is_timed()) {
        Metric::Elapsed
    } else {
        Metric::Iops
    }
}

fn seed(section: &Section<'_>, diagnostics: &mut Diagnostics) -> Option<u64> {
    let node = section.get("seed")?;
    let seed = node.text().and_then(|text| text.trim().parse().ok());
    if seed.is_none() {
        section.wrong("seed", node, "a whole number from 0 on", diagnostics);
    }
    seed
}

/// The committed JSON Schema (draft 2020-12) of a study file. It is hand-written, because people
/// and editors read it; tests check it against the reader's keys.
pub fn study_schema() -> &'static str {
    include_str!("../../../../docs/schema/study.schema.json")
}
