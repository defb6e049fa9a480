//! The arguments of site files.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct SiteOptions {
    #[command(subcommand)]
    pub(crate) command: SiteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SiteCommand {
    /// Read a site file and say what was understood, or every mistake with its place
    Check(SiteCheckOptions),
    /// Print the hardware that a site may be `like`, each figure with its source
    Library,
}

#[derive(Debug, Args)]
#[command(after_help = "\
docs/site-file.md explains every key; `stormeter schema site` prints the schema, for editors.

Examples:
  stormeter site check studies/tr3808/site.yaml
  stormeter site check site.yaml --what-if nic=40GbE       does the change fit, and what does it change?")]
pub(crate) struct SiteCheckOptions {
    /// The site file
    pub(crate) file: PathBuf,
    /// Change the site first, such as nic=40GbE; may be repeated
    #[arg(long, value_name = "CHANGE")]
    pub(crate) what_if: Vec<String>,
}
