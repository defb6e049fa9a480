//! The arguments of calibrations.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
The parameters under `fit:` in the site file are varied within their bounds until the site reproduces \
what was measured: mean latency and CPU time per I/O of every cell, unless --metric names others. Some \
cells are held back; the error of the fitted site's predictions for them is the error to expect elsewhere. \
Parameters that the measurements do not determine are named.

Without results, the site is fitted to the published findings under its `calibration:`, in the cells of \
--study.

Exit codes:
  0 done, 1 failed, 2 usage

Examples:
  stormeter calibrate results.db --site site.yaml
  stormeter calibrate results.db --site site.yaml --write fitted.yaml
  stormeter calibrate --site studies/tr3808/site.yaml")]
pub(crate) struct CalibrateOptions {
    /// Results file of a measured study
    pub(crate) results: Option<PathBuf>,
    /// Site file
    #[arg(long, value_name = "FILE")]
    pub(crate) site: PathBuf,
    /// Study whose cells the published findings describe [default: study.yaml in the site file's
    /// directory]
    #[arg(long, value_name = "FILE", conflicts_with = "results")]
    pub(crate) study: Option<PathBuf>,
    /// Metric to fit; may be repeated [default: latency-mean and cpu-per-io]
    #[arg(long, value_name = "METRIC", requires = "results")]
    pub(crate) metric: Vec<String>,
    /// Percentage of each datastore's cells to hold back
    #[arg(long, value_name = "SHARE", default_value = "25%", requires = "results")]
    pub(crate) hold_back: String,
    /// Seed that selects the cells held back
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write the site file with the fitted values, keeping comments; may be the site file itself; - writes
    /// it to standard output, without tables
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the result
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
