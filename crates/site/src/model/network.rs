//! Ports, and what lies between them.

use serde::{Deserialize, Serialize};

/// Ports of a host or a controller that serve one purpose: an HBA's, or NICs aggregated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adapter {
    /// Its name in the host or controller.
    pub name: String,
    /// What travels on it.
    pub kind: PortKind,
    /// Payload and headers of one port, each way.
    pub rate_bytes_per_s: f64,
    /// How many ports.
    pub count: u32,
    /// Which port a message takes.
    pub aggregation: Aggregation,
    /// From the wire to the CPU and back: interrupt moderation, DMA. Costs time and no CPU.
    pub latency_ns: f64,
}

/// What a port speaks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PortKind {
    /// Ethernet, with the largest IP packet it sends: 1500, or 9000 with jumbo frames.
    Ethernet {
        /// The MTU.
        mtu_bytes: u32,
    },
    /// Fibre Channel: frames of at most 2112 bytes of payload (FC-FS), with buffer credits.
    FibreChannel {
        /// Frames that may be on their way before the other end says that it has room.
        credits: u32,
    },
}

/// Which of several ports a message takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregation {
    /// The first one; the others are spare.
    ActiveBackup,
    /// By a hash of who talks with whom (802.3ad with a layer 2 or 3 hash): one flow, one port.
    Hash,
    /// One after the other.
    RoundRobin,
    /// Of a controller's ports only: hosts are dealt to them in turn, and each uses its own for
    /// everything. Host i of those that the controller serves, counted from 0, has port i modulo their
    /// number.
    ByHost,
}

/// Which path a request takes to a target that is reached by several: hypervisor's multipathing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathPolicy {
    /// One preferred path, others when it fails.
    #[default]
    Fixed,
    /// Each request takes the next path.
    RoundRobin,
}

/// A switch, or a line that all messages share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// Its name in the site.
    pub name: String,
    /// What all messages of one direction share: a trunk, a leased line. `None`: a switch that does
    /// not block, whose ports are as quick as what is plugged in.
    pub rate_bytes_per_s: Option<f64>,
    /// From one side to the other, without queueing.
    pub latency_ns: f64,
    /// What may wait in front of the shared line before packets are lost; `None`: enough.
    pub buffer_bytes: Option<u64>,
    /// Bytes more on each packet: 4 for each label of MPLS (RFC 3032).
    pub label_bytes: u32,
    /// How long nothing arrives when its path fails, until another is in use.
    pub failover_ns: u64,
}
