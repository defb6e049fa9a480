//! Prometheus: a scraper from another project, with the program that checks what is served to it.
//!
//! It is not installed, because its package would start a service: `STORMETER_PROMETHEUS` names a directory with both
//! programs, where the PATH has none.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::PeerError;
use crate::child::{Guarded, tail, wait_until, with_attempts};
use crate::error::at;
use crate::port;
use crate::program::{PROMETHEUS, PROMTOOL};

/// How long it may take to start; usually half a second.
const PATIENCE_S: u64 = 60;
/// How long it may take to answer.
const ANSWER: Duration = Duration::from_secs(30);

/// A running Prometheus that scrapes one address; ends when it is dropped.
#[derive(Debug)]
pub struct Prometheus {
    // In the order of dropping: the server, then its directory.
    process: Guarded,
    port: u16,
    scratch: TempDir,
}

impl Prometheus {
    /// Starts one that scrapes `/metrics` of this address each second, with the token in this file, if one is needed.
    ///
    /// # Errors
    /// It is not there, or does not start to serve: the message has the end of its log.
    pub fn start(target: SocketAddr, token: Option<&Path>) -> Result<Self, PeerError> {
        with_attempts(|| Self::try_start(target, token))
    }

    fn try_start(target: SocketAddr, token: Option<&Path>) -> Result<Self, PeerError> {
        let scratch = TempDir::with_prefix("prometheus").map_err(at(&std::env::temp_dir()))?;
        let file = scratch.path().join("prometheus.yml");
        std::fs::write(&file, configuration(target, token)).map_err(at(&file))?;
        let [port] = port::free()?;
        let arguments = [
            format!("--config.file={}", file.display()),
            format!("--storage.tsdb.path={}", scratch.path().join("data").display()),
            format!("--web.listen-address=127.0.0.1:{port}"),
        ];
        let log = scratch.path().join("log");
        let process = Guarded::start(PROMETHEUS, &arguments, &[], scratch.path(), &log)?;
        let mut prometheus = Self { process, port, scratch };
        prometheus.wait()?;
        Ok(prometheus)
    }

    fn wait(&mut self) -> Result<(), PeerError> {
        let mut is_ready = false;
        wait_until(Duration::from_secs(PATIENCE_S), || {
            is_ready = self.get("/-/ready").is_some();
            is_ready || !self.process.is_running()
        });
        let (program, log) = (PROMETHEUS.name, tail(&self.scratch.path().join("log")));
        match self.process.is_running() {
            false => Err(PeerError::Ended { program, log }),
            true if is_ready => Ok(()),
            true => Err(PeerError::NotReady { program, waited_s: PATIENCE_S, log }),
        }
    }

    /// Its answer to a query, as JSON: `/api/v1/query?query=up`. `None` if it does not answer with status 200.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        stream.set_read_timeout(Some(ANSWER)).ok()?;
        // Without chunks.
        let request = format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let (head, body) = text.split_once("\r\n\r\n")?;
        head.split(' ').nth(1).filter(|status| *status == "200")?;
        Some(body.to_owned())
    }
}

fn configuration(target: SocketAddr, token: Option<&Path>) -> String {
    let authorization = token.map_or_else(String::new, |file| {
        format!("    authorization:\n      credentials_file: '{}'\n", file.display())
    });
    format!(
        "global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: stormeter\n{authorization}    \
         static_configs:\n      - targets: ['{target}']\n"
    )
}

/// Checks metrics in Prometheus's text format with `promtool check metrics`: their form, and the conventions of names.
///
/// # Errors
/// It is not there, or complains: the message has its complaints.
pub fn promtool_check(metrics: &str) -> Result<(), PeerError> {
    let path: PathBuf = PROMTOOL.path()?;
    let failed = |source| PeerError::Start { program: PROMTOOL.name.to_owned(), source };
    let mut child = Command::new(path)
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(metrics.as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    let said = [output.stdout, output.stderr].concat();
    if output.status.success() && said.is_empty() {
        return Ok(());
    }
    Err(PeerError::Command {
        command: "promtool check metrics".into(),
        status: output.status.to_string(),
        said: String::from_utf8_lossy(&said).into_owned(),
    })
}
