//! The arguments of studies.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::arguments_live::LiveOptions;
use crate::arguments_metrics::MetricsOptions;
use crate::arguments_show::ShowOptions;

/// What is measured again of a study that is in its results file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Redo {
    /// Cells in which a law is broken or trials failed
    Invalid,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A study file says what is compared and what is asked; `stormeter schema study` prints its schema, and \
docs/study-file.md explains every key. Each trial is stored as it ends: rerun the same command to resume \
a study that was interrupted or killed.

A datastore of a study may be embedded:local, embedded:nfs or embedded:iscsi: a directory, a built-in \
NFS server, tgt, all below the working directory and stopped with the study.

A study with hosts (hosts: {esx1: \"ssh:root@esx1\", here: local}) is run by agents there, with a \
common start; the VMs are assigned to them in turn. STORMETER_SSH is the command for ssh, such as \
'ssh -F config -i key'. See docs/agents.md.

Results go to a file in the directory of results (`stormeter list` shows it) that is named after the study \
file, and kept apart for each working directory: farm.yaml writes farm.NUMBER.db, which commands run here \
find as farm.db. For study.yaml and small.yaml, which say little, the directory's name is put in front: \
tr3808/small.yaml writes tr3808-small.db. -o ./ puts the file here.

Exit codes:
  0 done, 1 failed, 2 usage, 3 a question that says `must` was answered no,
  4 such a question is inconclusive, 5 invalid result, 130 interrupted

Examples:
  stormeter run study.yaml --plan       what would be done, and how long
  stormeter run study.yaml --html study.html
  stormeter run study.yaml --redo invalid      once the cause is found
  stormeter run studies/tr3808/small.yaml --output tr3808.db")]
pub(crate) struct RunOptions {
    /// Study file
    pub(crate) file: PathBuf,
    /// Print the trials in order, and the time and space they need; touch nothing
    #[arg(long, conflicts_with_all = ["html", "json"])]
    pub(crate) plan: bool,
    /// Results file, or a directory for it; resumed if it already contains this study [default: named
    /// after the study file, see below]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Measure the blocks of invalid cells again, with the cells that they are compared with
    #[arg(long, value_name = "WHAT", conflicts_with = "plan")]
    pub(crate) redo: Option<Redo>,
    /// Overwrite this device or LUN although it holds data; repeat its exact name
    #[arg(long, value_name = "DEVICE")]
    pub(crate) destroy_data: Vec<PathBuf>,
    /// Program to copy to hosts that lack this version [default: this program, if it is static]
    #[arg(long, value_name = "FILE")]
    pub(crate) agent_binary: Option<PathBuf>,
    /// Directory of the lab whose guests are hosts, and that carries out the steps of trials
    #[arg(long, value_name = "DIR", default_value = ".stormeter-lab")]
    pub(crate) lab: PathBuf,
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
