//! The servers of the demonstration: our own NFS server in a child process, so that its CPU time is
//! the target's and not ours, and tgt where it is installed.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use stormeter_peers::{PeerError, Tgt, TgtOptions};

use crate::exit::Failure;

/// A child that serves a directory over NFS for as long as this value lives.
pub(super) struct NfsChild {
    child: Child,
    url: String,
}

impl NfsChild {
    /// Starts it and waits for its URL.
    pub(super) fn start(directory: &Path) -> Result<Self, Failure> {
        let failed = |reason: String| {
            Failure::File(format!("the demo's NFS server did not start: {reason}"))
        };
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let mut child = Command::new(program)
            .arg("serve-nfs")
            .arg(directory)
            .args(["--print-url", "--until-stdin-ends"])
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
        let url = line.trim().to_owned();
        let server = Self { child, url };
        if server.url.starts_with("nfs://") {
            Ok(server)
        } else {
            Err(failed("it told no URL".into()))
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for NfsChild {
    fn drop(&mut self) {
        // It ends when its standard input does.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// tgt with a LUN on a file in the directory, or a sentence about why not.
pub(super) fn tgt(directory: &Path, bytes: u64) -> Result<Tgt, String> {
    let options = TgtOptions {
        units_bytes: vec![bytes],
        directory: Some(directory.to_path_buf()),
        ..TgtOptions::default()
    };
    Tgt::start(&options).map_err(|error| match error {
        PeerError::Missing { .. } => "tgt is not installed (Debian: apt-get install tgt), so \
                                      iSCSI is left out"
            .into(),
        error => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            format!("tgt did not start, so iSCSI is left out: {first}")
        }
    })
}
