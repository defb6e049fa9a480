//! `stormeter calibrate`.

use std::cell::{Cell as Counter, RefCell};
use std::path::Path;

use stormeter_predict::calibrate::{
    Calibration, Outcome, Request, Split, calibrate, hold_out, observations, published, terminal,
};
use stormeter_predict::{predict_cells, site_datastore};
use stormeter_results::{Phase, ResultsFile, TrialOutcome};
use stormeter_site::{
    FreeParameter, Override, SiteFile, parse_site, parse_site_with, quantity, rewritten,
};
use stormeter_statistics::fit::FitParameter;
use stormeter_study::{Metric, StudyPlan};

use crate::arguments_calibrate::CalibrateOptions;
use crate::commands::run::read_study;
use crate::exit::{Exit, Failure};
use crate::live::Screen;
use crate::output::{is_stdout, print, print_tables};
use crate::results_place::found;
use crate::signals::cancel_on_signals;
use crate::text_file::read_text;

/// Confidence level of the intervals.
const LEVEL: f64 = 0.95;
/// The search for a parameter that may be 0 starts at this share of its upper bound: a logarithmic scale has
/// no 0.
const LEAST_OF_BOUND: f64 = 1e-4;

pub(crate) fn run(options: &CalibrateOptions) -> Result<Exit, Failure> {
    let name = options.site.display().to_string();
    let text = read_text(&options.site, "site file")?;
    let site = parse_site(&text)
        .map_err(|errors| Failure::Usage(errors.in_file(name.as_str()).to_string()))?;
    let (plan, split, free) = match &options.results {
        Some(path) => {
            let (plan, split) = measured(path, options)?;
            (plan, split, site.fit.clone())
        }
        None => from_published(&site, options)?,
    };
    for named in &plan.datastores {
        site_datastore(&site.site, named)?;
    }
    let parameters = parameters(&text, &free)?;
    let cancel = cancel_on_signals();
    let runs = Counter::new(0u32);
    let screen = RefCell::new(Screen::new(options.quiet));
    let request = Request {
        parameters: &parameters,
        split: &split,
        level: LEVEL,
        site: &|values| {
            parse_site_with(&text, &changes(&free, values))
                .map(|file| file.site)
                .map_err(|errors| errors.in_file(name.as_str()).to_string())
        },
        predict: &|site, cells| {
            runs.set(runs.get() + 1);
            let text = format!("fitting: run {}", runs.get());
            screen.borrow_mut().draw(false, |_| vec![text]);
            let found = predict_cells(&plan, site, cells, &cancel).map_err(|e| e.to_string())?;
            Ok(found.into_iter().map(|(sample, cpu)| Outcome { sample, cpu }).collect())
        },
    };
    let calibration = calibrate(&request);
    drop(screen);
    let calibration = calibration.map_err(|error| Failure::Usage(error.to_string()))?;
    let to_stdout = options.write.as_deref().is_some_and(is_stdout);
    if !to_stdout {
        show(&calibration, &free, options)?;
    }
    if let Some(path) = &options.write {
        let values: Vec<f64> = calibration.fit.parameters.iter().map(|one| one.value).collect();
        let rounded: Vec<f64> = values.iter().map(|value| four_digits(*value)).collect();
        let written = rewritten(&text, &changes(&free, &rounded))
            .map_err(|errors| Failure::Usage(errors.in_file(name.as_str()).to_string()))?;
        if to_stdout {
            print(&written)?;
            return Ok(Exit::Done);
        }
        std::fs::write(path, written).map_err(|error| {
            Failure::File(format!("{} cannot be written: {error}", path.display()))
        })?;
    }
    Ok(Exit::Done)
}

/// The cells of a measured study, a part of them held out.
fn measured(path: &Path, options: &CalibrateOptions) -> Result<(StudyPlan, Split), Failure> {
    let file = ResultsFile::open(&found(path))?;
    let plan = file.header()?.plan;
    let metrics = match options.metric.as_slice() {
        [] => vec![Metric::LatencyMean, Metric::CpuPerIo],
        names => names
            .iter()
            .map(|name| {
                Metric::from_name(name).ok_or_else(|| {
                    Failure::Usage(format!("unknown metric {name}; docs/questions.md lists them"))
                })
            })
            .collect::<Result<_, _>>()?,
    };
    let trials: Vec<(usize, Outcome)> = file
        .trials()?
        .into_iter()
        .filter(|trial| trial.phase == Phase::Main)
        .filter_map(|trial| match trial.outcome {
            TrialOutcome::Measured { sample, cpu, .. } => {
                Some((trial.cell?, Outcome { sample, cpu }))
            }
            TrialOutcome::Failed { .. } => None,
        })
        .collect();
    let share = share(&options.hold_back)?;
    let all = observations(&plan, &trials, &metrics);
    Ok((plan, hold_out(all, share, options.seed)))
}

fn share(text: &str) -> Result<f64, Failure> {
    let number = text.trim().trim_end_matches('%').parse::<f64>().ok();
    number.map(|percent| percent / 100.0).filter(|share| (0.0..0.9).contains(share)).ok_or_else(
        || Failure::Usage(format!("invalid --hold-back {text}: give 0% to 90%, such as 25%")),
    )
}

/// The published findings that the site file names, and the parameters that follow from them.
fn from_published(
    site: &SiteFile,
    options: &CalibrateOptions,
) -> Result<(StudyPlan, Split, Vec<FreeParameter>), Failure> {
    let default = || options.site.parent().unwrap_or(Path::new("")).join("study.yaml");
    let study = options.study.clone().unwrap_or_else(default);
    let plan = read_study(&study)?;
    let (fitted, elsewhere) = published(&plan, &site.site, &site.calibration)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    if fitted.is_empty() {
        return Err(Failure::Usage(format!(
            "no finding under `calibration:` of {} is of a cell of {}; give measured results, or \
             another --study",
            options.site.display(),
            study.display()
        )));
    }
    if !options.quiet {
        for point in &elsewhere {
            eprintln!("{} is of no cell of {}; left out", point.finding, study.display());
        }
    }
    let here = site.calibration.iter().filter(|point| !elsewhere.contains(point));
    let named: Vec<&String> = here.flat_map(|point| &point.fits).collect();
    let free = site.fit.iter().filter(|one| named.contains(&&one.parameter)).cloned().collect();
    Ok((plan, Split { fitted, held_out: Vec::new() }, free))
}

/// The free parameters with the values at which the search starts: those of the file.
fn parameters(text: &str, free: &[FreeParameter]) -> Result<Vec<FitParameter>, Failure> {
    free.iter()
        .map(|one| {
            let stands = quantity(text, &one.parameter)
                .map_err(|errors| Failure::Usage(errors.to_string()))?;
            let lowest = one.from.max(one.to * LEAST_OF_BOUND);
            Ok(FitParameter {
                name: one.parameter.clone(),
                start: stands.value.clamp(lowest, one.to),
                lowest,
                highest: one.to,
            })
        })
        .collect()
}

fn changes(free: &[FreeParameter], values: &[f64]) -> Vec<Override> {
    free.iter().zip(values).flat_map(|(one, value)| one.at(*value)).collect()
}

/// The number of digits that a fit can determine.
fn four_digits(value: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

fn show(
    calibration: &Calibration,
    free: &[FreeParameter],
    options: &CalibrateOptions,
) -> Result<(), Failure> {
    if options.json {
        let text = serde_json::to_string_pretty(calibration)
            .map_err(|error| Failure::File(error.to_string()))?;
        return print(&format!("{text}\n"));
    }
    print_tables(&terminal(calibration, &|number, value| {
        free[number].unit.text(four_digits(value))
    }))
}
