//! A server that answers at once and stores nothing, in a separate process, so that it can have its
//! own CPU and costs the measured process nothing.
//!
//! It is this program again with a hidden command, and ends when its standard input does: with the
//! process that started it, however that ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use stormeter_server::{NullIscsi, NullNfs, ServerError};

use crate::failure::Failure;

/// The protocol to serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Nfs,
    Iscsi,
}

/// Serves on a port (0: a free one), which is printed, until `until` ends.
pub(crate) fn serve(
    (protocol, port): (Protocol, u16),
    mut until: impl Read,
    mut output: impl Write,
) -> Result<(), Failure> {
    let failed = |error: ServerError| error.to_string();
    let running = match protocol {
        Protocol::Nfs => NullNfs::bind(port).and_then(NullNfs::spawn),
        Protocol::Iscsi => NullIscsi::bind(port).and_then(NullIscsi::spawn),
    }
    .map_err(failed)?;
    writeln!(output, "{}", running.port()).map_err(|error| error.to_string())?;
    // A broken input counts as ended.
    let _ = std::io::copy(&mut until, &mut std::io::sink());
    Ok(())
}

/// The process; ends when this is dropped.
pub(crate) struct NullServer {
    child: Child,
    port: u16,
}

impl NullServer {
    /// Starts it on a port (0: a free one) and a CPU.
    pub(crate) fn start(protocol: Protocol, port: u16, cpu: &str) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let command = match protocol {
            Protocol::Nfs => "serve-null-nfs",
            Protocol::Iscsi => "serve-null-iscsi",
        };
        let child = Command::new("taskset")
            .args(["-c", cpu])
            .arg(program)
            .args([command, &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("taskset could not be started ({error}): is it installed?"))?;
        // Created first, so that it is ended whatever happens.
        let mut server = Self { child, port: 0 };
        let mut line = String::new();
        if let Some(output) = server.child.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        server.port = line
            .trim()
            .parse()
            .map_err(|_| format!("{command} printed \"{line}\" instead of a port"))?;
        Ok(server)
    }

    /// Its port of 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpStream};

    use super::*;

    #[test]
    fn it_serves_until_its_input_ends() {
        for protocol in [Protocol::Nfs, Protocol::Iscsi] {
            let (until, keep) = std::io::pipe().unwrap();
            let (input, output) = std::io::pipe().unwrap();
            let server = std::thread::spawn(move || serve((protocol, 0), until, output));
            let mut line = String::new();
            BufReader::new(input).read_line(&mut line).unwrap();
            let address = (Ipv4Addr::LOCALHOST, line.trim().parse().unwrap());
            assert!(TcpStream::connect(address).is_ok());
            drop(keep);
            server.join().unwrap().unwrap();
            assert!(TcpStream::connect(address).is_err());
        }
    }
}
