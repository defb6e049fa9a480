//! Servers that answer at once from nothing, as children of this program: the ceilings of the ways to storage.

use std::ffi::OsStr;

use stormeter_runner::{NullProtocol, NullServerError, NullServers};

use crate::child::ServerChild;
use crate::exit::Failure;

/// The children that run, one a protocol.
#[derive(Default)]
pub(crate) struct NullServerChildren {
    running: Vec<(NullProtocol, ServerChild)>,
}

impl NullServers for NullServerChildren {
    fn start(&mut self, protocol: NullProtocol) -> Result<String, NullServerError> {
        if let Some((_, child)) = self.running.iter().find(|(known, _)| *known == protocol) {
            return Ok(child.url().to_owned());
        }
        let child = null_server(protocol).map_err(|failure| failure.to_string())?;
        let url = child.url().to_owned();
        self.running.push((protocol, child));
        Ok(url)
    }

    fn stop(&mut self) {
        self.running.clear();
    }
}

/// A server of that protocol in a process of its own.
pub(crate) fn null_server(protocol: NullProtocol) -> Result<ServerChild, Failure> {
    let name = match protocol {
        NullProtocol::Nfs => "nfs",
        NullProtocol::Iscsi => "iscsi",
    };
    ServerChild::start(["serve-null", name].map(OsStr::new))
}
