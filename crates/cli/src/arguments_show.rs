//! The arguments that say how a result is shown.

use std::path::PathBuf;

use clap::Args;

/// How the result is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ShowOptions {
    /// Write the report as a self-contained HTML page; - writes it to standard output, without tables
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}
