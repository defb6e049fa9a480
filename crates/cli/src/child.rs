//! A server of our own in a child process, so that its CPU time is the target's and not ours.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::exit::Failure;

/// A child that serves for as long as this value lives, and no longer than this process.
pub(crate) struct ServerChild {
    child: Child,
    url: String,
}

impl ServerChild {
    /// Runs this program with `arguments`, which make it a server, and waits for its URL.
    pub(crate) fn start<'a>(
        arguments: impl IntoIterator<Item = &'a OsStr>,
    ) -> Result<Self, Failure> {
        let failed = |reason: String| Failure::File(format!("the server did not start: {reason}"));
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .args(["--print-url", "--until-stdin-ends"])
            // It does what it is started for, whatever the user's defaults for servers are.
            .env(crate::defaults::VARIABLE, "")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is for us: the disks are removed through the server, which has to outlive it.
            .process_group(0)
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(|e| failed(e.to_string()))?;
        }
        let server = Self { child, url: line.trim().to_owned() };
        if server.url.contains("://") {
            Ok(server)
        } else {
            Err(failed("it printed no URL".into()))
        }
    }

    /// Where it serves.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

/// The command line that serves the disk of an OSD, to which the cluster adds what it has to know.
pub(crate) fn disk_server() -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::File(format!("this program cannot be found: {error}")))?;
    let words = ["lab", "ceph", "serve-disk"].map(str::to_owned);
    Ok([vec![program.display().to_string()], words.into()].concat())
}

impl Drop for ServerChild {
    fn drop(&mut self) {
        // It ends when its standard input does.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
