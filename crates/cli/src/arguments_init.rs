//! The arguments of `stormeter init`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct InitOptions {
    #[command(subcommand)]
    pub(crate) what: InitCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InitCommand {
    /// A study of datastores: what is compared, under which load, what is asked
    #[command(after_help = "\
Without datastores, it takes the file systems of this machine that have room and can be written to; never a \
device. Nothing is written but the file.

Examples:
  stormeter init study /srv/vm nas=nfs://nas1/export/vm
  stormeter init study -o -                            print it
  stormeter init study a=/srv/vm b=/srv/vm -o aa.yaml  an A/A test")]
    Study(InitFile),
    /// A site: the hardware on which studies are predicted, with what is assumed
    #[command(after_help = "\
Its figures are assumed. `stormeter measure-site` makes a site of the same form from short measurements.

Examples:
  stormeter init site /srv/vm nas=nfs://nas1/export/vm
  stormeter init site nfs://nas1/vm -o two.yaml")]
    Site(InitFile),
    /// A lab: two hosts and a storage server as guests on this machine
    #[command(after_help = "\
Of datastores, NFS exports and iSCSI LUNs are taken over as ways to the lab's own server; nothing connects to \
those that are named.

Examples:
  stormeter init lab
  stormeter init lab nfs://nas1/vm -o nfs.yaml")]
    Lab(InitFile),
}

#[derive(Debug, Args)]
pub(crate) struct InitFile {
    /// Datastores; NAME=… names one
    #[arg(value_name = "DATASTORE")]
    pub(crate) datastores: Vec<String>,
    /// The file, which must not exist yet; - prints it [default: study.yaml, site.yaml or lab.yaml]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
