//! `stormeter run`.

use std::path::Path;

use stormeter_datastore::{RealClock, Secret};
use stormeter_report::TerminalOptions;
use stormeter_results::FinishReason;
use stormeter_runner::{
    Collaborators, Executor, MachineExecutor, RackControl, Request, Resume, finished, run_with,
};
use stormeter_study::{NamedDatastore, StudyPlan, parse_study_file, plan_text};
use stormeter_watch::RunKind;

use crate::arguments_study::{Redo, RunOptions};
use crate::color::Color;
use crate::command_line::CommandLine;
use crate::embedded::Embedded;
use crate::ending::Ending;
use crate::exit::{Exit, Failure};
use crate::guests::guests;
use crate::hosts;
use crate::lab_machines::LabMachines;
use crate::live::Display;
use crate::live_page::Subject;
use crate::null_servers::NullServerChildren;
use crate::output::{check_outputs, is_stdout, layout, print_notes, print_tables, report_of, show};
use crate::rack_control::rack_control;
use crate::results_place::placed;
use crate::service_passwords::service_passwords;
use crate::settings::study_setting;
use crate::signals::cancel_on_signals_of;
use crate::text_file::read_text;
use crate::watching::Watching;

pub(crate) fn run(options: &RunOptions, color: Color, line: &CommandLine) -> Result<Exit, Failure> {
    let plan = read_study(&options.file)?;
    if options.plan {
        print_tables(&plan_text(&plan))?;
        return Ok(Exit::Done);
    }
    if plan.datastores.iter().any(|datastore| !datastore.site_changes.is_empty()) {
        return Err(Failure::Usage(
            "the study changes a site (site:), which can be predicted and not measured; use \
             `stormeter predict`"
                .into(),
        ));
    }
    if !plan.site_faults.is_empty() {
        return Err(Failure::Usage(
            "the study lets something fail (faults:), which can be predicted and not measured; use \
             `stormeter predict`, or write what a lab can do too as steps"
                .into(),
        ));
    }
    let output =
        placed(options.output.as_deref(), &results_name(&options.file, ""), Path::new(""))?;
    check_outputs(&options.show, Some(&output))?;
    let mut request = Request {
        resume: Resume::IfPresent,
        destroy_data: options.destroy_data.clone(),
        redo_invalid: options.redo == Some(Redo::Invalid),
        command_line: line.words.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..Request::new(plan, output)
    };
    let datastores: Vec<String> =
        request.plan.datastores.iter().map(|datastore| datastore.url.clone()).collect();
    // Before any server is started: an interrupted run has to end its servers.
    let cancel = cancel_on_signals_of(&datastores);
    let kind = if request.plan.is_comparison() { RunKind::Comparison } else { RunKind::Study };
    let subject =
        Subject { plan: &request.plan, kind, results: &request.output, names: study_setting };
    let options_of = (&options.metrics, &options.live);
    let mut watching = Watching::start(options_of, &subject, options.quiet)?;
    let conclusion = match finished(&request)? {
        Some(conclusion) => conclusion,
        None => {
            let embedded = Embedded::start(&request.plan, &|what| {
                if !options.quiet {
                    eprintln!("{what}");
                }
            })?;
            let mut rack_control = rack_control(&request.plan, &options.lab, embedded.cluster()?)?;
            request.addresses = embedded.addresses();
            request.destroy_data.extend_from_slice(embedded.devices());
            request.passwords = hosts::passwords(&request.plan);
            let passwords = service_passwords(&request.plan)?;
            let secret =
                |(file, password): &(String, String)| (file.clone(), Secret::new(password.clone()));
            request.secrets = passwords.iter().map(secret).collect();
            request.passwords.extend(passwords);
            let mut fleet =
                hosts::fleet(&request.plan, options.agent_binary.as_deref(), &options.lab)?;
            let mut display = Display::of(&request.plan, options.quiet);
            let clock = RealClock::new();
            let makes_desktops = request.plan.datastores.iter().any(NamedDatastore::is_desktops);
            let mut machines = makes_desktops.then(|| {
                let lab = LabMachines { lab: options.lab.clone(), clock: clock.clone() };
                MachineExecutor::new(lab, clock.clone())
            });
            let elsewhere = fleet.as_mut().map(|fleet| fleet as &mut dyn Executor);
            let executor =
                elsewhere.or(machines.as_mut().map(|machines| machines as &mut dyn Executor));
            let mut null_servers = NullServerChildren::default();
            let collaborators = Collaborators {
                null_servers: Some(&mut null_servers),
                guests: guests(&request.plan, &options.lab)?,
                executor,
                rack_control: rack_control
                    .as_mut()
                    .map(|rack_control| rack_control as &mut dyn RackControl),
            };
            let conclusion = watching.during(&mut display, |progress| {
                run_with(collaborators, &request, &clock, &cancel, progress)
            });
            drop(fleet);
            drop(display);
            drop(embedded);
            conclusion?
        }
    };
    watching.ended(&conclusion);
    let report = report_of(conclusion, study_setting);
    watching.reported(&report);
    let exit = Exit::of_run(&report);
    let is_interrupted = report.status.reason == Some(FinishReason::Interrupted);
    let ending = Ending {
        results: &request.output,
        // The same command resumes a study.
        resume: is_interrupted.then(|| line.words.clone()),
        is_json: options.show.json || options.show.html.as_deref().is_some_and(is_stdout),
        quiet: options.quiet,
    };
    if is_interrupted && report.status.trials + report.status.failed_trials == 0 {
        ending.before_the_first_trial()?;
        return Ok(Exit::Interrupted);
    }
    let layout = TerminalOptions { repeat: !is_interrupted, ..layout(color) };
    show(&report, &options.show, layout)?;
    ending.after_trials("")?;
    watching.linger(&cancel);
    Ok(exit)
}

/// The plan in a study file.
pub(crate) fn read_study(path: &Path) -> Result<StudyPlan, Failure> {
    let text = read_text(path, "study file")?;
    let name = path.display().to_string();
    let file = parse_study_file(&text)
        .map_err(|errors| Failure::Usage(errors.in_file(name.as_str()).to_string()))?;
    print_notes(&name, &file.notes);
    Ok(file.plan)
}

/// The name of the results file, after the study file. Because `study.yaml` and `small.yaml` are common names, that of
/// their directory is prepended.
pub(crate) fn results_name(study: &Path, suffix: &str) -> String {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem(study).unwrap_or_else(|| "study".into());
    let directory = study.canonicalize().ok().and_then(|path| path.parent().and_then(stem));
    match directory {
        Some(directory) if ["study", "small"].contains(&name.as_str()) => {
            format!("{directory}-{name}{suffix}.db")
        }
        _ => format!("{name}{suffix}.db"),
    }
}
