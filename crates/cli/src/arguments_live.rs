//! The arguments of the live page of a run.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::arguments_metrics::address;
use crate::units;

/// How a run in progress is shown to browsers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Live page")]
pub(crate) struct LiveOptions {
    /// Show the run as a page while it runs; its address is printed. Other machines reach it with an address such as
    /// --live=0.0.0.0:9401 and a token
    #[arg(long, value_name = "ADDRESS", value_parser = address, num_args = 0..=1)]
    #[arg(require_equals = true, default_missing_value = "127.0.0.1:0")]
    pub(crate) live: Option<SocketAddr>,
    /// The token in the page's address is the one in this file, and not a random one
    #[arg(long, value_name = "FILE", requires = "live")]
    pub(crate) live_token_file: Option<PathBuf>,
    /// After the end, wait this long at most until open pages have become the report
    #[arg(long, value_name = "TIME", requires = "live", default_value = "10s")]
    #[arg(value_parser = units::time)]
    pub(crate) live_linger: u64,
}
