//! The arguments of predictions.

use std::path::PathBuf;

use clap::Args;
use stormeter_fault::ScheduledFault;

use crate::arguments_live::LiveOptions;
use crate::arguments_metrics::MetricsOptions;
use crate::arguments_show::ShowOptions;

#[derive(Debug, Args)]
#[command(after_help = "\
A site file describes hosts, networks, controllers and disks that may not exist yet; docs/site-file.md \
explains every key. Each datastore of the study is the site's datastore of the same name, or one that \
lists the name under `also`. The study's plan runs in virtual time through the same loops that drive real \
storage, and the same statistics draw the conclusions; the report also says which component limits each \
cell, and what more of it would gain.

Windows are shortened to a ramp of at most 2 s, 6 s measured and 5 blocks unless --as-planned is given; \
a study with steps keeps its windows. \
An earlier prediction in the results file is replaced; measured results never are.

Exit codes:
  0 done, 1 failed, 2 usage, 3 a question that says `must` was answered no,
  4 such a question is inconclusive, 5 invalid result, 130 interrupted

Examples:
  stormeter predict studies/tr3808/small.yaml
  stormeter predict study.yaml --site next-year.yaml --html study.html
  stormeter predict study.yaml --what-if nic=40GbE --what-if nics=2
  stormeter predict study.yaml --what-if nic=40GbE \\
    --ask '\"nas nic=40GbE\" is faster than nas in iops'")]
pub(crate) struct PredictOptions {
    /// Study file
    pub(crate) file: PathBuf,
    /// Site file [default: site.yaml in the study file's directory]
    #[arg(long, value_name = "FILE")]
    pub(crate) site: Option<PathBuf>,
    /// Results file, or a directory for it [default: as `run` names it, with -predicted before .db]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Change the site, such as nic=40GbE, and predict each datastore with and without the change; if
    /// repeated, all changes apply together
    #[arg(long, value_name = "CHANGE")]
    pub(crate) what_if: Vec<String>,
    /// Ask another question, after those of the study; may be repeated. A datastore that --what-if
    /// changed is named in quotes: its name, a space and the changes as given
    #[arg(long, value_name = "QUESTION")]
    pub(crate) ask: Vec<String>,
    /// Inject a fault at a time, such as "disk-fail aggregate 3 at 10s"; may be repeated. All forms:
    /// docs/simulator.md, section Faults
    #[arg(long, visible_alias = "fault", value_name = "FAULT")]
    pub(crate) faults: Vec<ScheduledFault>,
    /// Use the windows and blocks of the study file, unshortened
    #[arg(long)]
    pub(crate) as_planned: bool,
    /// Skip the reruns that estimate what more of each component would gain, and what answers rest on
    #[arg(long)]
    pub(crate) no_elasticity: bool,
    /// Print what would be predicted; predict nothing
    #[arg(long, conflicts_with_all = ["html", "json"])]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
    /// Print only the result
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) metrics: MetricsOptions,
    #[command(flatten)]
    pub(crate) live: LiveOptions,
}
