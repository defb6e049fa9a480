//! Hosts, and the cost of a protocol stack on them.

use serde::{Deserialize, Serialize};

use super::network::Adapter;

/// Hosts of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostGroup {
    /// Its name in the site.
    pub name: String,
    /// Number of hosts.
    pub count: u32,
    /// Number of cores of each.
    pub cores: u32,
    /// Clock rate of a core, in hertz.
    pub clock_hz: f64,
    /// The most VMs on each; `None`: no limit.
    pub vms_per_host: Option<u32>,
    /// Cycles per request that the requests of one VM spend one after another, however many cores the
    /// host has: its virtual adapter, the thread that serves it. Time only; its CPU cost is part of the
    /// stack's cost.
    pub vm_path_cycles: f64,
    /// The page cache of the clients on each, through which file tests go that ask for it; `None` where nothing is known
    /// of it.
    pub page_cache: Option<PageCache>,
    /// Its HBAs and NICs, by purpose.
    pub adapters: Vec<Adapter>,
}

/// The page cache of an operating system.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PageCache {
    /// The memory that it can have.
    pub memory_bytes: u64,
    /// The share of it that may be dirty; writing back begins at half of that.
    pub dirty_share: f64,
    /// The largest request of writing back and of reading ahead.
    pub request_bytes: u32,
    /// Requests with which a file is written back at a time.
    pub outstanding: u32,
    /// Time of a core for each read of a program, in addition to the copy.
    pub per_read_ns: f64,
    /// The same for each write.
    pub per_write_ns: f64,
    /// Rate at which a core copies between it and a program.
    pub copy_bytes_per_s: f64,
}

/// The storage protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// None: the disks are in the host.
    Local,
    /// NFSv3 over TCP (RFC 1813): one call and one reply, writes FILE_SYNC.
    Nfs,
    /// iSCSI (RFC 7143).
    Iscsi,
    /// SCSI over Fibre Channel (FCP).
    Fc,
}

impl Protocol {
    /// All protocols, in the order in which messages list them.
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

/// CPU cost of one request, in cycles of one core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Per read.
    pub per_read_cycles: f64,
    /// Per write.
    pub per_write_cycles: f64,
    /// Per byte of payload: copies, checksums.
    pub per_byte_cycles: f64,
    /// Per packet or frame of payload, in either direction: its buffer and its descriptor. Jumbo frames
    /// save this.
    pub per_packet_cycles: f64,
    /// Per batch of packets that are handled at once, in either direction: the interrupt and the path
    /// through the layers. Without [`Coalescing`](super::Coalescing), each packet is one.
    #[serde(default)]
    pub per_batch_cycles: f64,
}

/// The protocol stack of an initiator, such as that of one version of a hypervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// Its name in the site.
    pub name: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its CPU cost on the host, over all layers of the hypervisor's storage path. One half is spent
    /// before the request is sent and one half after the answer has arrived.
    pub cost: Cost,
    /// Additional cycles for a request that takes a different path from the previous one
    /// (round-robin).
    pub path_switch_cycles: f64,
    /// The negotiated options.
    pub options: ProtocolOptions,
}

/// The options that initiator and target have negotiated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProtocolOptions {
    /// iSCSI: the target requests every byte of a write with R2T (InitialR2T=Yes), which adds a round
    /// trip.
    pub initial_r2t: bool,
    /// iSCSI: the first bytes of a write are sent with the command (ImmediateData=Yes).
    pub immediate_data: bool,
    /// iSCSI: the most unsolicited payload (FirstBurstLength).
    pub first_burst_bytes: u32,
    /// iSCSI: the most payload per R2T (MaxBurstLength).
    pub max_burst_bytes: u32,
    /// iSCSI: the most payload per PDU (MaxRecvDataSegmentLength).
    pub segment_bytes: u32,
    /// iSCSI: CRC32C over the header; its cycles per byte are in the stack's cost.
    pub header_digest: bool,
    /// Like `header_digest`, over the data.
    pub data_digest: bool,
    /// NFS: the most payload per call (rsize and wsize).
    pub transfer_bytes: u32,
    /// NFS: writes may complete in the server's memory (UNSTABLE), so that a flush is a COMMIT. If not,
    /// each write is stable before it completes (FILE_SYNC), and a flush has nothing to do (RFC 1813,
    /// sections 3.3.7 and 3.3.21).
    pub unstable_writes: bool,
}

impl Default for ProtocolOptions {
    /// RFC 7143's defaults for iSCSI (section 13) except ImmediateData and a segment of 256 KiB,
    /// which Linux's initiators request; 64 KiB and FILE_SYNC for NFS, as hypervisors mounted at the
    /// time of the studies.
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
            unstable_writes: false,
        }
    }
}
