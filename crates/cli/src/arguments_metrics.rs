//! The arguments that let others watch a run.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::units;

/// How a run in progress is shown to scrapers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Metrics")]
pub(crate) struct MetricsOptions {
    /// Serve OpenMetrics while it runs, as at 127.0.0.1:9400; port 0 is any free one, and printed
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Answer only who has the bearer token in this file; other machines need one
    #[arg(long, value_name = "FILE", requires = "metrics")]
    pub(crate) metrics_token_file: Option<PathBuf>,
    /// After the end, wait this long at most for one more scrape
    #[arg(long, value_name = "TIME", requires = "metrics", default_value = "0s")]
    #[arg(value_parser = units::time)]
    pub(crate) metrics_linger: u64,
}

pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        let port = text.rsplit(':').next().filter(|port| port.parse::<u16>().is_ok());
        format!(
            "an address and a port are needed, such as 127.0.0.1:{} or [::1]:{}",
            port.unwrap_or("9400"),
            port.unwrap_or("9400")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_and_no_name() {
        assert_eq!(address("127.0.0.1:9400"), Ok("127.0.0.1:9400".parse().unwrap()));
        assert_eq!(address("[::1]:0"), Ok("[::1]:0".parse().unwrap()));
        for (wrong, advice) in
            [("9401", ":9401"), ("localhost:9402", ":9402"), ("127.0.0.1", ":9400"), ("", ":9400")]
        {
            let message = address(wrong).unwrap_err();
            assert!(message.contains(&format!("127.0.0.1{advice}")), "{wrong}: {message}");
        }
    }
}
