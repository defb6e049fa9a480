//! The arguments of `stormeter net`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use stormeter_units::parse_bytes;

use crate::units;

#[derive(Debug, Args)]
#[command(after_help = "\
One end listens, the other measures. Both need the same key, from --key-file or from the environment \
variable STORMETER_NET_KEY. Once both have proved that they hold it, nothing is encrypted or \
authenticated: for laboratory and test networks only.

Sizes may be decimal (100KB = 100 000 B) or binary (4KiB = 4096 B).

Examples:
  stormeter net demo                    both ends here, on loopback
  stormeter net --new-key > net.key     then copy the file to the other end
  stormeter net --listen 0.0.0.0:7878 --key-file net.key --dir /srv/vm
  stormeter net server:7878 rtt --key-file net.key
  stormeter net server:7878 throughput --streams 1,4 --line-rate 10
  stormeter net server:7878 transfer --rows 10 --repeats 100")]
pub(crate) struct NetOptions {
    /// The far end, where `stormeter net --listen` runs
    #[arg(value_name = "HOST:PORT", conflicts_with_all = ["listen", "new_key"])]
    pub(crate) far_end: Option<String>,
    /// Listen on this address and be measured; prints it first (port 0: any free port)
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "new_key")]
    pub(crate) listen: Option<SocketAddr>,
    /// Directory for the files of disk transfers; without it these are refused
    #[arg(long, value_name = "DIRECTORY", requires = "listen")]
    pub(crate) dir: Option<PathBuf>,
    /// File that holds the key [default: the environment variable STORMETER_NET_KEY]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) key_file: Option<PathBuf>,
    /// Print a new key
    #[arg(long)]
    pub(crate) new_key: bool,
    #[command(subcommand)]
    pub(crate) probe: Option<NetProbe>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NetProbe {
    /// Round-trip time of messages of several sizes
    Rtt(RttOptions),
    /// Throughput of one or several streams
    Throughput(ThroughputOptions),
    /// Time to upload to and download from the remote memory and disk
    Transfer(TransferOptions),
    /// Run everything once, quickly, with both ends in this process
    Demo(NetShowOptions),
}

#[derive(Debug, Args)]
pub(crate) struct RttOptions {
    /// Message sizes
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = parse_bytes)]
    #[arg(default_value = "1,64,1KiB,4KiB,100KB,1MB,10MB,100MB")]
    pub(crate) sizes: Vec<u64>,
    #[command(flatten)]
    pub(crate) layout: LayoutOptions,
    #[command(flatten)]
    pub(crate) show: NetShowOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ThroughputOptions {
    /// Numbers of streams, each a connection with its own thread
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,4")]
    pub(crate) streams: Vec<u32>,
    /// Direction [default: both]
    #[arg(long, value_enum)]
    pub(crate) direction: Option<DirectionName>,
    /// Measured time; bytes that the receiver acknowledged within it count
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = units::time)]
    pub(crate) duration: u64,
    /// Warm-up before it, which does not count
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::time)]
    pub(crate) warm_up: u64,
    /// Measurements per number of streams
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) repeats: u32,
    /// Nominal rate of the network in Gbit/s, to show the percentage reached
    #[arg(long, value_name = "GBIT/S")]
    pub(crate) line_rate: Option<f64>,
    #[command(flatten)]
    pub(crate) show: NetShowOptions,
}

#[derive(Debug, Args)]
pub(crate) struct TransferOptions {
    /// Sizes of the transfers
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = parse_bytes)]
    #[arg(default_value = "100KB,1MB,10MB,100MB")]
    pub(crate) sizes: Vec<u64>,
    /// Direction [default: both]
    #[arg(long, value_enum)]
    pub(crate) direction: Option<DirectionName>,
    /// Remote memory or disk [default: both; the disk needs --dir there]
    #[arg(long, value_enum)]
    pub(crate) sink: Option<SinkName>,
    /// Count an upload as done without an fsync
    #[arg(long)]
    pub(crate) no_fsync: bool,
    /// Allow downloads to be served from the remote page cache
    #[arg(long)]
    pub(crate) cached: bool,
    #[command(flatten)]
    pub(crate) layout: LayoutOptions,
    #[command(flatten)]
    pub(crate) show: NetShowOptions,
}

/// How the repetitions of a size are arranged.
#[derive(Debug, Args)]
pub(crate) struct LayoutOptions {
    /// Rows of the table, each the mean of its repetitions
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) rows: u32,
    /// Repetitions in each row
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) repeats: u32,
}

/// How the result is shown.
#[derive(Debug, Args)]
pub(crate) struct NetShowOptions {
    /// Print JSON instead of tables
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV instead of tables, one observation per row
    #[arg(long)]
    pub(crate) csv: bool,
}

/// Which way the payload goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DirectionName {
    /// To the far end
    Send,
    /// From the far end
    Fetch,
}

/// Where at the far end the payload goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SinkName {
    /// Its memory
    Memory,
    /// A file in its directory
    Disk,
}
