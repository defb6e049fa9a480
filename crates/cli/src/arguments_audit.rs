//! The arguments of what judges results that exist: audits and gates.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stormeter_gate::Aspect;
use stormeter_study::Metric;
use stormeter_units::parse_percent;

use crate::arguments_compare::{aspect_parser, metric_parser};

#[derive(Debug, Args)]
#[command(after_help = "\
Reads tables of published or printed figures (docs/audit.md has the format), results of other tools, and \
results files. Each finding has the numbers, what explains them and what to do: BROKEN cannot be true, \
DOUBTFUL is possible and unlikely, a NOTE is worth knowing. The digits decide: 1.15 is 1.145 to 1.155.

Exit codes: 0 nothing is broken, 2 a file cannot be read, 5 something is broken.

Examples:
  stormeter audit table.yaml
  stormeter audit fio.json results.csv
  stormeter audit night.db --json")]
pub(crate) struct AuditOptions {
    /// Tables, results of other tools, results files, or directories of these
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each file is one run. What differs from run to run moves all trials of a run together, so the gate learns \
from earlier runs how much runs differ by themselves; with one run on each side nothing can be decided. \
Files are results files of this program or results of other tools (docs/gate.md).

Exit codes: 0 no regression, 2 usage, 3 regression, 4 inconclusive, 5 invalid, or runs that are not alike.

Examples:
  stormeter gate new.db --against history/
  stormeter gate new.db --against old1.db old2.db old3.db --max-slowdown 5%
  stormeter gate new.json --against old/ --metric latency-p99 --junit gate.xml")]
pub(crate) struct GateArguments {
    /// Results of the new run, or of several
    #[arg(value_name = "NEW", required = true)]
    pub(crate) new: Vec<PathBuf>,
    /// Earlier runs: files, or directories of files
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) against: Vec<PathBuf>,
    /// The slowdown that is allowed, as more time an operation
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = parse_percent)]
    pub(crate) max_slowdown: f64,
    /// What is judged; may be repeated [default: iops, latency-mean]
    #[arg(long, value_name = "METRIC", value_parser = metric_parser())]
    pub(crate) metric: Vec<Metric>,
    /// Compare runs although they differ in this: generator, version, machine, load or durability; may be
    /// repeated
    #[arg(long, value_name = "ASPECT", value_parser = aspect_parser())]
    pub(crate) may_differ: Vec<Aspect>,
    /// If it is inconclusive, run this shell command once to measure the base again; {} is the results file
    /// that it writes
    #[arg(long, value_name = "COMMAND")]
    pub(crate) rerun_base: Option<String>,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Write a JUnit report
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a table in Markdown
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print annotations for GitHub Actions as well
    #[arg(long, help_heading = "Output")]
    pub(crate) github: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
csv is tidy: one observation (a metric of a trial) a row. openmetrics has each cell's values in base units. \
markdown is a table for a pull request. fio is JSON+ as fio prints it, a job for each trial. hdr is a log of \
HdrHistogram, an interval for each trial. junit is a test report: a question with `must` that is answered no is a \
failure, what is invalid an error. docs/analysing.md shows what to do with them.

Examples:
  stormeter export night.db > night.csv
  stormeter export night.db --to openmetrics -o night.prom
  stormeter export night.db --to fio -o night.json
  stormeter export night.db --to junit -o night.xml")]
pub(crate) struct ExportArguments {
    /// The results file
    pub(crate) file: PathBuf,
    /// In which form
    #[arg(long = "to", value_name = "FORM", value_enum, default_value_t = ExportForm::Csv)]
    pub(crate) form: ExportForm,
    /// Write it to this file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What an export is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// One observation a row
    Csv,
    /// For Prometheus and its kin
    Openmetrics,
    /// A table
    Markdown,
    /// As fio's JSON
    Fio,
    /// A log of HdrHistogram
    Hdr,
    /// A test report
    Junit,
}
