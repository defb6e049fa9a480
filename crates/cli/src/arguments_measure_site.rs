//! The arguments of `measure-site`.

use std::path::PathBuf;

use clap::Args;

use crate::units;

#[derive(Debug, Args)]
#[command(after_help = "\
Short trials of each datastore (4 KiB and 64 KiB, reads and writes, random and sequential, 1 and 16 \
outstanding I/Os, 1 and 4 VMs) are run like those of a study, and a site is fitted to them. The site file \
says of each value whether it was measured, with its interval, or assumed, and at its top what such \
measurements cannot tell. It is a site file like any other: for `predict`, and for `calibrate` with more \
measurements.

A datastore is named as in `compare`; nas=URL gives it the name nas in the site. Without a name it is \
called local, nfs, iscsi, rbd or null. embedded:local, embedded:nfs and embedded:iscsi are started for the \
measurement. The same command resumes a measurement that was interrupted.

Exit codes:
  0 done, 1 failed, 2 usage, 5 a measurement is invalid (the site is written
  from the others), 130 interrupted

Examples:
  stormeter measure-site /srv/vm --write site.yaml
  stormeter measure-site local=/srv/vm nas=nfs://nas1/vm --write site.yaml
  stormeter predict study.yaml --site site.yaml")]
pub(crate) struct MeasureSiteOptions {
    /// Datastores, each with a name before it if you like: nas=nfs://nas1/vm
    #[arg(required = true, value_name = "DATASTORE")]
    pub(crate) datastores: Vec<String>,
    /// Write the site file here; it must not exist
    #[arg(long, value_name = "FILE", default_value = "site.yaml")]
    pub(crate) write: PathBuf,
    /// Results file, or a directory for it [default: named after the site file, site.db, in the directory
    /// of results]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Size of each of four virtual disks; larger than the storage's cache, or the cache is measured
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = units::size)]
    #[arg(help_heading = "Measurement")]
    pub(crate) size: u64,
    /// Measured length of a trial
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::time)]
    #[arg(help_heading = "Measurement")]
    pub(crate) duration: u64,
    /// Warm-up before each measurement [default: a quarter of the duration]
    #[arg(long, value_name = "TIME", value_parser = units::time, help_heading = "Measurement")]
    pub(crate) ramp: Option<u64>,
    /// How often each load is measured; the trial in the middle counts
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Measurement")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) blocks: u32,
    /// I/O threads, one pinned to each CPU [default: min(CPUs, VMs)]
    #[arg(long, value_name = "N", help_heading = "Measurement")]
    pub(crate) threads: Option<u32>,
    /// Seed of orders, offsets and contents
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Measurement")]
    pub(crate) seed: u64,
    /// Overwrite this device or LUN although it holds data; repeat its exact name
    #[arg(long, value_name = "DEVICE", help_heading = "Safety")]
    pub(crate) destroy_data: Vec<PathBuf>,
    /// Print JSON instead of words
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print only the result
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}
