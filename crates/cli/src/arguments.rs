//! The arguments: one definition each, from which help, man page and completions are made.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use stormeter_timed_disk::Speed;

use crate::arguments_audit::{AuditOptions, ExportArguments, GateArguments};
use crate::arguments_calibrate::CalibrateOptions;
use crate::arguments_compare::{CompareOptions, LoadOptions};
use crate::arguments_durable::DurableOptions;
use crate::arguments_init::InitOptions;
use crate::arguments_kept::{ListOptions, PruneOptions};
use crate::arguments_lab::LabOptions;
use crate::arguments_measure_site::MeasureSiteOptions;
use crate::arguments_net::NetOptions;
use crate::arguments_predict::PredictOptions;
use crate::arguments_show::ShowOptions;
use crate::arguments_site::SiteOptions;
use crate::arguments_study::RunOptions;
use crate::arguments_timeline::TimelineOptions;
use crate::color::Color;
use crate::units;

/// Measure and compare datastores for virtual machines: which is faster, by how much, at what CPU cost
#[derive(Debug, Parser)]
#[command(name = "stormeter", version, max_term_width = 100)]
#[command(after_help = "\
Examples:
  stormeter demo                        see it work, in under a minute
  stormeter compare /srv/vm /mnt/nas    two datastores, default VM workload
  stormeter compare /srv/vm /mnt/nas --html report.html
  stormeter doctor /srv/vm              can this machine measure it?

Exit codes:
  0 done, 1 failed, 2 usage, 3 a question that says `must` was answered no,
  4 inconclusive, 5 invalid result, 130 interrupted")]
pub(crate) struct Arguments {
    /// When to use colors
    #[arg(long, value_name = "WHEN", global = true, value_enum, default_value_t = Color::Auto)]
    #[arg(hide_possible_values = true, help_heading = "Display")]
    #[arg(help = "When to use colors: auto, always or never")]
    pub(crate) color: Color,
    /// With --version: also print commit, target, io_uring and the format of results files
    #[arg(long)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Try everything on this machine, in under a minute
    Demo(DemoOptions),
    /// Compare datastores: which is faster, by how much, and how sure
    Compare(Box<CompareOptions>),
    /// Run a study file, or resume one
    Run(RunOptions),
    /// Predict a study for a site that may not exist yet
    Predict(PredictOptions),
    /// Check a site file; list the hardware library
    Site(SiteOptions),
    /// Measure datastores briefly, and make a site file from that
    MeasureSite(Box<MeasureSiteOptions>),
    /// Fit a site's free parameters to measured or published figures
    Calibrate(CalibrateOptions),
    /// Show a results file again: as tables, as a page, as JSON
    Report(ReportOptions),
    /// List kept results: what, when, how far, and what they say
    List(ListOptions),
    /// Delete kept results that are old, surplus or incomplete
    Prune(PruneOptions),
    /// Check results against the laws that any result must obey
    Audit(AuditOptions),
    /// Write results in a form that other programs read
    Export(ExportArguments),
    /// Say whether new runs are slower than earlier ones
    Gate(GateArguments),
    /// Recompute a published study and check it against results
    Replicate(ReplicateOptions),
    /// Measure the load generator itself, without any storage
    Ceiling(Box<CeilingOptions>),
    /// Check whether this machine can measure, and how to fix it
    Doctor(DoctorOptions),
    /// Write a commented study, site or lab to begin with
    Init(InitOptions),
    /// Test whether a power cut leaves what storage acknowledged
    Durable(DurableOptions),
    /// Run a virtual storage lab (QEMU guests) described by a file
    Lab(LabOptions),
    /// Measure the network by itself: round trips, streams, transfers
    Net(Box<NetOptions>),
    /// Run trials for a study on another host, over stdin and stdout
    #[command(after_help = "\
`stormeter run` starts this where a study has hosts: by ssh, kubectl exec -i, podman exec -i or any \
other command that joins two pipes. It opens no port. When its input ends, it stops what it is doing, \
removes its disks and exits. See docs/agents.md.")]
    Agent(AgentOptions),
    /// Serve a directory over NFSv3 on localhost, for trying things out
    ServeNfs(ServeNfsOptions),
    /// Answer at once from nothing, for the ceiling of what talks to servers
    #[command(hide = true)]
    ServeNull(ServeNullOptions),
    /// Serve a disk with a computed speed, for the embedded datastores of a study
    #[command(hide = true)]
    ServeDisk(ServeDiskOptions),
    /// Work as a desktop on a disk of this machine, as its standard input says
    #[command(hide = true)]
    Desktop {
        /// The disk
        device: PathBuf,
    },
    /// List the built-in workloads with sources, or print one
    Profile(ProfileOptions),
    /// Keep results of other tools, or translate a job file of fio
    Import(ImportOptions),
    /// Print a JSON Schema of files or of what --json prints
    Schema {
        /// Which schema
        #[arg(value_enum, default_value_t = SchemaName::Study)]
        of: SchemaName,
    },
    /// Print shell completions
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print a manual page, or write all of them
    #[command(after_help = "\
Examples:
  stormeter man | man -l -              the program's page
  stormeter man compare | man -l -      a command's page
  stormeter man --dir ~/.local/share/man/man1")]
    Man(ManOptions),
}

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// A command, such as compare, or lab up [default: the program]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Write the pages of the program and of all its commands to this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AgentOptions {
    /// Serve controllers at this virtio-serial port of a guest, one after the other, forever
    #[arg(long, value_name = "NAME")]
    pub(crate) port: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Results and page go to stormeter-demo.db and stormeter-demo.html in the directory of results (`stormeter \
list` shows it); where an earlier demonstration left these, to stormeter-demo-2.db and so on.")]
pub(crate) struct DemoOptions {
    /// Write the page here [default: next to the results file, with its name]
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Seed of orders, offsets and contents [default: drawn, and printed]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print only the result
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stormeter profile             all of them, with their sources
  stormeter profile vm-4k       one as YAML, to paste into a study file
  stormeter profile iozone      a set of them
  stormeter profile oltp --fio  one as a job file of fio
  stormeter profile --from-fio job.fio")]
pub(crate) struct ProfileOptions {
    /// A profile, or a set of them
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a job file of fio, which does the same in the working directory
    #[arg(long, requires = "name", conflicts_with = "json")]
    pub(crate) fio: bool,
    /// Print the workloads of a job file of fio instead of built-in ones
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "json", "fio"])]
    pub(crate) from_fio: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Results of other tools are recognised by their content and kept in one results file, which compare, \
report, audit and gate read; several runs of one thing are repetitions. A job file of fio becomes a \
study file: each key is translated, or has no effect on what is measured and is named in a comment, or \
is refused by name with its line. See docs/coming-from.md.

Examples:
  stormeter import monday.json tuesday.json -o week.db
  stormeter import job.fio                  print the study file
  stormeter import job.fio -o study.yaml    write it")]
pub(crate) struct ImportOptions {
    /// Results of other tools (files, or directories of these), or a job file
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Write the results file or study file here [default: print the study file]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
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
    /// What --json of compare, run, predict and report prints
    #[value(aliases = ["comparison", "study-report"])]
    Report,
    /// What `replicate --json` prints
    Replicate,
    /// What `audit --json` prints
    Audit,
    /// What `gate --json` prints
    Gate,
    /// What `compare --json` of files prints, and `report --json` of results of other tools
    Sides,
    /// What `report --json` of several files prints
    Timeline,
    /// What `list --json` prints
    List,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes are those of the verdicts, as with compare: 0 done, 4 inconclusive, 5 invalid result.

Examples:
  stormeter report night.db
  stormeter report night.db --html night.html
  stormeter report night.db --json
  stormeter report mon.db tue.db wed.db --mark '2026-11-24=firmware 5.2'

Several files are a time line of runs, in the order in which they were run; NAME=FILE names a run.")]
pub(crate) struct ReportOptions {
    /// Results files; a name alone is looked for here, then in the directory of results
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) timeline: TimelineOptions,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Every finding in one table: as published, recomputed from the study's own tables, what a sound \
analysis of the same data gives, and what results of a study of the same design say.

Examples:
  stormeter replicate           the studies that come with the program
  stormeter replicate virtual-physical
  stormeter replicate vsan --json
  stormeter replicate studies/mine/published.yaml
  stormeter replicate nfs-datastore --measured night.db")]
pub(crate) struct ReplicateOptions {
    /// The study: nfs-datastore, tr3808, vsan, virtual-physical, mpls-servers, or a published.yaml or
    /// its directory [default: an overview of all]
    pub(crate) study: Option<String>,
    /// Results file of a study to check the findings against; may be repeated for a study of several
    /// plans, such as vsan: each question is asked of the first that has its names
    #[arg(long, value_name = "FILE", requires = "study")]
    pub(crate) measured: Vec<PathBuf>,
    /// Results file of a prediction to check the findings against; may be repeated
    #[arg(long, value_name = "FILE", requires = "study")]
    pub(crate) predicted: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A result is trusted only if this is at least three times what was measured. With --through, the same \
load goes through the initiator to a server in another process that answers at once: what is left is \
the cost of the protocol on both sides and of the machine's loopback network.

Examples:
  stormeter ceiling
  stormeter ceiling --through nfs --outstanding 32
  stormeter ceiling --outstanding 16 --threads 1 --json")]
pub(crate) struct CeilingOptions {
    #[command(flatten)]
    pub(crate) load: LoadOptions,
    /// How long to measure
    #[arg(long, help_heading = "Measurement", value_name = "TIME", default_value = "2s", value_parser = units::time)]
    pub(crate) duration: u64,
    /// Go through an initiator to a server that answers at once
    #[arg(long, value_name = "PROTOCOL", help_heading = "Load")]
    pub(crate) through: Option<Through>,
    /// Seed of the operations
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Measurement")]
    pub(crate) seed: u64,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// Datastores to check as well; nothing is written to them but a test file
    #[arg(value_name = "DATASTORE")]
    pub(crate) datastores: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The URL is the first line on stdout. MOUNT and NFS are on one port of 127.0.0.1: other machines cannot \
connect, but every user of this one can, and acts with the rights of the user who started this.

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
pub(crate) struct ServeDiskOptions {
    /// The file for its content, which is made again
    pub(crate) store: PathBuf,
    /// The directory where it is mounted
    pub(crate) directory: PathBuf,
    /// Its size
    pub(crate) bytes: u64,
    /// Its speed, such as 8ms,100MB/s
    pub(crate) speed: Speed,
    /// Mirrored pairs of such disks in a RAID-10; 0 is one disk
    #[arg(long, default_value_t = 0)]
    pub(crate) pairs: u32,
    /// Print nothing but the URL, which is all there is
    #[arg(long)]
    pub(crate) print_url: bool,
    /// End when standard input ends, which it always does
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use stormeter_study::Metric;

    #[test]
    fn the_definitions_are_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_metric_can_be_asked_for() {
        for metric in Metric::FOR_COMPARISONS {
            let words = ["stormeter", "compare", "/a", "/b", "--metric", metric.name()];
            match Arguments::try_parse_from(words).unwrap().command {
                Command::Compare(options) => {
                    assert_eq!(options.measurement.metric, Some(metric));
                }
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
