//! The arguments of labs.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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
    /// Take a snapshot of all disks, replacing the previous one
    Snapshot(LabDirectory),
    /// Roll all disks back to the snapshot; nothing may use them meanwhile
    Rollback(LabDirectory),
    /// Attach to a guest's serial console; Ctrl-] detaches
    Console(LabConsoleOptions),
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
needed. Images are rebuilt only when packages or this program have changed.")]
pub(crate) struct LabBuildOptions {
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
