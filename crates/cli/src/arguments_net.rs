//! The arguments of `stormeter net`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use stormeter_disk::units::{parse_bytes, parse_duration_ns};

#[derive(Debug, Args)]
#[command(after_help = "\
One end listens, the other measures. Both need the same key, from --key-file or from the environment
variable STORMETER_NET_KEY. After both have proved that they hold it, nothing is encrypted and nothing
authenticated: for laboratory and test networks only.

Sizes are decimal when written so (100KB = 100 000 B) and binary when written so (4KiB = 4096 B).

Examples:
  stormeter net demo                                     both ends here, on loopback
  stormeter net --new-key > net.key                      then copy the file to the other end
  stormeter net --listen 0.0.0.0:7878 --key-file net.key --dir /srv/vm
  stormeter net server:7878 rtt --key-file net.key
  stormeter net server:7878 throughput --streams 1,4 --line-rate 10
  stormeter net server:7878 transfer --rows 10 --repeats 100   as in the NFS datastore study")]
pub(crate) struct NetOptions {
    /// The far end, where `stormeter net --listen` runs
    #[arg(value_name = "HOST:PORT", conflicts_with_all = ["listen", "new_key"])]
    pub(crate) far_end: Option<String>,
    /// Listen here and be measured; the address is the first line printed (port 0: one that is free)
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "new_key")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where the files of disk transfers go while they last; without it they are refused
    #[arg(long, value_name = "DIRECTORY", requires = "listen")]
    pub(crate) dir: Option<PathBuf>,
    /// The file that holds the key [default: the variable STORMETER_NET_KEY]
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
    /// Round-trip time: a message there, and one as long back
    Rtt(RttOptions),
    /// What one or several streams move a second
    Throughput(ThroughputOptions),
    /// Time to send into, and fetch from, the far end's memory and disk
    Transfer(TransferOptions),
    /// Everything once, quickly, with both ends in this process and a key of its own
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
    /// Numbers of streams, each a connection with a thread of its own
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,4")]
    pub(crate) streams: Vec<u32>,
    /// Which way [default: both]
    #[arg(long, value_enum)]
    pub(crate) direction: Option<DirectionName>,
    /// What counts: bytes that the receiver acknowledged in this time
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration_ns)]
    pub(crate) duration: u64,
    /// Load before it, which does not count
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration_ns)]
    pub(crate) warm_up: u64,
    /// Measurements of each number of streams
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) repeats: u32,
    /// The network's nominal rate in Gbit/s, to show what share of it was reached
    #[arg(long, value_name = "GBIT/S")]
    pub(crate) line_rate: Option<f64>,
    #[command(flatten)]
    pub(crate) show: NetShowOptions,
}

#[derive(Debug, Args)]
pub(crate) struct TransferOptions {
    /// Sizes of what is transferred
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = parse_bytes)]
    #[arg(default_value = "100KB,1MB,10MB,100MB")]
    pub(crate) sizes: Vec<u64>,
    /// Which way [default: both]
    #[arg(long, value_enum)]
    pub(crate) direction: Option<DirectionName>,
    /// Where at the far end [default: both; the disk needs --dir there]
    #[arg(long, value_enum)]
    pub(crate) sink: Option<SinkName>,
    /// Take a file sent as done without an fsync
    #[arg(long)]
    pub(crate) no_fsync: bool,
    /// Fetch files from the far end's page cache, if it has them there
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
    /// Rows of a table, each the mean of its repetitions
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
    /// Print CSV instead of tables, one observation a row
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
