//! The arguments of a time line of runs.

use clap::Args;
use stormeter_gate::Aspect;
use stormeter_report::timeline::Mark;
use stormeter_report::unix_ms_of;
use stormeter_study::Metric;
use stormeter_units::parse_percent;

use crate::arguments_compare::{aspect_parser, metric_parser};

/// How runs over time are compared.
#[derive(Debug, Args)]
#[command(next_help_heading = "Several runs")]
pub(crate) struct TimelineOptions {
    /// Something that happened between runs, such as '2026-11-24=firmware 5.2' or '2026-11-24 14:30=new cache'
    /// (UTC); compares the runs before and after it, and may be repeated
    #[arg(long, value_name = "DATE[=WHAT]", value_parser = mark)]
    pub(crate) mark: Vec<Mark>,
    /// The metric that decides at marks [default: iops]
    #[arg(long, value_parser = metric_parser())]
    pub(crate) metric: Option<Metric>,
    /// Differences within this margin are called equivalent [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) margin: Option<f64>,
    /// Compare runs although they differ in this: generator, version, machine, load or durability; may be
    /// repeated
    #[arg(long, value_name = "WHAT", value_parser = aspect_parser(), hide_possible_values = true)]
    pub(crate) may_differ: Vec<Aspect>,
}

impl TimelineOptions {
    /// Whether any of these is given.
    pub(crate) fn is_given(&self) -> bool {
        let Self { mark, metric, margin, may_differ } = self;
        !mark.is_empty() || metric.is_some() || margin.is_some() || !may_differ.is_empty()
    }
}

fn mark(text: &str) -> Result<Mark, String> {
    let (date, label) = text.split_once('=').unwrap_or((text, text));
    let (at_unix_ms, has_time) = unix_ms_of(date.trim()).ok_or(
        "a mark starts with a date, 2026-11-24, or with a date and a time in UTC, 2026-11-24 14:30",
    )?;
    match label.trim() {
        "" => Err("it does not say what happened, as in 2026-11-24=firmware 5.2".into()),
        label => Ok(Mark { at_unix_ms, has_time, label: label.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_a_date_and_what_happened() {
        let of = |text| mark(text).map(|it| (it.at_unix_ms, it.has_time, it.label));
        assert_eq!(of("2000-02-29=a = b"), Ok((951_782_400_000, false, "a = b".into())));
        assert_eq!(of("2000-02-29 00:01 = x"), Ok((951_782_460_000, true, "x".into())));
        assert_eq!(of("2000-02-29").map(|it| it.2), Ok("2000-02-29".into()));
        for wrong in ["firmware", "firmware=2000-02-29", "2000-02-30=x", "2000-02-29=", "=x"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
