//! The arguments of `durable`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::units;

#[derive(Debug, Args)]
#[command(after_help = "\
Start `write`, cut the power of the storage while it writes, bring the storage back, and `check`. \
The journal lies on other storage, which keeps its power or at least what was synced to it. See \
docs/durable.md for how to cut the power, and what a test cannot show.

Examples:
  stormeter durable write /mnt/nas --journal nas.journal
  stormeter durable check /mnt/nas --journal nas.journal
  stormeter durable write nfs://nas1/export/vm --journal nas.journal --for 10m
  stormeter durable check nfs://nas1/export/vm --journal nas.journal --wait 5m")]
pub(crate) struct DurableOptions {
    #[command(subcommand)]
    pub(crate) step: DurableStep,
}

/// Before and after the cut.
#[derive(Debug, Subcommand)]
pub(crate) enum DurableStep {
    /// Write numbered records with flushes until the power is cut
    #[command(after_help = "\
Records go round on one disk: a new record replaces the oldest one. After every few records comes a \
flush, and when that has completed, the journal gets its number. The disk stays when this ends, for \
`check`; other runs leave it alone.

Exit codes: 0 the time is over, 1 failed, which is how a cut looks from another machine, 2 usage, \
130 stopped by a signal.")]
    Write(DurableWriteOptions),
    /// Read the records back, and say what is lost of those that were acknowledged
    #[command(after_help = "\
Exit codes: 0 nothing is lost, 1 failed (the storage is not back, the journal cannot be read), \
2 usage, 3 acknowledged records are lost or records are misplaced, 4 there is nothing to judge.")]
    Check(DurableCheckOptions),
}

#[derive(Debug, Args)]
pub(crate) struct DurableWriteOptions {
    /// A directory, device, NFS export or LUN, as for `compare`
    #[arg(value_name = "DATASTORE")]
    pub(crate) datastore: String,
    /// New file for the numbers that were acknowledged, on other storage; `-`: each line is printed, and writing continues
    /// when a line comes back on standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: PathBuf,
    /// Size of the disk
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = units::size)]
    pub(crate) size: u64,
    /// Size of a record
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = units::size)]
    pub(crate) block: u64,
    /// Flush after every N records
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) flush: u32,
    /// Make each write durable instead of flushing (FUA, O_DSYNC, FILE_SYNC)
    #[arg(long)]
    pub(crate) durable: bool,
    /// Outstanding writes between two flushes [default: all of them, at most 32]
    #[arg(long, value_name = "N")]
    pub(crate) outstanding: Option<u32>,
    /// Stop after this time [default: when it is stopped or cut off]
    #[arg(long = "for", value_name = "TIME", value_parser = units::time)]
    pub(crate) time: Option<u64>,
    /// Overwrite this device or LUN although it holds data; repeat its exact name
    #[arg(long, value_name = "DEVICE")]
    pub(crate) destroy_data: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DurableCheckOptions {
    /// The same storage; it may be mounted elsewhere, or attached to another machine
    #[arg(value_name = "DATASTORE")]
    pub(crate) datastore: String,
    /// The journal of the records; `-`: standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: PathBuf,
    /// Wait this long for the storage to come back
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = units::time)]
    pub(crate) wait: u64,
    /// Remove the disk after the check
    #[arg(long)]
    pub(crate) remove: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
