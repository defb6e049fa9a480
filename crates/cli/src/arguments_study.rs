//! The arguments of studies.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::arguments::ShowOptions;

/// What is measured again of a study that is in its results file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Redo {
    /// Cells in which a law is broken or trials failed
    Invalid,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A study file says what is compared and what is asked; `stormeter schema study` prints its schema, and
docs/study-file.md explains every key. Trials go into the results file one by one: run the same command
again to go on with a study that was interrupted or killed.

A datastore of a study may be embedded:local, embedded:nfs or embedded:iscsi: a directory, our own NFS
server, tgt, all below the working directory and ended with the study.

A study with hosts (hosts: {esx1: \"ssh:root@esx1\", here: local}) is carried out by agents there, begun
together; the VMs are dealt over them in turn. STORMETER_SSH is the command for ssh, such as
'ssh -F config -i key'. See docs/agents.md.

Exit codes: 0 done, 1 failed, 2 usage, 3 a question that says `must` was answered no, 4 such a question
could not be settled, 5 invalid result, 130 interrupted

Examples:
  stormeter run study.yaml --plan              what would be done, how long, how much space
  stormeter run study.yaml --html study.html
  stormeter run study.yaml --redo invalid      once the cause is found
  stormeter run studies/tr3808/small.yaml --output tr3808.db")]
pub(crate) struct RunOptions {
    /// The study file
    pub(crate) file: PathBuf,
    /// Print the trials in order, the time and the space they need; touch nothing
    #[arg(long, conflicts_with_all = ["html", "json"])]
    pub(crate) plan: bool,
    /// The results file; gone on with where it holds this study's beginning [default: the study file's
    /// name with .db, in the working directory]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Measure the blocks of invalid cells again, with the cells that they are compared with
    #[arg(long, value_name = "WHAT", conflicts_with = "plan")]
    pub(crate) redo: Option<Redo>,
    /// Overwrite this device or LUN although it holds data; repeat its exact name
    #[arg(long, value_name = "DEVICE")]
    pub(crate) destroy_data: Vec<PathBuf>,
    /// The program that is copied to hosts without one of this version [default: this program, if it is
    /// static]
    #[arg(long, value_name = "FILE")]
    pub(crate) agent_binary: Option<PathBuf>,
    /// The directory of the lab whose guests are hosts, and that takes the steps of trials
    #[arg(long, value_name = "DIR", default_value = ".stormeter-lab")]
    pub(crate) lab: PathBuf,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
    /// No progress, only the result
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
