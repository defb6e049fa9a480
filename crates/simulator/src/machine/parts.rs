//! How a request is split into parts.

use stormeter_disk::Kind;

use super::step::Route;

/// How a request is split.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fork {
    /// Requests of at most the largest transfer, by the same route.
    Calls {
        /// The route.
        route: Route,
    },
    /// Its parts on the nodes of a distributed datastore.
    Nodes(Parts),
}

/// The first steps of parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Starts {
    pub(crate) read: u32,
    pub(crate) write: u32,
    pub(crate) flush: u32,
}

impl Starts {
    pub(crate) fn of(&self, kind: Kind) -> u32 {
        match kind {
            Kind::Read => self.read,
            Kind::Write | Kind::DurableWrite => self.write,
            Kind::Flush => self.flush,
        }
    }
}

/// Which of a host's ports a part uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The first; or, if ports are aggregated by a hash, that of the part's flow.
    First,
    /// One after another.
    Turns,
}

/// How a host reaches the nodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    /// Index of the host.
    pub(crate) host: u32,
    /// First steps over the network.
    pub(crate) over: Starts,
    /// First steps on the host's own node, if hosts are nodes.
    pub(crate) own: Option<Starts>,
    pub(crate) choice: Choice,
    /// The stations of its first port.
    pub(crate) send: u32,
    pub(crate) receive: u32,
    pub(crate) ports: u16,
}
