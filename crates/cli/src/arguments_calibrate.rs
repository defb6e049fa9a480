//! The arguments of calibrations.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
The parameters under `fit:` in the site file are changed within their bounds until the site gives what was
measured: mean latency and CPU time per I/O of every cell, unless --metric names others. A part of the
cells is kept back; the error of what the fitted site predicts for them is the error to expect elsewhere.
Parameters of which the measurements say nothing are named.

Without results, the site is fitted to the published findings under its `calibration:`, in the cells of
--study.

Exit codes: 0 done, 1 failed, 2 usage

Examples:
  stormeter calibrate results.db --site site.yaml
  stormeter calibrate results.db --site site.yaml --write fitted.yaml
  stormeter calibrate --site studies/tr3808/site.yaml")]
pub(crate) struct CalibrateOptions {
    /// The results of a study that was measured
    pub(crate) results: Option<PathBuf>,
    /// The site file
    #[arg(long, value_name = "FILE")]
    pub(crate) site: PathBuf,
    /// The study whose cells the published findings are of [default: study.yaml beside the site file]
    #[arg(long, value_name = "FILE", conflicts_with = "results")]
    pub(crate) study: Option<PathBuf>,
    /// What is fitted to; may be repeated [default: latency-mean and cpu-per-io]
    #[arg(long, value_name = "METRIC", requires = "results")]
    pub(crate) metric: Vec<String>,
    /// Share of each datastore's cells that is kept back
    #[arg(long, value_name = "SHARE", default_value = "25%", requires = "results")]
    pub(crate) hold_back: String,
    /// Which cells are kept back follows from it
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write the site file with the fitted values, comments kept; may be the site file itself
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, only the result
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
