//! The way to a datastore, and what a run would take there: figures, for `doctor` and for programs.

use std::net::{IpAddr, SocketAddr};

use stormeter_datastore::{
    Datastore, DatastoreError, Description, DiskSpec, RealClock, RoundTrips, TransferSizes,
};
use stormeter_study::StudyPlan;

use super::link::{Link, link_to};

/// All that was found out about the way to one datastore.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Way {
    /// Times of calls that do nothing, to a server that speaks a protocol of ours.
    pub round_trips: Option<RoundTrips>,
    /// Of an NFS export.
    pub transfer_sizes: Option<TransferSizes>,
    /// What else was negotiated, as names and values, in the words of the protocol.
    pub negotiated: Vec<Parameter>,
    /// Free space, where the datastore shares it with others.
    pub space: Option<FreeSpace>,
    /// The size of a device or LUN, in bytes.
    pub capacity_bytes: Option<u64>,
    /// The interfaces to the servers, one a server.
    pub links: Vec<Link>,
    /// What a run with the usual settings would take.
    pub run: Option<RunNeeds>,
}

/// What a protocol negotiated, or a mount has.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Parameter {
    /// Its name in the protocol.
    pub name: String,
    /// Its value, as the protocol writes it.
    pub value: String,
}

/// Space on a file system, export or pool, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct FreeSpace {
    /// What this user may still write.
    pub free_bytes: u64,
    /// What a run leaves free of it.
    pub reserve_bytes: u64,
}

/// What a run would write and how long it would take.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RunNeeds {
    /// Written before the first trial, in bytes.
    pub prepared_bytes: u64,
    /// Trials of this datastore that the fewest blocks have.
    pub least_trials: u32,
    /// Time of all trials, of all datastores of the run, with the fewest blocks, in nanoseconds.
    pub least_ns: u64,
    /// The same with the most blocks that the time limit allows.
    pub most_ns: u64,
    /// Why the disks do not fit, if they do not.
    pub refused: Option<String>,
}

/// Keys of iSCSI that decide how many round trips and packets an I/O takes (RFC 7143, section 13), and the unit.
const TELLING: [&str; 9] = [
    "unit",
    "InitialR2T",
    "ImmediateData",
    "FirstBurstLength",
    "MaxBurstLength",
    "MaxRecvDataSegmentLength (ours)",
    "MaxRecvDataSegmentLength (target's)",
    "HeaderDigest",
    "DataDigest",
];

impl Way {
    /// Asks the datastore; `plan` is the run whose needs are of interest.
    pub(super) fn to(
        datastore: &Datastore,
        description: &Description,
        plan: Option<&StudyPlan>,
        clock: &RealClock,
    ) -> Result<Self, DatastoreError> {
        let survey = datastore.survey(clock)?;
        let space = datastore.space().map(|space| FreeSpace {
            free_bytes: space.free_bytes,
            reserve_bytes: space.reserve_bytes,
        });
        Ok(Self {
            round_trips: survey.round_trips,
            transfer_sizes: survey.transfer_sizes,
            negotiated: negotiated(description),
            space,
            capacity_bytes: survey.capacity_bytes,
            links: links(datastore, description),
            run: plan.filter(|_| description.kind != "null").map(|plan| needs(datastore, plan)),
        })
    }
}

fn needs(datastore: &Datastore, plan: &StudyPlan) -> RunNeeds {
    let disks = plan.disks();
    // Comparisons ask for whole blocks of 4 KiB at least.
    let spec = DiskSpec { count: disks.count, size_bytes: disks.bytes, granularity_bytes: 4096 };
    let estimate = plan.estimate();
    RunNeeds {
        prepared_bytes: spec.total_bytes(),
        least_trials: estimate.blocks_least,
        least_ns: estimate.least_ns,
        most_ns: estimate.most_ns,
        refused: datastore.check(&spec).err().map(|error| error.to_string()),
    }
}

fn negotiated(description: &Description) -> Vec<Parameter> {
    let pairs: Vec<(String, String)> = match description.kind.as_str() {
        "iscsi" => {
            let rows = description.protocol.iter();
            rows.filter(|(name, _)| TELLING.contains(&name.as_str())).cloned().collect()
        }
        "rbd" => description.protocol.clone(),
        // The kernel's client, with what it and the server agreed on: nfs(5).
        _ => ["vers", "rsize", "wsize", "nconnect"]
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), mount_option(description, name)?)))
            .collect(),
    };
    pairs.into_iter().map(|(name, value)| Parameter { name, value }).collect()
}

/// An option of a network file system's mount.
fn mount_option(description: &Description, name: &str) -> Option<String> {
    let file_system = description.filesystem.as_ref()?;
    let options = file_system.options.split(',').filter_map(|option| option.split_once('='));
    options.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).next_back()
}

/// One link a server.
fn links(datastore: &Datastore, description: &Description) -> Vec<Link> {
    let mut servers: Vec<SocketAddr> = datastore.peers();
    let mounted = mount_option(description, "addr").and_then(|text| text.parse::<IpAddr>().ok());
    servers.extend(mounted.map(|ip| SocketAddr::new(ip, 2049)));
    let mut links: Vec<Link> = Vec::new();
    for link in servers.into_iter().filter_map(link_to) {
        if !links.contains(&link) {
            links.push(link);
        }
    }
    links
}
