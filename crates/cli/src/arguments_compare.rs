//! The arguments of comparisons, and of the load that they and `ceiling` drive.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use stormeter_gate::Aspect;
use stormeter_study::Metric;
use stormeter_units::parse_percent;

use crate::arguments_live::LiveOptions;
use crate::arguments_metrics::MetricsOptions;
use crate::arguments_show::ShowOptions;
use crate::units;

#[derive(Debug, Args)]
#[command(after_help = "\
A datastore is a directory (/srv/vm), a block device (/dev/sdx), an NFS export or an iSCSI LUN \
(accessed by a built-in client as hypervisors do: no mount, no root), or null: (completes at once, to \
see the load generator). Named twice, a datastore is compared with itself. Options follow a question \
mark:

  /srv/vm      direct=0 (through the page cache)
  nfs://host[:port]/export
               connections=N, sync=file|unstable, uid=, gid=, mountport=,
               timeout=
  iscsi://[user@]host[:port]/target/lun
               sessions=N, policy=fixed|round-robin, portals=HOST,…, timeout=,
               header-digest=crc32c, data-digest=crc32c, initial-r2t=yes,
               immediate-data=no, initiator=IQN, password-file=FILE,
               target-user=, target-password-file=FILE
  any          engine=uring|positional

The password for CHAP comes from password-file=, from STORMETER_ISCSI_PASSWORD in the environment, or \
from the URL (user%password@host), where other users of this machine can see it.

Examples:
  stormeter compare /srv/vm /mnt/nas
  stormeter compare /srv/vm /mnt/nas --workload vm-8k --vms 16 --size 10GiB
  stormeter compare /srv/vm /mnt/nas --metric latency-p99 --precision 5%
  stormeter compare /srv/vm /mnt/nas --equal-load auto   at one rate for all
  stormeter compare /srv/vm '/srv/vm?direct=0' --html cache.html
  stormeter compare /srv/vm nfs://nas1/vm iscsi://san1/iqn.2026-01.example:vm/1
  stormeter compare /srv/vm /mnt/nas --verify            check every read
  stormeter compare /srv/vm /mnt/nas --resume            after an interruption
  stormeter compare old.db new.db                        results that exist
  stormeter compare nas=1.json nas=2.json san=3.json     nas has two runs")]
pub(crate) struct CompareOptions {
    /// Two or more datastores, or files with results; NAME=… names one
    #[arg(required = true, value_name = "DATASTORE")]
    pub(crate) datastores: Vec<String>,
    #[command(flatten)]
    pub(crate) load: LoadOptions,
    /// Size of each virtual disk; larger than the storage's cache, or the cache is measured
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = units::size)]
    #[arg(help_heading = "Load")]
    pub(crate) size: u64,
    #[command(flatten)]
    pub(crate) measurement: MeasurementOptions,
    #[command(flatten)]
    pub(crate) safety: SafetyOptions,
    /// With files: compare runs although they differ in this: generator, version, machine, load or
    /// durability; may be repeated
    #[arg(long, value_name = "ASPECT", value_parser = aspect_parser(), help_heading = "Measurement")]
    pub(crate) may_differ: Vec<Aspect>,
    /// Results file, or a directory for it [default: stormeter-DATE-TIME.db in the directory of results]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Resume an interrupted comparison: that of --output, or the newest one from here
    #[arg(long, help_heading = "Output")]
    pub(crate) resume: bool,
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

/// How it is measured, and until when.
#[derive(Debug, Args)]
#[command(next_help_heading = "Measurement")]
pub(crate) struct MeasurementOptions {
    /// Metric that decides the verdict [default: iops; latency-mean at a fixed rate]
    #[arg(long, value_parser = metric_parser())]
    pub(crate) metric: Option<Metric>,
    /// Keep measuring until the interval of the ratio is this narrow, to either side
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = parse_percent)]
    pub(crate) precision: f64,
    /// Differences within this margin are called equivalent
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_percent)]
    pub(crate) margin: f64,
    /// Stop after this time, whatever the precision
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = units::time)]
    pub(crate) time_limit: u64,
    /// Stop after N blocks (one trial of every datastore each), whatever the precision
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_blocks: u32,
    /// Measured length of a trial [default: 4s, shorter if the time limit requires it]
    #[arg(long, visible_alias = "runtime", value_name = "TIME", value_parser = units::time)]
    pub(crate) duration: Option<u64>,
    /// Warm-up: load before each measurement starts [default: a quarter of the duration]
    #[arg(long, visible_alias = "warm-up", value_name = "TIME", value_parser = units::time)]
    pub(crate) ramp: Option<u64>,
    /// Resolution of the time plot [default: a fortieth of the duration]
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(crate) interval: Option<u64>,
    /// Drive all datastores at one rate, in I/Os per second; auto: 70 % of the slowest one's capacity
    #[arg(long, value_name = "RATE|auto", conflicts_with_all = ["rate", "burst"])]
    pub(crate) equal_load: Option<String>,
    /// Datastore that the others are relative to [default: the first]
    #[arg(long, value_name = "DATASTORE")]
    pub(crate) baseline: Option<String>,
    /// Seed of orders, offsets and contents [default: drawn, and printed]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// What protects data.
#[derive(Debug, Args)]
#[command(next_help_heading = "Safety")]
pub(crate) struct SafetyOptions {
    /// Verify every read: disk, offset, write generation and checksum of each block. Costs CPU time; a
    /// wrong block makes the result invalid
    #[arg(long)]
    pub(crate) verify: bool,
    /// Overwrite this device or LUN although it holds data; repeat its exact name
    #[arg(long, value_name = "DEVICE")]
    pub(crate) destroy_data: Vec<PathBuf>,
}

/// What is driven; shared by `compare` and `ceiling`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadOptions {
    /// I/O of each VM, such as vm-4k, vm-8k, rand-read-4k or seq-write-1m; `stormeter profile`
    /// lists all
    #[arg(long, short, value_name = "NAME", default_value = "vm-4k")]
    pub(crate) workload: String,
    /// VMs on each datastore, one virtual disk each
    #[arg(long, value_name = "N", default_value_t = 1, visible_alias = "numjobs")]
    pub(crate) vms: u32,
    /// Queue depth: outstanding I/Os per VM [default: the workload's]
    #[arg(long, value_name = "N", visible_aliases = ["queue-depth", "iodepth"])]
    pub(crate) outstanding: Option<u32>,
    /// I/O threads, one pinned to each CPU [default: min(CPUs, VMs)]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// Request size, or several with their shares: 4KiB:70,64KiB:30
    #[arg(long, value_name = "SIZE[:SHARE],…", visible_alias = "bs", alias = "block-size")]
    pub(crate) request_size: Option<String>,
    /// Percentage of reads
    #[arg(long, visible_alias = "rwmixread", value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) read: Option<f64>,
    /// Percentage of random (non-sequential) requests
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) random: Option<f64>,
    /// Skew of random offsets (Zipf); without it all offsets are equally likely
    #[arg(long, value_name = "EXPONENT")]
    pub(crate) zipf: Option<f64>,
    /// Alignment of offsets [default: the request's own size]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) align: Option<u64>,
    /// Open loop: I/Os per second of each VM, whether or not earlier ones have completed
    #[arg(long, value_name = "RATE", conflicts_with = "outstanding")]
    pub(crate) rate: Option<f64>,
    /// How the requests of an open loop arrive
    #[arg(long, value_enum, default_value_t = ArrivalsName::Poisson)]
    pub(crate) arrivals: ArrivalsName,
    /// Requests in a burst; a pause follows once all of them have completed
    #[arg(long, value_name = "N", requires = "burst_delay")]
    pub(crate) burst: Option<u32>,
    /// Pause after a burst
    #[arg(long, value_name = "TIME", requires = "burst", value_parser = units::time)]
    pub(crate) burst_delay: Option<u64>,
    /// Every write is durable: it completes when its bytes are on stable storage (FUA, O_DSYNC, NFS FILE_SYNC)
    #[arg(long)]
    pub(crate) durable: bool,
    /// Flush each disk every-write, "every 8 writes" (the next request waits for the flush), every 10ms (none waits) or
    /// never [default: the workload's]
    #[arg(long, value_name = "EVERY")]
    pub(crate) flush: Option<String>,
    /// Percentage of written data that a compressing store can remove
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = parse_percent)]
    pub(crate) compressible: f64,
    /// Percentage of written data that a deduplicating store can remove
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = parse_percent)]
    pub(crate) dedupable: f64,
}

/// How requests of an open loop arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsName {
    /// At random, as from independent users
    Poisson,
    /// At equal intervals
    Constant,
}

/// The metrics by the names that they have everywhere.
pub(crate) fn metric_parser() -> impl TypedValueParser<Value = Metric> {
    PossibleValuesParser::new(Metric::FOR_COMPARISONS.map(Metric::name))
        .try_map(|name| Metric::from_name(&name).ok_or("no such metric"))
}

/// In what runs may differ, by the names of these.
pub(crate) fn aspect_parser() -> impl TypedValueParser<Value = Aspect> {
    PossibleValuesParser::new(Aspect::ALL.map(Aspect::name)).try_map(|name| {
        Aspect::ALL.into_iter().find(|aspect| aspect.name() == name).ok_or("no such aspect")
    })
}
