//! The paths to network storage, and their own ceilings: law 8.
//!
//! Between the load and an NFS server or an iSCSI target there is more than the load generator: a client, sockets, the
//! kernel's network stack. `null:` shows none of it. So the same client, with the options of the datastore, is measured
//! against a null server, which answers at once from nothing.
//!
//! That server shares the CPUs of this machine with the client, unlike a server elsewhere: the figure is a lower bound of
//! the path's ceiling. Therefore it only causes a warning and never an invalid result. A fast server elsewhere may well
//! reach a third of it, or exceed it.

use stormeter_datastore::{DatastoreUrl, Location};
use stormeter_trial::Workload;

use crate::error::RunError;

/// The protocol of a null server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullProtocol {
    /// NFSv3.
    Nfs,
    /// iSCSI.
    Iscsi,
}

/// Why a null server did not start.
pub type NullServerError = Box<dyn std::error::Error + Send + Sync>;

/// Starts null servers, in processes of their own on this machine.
pub trait NullServers {
    /// The URL of a server of this protocol: a running one, or a new one.
    ///
    /// # Errors
    /// The server does not start.
    fn start(&mut self, protocol: NullProtocol) -> Result<String, NullServerError>;

    /// Ends all servers. They are started again on request.
    fn stop(&mut self);
}

/// A path to storage: a client with its options, and nothing of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Way {
    protocol: NullProtocol,
    /// A URL without a real server, for its options.
    client: DatastoreUrl,
}

impl Way {
    /// The path to a datastore; `None` if it has no client of ours.
    pub(crate) fn to(url: &DatastoreUrl) -> Option<Self> {
        let (protocol, nowhere) = match &url.location {
            Location::Nfs(_) => (NullProtocol::Nfs, "nfs://nowhere/null"),
            Location::Iscsi(_) => (NullProtocol::Iscsi, "iscsi://nowhere/iqn.2026-01.null:null/0"),
            _ => return None,
        };
        let mut client = DatastoreUrl::parse(nowhere).ok()?;
        carry_over(url, &mut client);
        Some(Self { protocol, client })
    }

    pub(crate) fn protocol(&self) -> NullProtocol {
        self.protocol
    }

    /// The same path to a server at this URL.
    pub(crate) fn through(&self, server: &str) -> Result<DatastoreUrl, RunError> {
        let mut url = DatastoreUrl::parse(server)?;
        carry_over(&self.client, &mut url);
        Ok(url)
    }
}

/// The options that affect a client's performance. The login does not; a null target has no digests.
fn carry_over(from: &DatastoreUrl, to: &mut DatastoreUrl) {
    to.engine = from.engine;
    match (&from.location, &mut to.location) {
        (Location::Nfs(from), Location::Nfs(to)) => {
            to.connections = from.connections;
            to.sync = from.sync;
            to.timeout = from.timeout;
        }
        (Location::Iscsi(from), Location::Iscsi(to)) => {
            let portals = from.portals.len() as u32;
            to.sessions = from.sessions.or_else(|| (portals > 1).then_some(portals));
            to.policy = from.policy;
            to.initial_r2t = from.initial_r2t;
            to.immediate_data = from.immediate_data;
            to.timeout = from.timeout;
        }
        _ => {}
    }
}

/// The longest measurement of a path's ceiling, which has connections to warm up.
pub(crate) const NULL_WAY_NS: u64 = 1_000_000_000;

/// The paths to these datastores, each once, with its datastores.
pub(crate) fn ways(urls: impl Iterator<Item = (usize, DatastoreUrl)>) -> Vec<(Way, Vec<usize>)> {
    let mut ways: Vec<(Way, Vec<usize>)> = Vec::new();
    for (datastore, url) in urls {
        let Some(way) = Way::to(&url) else { continue };
        match ways.iter_mut().find(|(known, _)| *known == way) {
            Some((_, datastores)) => datastores.push(datastore),
            None => ways.push((way, vec![datastore])),
        }
    }
    ways
}

/// The size of disks for a path's ceiling: they are written through it first, and a server that stores nothing answers
/// alike at all places.
pub(crate) fn disk_bytes(workload: &Workload, most_bytes: u64) -> u64 {
    const LEAST_BYTES: u64 = 4 << 20;
    let mut bytes = LEAST_BYTES;
    while bytes < most_bytes && workload.check(bytes).is_err() {
        bytes *= 2;
    }
    bytes.min(most_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(url: &str) -> Option<Way> {
        Way::to(&DatastoreUrl::parse(url).unwrap())
    }

    #[test]
    fn a_way_is_the_client_and_not_the_server() {
        assert_eq!(way("/srv"), None);
        assert_eq!(way("null:"), None);
        assert_eq!(way("nfs://a/x"), way("nfs://b:2049/y?uid=7"));
        assert_ne!(way("nfs://a/x"), way("nfs://a/x?connections=4"));
        assert_ne!(way("nfs://a/x"), way("nfs://a/x?sync=unstable"));
        let lun = |options: &str| way(&format!("iscsi://me@a/iqn.2026-01.example:vm/1{options}"));
        assert_eq!(lun(""), lun("?password-file=/etc/key&initiator=iqn.2026-01.example:me"));
        assert_ne!(lun(""), lun("?sessions=2"));
        assert_eq!(lun("?portals=b"), lun("?sessions=2"));
    }

    #[test]
    fn the_same_way_leads_to_a_null_server() {
        let through =
            |url: &str, server: &str| way(url).unwrap().through(server).unwrap().to_string();
        assert_eq!(
            through("nfs://nas/x?connections=4&uid=7", "nfs://127.0.0.1:9/null?mountport=9"),
            "nfs://127.0.0.1:9/null?mountport=9&connections=4"
        );
        assert_eq!(
            through(
                "iscsi://me@san/iqn.2026-01.example:vm/1?portals=b&policy=round-robin&data-digest=crc32c",
                "iscsi://127.0.0.1:9/iqn.2026-01.null:x/0"
            ),
            "iscsi://127.0.0.1:9/iqn.2026-01.null:x/0?sessions=2&policy=round-robin"
        );
    }

    #[test]
    fn datastores_of_one_way_are_measured_together() {
        let urls = [
            "/a",
            "nfs://a/x",
            "nfs://b/y",
            "iscsi://s/iqn.2026-01.example:vm/1",
            "nfs://a/x?connections=2",
        ];
        let urls = urls.map(|url| DatastoreUrl::parse(url).unwrap());
        let found = ways(urls.into_iter().enumerate());
        let datastores: Vec<_> = found.into_iter().map(|(_, datastores)| datastores).collect();
        assert_eq!(datastores, [vec![1, 2], vec![3], vec![4]]);
    }

    #[test]
    fn disks_are_as_small_as_the_workload_allows() {
        let mut workload = stormeter_study::profile("vm-4k").unwrap().workload;
        assert_eq!(disk_bytes(&workload, 1 << 40), 4 << 20);
        assert_eq!(disk_bytes(&workload, 1 << 20), 1 << 20);
        workload.sizes[0].bytes = 64 << 20;
        assert!(workload.check(disk_bytes(&workload, 1 << 40)).is_ok());
    }
}
