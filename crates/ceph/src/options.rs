//! What a cluster consists of, as its user asks for it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stormeter_timed_disk::Speed;

use crate::CephError;

/// More OSDs than a machine for tests can carry.
const MOST_OSDS: u32 = 64;
/// Less than this is not enough for BlueStore's own files.
pub(crate) const SMALLEST_STORE: u64 = 1 << 30;

/// What copies of the same data may not share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureDomain {
    /// An OSD: any two disks will do, even those of one node.
    #[default]
    Osd,
    /// A node: the CRUSH type `host`.
    Node,
}

/// Options of a cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClusterOptions {
    /// The OSDs, numbered from 0.
    pub osds: Vec<OsdOptions>,
    /// What the copies of an object may not share.
    pub failure_domain: FailureDomain,
    /// The pool `rbd`.
    pub pool: PoolOptions,
    /// Memory for the cache of each OSD, in bytes.
    ///
    /// BlueStore caches data that was read or written; a large cache before small images hides
    /// the disks.
    pub cache_memory_bytes: u64,
    /// Further settings, as (section, name, value), such as (`osd`, `osd_max_backfills`, `1`). They come after
    /// those that we make, and win.
    pub settings: Vec<(String, String, String)>,
    /// What serves a disk with a computed speed: a program and its first arguments, after which it gets those of
    /// [`DiskServer`](crate::DiskServer). Needed if an OSD has such a disk.
    #[serde(default)]
    pub disk_server: Vec<String>,
    /// How long the start may take until all placement groups are clean.
    pub patience: Duration,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self::with_osds(3)
    }
}

impl ClusterOptions {
    /// The default cluster with a number of OSDs, each in a node of its own.
    #[must_use]
    pub fn with_osds(count: u32) -> Self {
        Self {
            osds: (0..count).map(|id| OsdOptions::in_node(format!("node-{id}"))).collect(),
            failure_domain: FailureDomain::default(),
            pool: PoolOptions::default(),
            cache_memory_bytes: 32 << 20,
            settings: Vec::new(),
            disk_server: Vec::new(),
            patience: Duration::from_secs(120),
        }
    }

    pub(crate) fn check(&self) -> Result<(), CephError> {
        let refuse = |what: String| Err(CephError::Options { what });
        let count = u32::try_from(self.osds.len()).unwrap_or(u32::MAX);
        if count == 0 || count > MOST_OSDS {
            return refuse(format!("{count} OSDs: a cluster has 1 to {MOST_OSDS}"));
        }
        self.osds.iter().try_for_each(OsdOptions::check)?;
        if self.disk_server.is_empty() && self.osds.iter().any(|osd| osd.disk.is_some()) {
            return refuse("nothing is named that serves the disks of the OSDs".into());
        }
        self.pool.check()?;
        let places = match self.failure_domain {
            FailureDomain::Osd => self.osds.len(),
            FailureDomain::Node => {
                let mut nodes: Vec<&str> = self.osds.iter().map(|osd| osd.node.as_str()).collect();
                nodes.sort_unstable();
                nodes.dedup();
                nodes.len()
            }
        };
        check_places(self.pool.replicas, self.failure_domain, places)
    }
}

/// Refuses more copies than there are places that no two may share.
pub(crate) fn check_places(
    replicas: u32,
    domain: FailureDomain,
    places: usize,
) -> Result<(), CephError> {
    if replicas as usize <= places {
        return Ok(());
    }
    let what = match domain {
        FailureDomain::Osd => "OSDs",
        FailureDomain::Node => "nodes",
    };
    let what = format!(
        "{replicas} replicas need as many {what}, and there are {places}: placement groups would never be clean"
    );
    Err(CephError::Options { what })
}

/// Options of an OSD.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OsdOptions {
    /// The node it belongs to: a CRUSH host, which is only a name here.
    pub node: String,
    /// The size of its store, in bytes. The file is sparse.
    pub store_bytes: u64,
    /// An existing file or block device to use instead of a file of our own. It is overwritten.
    pub store: Option<PathBuf>,
    /// The size of a separate file for BlueStore's database and write-ahead log, in bytes; 0 for
    /// none.
    pub cache_bytes: u64,
    /// Where that file is: an existing directory on faster storage, or next to the store.
    pub cache_directory: Option<PathBuf>,
    /// The speed of a disk of its own, which holds the store; otherwise the store is as fast as the machine's disk.
    #[serde(default)]
    pub disk: Option<Speed>,
}

impl OsdOptions {
    /// An OSD with defaults in a node.
    #[must_use]
    pub fn in_node(node: impl Into<String>) -> Self {
        Self {
            node: node.into(),
            store_bytes: 8 << 30,
            store: None,
            cache_bytes: 0,
            cache_directory: None,
            disk: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), CephError> {
        let refuse = |what: String| Err(CephError::Options { what });
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if self.node.is_empty() || !self.node.chars().all(is_plain) {
            return refuse(format!(
                "invalid node '{}': expected letters, digits and hyphens",
                self.node
            ));
        }
        if self.disk.is_some() && self.store.is_some() {
            return refuse("an OSD has a disk with a speed or an existing store, not both".into());
        }
        for (bytes, what) in [(self.store_bytes, "store"), (self.cache_bytes, "cache device")] {
            if bytes < SMALLEST_STORE && !(what == "cache device" && bytes == 0) {
                return refuse(format!("a {what} of {bytes} B is too small: 1 GiB at least"));
            }
        }
        Ok(())
    }
}

/// Options of a replicated pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolOptions {
    /// Copies of each object (`size`).
    pub replicas: u32,
    /// Copies that must be there for I/O to be served (`min_size`).
    pub min_replicas: u32,
    /// Placement groups. The more, the more evenly data is spread, and the more work there is.
    pub placement_groups: u32,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self { replicas: 2, min_replicas: 1, placement_groups: 32 }
    }
}

impl PoolOptions {
    pub(crate) fn check(&self) -> Result<(), CephError> {
        let Self { replicas, min_replicas, placement_groups } = *self;
        let what = if !(1..=10).contains(&replicas) {
            format!("{replicas} replicas: 1 to 10 are possible")
        } else if !(1..=replicas).contains(&min_replicas) {
            format!("{min_replicas} replicas at least: 1 to {replicas}, all of them, are possible")
        } else if !(1..=1024).contains(&placement_groups) {
            format!("{placement_groups} placement groups: 1 to 1024 are possible")
        } else {
            return Ok(());
        };
        Err(CephError::Options { what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_can_be_started() {
        for osds in 2..5 {
            ClusterOptions::with_osds(osds).check().unwrap();
        }
    }

    #[test]
    fn what_could_never_be_clean_is_refused() {
        let text = |options: &ClusterOptions| options.check().unwrap_err().to_string();
        let mut options = ClusterOptions::with_osds(1);
        assert!(text(&options).contains("2 replicas need as many OSDs, and there are 1"));
        options.pool = PoolOptions { replicas: 1, min_replicas: 1, placement_groups: 8 };
        options.check().unwrap();

        let mut options = ClusterOptions::with_osds(4);
        options.failure_domain = FailureDomain::Node;
        options.check().unwrap();
        for osd in &mut options.osds {
            osd.node = "one".into();
        }
        assert!(text(&options).contains("2 replicas need as many nodes, and there are 1"));
    }

    #[test]
    fn each_mistake_has_its_own_message() {
        let of = |change: fn(&mut ClusterOptions)| {
            let mut options = ClusterOptions::default();
            change(&mut options);
            options.check().unwrap_err().to_string()
        };
        let cases = [
            (of(|o| o.osds.clear()), "0 OSDs"),
            (of(|o| o.osds[0].node = "a b".into()), "invalid node 'a b'"),
            (of(|o| o.osds[1].store_bytes = 5), "a store of 5 B"),
            (of(|o| o.osds[1].cache_bytes = 5), "a cache device of 5 B"),
            (of(|o| o.pool.replicas = 0), "0 replicas"),
            (of(|o| o.pool.min_replicas = 3), "3 replicas at least"),
            (of(|o| o.pool.placement_groups = 0), "0 placement groups"),
        ];
        for (text, expected) in cases {
            assert!(text.starts_with(expected), "{text}");
        }
    }
}
