//! Hosts, and what a protocol's stack costs them.

use serde::{Deserialize, Serialize};

use super::network::Adapter;

/// Hosts of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostGroup {
    /// Its name in the site.
    pub name: String,
    /// How many there are.
    pub count: u32,
    /// Cores of each.
    pub cores: u32,
    /// Clock of a core.
    pub clock_hz: f64,
    /// At most so many VMs on each; `None`: as many as are asked for.
    pub vms_per_host: Option<u32>,
    /// Cycles of each request that the requests of one VM spend one after the other, whatever the host
    /// has of cores: its virtual adapter, the thread that serves it. Time only; what of it is CPU is in
    /// the stack's cost.
    pub vm_path_cycles: f64,
    /// Its HBAs and NICs, by what they are for.
    pub adapters: Vec<Adapter>,
}

/// How blocks travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Not at all: the disks are in the host.
    Local,
    /// NFSv3 over TCP (RFC 1813): one call and one reply, writes FILE_SYNC.
    Nfs,
    /// iSCSI (RFC 7143).
    Iscsi,
    /// SCSI over Fibre Channel (FCP).
    Fc,
}

impl Protocol {
    /// All of them, in the order in which messages list them.
    pub const ALL: [Protocol; 4] = [Protocol::Local, Protocol::Nfs, Protocol::Iscsi, Protocol::Fc];

    /// The name in a site file.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Local => "local",
            Protocol::Nfs => "nfs",
            Protocol::Iscsi => "iscsi",
            Protocol::Fc => "fc",
        }
    }
}

/// CPU of one request, in cycles of one core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Of each read.
    pub per_read_cycles: f64,
    /// Of each write.
    pub per_write_cycles: f64,
    /// Of each byte of payload: copies, checksums.
    pub per_byte_cycles: f64,
    /// Of each packet or frame of payload, in either direction: its interrupt and its way through the
    /// layers. Jumbo frames save these.
    pub per_packet_cycles: f64,
}

/// The protocol stack of an initiator: the hypervisor's, say, in one of its versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// Its name in the site.
    pub name: String,
    /// What it speaks.
    pub protocol: Protocol,
    /// Its cost on the host, all layers of the hypervisor's storage path together. One half is spent
    /// before the request leaves and one after the answer came.
    pub cost: Cost,
    /// Cycles more for a request that takes another path than the one before it (round-robin).
    pub path_switch_cycles: f64,
    /// What was agreed.
    pub options: ProtocolOptions,
}

/// What initiator and target agreed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProtocolOptions {
    /// iSCSI: the target asks for every byte of a write with R2T (InitialR2T=Yes): a round trip more.
    pub initial_r2t: bool,
    /// iSCSI: the first bytes of a write travel with the command (ImmediateData=Yes).
    pub immediate_data: bool,
    /// iSCSI: payload that travels unsolicited, at most (FirstBurstLength).
    pub first_burst_bytes: u32,
    /// iSCSI: what one R2T asks for, at most (MaxBurstLength).
    pub max_burst_bytes: u32,
    /// iSCSI: payload of one PDU, at most (MaxRecvDataSegmentLength).
    pub segment_bytes: u32,
    /// iSCSI: CRC32C over header or data; cycles a byte are in the stack's cost.
    pub header_digest: bool,
    /// As `header_digest`, over data.
    pub data_digest: bool,
    /// NFS: payload of one call, at most (rsize and wsize).
    pub transfer_bytes: u32,
}

impl Default for ProtocolOptions {
    /// RFC 7143's defaults for iSCSI (section 13) but ImmediateData and a segment of 256 KiB as
    /// Linux's initiators ask for; 64 KiB of NFS, as hypervisors of the studies' time mount.
    fn default() -> Self {
        Self {
            initial_r2t: false,
            immediate_data: true,
            first_burst_bytes: 64 << 10,
            max_burst_bytes: 256 << 10,
            segment_bytes: 256 << 10,
            header_digest: false,
            data_digest: false,
            transfer_bytes: 64 << 10,
        }
    }
}
