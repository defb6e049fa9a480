//! The arguments of predictions.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::ShowOptions;

#[derive(Debug, Args)]
#[command(after_help = "\
A site file describes hosts, networks, controllers and disks that may not exist yet; docs/site-file.md
explains every key. Each datastore of the study is the site's datastore of the same name, or one that
lists the name under `also`. The study's plan is carried out in virtual time by the loops that drive real
storage, and concluded from by the same statistics; the report also says which component holds each cell
back, and what more of it would bring.

Windows are shortened to a ramp of at most 2 s, 6 s measured and 5 blocks unless --as-planned is given.
An earlier prediction in the results file is replaced; measured results never are.

Exit codes: 0 done, 1 failed, 2 usage, 3 a question that says `must` was answered no, 4 such a question
could not be settled, 5 invalid result, 130 interrupted

Examples:
  stormeter predict studies/tr3808/small.yaml
  stormeter predict study.yaml --site next-year.yaml --html study.html
  stormeter predict study.yaml --what-if nic=40GbE --what-if nics=2
  stormeter predict study.yaml --what-if nic=40GbE --ask '\"nas nic=40GbE\" is faster than nas in iops'")]
pub(crate) struct PredictOptions {
    /// The study file
    pub(crate) file: PathBuf,
    /// The site file [default: site.yaml beside the study file]
    #[arg(long, value_name = "FILE")]
    pub(crate) site: Option<PathBuf>,
    /// The results file [default: the study file's name with -predicted.db, in the working directory]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Change the site, such as nic=40GbE, and predict each datastore with and without; may be repeated,
    /// all changes together
    #[arg(long, value_name = "CHANGE")]
    pub(crate) what_if: Vec<String>,
    /// Ask this too, behind the questions of the study; may be repeated. It may name what --what-if brings,
    /// in quotes: NAME, a space and the changes as they were given
    #[arg(long, value_name = "QUESTION")]
    pub(crate) ask: Vec<String>,
    /// Something that goes wrong at a time, such as "disk aggregate.3 lost at 10s"; may be repeated. All
    /// forms: docs/simulator.md, section Faults
    #[arg(long, value_name = "FAULT")]
    pub(crate) faults: Vec<String>,
    /// Windows and blocks as the study file has them
    #[arg(long)]
    pub(crate) as_planned: bool,
    /// Leave out the reruns that tell what more of each component would bring
    #[arg(long)]
    pub(crate) no_elasticity: bool,
    /// Print what would be predicted; predict nothing
    #[arg(long, conflicts_with_all = ["html", "json"])]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
    /// No progress, only the result
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
