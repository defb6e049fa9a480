//! The arguments: one definition each, from which help, man page and completions are made.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use stormeter_disk::units::{parse_bytes, parse_duration_ns, parse_percent};
use stormeter_study::Metric;

use crate::arguments_calibrate::CalibrateOptions;
use crate::arguments_lab::LabOptions;
use crate::arguments_net::NetOptions;
use crate::arguments_predict::PredictOptions;
use crate::arguments_site::SiteOptions;
use crate::arguments_study::RunOptions;

/// Which datastore should these virtual machines live on, by how much is it better, at what CPU
/// cost, and how sure are we?
#[derive(Debug, Parser)]
#[command(name = "stormeter", version, max_term_width = 100)]
#[command(after_help = "\
Examples:
  stormeter demo                               see the whole thing work, in under a minute
  stormeter compare /srv/vm /mnt/nas           two datastores, default VM workload
  stormeter compare /srv/vm /mnt/nas --html report.html
  stormeter doctor /srv/vm                     can this machine measure that datastore?

Exit codes: 0 done, 1 failed, 2 usage, 3 a question that says `must` was answered no,
4 inconclusive, 5 invalid result, 130 interrupted")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show everything on this machine, without any set-up, in under a minute
    Demo(DemoOptions),
    /// Compare datastores: which is faster, by how much, at what CPU cost, and how sure
    Compare(Box<CompareOptions>),
    /// Carry out a study from its file, or go on with it
    Run(RunOptions),
    /// Predict a study for a site that may not exist, and tell what holds each cell back
    Predict(PredictOptions),
    /// Look at a site file, and at the hardware that it may name
    Site(SiteOptions),
    /// Fit a site's free parameters to what was measured or published, and tell how well it predicts
    Calibrate(CalibrateOptions),
    /// Show a results file again: as a table, as a page, as JSON
    Report(ReportOptions),
    /// Recompute a published study from its own tables, and hold it against results
    Replicate(ReplicateOptions),
    /// Measure the load generator itself, without any storage
    Ceiling(Box<CeilingOptions>),
    /// Tell what this machine can do, and how to get what is missing
    Doctor(DoctorOptions),
    /// Start storage and virtual machines in guests on this machine, from a file
    Lab(LabOptions),
    /// Measure the network by itself: round trips, streams, transfers
    Net(Box<NetOptions>),
    /// Carry out trials for a study that runs elsewhere, on standard input and output
    #[command(after_help = "\
Started by `stormeter run` where a study has hosts: by ssh, kubectl exec -i, podman exec -i or any other
command that joins two pipes. It opens no port. When its input ends it gives up what it does, removes its
disks and leaves. See docs/agents.md.")]
    Agent(AgentOptions),
    /// Share a directory with this machine over NFSv3, to try things without a server
    ServeNfs(ServeNfsOptions),
    /// Answer at once from nothing, for the ceiling of what talks to servers
    #[command(hide = true)]
    ServeNull(ServeNullOptions),
    /// List the built-in workloads with their sources, or print one as a study file writes it
    Profile(ProfileOptions),
    /// Print the JSON Schema of a study file, of a site file, of a lab file, or of what --json prints
    Schema {
        /// Of what
        #[arg(value_enum, default_value_t = SchemaName::Study)]
        of: SchemaName,
    },
    /// Print shell completions
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Debug, Args)]
pub(crate) struct AgentOptions {
    /// Serve controllers at this virtio-serial port of a guest, one after the other, for ever
    #[arg(long, value_name = "NAME")]
    pub(crate) port: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    /// Where to put the page
    #[arg(long, value_name = "FILE", default_value = "stormeter-demo.html")]
    pub(crate) html: PathBuf,
    /// Say only the result
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A datastore is a directory (/srv/vm), a block device (/dev/sdx), an NFS export or an iSCSI LUN spoken
to directly as hypervisors do (no mount, no root), or null: (completes at once, to see the load
generator). Named twice, a datastore is compared with itself. Options follow a question mark:

  /srv/vm                        direct=0 (through the page cache)
  nfs://host[:port]/export       connections=N, sync=file|unstable, uid=, gid=, mountport=, timeout=
  iscsi://[user@]host[:port]/target/lun
                                 sessions=N, policy=fixed|round-robin, portals=HOST,…, timeout=,
                                 header-digest=crc32c, data-digest=crc32c, initial-r2t=yes,
                                 immediate-data=no, initiator=IQN, password-file=FILE, target-user=,
                                 target-password-file=FILE
  any                            engine=uring|positional

The password of CHAP comes from password-file=, from STORMETER_ISCSI_PASSWORD in the environment, or
from the URL (user%password@host), where other users of this machine can see it.

Examples:
  stormeter compare /srv/vm /mnt/nas
  stormeter compare /srv/vm /mnt/nas --workload vm-8k --vms 16 --size 10GiB
  stormeter compare /srv/vm /mnt/nas --metric latency-p99 --precision 5%
  stormeter compare /srv/vm /mnt/nas --equal-load auto     CPU and latency at the same rate
  stormeter compare /srv/vm '/srv/vm?direct=0' --html cache.html
  stormeter compare /srv/vm nfs://nas1/export/vm 'iscsi://vm@san1/iqn.2026-01.example:vm/1'
  stormeter compare /srv/vm /mnt/nas --verify              is what is read what was written?
  stormeter compare /srv/vm /mnt/nas --resume              go on after an interruption")]
pub(crate) struct CompareOptions {
    /// Two or more datastores
    #[arg(required = true, value_name = "DATASTORE")]
    pub(crate) datastores: Vec<String>,
    #[command(flatten)]
    pub(crate) load: LoadOptions,
    /// Size of each virtual disk; larger than the storage's cache, or the cache is measured
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_bytes)]
    pub(crate) size: u64,
    /// Measured length of a trial [default: 4s, shorter when the time limit asks for it]
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub(crate) duration: Option<u64>,
    /// Load before each measurement begins [default: a quarter of the duration]
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub(crate) ramp: Option<u64>,
    /// One row of the time plot [default: a fortieth of the duration]
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub(crate) interval: Option<u64>,
    /// The metric that carries the verdict [default: iops; at a fixed rate latency-mean]
    #[arg(long, value_parser = metric_parser())]
    pub(crate) metric: Option<Metric>,
    /// Go on until the interval on the ratio is this narrow, to either side
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = parse_percent)]
    pub(crate) precision: f64,
    /// Differences within this are called equivalent
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_percent)]
    pub(crate) margin: f64,
    /// Stop measuring after this time, precise enough or not
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_duration_ns)]
    pub(crate) time_limit: u64,
    /// Stop after so many blocks (one trial of every datastore), precise enough or not
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_blocks: u32,
    /// Drive all datastores at one rate, in I/Os a second; auto: 70 % of the slowest one's capacity
    #[arg(long, value_name = "RATE|auto", conflicts_with_all = ["rate", "burst"])]
    pub(crate) equal_load: Option<String>,
    /// The datastore that the others are relative to [default: the first]
    #[arg(long, value_name = "DATASTORE")]
    pub(crate) baseline: Option<String>,
    /// Seed of orders, offsets and contents [default: drawn, and printed]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The results file [default: stormeter-DATE-TIME.db in the working directory]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Go on with an interrupted comparison: that of --output, or the newest here
    #[arg(long)]
    pub(crate) resume: bool,
    /// Hold every read against what was written: disk, place, write and checksum of each block. Costs
    /// CPU time; a wrong block makes the result invalid
    #[arg(long)]
    pub(crate) verify: bool,
    /// Overwrite this device or LUN although it holds data; repeat its exact name
    #[arg(long, value_name = "DEVICE")]
    pub(crate) destroy_data: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
    /// No progress, only the result
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What is driven; shared by `compare` and `ceiling`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadOptions {
    /// The I/O of each VM, such as vm-4k, vm-8k, rand-read-4k or seq-write-1m; `stormeter profile`
    /// lists all
    #[arg(long, short, value_name = "NAME", default_value = "vm-4k")]
    pub(crate) workload: String,
    /// VMs on each datastore, a virtual disk each
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) vms: u32,
    /// I/Os that each VM keeps outstanding [default: the workload's]
    #[arg(long, value_name = "N")]
    pub(crate) outstanding: Option<u32>,
    /// Driving threads, pinned one a CPU [default: one a CPU, but no more than VMs]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// Request size, or several with their shares: 4KiB:70,64KiB:30
    #[arg(long, value_name = "SIZE[:SHARE],…")]
    pub(crate) block_size: Option<String>,
    /// Share of reads
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) read: Option<f64>,
    /// Share of requests that go to a random place
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) random: Option<f64>,
    /// Skew of the random places; without it all places are equally likely
    #[arg(long, value_name = "EXPONENT")]
    pub(crate) zipf: Option<f64>,
    /// Alignment of offsets [default: the request's own size]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) align: Option<u64>,
    /// Open loop: I/Os a second of each VM, whether or not earlier ones have ended
    #[arg(long, value_name = "RATE", conflicts_with = "outstanding")]
    pub(crate) rate: Option<f64>,
    /// How the requests of an open loop arrive
    #[arg(long, value_enum, default_value_t = ArrivalsName::Poisson)]
    pub(crate) arrivals: ArrivalsName,
    /// Requests in a burst; a pause follows when all of them have ended
    #[arg(long, value_name = "N", requires = "burst_delay")]
    pub(crate) burst: Option<u32>,
    /// The pause after a burst
    #[arg(long, value_name = "TIME", requires = "burst", value_parser = parse_duration_ns)]
    pub(crate) burst_delay: Option<u64>,
    /// Share of what is written that a compressing store can remove
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = parse_percent)]
    pub(crate) compressible: f64,
    /// Share of what is written that a deduplicating store can remove
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = parse_percent)]
    pub(crate) dedupable: f64,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stormeter profile                       all of them, with their sources
  stormeter profile vm-4k                 one as YAML, to paste into a study file and change
  stormeter profile iozone                a set of them")]
pub(crate) struct ProfileOptions {
    /// A profile, or a set of them
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaName {
    /// A study file
    Study,
    /// A site file
    Site,
    /// A lab file
    Lab,
    /// What compare --json and report --json print
    Comparison,
}

/// How requests of an open loop arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsName {
    /// At random, as independent users do
    Poisson,
    /// At equal distances
    Constant,
}

/// How the result is shown.
#[derive(Debug, Args)]
pub(crate) struct ShowOptions {
    /// Write the report as a page of its own
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes are those of the verdicts, as with compare: 0 done, 4 inconclusive, 5 invalid result.

Examples:
  stormeter report night.db
  stormeter report night.db --html night.html
  stormeter report night.db --json")]
pub(crate) struct ReportOptions {
    /// The results file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Every finding in one table: as published, recomputed from the study's own tables, what a sound analysis
of the same data gives, and what results of a study of the same design say.

Examples:
  stormeter replicate                          the studies that come with the program
  stormeter replicate virtual-physical
  stormeter replicate vsan --json
  stormeter replicate studies/mine/published.yaml
  stormeter replicate nfs-datastore --measured night.db")]
pub(crate) struct ReplicateOptions {
    /// The study: nfs-datastore, tr3808, vsan, virtual-physical, mpls-servers, or a published.yaml or
    /// its directory [default: an overview of all]
    pub(crate) study: Option<String>,
    /// The results file of a study, to be asked the questions of the findings; several for a study of
    /// several plans, such as vsan: each question is asked of the first that has its names
    #[arg(long, value_name = "FILE", requires = "study")]
    pub(crate) measured: Vec<PathBuf>,
    /// A results file that a model made, or several, to be asked the same
    #[arg(long, value_name = "FILE", requires = "study")]
    pub(crate) predicted: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A result is trusted only if this is at least three times what was measured. With --through the same
load goes through the initiator to a server in another process that answers at once: what is left is
the cost of the protocol on both sides and of the machine's loopback network.

Examples:
  stormeter ceiling
  stormeter ceiling --through nfs --outstanding 32
  stormeter ceiling --outstanding 16 --threads 1 --json")]
pub(crate) struct CeilingOptions {
    #[command(flatten)]
    pub(crate) load: LoadOptions,
    /// How long to measure
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_duration_ns)]
    pub(crate) duration: u64,
    /// Through an initiator to a server that answers at once
    #[arg(long, value_name = "PROTOCOL")]
    pub(crate) through: Option<Through>,
    /// Seed of the operations
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// Datastores to look at as well; nothing is written to them but a trial file
    #[arg(value_name = "DATASTORE")]
    pub(crate) datastores: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The URL is the first line on stdout. MOUNT and NFS are on one port of 127.0.0.1; nobody else can
connect, but every user of this machine can, and acts with the rights of whoever started this.

Examples:
  stormeter serve-nfs /srv/vm
  stormeter serve-nfs /srv/vm --port 20490 --print-url > url.txt &")]
pub(crate) struct ServeNfsOptions {
    /// The directory; nothing outside of it can be reached
    pub(crate) directory: PathBuf,
    /// The TCP port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Print nothing but the URL
    #[arg(long)]
    pub(crate) print_url: bool,
    /// End when standard input ends, as a child of another program does
    #[arg(long)]
    pub(crate) until_stdin_ends: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServeNullOptions {
    /// What to speak
    pub(crate) protocol: Through,
    /// Print nothing but the URL, which is all there is
    #[arg(long)]
    pub(crate) print_url: bool,
    /// End when standard input ends, which it always does
    #[arg(long)]
    pub(crate) until_stdin_ends: bool,
}

/// A protocol of network datastores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Through {
    /// NFSv3
    Nfs,
    /// iSCSI
    Iscsi,
}

/// The metrics by the names that they have everywhere.
fn metric_parser() -> impl TypedValueParser<Value = Metric> {
    PossibleValuesParser::new(Metric::ALL.map(Metric::name))
        .try_map(|name| Metric::from_name(&name).ok_or("no such metric"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_metric_can_be_asked_for() {
        for metric in Metric::ALL {
            let words = ["stormeter", "compare", "/a", "/b", "--metric", metric.name()];
            match Arguments::try_parse_from(words).unwrap().command {
                Command::Compare(options) => assert_eq!(options.metric, Some(metric)),
                other => panic!("{other:?}"),
            }
        }
        let words = ["stormeter", "compare", "/a", "/b", "--metric", "speed"];
        let message = Arguments::try_parse_from(words).unwrap_err().to_string();
        assert!(message.contains("latency-p999"), "{message}");
    }

    #[test]
    fn every_option_says_what_it_does() {
        let program = Arguments::command();
        let mut commands: Vec<_> = program.get_subcommands().collect();
        while let Some(command) = commands.pop() {
            for argument in command.get_arguments().filter(|a| a.get_id() != "help") {
                assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument);
            }
            commands.extend(command.get_subcommands());
        }
    }

    #[test]
    fn the_workloads_named_in_the_help_are_the_built_in_ones() {
        let command = Arguments::command();
        let compare = command.find_subcommand("compare").unwrap();
        let workload = compare.get_arguments().find(|a| a.get_id() == "workload").unwrap();
        let help = workload.get_help().unwrap().to_string();
        // The default is in the help too, and all that has a digit in it is a profile.
        let words = help.split([' ', ',', ';']).filter(|word| word.contains(char::is_numeric));
        let words: Vec<&str> = words.collect();
        assert!(words.len() >= 4, "{help}");
        for word in words {
            assert!(stormeter_study::profile(word).is_ok(), "{word}");
        }
    }
}
