//! A calibration as text for a terminal.

use std::fmt::Write;

use stormeter_study::Metric;
use stormeter_units::format_duration_ns;

use super::fit::{Calibration, Compared};
use super::observation::{Observation, Observed};

/// The text. `units` formats the value of each parameter as the site file does, in their order.
pub fn terminal(calibration: &Calibration, units: &dyn Fn(usize, f64) -> String) -> String {
    let mut text = String::new();
    parameters(&mut text, calibration, units);
    undetermined(&mut text, calibration);
    compared(&mut text, "Fitted to", &calibration.fitted);
    if !calibration.held_out.is_empty() {
        compared(&mut text, "Held out, and predicted", &calibration.held_out);
    }
    errors(&mut text, calibration);
    text
}

fn parameters(text: &mut String, calibration: &Calibration, units: &dyn Fn(usize, f64) -> String) {
    let fit = &calibration.fit;
    let width = fit.parameters.iter().map(|one| one.name.chars().count()).max().unwrap_or(0);
    let _ = writeln!(text, "Parameters ({} runs of the model)", fit.runs);
    for (number, one) in fit.parameters.iter().enumerate() {
        let interval = match (one.low, one.high) {
            (Some(low), Some(high)) => {
                format!("{} to {}", units(number, low), units(number, high))
            }
            _ if fit.freedom == 0 => "no interval: as many parameters as figures".into(),
            _ => "not determined by these figures".into(),
        };
        let bound = if one.at_bound { "  at its bound" } else { "" };
        let value = units(number, one.value);
        let _ = writeln!(text, "  {:width$}  {value:>14}  ({interval}){bound}", one.name);
    }
    if !fit.converged {
        text.push_str("  The search did not converge; start closer, or free fewer parameters.\n");
    }
}

fn undetermined(text: &mut String, calibration: &Calibration) {
    for one in &calibration.fit.undetermined {
        let names: Vec<&str> = one.parameters.iter().map(|(name, _)| name.as_str()).collect();
        let factor = match one.factor {
            factor if factor < 100.0 => format!("may be wrong by a factor of {factor:.1}"),
            _ => "may be anything".into(),
        };
        let _ = match names.as_slice() {
            [only] => writeln!(text, "  The figures do not determine {only}: it {factor}."),
            names => writeln!(
                text,
                "  The figures do not separate {}: their balance {factor}.",
                names.join(" and ")
            ),
        };
    }
}

fn compared(text: &mut String, title: &str, all: &[Compared]) {
    let width = all.iter().map(|one| one.observation.label.chars().count()).max().unwrap_or(0);
    let _ = writeln!(text, "\n{title}");
    for one in all {
        let observation = &one.observation;
        let predicted = one.predicted.map_or("-".into(), |value| figure(observation, value));
        let error = one.error().map_or(String::new(), |error| format!("{:+.1} %", 100.0 * error));
        let seen = figure(observation, observation.value);
        let label = &observation.label;
        let _ = writeln!(text, "  {label:width$}  {seen:>10}  {predicted:>10}  {error:>9}");
    }
}

fn errors(text: &mut String, calibration: &Calibration) {
    text.push('\n');
    for error in &calibration.errors {
        let what = if error.unseen { "held out" } else { "fitted to, so this is no prediction" };
        let _ = writeln!(
            text,
            "Mean absolute error of {}: {:.1} % of {} figures ({what}); largest {:.1} %, bias \
             {:+.1} %.",
            error.metric.name(),
            100.0 * error.mean_absolute,
            error.count,
            100.0 * error.largest,
            100.0 * error.bias,
        );
    }
}

/// A figure in its metric's unit.
fn figure(observation: &Observation, value: f64) -> String {
    let metric = match observation.of {
        Observed::Ratio { .. } => return format!("{:.1} %", 100.0 * value),
        Observed::Figure { metric, .. } => metric,
    };
    match metric {
        Metric::Iops | Metric::Updates => format!("{value:.0}"),
        Metric::Throughput => format!("{:.2} MB/s", value / 1e6),
        Metric::HostCpu => format!("{:.1} %", 100.0 * value),
        _ => format_duration_ns(value),
    }
}
