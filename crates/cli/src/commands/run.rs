//! `stormeter run`.

use std::path::{Path, PathBuf};

use stormeter_datastore::RealClock;
use stormeter_runner::{StudyRequest, finished_study, run_study};
use stormeter_study::{StudyPlan, parse_study, plan_text};

use crate::arguments_study::RunOptions;
use crate::commands::compare::command_line;
use crate::embedded::Embedded;
use crate::exit::{Exit, Failure};
use crate::output::{check_page, print};
use crate::screen::Screen;
use crate::signals::cancel_on_signals;
use crate::study_output::{show_study, study_report_of};

/// A study file is written by hand; what is larger is something else.
const MOST_BYTES: u64 = 4 << 20;

pub(crate) fn run(options: &RunOptions) -> Result<Exit, Failure> {
    let plan = read_study(&options.file)?;
    if options.plan {
        print(&plan_text(&plan))?;
        return Ok(Exit::Done);
    }
    let output = output(options);
    check_page(&options.show, Some(&output))?;
    let mut request = StudyRequest {
        plan,
        output,
        destroy_data: options.destroy_data.clone(),
        secrets: vec![],
        addresses: vec![],
        command_line: command_line(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    // Before any server is started: who is interrupted then has servers to end.
    let cancel = cancel_on_signals();
    let conclusion = match finished_study(&request)? {
        Some(conclusion) => conclusion,
        None => {
            let embedded = Embedded::start(&request.plan)?;
            request.addresses = embedded.addresses();
            let mut screen = Screen::new(&request.plan.study, options.quiet);
            let conclusion = run_study(&request, &RealClock::new(), &cancel, &mut screen);
            drop(screen);
            drop(embedded);
            conclusion?
        }
    };
    let exit = Exit::of_study_run(&conclusion);
    show_study(&study_report_of(conclusion), &options.show)?;
    if !options.quiet {
        let path = request.output.display();
        eprintln!("Results are in {path}; `stormeter report {path}` shows them again.");
    }
    Ok(exit)
}

/// The plan that a study file says.
pub(crate) fn read_study(path: &Path) -> Result<StudyPlan, Failure> {
    let unread = |reason: String| {
        Failure::Usage(format!("the study file {} cannot be read: {reason}", path.display()))
    };
    let found = std::fs::metadata(path).map_err(|error| unread(error.to_string()))?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return Err(unread("it is no text file of at most 4MiB".into()));
    }
    let bytes = std::fs::read(path).map_err(|error| unread(error.to_string()))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| unread("it is not UTF-8; save it as UTF-8 text".into()))?;
    parse_study(&text)
        .map_err(|errors| Failure::Usage(errors.in_file(path.display().to_string()).to_string()))
}

/// The results file: as given, or named after the study file. `study.yaml` and `small.yaml` say little
/// by themselves: their directory's name goes before.
fn output(options: &RunOptions) -> PathBuf {
    if let Some(path) = &options.output {
        return path.clone();
    }
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem(&options.file).unwrap_or_else(|| "study".into());
    let directory = options.file.canonicalize().ok().and_then(|path| path.parent().and_then(stem));
    match directory {
        Some(directory) if ["study", "small"].contains(&name.as_str()) => {
            PathBuf::from(format!("{directory}-{name}.db"))
        }
        _ => PathBuf::from(format!("{name}.db")),
    }
}
