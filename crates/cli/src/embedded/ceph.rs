//! The cluster behind `embedded:ceph`.
//!
//! All such datastores of a study are pools of one cluster, each on as many nodes, disks and copies as its URL says: a
//! cluster each would have to be started and kept running, and idle daemons take CPU time as well. OSDs are shared by
//! pools whose disks are alike.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use stormeter_ceph::{
    CephError, Cluster, ClusterOptions, FailureDomain, GuardedCluster, OsdOptions, PoolOptions,
    Speed,
};
use stormeter_units::parse_bytes;

use super::url::{join, take};
use crate::child::disk_server;
use crate::exit::Failure;

const OPTIONS: &str = "nodes=N, disks=N (of each node), replicas=N, disk=SPEED (of each disk, such as 8ms,100MB/s) and \
                       db=SIZE (of a file on this machine's disk for each OSD's database and log)";
/// More daemons than two cores can carry.
const MOST: u32 = 16;
/// Enough for an even distribution on a few OSDs.
const GROUPS: u32 = 32;
/// How long it may take to be clean after its pools were made, or after faults.
const CLEAN: Duration = Duration::from_secs(180);

/// What the disks of OSDs are: pools with the same share OSDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    /// As position and rate.
    disk: Option<(u64, u64)>,
    db_bytes: u64,
}

/// A datastore's pool, as its URL says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    kind: Kind,
    nodes: u32,
    disks: u32,
    replicas: u32,
}

impl Shape {
    /// Where its OSDs are: disk and node.
    fn places(self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.disks).flat_map(move |disk| (0..self.nodes).map(move |node| (disk, node)))
    }
}

/// The running cluster; it ends when this is dropped.
pub(crate) struct EmbeddedCeph {
    cluster: GuardedCluster,
    /// Pairs of the name in the plan and the URL to open.
    pub(super) addresses: Vec<(String, String)>,
}

impl EmbeddedCeph {
    /// Starts it in `directory`, with a pool for each kind of URL.
    pub(super) fn start(
        directory: &Path,
        urls: &[&String],
        say: &dyn Fn(&str),
    ) -> Result<Self, Failure> {
        let shapes: Vec<(Shape, String)> =
            urls.iter().map(|url| parse(url)).collect::<Result<_, _>>()?;
        // What a killed run left.
        if let Ok(left) = Cluster::open(directory) {
            left.down()?;
        }
        let osds = osds(shapes.iter().map(|(shape, _)| *shape));
        say(&format!("starting a Ceph cluster of {} OSDs", osds.len()));
        let cluster = GuardedCluster::up(directory, &options(&osds)?)?;
        let mut pools = BTreeMap::new();
        for (shape, _) in &shapes {
            if pools.contains_key(shape) {
                continue;
            }
            let name = format!("pool-{}", pools.len());
            let used: Vec<u32> =
                shape.places().filter_map(|place| number(&osds, shape.kind, place)).collect();
            let domain = match shape.replicas <= shape.nodes {
                true => FailureDomain::Node,
                false => FailureDomain::Osd,
            };
            let pool =
                PoolOptions { replicas: shape.replicas, min_replicas: 1, placement_groups: GROUPS };
            cluster.create_pool_on(&name, &pool, &used, domain)?;
            pools.insert(*shape, name);
        }
        cluster.wait_clean(CLEAN)?;
        let conf = cluster.conf().display().to_string();
        let address = |(shape, options): &(Shape, String)| {
            let pool = pools.get(shape).map_or("", String::as_str);
            join(&format!("rbd:{pool}?conf={conf}"), options)
        };
        let addresses = urls.iter().map(|url| (*url).clone());
        let addresses = addresses.zip(shapes.iter().map(address)).collect();
        Ok(Self { cluster, addresses })
    }

    /// The cluster, for steps.
    pub(crate) fn cluster(&self) -> Result<Cluster, CephError> {
        Cluster::open(self.cluster.directory())
    }
}

/// The options of a cluster with these OSDs.
fn options(osds: &[(Kind, (u32, u32))]) -> Result<ClusterOptions, Failure> {
    let osd = |(kind, (_, node)): &(Kind, (u32, u32))| OsdOptions {
        disk: kind.disk.map(|(position_ns, bytes_per_s)| Speed { position_ns, bytes_per_s }),
        cache_bytes: kind.db_bytes,
        ..OsdOptions::in_node(node_name(osds, *kind, *node))
    };
    // Every cluster has this pool; nothing is in it.
    let pool = PoolOptions { replicas: 1, min_replicas: 1, placement_groups: 1 };
    // Data that an OSD keeps in memory would not be read from its disk.
    let uncached = ["bluestore_default_buffered_read", "bluestore_default_buffered_write"]
        .map(|name| ("osd".to_owned(), name.to_owned(), "false".to_owned()));
    Ok(ClusterOptions {
        osds: osds.iter().map(osd).collect(),
        pool,
        settings: uncached.into(),
        disk_server: disk_server()?,
        patience: CLEAN,
        ..ClusterOptions::default()
    })
}

/// `node-0` in a cluster whose disks are all alike; otherwise each kind has its own nodes.
fn node_name(osds: &[(Kind, (u32, u32))], kind: Kind, node: u32) -> String {
    let kinds: BTreeSet<Kind> = osds.iter().map(|(kind, _)| *kind).collect();
    match kinds.iter().position(|other| *other == kind) {
        None | Some(0) => format!("node-{node}"),
        Some(other) => format!("node-{other}-{node}"),
    }
}

/// The OSDs that the pools need, in the order of their numbers: of each kind the first disk of every node, then the
/// second ones.
fn osds(shapes: impl Iterator<Item = Shape>) -> Vec<(Kind, (u32, u32))> {
    let all: BTreeSet<_> =
        shapes.flat_map(|shape| shape.places().map(move |place| (shape.kind, place))).collect();
    all.into_iter().collect()
}

fn number(osds: &[(Kind, (u32, u32))], kind: Kind, place: (u32, u32)) -> Option<u32> {
    let index = osds.iter().position(|osd| *osd == (kind, place))?;
    u32::try_from(index).ok()
}

/// The shape that a URL asks for, and its options for images.
fn parse(url: &str) -> Result<(Shape, String), Failure> {
    let mut shape =
        Shape { kind: Kind { disk: None, db_bytes: 0 }, nodes: 3, disks: 1, replicas: 2 };
    let rest = take(url, |name, value| {
        let count = || {
            let count = value.parse().ok().filter(|count| (1..=MOST).contains(count));
            count.ok_or_else(|| format!("write a number from 1 to {MOST}; there are {OPTIONS}"))
        };
        match name {
            "nodes" => shape.nodes = count()?,
            "disks" => shape.disks = count()?,
            "replicas" => shape.replicas = count()?,
            "disk" => {
                let speed: Speed = value.parse().map_err(|error| format!("{error}"))?;
                shape.kind.disk = Some((speed.position_ns, speed.bytes_per_s));
            }
            "db" => {
                shape.kind.db_bytes = parse_bytes(value).map_err(|error| error.to_string())?;
            }
            "conf" | "id" | "namespace" => return Err("an embedded cluster has its own".into()),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let Shape { nodes, disks, replicas, .. } = shape;
    if nodes * disks > MOST || replicas > nodes * disks {
        return Err(Failure::Usage(format!(
            "{url}: {replicas} replicas on {nodes} nodes with {disks} disks each; there are at most {MOST} disks, \
             and each has at most one replica"
        )));
    }
    Ok((shape, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(url: &str) -> (Shape, String) {
        parse(url).unwrap_or_else(|failure| panic!("{failure}"))
    }

    #[test]
    fn options_of_the_cluster_are_taken_and_those_of_images_are_left() {
        let (shape, rest) = shape(
            "embedded:ceph?nodes=4&stripes=3&replicas=1&disk=8ms,100MB/s&db=1GiB&stripe-unit=1MiB",
        );
        assert_eq!((shape.nodes, shape.disks, shape.replicas), (4, 1, 1));
        let kind = Kind { disk: Some((8_000_000, 100_000_000)), db_bytes: 1 << 30 };
        assert_eq!((shape.kind, rest.as_str()), (kind, "?stripes=3&stripe-unit=1MiB"));
        assert_eq!(parse("embedded:ceph").unwrap_or_else(|f| panic!("{f}")).1, "");
        for (bad, reason) in [
            ("nodes=0", "from 1 to 16"),
            ("disk=fast", "8ms,100MB/s"),
            ("replicas=4", "4 replicas on 3 nodes"),
            ("nodes=5&disks=5", "at most 16"),
            ("conf=/etc/ceph/ceph.conf", "has its own"),
        ] {
            let Err(failure) = parse(&format!("embedded:ceph?{bad}")) else { panic!("{bad}") };
            assert!(failure.to_string().contains(reason), "{failure}");
        }
    }

    #[test]
    fn pools_share_osds_whose_disks_are_alike() {
        let urls = [
            "nodes=1&replicas=1",
            "nodes=3",
            "nodes=2&disks=2&replicas=1",
            "nodes=1&replicas=1&disk=1ms,1MB/s",
        ];
        let shapes = urls.map(|options| shape(&format!("embedded:ceph?{options}")).0);
        let osds = osds(shapes.into_iter());
        let used = |shape: Shape| -> Vec<u32> {
            shape.places().filter_map(|place| number(&osds, shape.kind, place)).collect()
        };
        assert_eq!(osds.len(), 3 + 2 + 1);
        assert_eq!(shapes.map(used), [vec![0], vec![0, 1, 2], vec![0, 1, 3, 4], vec![5]]);
        let name = |index: usize| node_name(&osds, osds[index].0, osds[index].1.1);
        assert_eq!([name(0), name(3), name(5)], ["node-0", "node-0", "node-1-0"]);
    }
}
