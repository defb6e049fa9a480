//! `stormeter predict`.

use std::path::{Path, PathBuf};

use stormeter_conclude::conclude;
use stormeter_datastore::RealClock;
use stormeter_predict::{PredictRequest, predict_study, prepare, shortened};
use stormeter_report::{event_sentence, opened_sentence, shortened_words};
use stormeter_results::{DatastoreNote, EventKind, Prediction};
use stormeter_runner::{Place, Progress, environment};
use stormeter_site::{Override, SiteFile, parse_site_with};
use stormeter_study::plan_text;
use stormeter_trial::{Sample, TrialFailure};
use stormeter_watch::RunKind;

use crate::arguments_predict::PredictOptions;
use crate::color::Color;
use crate::command_line::CommandLine;
use crate::commands::run::{read_study, results_name};
use crate::ending::Ending;
use crate::exit::{Exit, Failure};
use crate::live::{Screen, bar};
use crate::live_page::Subject;
use crate::output::{check_outputs, layout, print_tables, report_of, show};
use crate::results_place::placed;
use crate::settings::study_setting;
use crate::signals::cancel_on_signals;
use crate::text_file::read_text;
use crate::watching::Watching;

pub(crate) fn run(
    options: &PredictOptions,
    color: Color,
    line: &CommandLine,
) -> Result<Exit, Failure> {
    let plan = read_study(&options.file)?;
    let default = || options.file.parent().unwrap_or(Path::new("")).join("site.yaml");
    let site_file: PathBuf = options.site.clone().unwrap_or_else(default);
    if !site_file.exists() {
        return Err(Failure::Usage(format!(
            "there is no site file {}: a prediction needs one, which describes hosts, networks and \
             storage. Name it with --site; docs/site-file.md explains it, studies/tr3808/site.yaml is one \
             to start from, and `stormeter site library` lists hardware",
            site_file.display()
        )));
    }
    let text = read_text(&site_file, "site file")?;
    let (plan, shortened_from) = match options.as_planned {
        true => (plan, None),
        false => shortened(plan),
    };
    let name = site_file.display().to_string();
    let read = |changes: &[String]| read_site(&name, &text, changes);
    let mut prepared = prepare(plan, &name, &options.what_if, &read)?;
    prepared.ask(&options.ask)?;
    if options.plan {
        print_tables(&plan_text(&prepared.plan))?;
        if let Some((timing, blocks)) = shortened_from {
            print_tables(&format!("\n{}\n", shortened_words(&prepared.plan, timing, blocks)))?;
        }
        return Ok(Exit::Done);
    }
    let name = results_name(&options.file, "-predicted");
    let output = placed(options.output.as_deref(), &name, Path::new(""))?;
    check_outputs(&options.show, Some(&output))?;
    let request = PredictRequest {
        prediction: Prediction {
            site: prepared.sites[0].name.clone(),
            file: name,
            text,
            what_if: options.what_if.clone(),
            faults: Vec::new(),
            shortened_from,
            model_errors: Vec::new(),
        },
        faults: [prepared.plan.site_faults.as_slice(), &options.faults].concat(),
        plan: prepared.plan,
        sites: prepared.sites,
        alternatives: prepared.alternatives,
        places: prepared.places,
        output,
        sensitivity: !options.no_elasticity,
        threads: 0,
        environment: environment(&RealClock::new()),
        command_line: line.words.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let cancel = cancel_on_signals();
    let subject = Subject {
        plan: &request.plan,
        kind: RunKind::Prediction,
        results: &request.output,
        names: study_setting,
    };
    let options_of = (&options.metrics, &options.live);
    let mut watching = Watching::start(options_of, &subject, options.quiet)?;
    let mut counter = Counter(Screen::new(options.quiet));
    let predict = |progress: &mut dyn Progress| predict_study(&request, &cancel, progress);
    let file = watching.during(&mut counter, predict);
    drop(counter);
    let conclusion = conclude(&file?)?;
    watching.ended(&conclusion);
    let report = report_of(conclusion, study_setting);
    watching.reported(&report);
    let exit = Exit::of_run(&report);
    show(&report, &options.show, layout(color))?;
    let ending = Ending {
        results: &request.output,
        resume: None,
        is_json: options.show.json,
        quiet: options.quiet,
    };
    ending.after_trials("")?;
    watching.linger(&cancel);
    Ok(exit)
}

/// The contents of a site file after changes.
pub(crate) fn read_site(name: &str, text: &str, changes: &[String]) -> Result<SiteFile, String> {
    let changes = changes.iter().map(|change| Override::parse(change));
    let changes = changes.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    parse_site_with(text, &changes).map_err(|errors| errors.in_file(name).to_string())
}

/// Shows the progress. Failed trials get lines of their own.
struct Counter(Screen);

impl Counter {
    fn draw(&mut self, done: u64, of: u64, text: String) {
        let share = done as f64 / of.max(1) as f64;
        self.0.draw(false, |_| vec![format!("{} {text}", bar(share, 20))]);
    }
}

impl Progress for Counter {
    fn trial_ended(&mut self, place: Option<&Place<'_>>, outcome: Result<&Sample, &TrialFailure>) {
        let Some(Place { cell, number, of, .. }) = place else { return };
        match outcome {
            Ok(_) => self.draw(*number, *of, format!("trial {number} of {of}: {cell}")),
            Err(reason) => self.note(&format!("trial {number} of {of}: {cell}: failed: {reason}")),
        }
    }

    fn sensitivity(&mut self, done: u64, of: u64) {
        self.draw(done, of, format!("what cells depend on: cell {done} of {of}"));
    }

    fn event(&mut self, event: &EventKind) {
        self.0.say(&event_sentence(event));
    }

    fn opened(&mut self, datastore: &str, note: &DatastoreNote) {
        self.0.say(&opened_sentence(datastore, note));
    }

    fn note(&mut self, text: &str) {
        self.0.say(text);
    }
}
