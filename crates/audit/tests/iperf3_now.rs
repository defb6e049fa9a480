//! What the iperf3 of this machine prints now, over loopback: read completely, and nothing in it is broken.
//!
//! Without iperf3 the test is reported as not run, and fails on CI.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use stormeter_audit::{Level, audit_runs, sentence};
use stormeter_import::{Imported, Way};

fn has_iperf3() -> bool {
    let version = Command::new("iperf3").arg("--version").output();
    if version.is_ok_and(|output| output.status.success()) {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "iperf3 is not installed");
    let _ = writeln!(std::io::stderr(), "NOT RUN: iperf3 is not installed");
    false
}

/// A server of one test, which ends with the value.
struct Server(Child);

impl Server {
    /// Returns when it listens.
    fn start(port: &str) -> Self {
        let mut server = Command::new("iperf3")
            .args(["--server", "--one-off", "--forceflush", "--bind", "127.0.0.1", "--port", port])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let listens = lines.map_while(Result::ok).any(|line| line.contains("listening"));
        assert!(listens, "iperf3 does not listen");
        Self(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a client prints that does this.
fn measured(arguments: &[&str]) -> String {
    // Free a moment ago, and these tests take one after another.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let port = free.port().to_string();
    let _server = Server::start(&port);
    let client = Command::new("iperf3")
        .args(["--client", "127.0.0.1", "--port", &port, "--json"])
        .args(arguments)
        .output()
        .unwrap();
    let printed = String::from_utf8(client.stdout).unwrap();
    assert!(client.status.success(), "iperf3 {arguments:?}: {printed}");
    printed
}

#[test]
fn what_iperf3_prints_now_is_read_and_sound() {
    if !has_iperf3() {
        return;
    }
    let second = ["--time", "1", "--interval", "0.5"];
    let tests: [(&[&str], &[Way]); 5] = [
        (&[], &[Way::Write]),
        (&["--reverse"], &[Way::Read]),
        (&["--bidir"], &[Way::Write, Way::Read]),
        (&["--udp", "--bitrate", "20M"], &[Way::Write]),
        (&["--udp", "--bitrate", "20M", "--reverse"], &[Way::Read]),
    ];
    for (what, ways) in tests {
        let text = measured(&[what, &second].concat());
        let imported: Imported = stormeter_import::read(&text).expect("a known format").unwrap();
        assert_eq!(imported.tool, "iperf3", "{what:?}");
        assert!(imported.version.is_some(), "{what:?}");
        let run = imported.runs.get(0).unwrap();
        assert_eq!(run.directions.iter().map(|one| one.way).collect::<Vec<_>>(), ways, "{what:?}");
        for one in &run.directions {
            let (bytes, rate) = (one.bytes.unwrap().value, one.bytes_per_s.unwrap().value);
            assert!(bytes > 0.0 && rate > 0.0, "{what:?}: {one:?}");
        }
        assert!(!run.intervals.is_empty(), "{what:?}");
        let findings = audit_runs(&[("now.json".to_owned(), imported)]);
        let broken = findings.iter().filter(|found| found.level == Level::Broken);
        let broken: Vec<String> = broken.map(sentence).collect();
        assert!(broken.is_empty(), "{what:?}: {broken:?}\n{text}");
    }
}
