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
    /// Print the parsed site, or every error with its place
    Check(SiteCheckOptions),
    /// Print the hardware library for `like`, each figure with its source
    Library,
}

#[derive(Debug, Args)]
#[command(after_help = "\
docs/site-file.md explains every key; `stormeter schema site` prints the schema, for editors.

Examples:
  stormeter site check studies/tr3808/site.yaml
  stormeter site check site.yaml --what-if nic=40GbE   what does the change do?")]
pub(crate) struct SiteCheckOptions {
    /// Site file
    pub(crate) file: PathBuf,
    /// Change the site first, such as nic=40GbE; may be repeated
    #[arg(long, value_name = "CHANGE")]
    pub(crate) what_if: Vec<String>,
}
