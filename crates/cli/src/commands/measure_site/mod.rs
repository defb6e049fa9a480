//! `stormeter measure-site`: short measurements of datastores, and a site file made from them.

pub(crate) mod named;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use stormeter_conclude::Conclusion;
use stormeter_datastore::RealClock;
use stormeter_predict::calibrate::Outcome;
use stormeter_predict::measured_site::{
    FittedStore, Host, Model, SiteMeasurement, SiteReport, Store, fit_store, site_file, site_plan,
    summary,
};
use stormeter_results::{Acknowledged, FinishReason, Phase, TrialOutcome};
use stormeter_runner::{Collaborators, Request, Resume, RunError, finished, run_with};
use stormeter_site::parse_site;
use stormeter_statistics::Severity;
use stormeter_study::{NamedDatastore, StudyPlan, Timing};

use self::named::{Named, all_named};
use crate::arguments_measure_site::MeasureSiteOptions;
use crate::command_line::CommandLine;
use crate::embedded::Embedded;
use crate::ending::Ending;
use crate::exit::{Exit, Failure};
use crate::live::{Display, Screen};
use crate::null_servers::NullServerChildren;
use crate::output::{is_stdout, print, print_tables};
use crate::results_place::placed;
use crate::signals::cancel_on_signals_of;

/// Rows of the time plot of a trial.
const INTERVALS: u64 = 16;

pub(crate) fn run(options: &MeasureSiteOptions, line: &CommandLine) -> Result<Exit, Failure> {
    let named = all_named(&options.datastores)?;
    check_output(&options.write)?;
    let output = output(options)?;
    let cancel = cancel_on_signals_of(&named.iter().map(|one| one.url.clone()).collect::<Vec<_>>());
    let clock = RealClock::new();
    let conclusion = measured((options, line), &named, output.clone(), &clock, &cancel)?;
    let ending =
        |resume| Ending { results: &output, resume, is_json: options.json, quiet: options.quiet };
    let reason = conclusion.finished.as_ref().map(|finished| finished.reason.clone());
    if reason == Some(FinishReason::Interrupted) {
        ending(Some(line.words.clone())).after_trials("")?;
        return Ok(Exit::Interrupted);
    }
    let host = Host { cores: conclusion.header.environment.cpus, clock_hz: clock.counter_hz() };
    let stores = stores(&named, &conclusion);
    let fitted = match fitted(&stores, &conclusion, host, &cancel, options.quiet) {
        Err(_) if cancel.load(Ordering::Relaxed) => {
            ending(Some(line.words.clone())).after_trials("")?;
            return Ok(Exit::Interrupted);
        }
        fitted => fitted?,
    };
    let pairs: Vec<(&Store, &FittedStore)> = stores.iter().zip(&fitted).collect();
    let plan = &conclusion.header.plan;
    let text = site_file(&host, plan, &pairs);
    // What is written can be read, or is not written.
    parse_site(&text).map_err(|errors| Failure::File(errors.in_file("the site").to_string()))?;
    write(&options.write, &text)?;
    let report = SiteReport::new(plan, &pairs, &text);
    if options.json {
        let json = serde_json::to_string_pretty(&report)
            .map_err(|error| Failure::File(error.to_string()))?;
        print(&format!("{json}\n"))?;
    } else {
        print_tables(&summary(&report))?;
        print(&format!("\nSite: {}\n", options.write.display()))?;
    }
    ending(None).after_trials("")?;
    Ok(if unsound(&conclusion).is_empty() { Exit::Done } else { Exit::Invalid })
}

/// Refuses a file that exists, or a place where none can be written, before anything is measured.
fn check_output(path: &Path) -> Result<(), Failure> {
    if is_stdout(path) {
        return Err(Failure::Usage(
            "a site file cannot be standard output; give --write the name of a file".into(),
        ));
    }
    if path.exists() {
        return Err(Failure::Usage(format!(
            "{} exists, and may have been edited since; give --write the name of a new file",
            path.display()
        )));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match directory.filter(|directory| !directory.is_dir()) {
        Some(directory) => Err(Failure::Usage(format!(
            "{} is no directory; give --write a file in a directory that exists",
            directory.display()
        ))),
        None => Ok(()),
    }
}

/// The results file: the given one, or one named after the site file and kept apart for its directory.
fn output(options: &MeasureSiteOptions) -> Result<PathBuf, Failure> {
    let name = options.write.with_extension("db");
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    placed(options.output.as_deref(), &name, options.write.parent().unwrap_or(Path::new("")))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::File(format!("{} cannot be written: {error}", path.display())))
}

fn plan(options: &MeasureSiteOptions, named: &[Named]) -> Result<StudyPlan, Failure> {
    let datastores = named.iter().map(|one| NamedDatastore {
        name: one.name.clone(),
        url: one.url.clone(),
        site_changes: Vec::new(),
        ceiling: None,
        hosts: Vec::new(),
    });
    let timing = Timing {
        ramp_ns: options.ramp.unwrap_or(options.duration / 4),
        duration_ns: options.duration,
        interval_ns: (options.duration / INTERVALS).max(1),
    };
    let measurement = SiteMeasurement {
        disk_bytes: options.size,
        timing,
        blocks: options.blocks,
        threads: options.threads.unwrap_or(0),
        seed: options.seed,
    };
    let plan = site_plan(datastores.collect(), &measurement).map_err(RunError::Plan)?;
    Ok(plan)
}

/// Runs the plan as any study is run.
fn measured(
    (options, line): (&MeasureSiteOptions, &CommandLine),
    named: &[Named],
    output: PathBuf,
    clock: &RealClock,
    cancel: &AtomicBool,
) -> Result<Conclusion, Failure> {
    let secrets = named.iter().filter_map(|one| Some((one.url.clone(), one.secret.clone()?)));
    let mut request = Request {
        resume: Resume::IfPresent,
        destroy_data: options.destroy_data.clone(),
        secrets: secrets.collect(),
        command_line: line.words.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..Request::new(plan(options, named)?, output)
    };
    if let Some(conclusion) = finished(&request)? {
        return Ok(conclusion);
    }
    let embedded = Embedded::start(&request.plan, &|what| {
        if !options.quiet {
            eprintln!("{what}");
        }
    })?;
    request.addresses = embedded.addresses();
    request.destroy_data.extend_from_slice(embedded.devices());
    let mut display = Display::of(&request.plan, options.quiet);
    let mut null_servers = NullServerChildren::default();
    let collaborators =
        Collaborators { null_servers: Some(&mut null_servers), ..Collaborators::default() };
    let conclusion = run_with(collaborators, &request, clock, cancel, &mut display);
    drop(display);
    drop(embedded);
    Ok(conclusion?)
}

/// What is known of the datastores besides their figures.
fn stores(named: &[Named], conclusion: &Conclusion) -> Vec<Store> {
    let found = named.iter().zip(&conclusion.header.datastores);
    let stores = found.map(|(one, found)| Store {
        name: one.name.clone(),
        url: one.url.clone(),
        reached: one.reached,
        volatile_cache: match found.promise.as_ref().map(|promise| promise.acknowledged) {
            Some(Acknowledged::Stable) => Some(false),
            Some(Acknowledged::VolatileCache | Acknowledged::Memory) => Some(true),
            Some(Acknowledged::Unknown) | None => None,
        },
        memories: found.memories.clone(),
    });
    stores.collect()
}

/// Cells with a broken law; `None` stands for the whole run.
fn unsound(conclusion: &Conclusion) -> Vec<Option<usize>> {
    let findings = conclusion.analysis.findings.iter();
    let invalid = findings.filter(|(_, finding)| finding.severity == Severity::Invalid);
    invalid.map(|(cell, _)| *cell).collect()
}

fn fitted(
    stores: &[Store],
    conclusion: &Conclusion,
    host: Host,
    cancel: &AtomicBool,
    quiet: bool,
) -> Result<Vec<FittedStore>, Failure> {
    let unsound = unsound(conclusion);
    let is_sound = |cell: usize| !unsound.contains(&Some(cell));
    let main = conclusion.trials.iter().filter(|trial| trial.phase == Phase::Main);
    let trials: Vec<(usize, Outcome)> = main
        .filter_map(|trial| match &trial.outcome {
            TrialOutcome::Measured { sample, cpu, .. } => {
                let cell = trial.cell.filter(|cell| is_sound(*cell))?;
                Some((cell, Outcome { sample: sample.clone(), cpu: *cpu }))
            }
            TrialOutcome::Failed { .. } => None,
        })
        .collect();
    let screen = RefCell::new(Screen::new(quiet));
    let fit = |(index, store): (usize, &Store)| {
        let on_run = |number: u32| {
            let text = format!("fitting {}: run {number}", store.name);
            screen.borrow_mut().draw(false, |_| vec![text]);
        };
        let model = Model { host, cancel, on_run: &on_run };
        fit_store((&conclusion.header.plan, index), store, &trials, &model)
            .map_err(|error| Failure::File(error.to_string()))
    };
    stores.iter().enumerate().map(fit).collect()
}
