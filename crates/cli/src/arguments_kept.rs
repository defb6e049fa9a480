//! The arguments of what works on the results that are kept.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::arguments_show::ShowOptions;
use crate::units;

#[derive(Debug, Args)]
#[command(after_help = "\
Results go to $XDG_DATA_HOME/stormeter, by default ~/.local/share/stormeter, unless STORMETER_RESULTS names a \
directory or --output of a command a file. See docs/results.md.

Examples:
  stormeter list
  stormeter list . /srv/results
  stormeter list --html results/index.html --reports
  stormeter list --json")]
pub(crate) struct ListOptions {
    /// Directories of results files [default: the directory of results]
    #[arg(value_name = "DIR")]
    pub(crate) directories: Vec<PathBuf>,
    /// Write the report page of each result next to the index, where it is missing or older than the result
    #[arg(long, requires = "html", help_heading = "Output")]
    pub(crate) reports: bool,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("criteria").required(true).multiple(true))]
#[command(after_help = "\
Prints what would go; with --yes, it goes. What is given more than one of these options must be old, surplus \
and incomplete all at once. Only results files of the directory itself are deleted, with what SQLite keeps \
next to them; never one that a run is writing, that cannot be read, or that is a link.

Examples:
  stormeter prune --older-than 90d
  stormeter prune --keep 3 --older-than 30d --yes
  stormeter prune --incomplete --dir /srv/results")]
pub(crate) struct PruneOptions {
    /// Results to which nothing was added for this time
    #[arg(long, value_name = "TIME", value_parser = units::time, group = "criteria")]
    pub(crate) older_than: Option<u64>,
    /// All but the newest N results of each study, or of the same datastores
    #[arg(long, value_name = "N", group = "criteria")]
    pub(crate) keep: Option<usize>,
    /// Results of runs that were interrupted, killed or failed
    #[arg(long, group = "criteria")]
    pub(crate) incomplete: bool,
    /// Directory of results files [default: the directory of results]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Delete them
    #[arg(long)]
    pub(crate) yes: bool,
}
