//! The arguments of labs.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::arguments_ceph::CephOptions;

#[derive(Debug, Args)]
pub(crate) struct LabOptions {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Build kernel and images from Debian packages, unless they are up to date
    Build(LabBuildOptions),
    /// Start the lab that a file describes
    Up(LabUpOptions),
    /// Show what is running, and how to reach its storage
    Status(LabDirectory),
    /// Do something to a guest: fail a disk, cut a link
    Do(LabDoOptions),
    /// Cut the power of guests while records are written, and say what each datastore lost
    Durable(LabDurableOptions),
    /// Take a snapshot of all disks, replacing the previous one
    Snapshot(LabDirectory),
    /// Roll all disks back to the snapshot; nothing may use them meanwhile
    Rollback(LabDirectory),
    /// Attach to a guest's serial console; Ctrl-] detaches
    Console(LabConsoleOptions),
    /// A small Ceph cluster on this machine, in one directory
    Ceph(CephOptions),
    /// Stop all guests and remove everything the lab has created, including its disks
    Down(LabDirectory),
}

/// Where a lab is.
#[derive(Debug, Args)]
pub(crate) struct LabDirectory {
    /// The lab's directory
    #[arg(long, value_name = "DIR", default_value = ".stormeter-lab")]
    pub(crate) dir: PathBuf,
}

/// What guests are made of.
#[derive(Debug, Args)]
pub(crate) struct LabImages {
    /// Directory for images [default: stormeter/lab in the user's cache directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// The stormeter that runs in guests [default: this program]
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Packages are fetched with apt-get and unpacked into the cache; nothing is installed, and root is not \
needed. Images are rebuilt only when packages or this program have changed.

Examples:
  stormeter lab build
  stormeter lab build trixie bullseye    # for hosts with these systems")]
pub(crate) struct LabBuildOptions {
    /// Suites of Debian whose kernels hosts of a lab run, besides this machine's
    #[arg(value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    #[command(flatten)]
    pub(crate) images: LabImages,
}

#[derive(Debug, Args)]
#[command(after_help = "\
docs/lab.md is a first lab in ten minutes; `stormeter schema lab` prints the schema, for editors.

Examples:
  stormeter lab up examples/lab/lab.yaml
  stormeter lab up lab.yaml --accelerator tcg --cold --dir /tmp/rack")]
pub(crate) struct LabUpOptions {
    /// Lab file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) directory: LabDirectory,
    #[command(flatten)]
    pub(crate) images: LabImages,
    /// Accelerator that runs the guests
    #[arg(long, value_enum, default_value_t = AcceleratorName::Auto)]
    pub(crate) accelerator: AcceleratorName,
    /// Boot every guest instead of cloning frozen ones
    #[arg(long)]
    pub(crate) cold: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
What is done by hand stays until it is undone by hand. The steps of a study are undone after each \
trial. docs/lab.md has a table of the verbs.

Examples:
  stormeter lab do link-down nas
  stormeter lab do 'disk-fail nas.data 1' --dir /tmp/rack")]
pub(crate) struct LabDoOptions {
    /// Action, as in the steps of studies, such as: link-loss nas 5%
    #[arg(required = true, value_name = "ACTION")]
    pub(crate) action: Vec<String>,
    #[command(flatten)]
    pub(crate) directory: LabDirectory,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The lab is started for this and stopped afterwards. On each datastore, numbered records are written and \
flushed (`stormeter durable write`) in the VM or host that has it, or from this machine to what a storage \
guest serves; at a random moment the guest in front of it loses its power. It is started again, and the \
records are read back. What a loss of power leaves of a VM's own disk is modelled: what was not flushed \
survives by chance. See docs/durable.md.

Exit codes: 0 nothing was lost, 1 failed, 2 usage, 3 acknowledged records were lost, 130 stopped by a \
signal.

Examples:
  stormeter lab durable examples/lab/durable.yaml
  stormeter lab durable lab.yaml --cuts 5 --json")]
pub(crate) struct LabDurableOptions {
    /// Lab file
    pub(crate) file: PathBuf,
    /// Number of power cuts for each datastore
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cuts: u32,
    /// Seed of the moments of the cuts, and of what survives
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) directory: LabDirectory,
    #[command(flatten)]
    pub(crate) images: LabImages,
    /// Accelerator that runs the guests
    #[arg(long, value_enum, default_value_t = AcceleratorName::Auto)]
    pub(crate) accelerator: AcceleratorName,
}

#[derive(Debug, Args)]
pub(crate) struct LabConsoleOptions {
    /// The guest
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) directory: LabDirectory,
}

/// What runs guests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AcceleratorName {
    /// KVM if a guest boots under it, otherwise TCG
    Auto,
    /// KVM, or fail
    Kvm,
    /// TCG, QEMU's emulation
    Tcg,
}
