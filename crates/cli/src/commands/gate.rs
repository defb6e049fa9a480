//! `stormeter gate`: reads new and earlier runs, and prints whether something got slower.

use std::path::PathBuf;
use std::process::Command;

use stormeter_gate::{
    Gate, GateError, GateOptions, GateOutcome, GateRun, PrintedGate, annotations, gate, junit,
    markdown, terminal,
};
use stormeter_study::Metric;

use crate::arguments_audit::GateArguments;
use crate::exit::{Exit, Failure};
use crate::output::{print, terminal_width};
use crate::sources;

/// The error level of each gate.
const ALPHA: f64 = 0.05;

pub(crate) fn run(arguments: &GateArguments) -> Result<Exit, Failure> {
    let new = runs(&sources::files(&arguments.new)?)?;
    let mut history = runs(&sources::files(&arguments.against)?)?;
    // A folder of all runs may hold the new one, too.
    history.retain(|earlier| new.iter().all(|run| run.source != earlier.source));
    let options = GateOptions {
        metrics: metrics(&arguments.metric),
        max_slowdown: arguments.max_slowdown,
        alpha: ALPHA,
        may_differ: arguments.may_differ.iter().copied().collect(),
    };
    let mut result = gate(&history, &new, &options);
    let is_open = |result: &Result<Gate, GateError>| matches!(result, Ok(gate) if gate.outcome == GateOutcome::Inconclusive);
    if let (Some(command), true) = (&arguments.rerun_base, is_open(&result)) {
        history.extend(rerun(command)?);
        result = gate(&history, &new, &options);
    }
    match result {
        Ok(gate) => {
            show(arguments, &gate)?;
            Ok(match gate.outcome {
                GateOutcome::Fine => Exit::Done,
                GateOutcome::Regression => Exit::NotAsWanted,
                GateOutcome::Inconclusive => Exit::Inconclusive,
            })
        }
        Err(error) => Err(Failure::Gate(error)),
    }
}

fn metrics(asked: &[Metric]) -> Vec<Metric> {
    match asked {
        [] => vec![Metric::Iops, Metric::LatencyMean],
        asked => asked.to_vec(),
    }
}

fn runs(files: &[PathBuf]) -> Result<Vec<GateRun>, Failure> {
    let mut runs = Vec::new();
    for path in files {
        runs.extend(sources::runs(path)?);
    }
    Ok(runs)
}

/// Another run of what was measured before: `{}` in the command is the file that it writes.
fn rerun(command: &str) -> Result<Vec<GateRun>, Failure> {
    let failed = |what: String| Failure::File(format!("{command}: {what}"));
    let folder = std::env::temp_dir().join(format!("stormeter-gate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| failed(error.to_string()))?;
    let file = folder.join("base.db");
    let line = command.replace("{}", &file.display().to_string());
    let status = Command::new("sh").args(["-c", &line]).status();
    let run = match status {
        Ok(status) if file.exists() => {
            sources::runs(&file).map_err(|error| failed(format!("{error} ({status})")))
        }
        Ok(status) => Err(failed(format!("wrote no results ({status}); write them to {{}}"))),
        Err(error) => Err(failed(error.to_string())),
    };
    let _ = std::fs::remove_dir_all(&folder);
    run
}

fn show(arguments: &GateArguments, gate: &Gate) -> Result<(), Failure> {
    let write = |path: &Option<PathBuf>, text: &dyn Fn(&Gate) -> String| match path {
        Some(path) => std::fs::write(path, text(gate)).map_err(|error| {
            Failure::File(format!("{} cannot be written: {error}", path.display()))
        }),
        None => Ok(()),
    };
    if arguments.json {
        let printed = PrintedGate::from(gate);
        let text =
            serde_json::to_string_pretty(&printed).map_err(|e| Failure::File(e.to_string()))?;
        print(&format!("{text}\n"))?;
    } else {
        print(&terminal(gate, terminal_width().unwrap_or(100)))?;
    }
    if arguments.github {
        print(&annotations(gate))?;
    }
    write(&arguments.junit, &junit)?;
    write(&arguments.markdown, &markdown)
}
