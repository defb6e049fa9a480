//! Ports, and the networks between them.

use serde::{Deserialize, Serialize};

/// Ports of a host or a controller with the same purpose: those of an HBA, or aggregated NICs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adapter {
    /// Its name in the host or controller.
    pub name: String,
    /// What the ports carry.
    pub kind: PortKind,
    /// Rate of one port in each direction, payload and headers.
    pub rate_bytes_per_s: f64,
    /// Number of ports.
    pub count: u32,
    /// How a message's port is selected.
    pub aggregation: Aggregation,
    /// From the wire to the CPU and back: interrupt moderation, DMA. Costs time but no CPU.
    pub latency_ns: f64,
    /// How packets are handled together; Ethernet only.
    #[serde(default)]
    pub coalescing: Coalescing,
}

/// Packets of one message that the CPU handles at once. The default: each by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Coalescing {
    /// The most bytes of a batch, with TCP/IP headers: segmentation offload when sending (TSO), merging
    /// when receiving (LRO, GRO). 0: each packet is a batch.
    pub bytes: u32,
    /// The least time between two interrupts for received packets: those that arrive in between are one
    /// batch. 0: each received packet is one.
    pub moderation_ns: f64,
}

/// The protocol of a port.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PortKind {
    /// Ethernet, with the largest IP packet that it sends: 1500, or 9000 with jumbo frames.
    Ethernet {
        /// The MTU.
        mtu_bytes: u32,
    },
    /// Fibre Channel: frames of at most 2112 bytes of payload (FC-FS), with buffer credits.
    FibreChannel {
        /// Frames that may be in flight before the other end signals that it has space.
        credits: u32,
    },
}

/// How a message's port is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregation {
    /// The first port; the others are spares.
    ActiveBackup,
    /// By a hash of the two ends (802.3ad with a layer 2 or 3 hash): one flow, one port.
    Hash,
    /// In turn.
    RoundRobin,
    /// For a controller's ports only: hosts are assigned to them in turn, and each uses its port for
    /// everything. Host i of those that the controller serves, counted from 0, has port i modulo their
    /// number.
    ByHost,
}

/// How a request's path to a target with several paths is selected: the hypervisor's multipathing.
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
    /// Rate that all messages of one direction share: a trunk, a leased line. `None`: a
    /// non-blocking switch, whose ports are as fast as what is plugged in.
    pub rate_bytes_per_s: Option<f64>,
    /// From one side to the other, without queueing.
    pub latency_ns: f64,
    /// Buffer space in front of the shared line before packets are lost; `None`: unlimited.
    pub buffer_bytes: Option<u64>,
    /// Additional bytes on each packet: 4 for each MPLS label (RFC 3032).
    pub label_bytes: u32,
    /// How long nothing arrives when its path fails, until another path is in use.
    pub failover_ns: u64,
}
