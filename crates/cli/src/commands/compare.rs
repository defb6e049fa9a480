//! `stormeter compare`.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use stormeter_datastore::RealClock;
use stormeter_report::TerminalOptions;
use stormeter_results::{FinishReason, ResultsFile};
use stormeter_runner::{Collaborators, Request, Resume, RunError, run_with};
use stormeter_study::{ComparisonPlan, EqualLoad, Metric, PlanError, StudyPlan, Timing};
use stormeter_watch::RunKind;

use crate::arguments::{Arguments, Command};
use crate::arguments_compare::CompareOptions;
use crate::color::Color;
use crate::command_line::CommandLine;
use crate::commands::compare_files;
use crate::ending::{Ending, resuming};
use crate::exit::{Exit, Failure};
use crate::live::Display;
use crate::live_page::Subject;
use crate::null_servers::NullServerChildren;
use crate::output::{check_outputs, is_stdout, layout, report_of, show};
use crate::results_place::{from_here, is_directory, placed};
use crate::secrets::{all_apart, apart, named};
use crate::settings::option;
use crate::signals::cancel_on_signals_of;
use crate::watching::Watching;

/// The length of a trial unless the user or the time limit sets another.
const DURATION_NS: u64 = 4_000_000_000;

pub(crate) fn run(
    options: &CompareOptions,
    color: Color,
    line: &CommandLine,
) -> Result<Exit, Failure> {
    let (names, urls) = names_apart(&options.datastores);
    if compare_files::are_files(&urls)? {
        note_unused(options);
        return compare_files::run(options, (&names, &urls), color);
    }
    names_differ(&names, &urls)?;
    let (datastores, secrets) = all_apart(&urls);
    let plan = plan(options, datastores.clone(), &names)?;
    let output = output(options, &datastores)?;
    check_outputs(&options.show, Some(&output))?;
    if options.resume && !output.exists() {
        // A mistyped name must not start a run that takes an hour.
        return Err(Failure::Usage(format!(
            "there is no results file {} to resume; check the path, or leave out --resume to start a new run",
            output.display()
        )));
    }
    let mut plan = StudyPlan::from(&plan);
    for (datastore, name) in plan.datastores.iter_mut().zip(names) {
        datastore.name = name.unwrap_or_else(|| datastore.name.clone());
    }
    let resume = if options.resume { Resume::Always } else { Resume::Never };
    if options.resume {
        let header = ResultsFile::open(&output)?.header()?;
        line.check_resumes(&header.command_line, &resuming(header.command_line.clone(), &output))?;
        // The seed may have been drawn.
        plan.seed = header.plan.seed;
    }
    let request = Request {
        resume,
        destroy_data: destroy_data(options),
        secrets,
        command_line: line.words.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..Request::new(plan, output)
    };
    let cancel = cancel_on_signals_of(&datastores);
    let subject = Subject {
        plan: &request.plan,
        kind: RunKind::Comparison,
        results: &request.output,
        names: option,
    };
    let options_of = (&options.metrics, &options.live);
    let mut watching = Watching::start(options_of, &subject, options.quiet)?;
    let mut display = Display::of(&request.plan, options.quiet);
    let mut null_servers = NullServerChildren::default();
    let collaborators =
        Collaborators { null_servers: Some(&mut null_servers), ..Collaborators::default() };
    let clock = RealClock::new();
    let conclusion = watching.during(&mut display, |progress| {
        run_with(collaborators, &request, &clock, &cancel, progress)
    })?;
    drop(display);
    watching.ended(&conclusion);
    let report = report_of(conclusion, option);
    watching.reported(&report);
    let is_interrupted = report.status.reason == Some(FinishReason::Interrupted);
    let ending = Ending {
        results: &request.output,
        resume: is_interrupted.then(|| resuming(line.words.clone(), &request.output)),
        is_json: options.show.json || options.show.html.as_deref().is_some_and(is_stdout),
        quiet: options.quiet,
    };
    if is_interrupted && report.status.trials + report.status.failed_trials == 0 {
        ending.before_the_first_trial()?;
        return Ok(Exit::Interrupted);
    }
    // An interrupted run is to be resumed, not repeated.
    let layout = TerminalOptions { repeat: !is_interrupted, ..layout(color) };
    show(&report, &options.show, layout)?;
    ending.after_trials(&format!(", seed {}", report.header.plan.seed))?;
    watching.linger(&cancel);
    Ok(Exit::of_run(&report))
}

/// Says which options have no effect on results that exist.
fn note_unused(options: &CompareOptions) {
    let CompareOptions { load, measurement, safety, .. } = options;
    let given = [
        ("--outstanding", load.outstanding.is_some()),
        ("--threads", load.threads.is_some()),
        ("--request-size", load.request_size.is_some()),
        ("--read", load.read.is_some()),
        ("--random", load.random.is_some()),
        ("--rate", load.rate.is_some()),
        ("--durable", load.durable),
        ("--flush", load.flush.is_some()),
        ("--duration", measurement.duration.is_some()),
        ("--ramp", measurement.ramp.is_some()),
        ("--interval", measurement.interval.is_some()),
        ("--equal-load", measurement.equal_load.is_some()),
        ("--seed", measurement.seed.is_some()),
        ("--verify", safety.verify),
        ("--output", options.output.is_some()),
        ("--resume", options.resume),
    ];
    let given: Vec<&str> = given.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
    if !given.is_empty() {
        eprintln!(
            "note: these are results, and nothing is measured: {} {} no effect",
            given.join(", "),
            if given.len() == 1 { "has" } else { "have" }
        );
    }
}

/// The names that were given, as in `nas=/mnt/nas`, and what they stand for. A path that exists as it is written has
/// no name.
pub(super) fn names_apart(given: &[String]) -> (Vec<Option<String>>, Vec<String>) {
    let pairs = given.iter().map(|text| match named(text) {
        (Some(name), url) if !Path::new(text).exists() => (Some(name.to_owned()), url.to_owned()),
        _ => (None, text.clone()),
    });
    pairs.unzip()
}

/// Refuses datastores of one name.
fn names_differ(names: &[Option<String>], urls: &[String]) -> Result<(), Failure> {
    for (index, name) in names.iter().enumerate().filter_map(|(i, name)| Some((i, name.as_ref()?)))
    {
        let is_other = names[..index].contains(&Some(name.clone())) || urls.contains(name);
        if is_other {
            return Err(Failure::Usage(format!(
                "two datastores are called {name}; give each a name of its own"
            )));
        }
    }
    Ok(())
}

/// The plan of a comparison of these datastores without any option, whatever the user's defaults are.
pub(crate) fn plan_by_default(datastores: Vec<String>) -> Option<StudyPlan> {
    // Behind the dashes nothing is an option.
    let words = ["stormeter", "compare", "--"].map(String::from).into_iter();
    let arguments = Arguments::try_parse_from(words.chain(datastores)).ok()?;
    let Command::Compare(options) = arguments.command else { return None };
    let (names, urls) = names_apart(&options.datastores);
    plan(&options, all_apart(&urls).0, &names).ok().map(|plan| StudyPlan::from(&plan))
}

/// The plan that the options describe.
fn plan(
    options: &CompareOptions,
    datastores: Vec<String>,
    names: &[Option<String>],
) -> Result<ComparisonPlan, Failure> {
    let baseline = match options.measurement.baseline.as_deref().map(apart) {
        None => 0,
        Some((name, _)) => {
            let is_named = |index: usize| names[index].as_ref() == Some(&name);
            let found = (0..datastores.len()).find(|&i| is_named(i) || datastores[i] == name);
            let known = || {
                let known = names.iter().zip(&datastores);
                let known = known.map(|(name, url)| name.as_ref().unwrap_or(url).clone());
                known.collect::<Vec<_>>().join(", ")
            };
            found.ok_or_else(|| RunError::Plan(PlanError::Baseline(name, known())))?
        }
    };
    let equal_load = options.measurement.equal_load.as_deref().map(equal_load).transpose()?;
    let metric = match (options.measurement.metric, equal_load) {
        (Some(metric), _) => metric,
        // At a fixed rate, IOPS are equal by construction.
        (None, Some(_)) => Metric::LatencyMean,
        (None, None) if options.load.rate.is_some() => Metric::LatencyMean,
        (None, None) => Metric::Iops,
    };
    let plan = ComparisonPlan {
        timing: timing(options),
        datastores,
        baseline,
        workload: options.load.workload()?,
        vms: options.load.vms,
        disk_bytes: options.size,
        threads: options.load.threads.unwrap_or(0),
        metric,
        precision: options.measurement.precision,
        margin: options.measurement.margin,
        level: 0.95,
        min_blocks: 5,
        max_blocks: options.measurement.max_blocks,
        time_limit_ns: options.measurement.time_limit,
        equal_load,
        seed: options.measurement.seed.unwrap_or_else(drawn_seed),
        verify: options.safety.verify,
    };
    plan.check().map_err(RunError::Plan)?;
    Ok(plan)
}

fn equal_load(text: &str) -> Result<EqualLoad, Failure> {
    if text == "auto" {
        return Ok(EqualLoad::Auto);
    }
    text.parse().map(|rate_per_s| EqualLoad::Rate { rate_per_s }).map_err(|_| {
        Failure::Usage(format!(
            "invalid rate \"{text}\": give I/Os per second, such as --equal-load 5000, or auto"
        ))
    })
}

/// Times that were not given follow from those that were: eight blocks have to fit into the limit.
fn timing(options: &CompareOptions) -> Timing {
    const BLOCKS: u64 = 8;
    let trials = BLOCKS * options.datastores.len().max(2) as u64;
    // The ramp is a quarter of the duration, and opening and closing take a moment.
    let fitting = (options.measurement.time_limit / trials).saturating_sub(30_000_000) / 5 * 4;
    let duration_ns =
        options.measurement.duration.unwrap_or_else(|| DURATION_NS.min(fitting).max(100_000_000));
    Timing {
        ramp_ns: options.measurement.ramp.unwrap_or(duration_ns / 4),
        duration_ns,
        interval_ns: options.measurement.interval.unwrap_or((duration_ns / 40).max(1)),
    }
}

/// The results file: the given one, the newest of this directory that can be resumed, or one named after the time.
fn output(options: &CompareOptions, datastores: &[String]) -> Result<PathBuf, Failure> {
    let given = options.output.as_deref();
    if options.resume && given.is_none_or(is_directory) {
        return newest(&from_here(given), datastores).ok_or_else(|| {
            Failure::Usage(
                "no stormeter-*.db of these datastores here can be resumed; name the results file with \
                 --output"
                    .into(),
            )
        });
    }
    placed(given, &format!("stormeter-{}.db", timestamp(unix_seconds())), Path::new(""))
}

/// The newest of these results files that compares these datastores.
fn newest(found: &[PathBuf], datastores: &[String]) -> Option<PathBuf> {
    let mut files: Vec<(SystemTime, PathBuf)> = found
        .iter()
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("stormeter-") && name.ends_with(".db")
        })
        .filter_map(|path| Some((std::fs::metadata(path).ok()?.modified().ok()?, path.clone())))
        .collect();
    files.sort();
    let is_theirs = |path: &Path| {
        let header = ResultsFile::open(path).and_then(|file| file.header());
        header.is_ok_and(|header| {
            let named = header.plan.datastores.iter().map(|datastore| &datastore.url);
            header.plan.is_from_options() && named.eq(datastores)
        })
    };
    files.into_iter().rev().map(|(_, path)| path).find(|path| is_theirs(path))
}

/// The data that may be destroyed, by the datastores' names in the plan.
fn destroy_data(options: &CompareOptions) -> Vec<PathBuf> {
    let named = options.safety.destroy_data.iter();
    named.map(|path| path.to_str().map_or_else(|| path.clone(), |p| apart(p).0.into())).collect()
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// A drawn seed. Twelve digits are easily typed again.
pub(crate) fn drawn_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos() as u64 % 1_000_000_000_000
}

/// `20261121-204512`, in UTC.
fn timestamp(unix_s: u64) -> String {
    let date = stormeter_report::utc(unix_s * 1000);
    let digits: String = date.chars().filter(char::is_ascii_digit).collect();
    let (day, minute) = digits.split_at(8);
    format!("{day}-{minute}{:02}", unix_s % 60)
}

#[cfg(test)]
mod tests {
    use stormeter_results::{DatastoreDescription, Environment, Header};
    use stormeter_study::parse_study;

    use super::*;

    #[test]
    fn what_a_study_file_made_is_not_taken_for_a_comparison() {
        let place = tempfile::tempdir().unwrap();
        let make = |name: &str, plan: StudyPlan| {
            let header = Header {
                created_unix_ms: 0,
                run_id: String::new(),
                stormeter_version: String::new(),
                command_line: Vec::new(),
                plan,
                environment: Environment::default(),
                datastores: vec![DatastoreDescription::default(); 2],
                prediction: None,
            };
            let path = place.path().join(name);
            ResultsFile::create(&path, &header).unwrap();
            path
        };
        let of_file = parse_study("datastores: {a: /a, b: /b}").unwrap();
        let of_options = StudyPlan { study: String::new(), ..of_file.clone() };
        let comparison = make("stormeter-1.db", of_options);
        let study = make("stormeter-2.db", of_file);
        let urls = ["/a", "/b"].map(String::from);
        assert_eq!(newest(&[comparison.clone(), study], &urls), Some(comparison));
    }

    #[test]
    fn a_name_stands_before_a_url_and_is_one_datastores() {
        let of = |words: &[&str]| {
            names_apart(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        let (names, urls) =
            of(&["nas=/mnt/nas", "san=iscsi://h/iqn.x/1?sessions=2", "/c?direct=0"]);
        assert_eq!(names, [Some("nas".into()), Some("san".into()), None]);
        assert_eq!(urls, ["/mnt/nas", "iscsi://h/iqn.x/1?sessions=2", "/c?direct=0"]);
        for twice in [["a=/x", "a=/y"], ["b=/x", "b"]] {
            let (names, urls) = of(&twice);
            let refused = names_differ(&names, &urls).unwrap_err().to_string();
            assert!(refused.contains("two datastores"), "{twice:?}");
        }
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a=b");
        std::fs::create_dir(&path).unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(of(&[path, "/y"]).0, [None, None]);
    }

    #[test]
    fn timestamps_are_dates() {
        assert_eq!(timestamp(0), "19700101-000000");
        assert_eq!(timestamp(951_782_400), "20000229-000000");
        assert_eq!(timestamp(1_795_297_512), "20261121-214512");
    }

    #[test]
    fn equal_load_is_a_rate_or_auto() {
        assert_eq!(equal_load("auto").unwrap(), EqualLoad::Auto);
        assert_eq!(equal_load("5e3").unwrap(), EqualLoad::Rate { rate_per_s: 5000.0 });
        assert!(equal_load("fast").is_err());
    }
}
