//! Trials that end when their work is done rather than when their time is up.
//!
//! A timed workload answers "how fast?". Some questions are about a fixed amount of work: a file
//! written from start to end, a transfer to a server, sixty desktops deployed. Such a trial is *fixed
//! work*: its operations are what a user waits for (a record, a transfer, a deployed VM), and its
//! window is as long as it took. These are only descriptions, plain values like [`crate::Trial`],
//! because a trial may be sent to an agent on another machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_disk::Kind;

/// One pass over a file, record by record: iozone's tests (Norcott & Capps, *Iozone Filesystem
/// Benchmark*). Every worker (iozone: process) has its own file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FileTest {
    /// The test.
    pub operation: FileOperation,
    /// Size of a record in bytes: each read or write moves one.
    pub record_bytes: u32,
    /// Records outstanding per worker; iozone's programs wait for each record, so 1.
    pub outstanding: u32,
    /// Whether the client's page cache is used. Without it (the default) storage is measured; with
    /// it, what an application sees, memory included.
    pub client_cache: bool,
    /// Whether each worker ends with a flush of its file, which is part of its time (iozone's `-e`).
    #[serde(default)]
    pub flush_at_end: bool,
}

/// The tests, by iozone's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileOperation {
    /// Writes a new file from start to end.
    Write,
    /// Overwrites an existing file.
    Rewrite,
    /// Reads a file from start to end.
    Read,
    /// Reads it again.
    Reread,
    /// Reads every record once, in random order.
    RandomRead,
    /// Writes every record of an existing file once, in random order.
    RandomWrite,
}

impl FileOperation {
    /// All tests, in iozone's order.
    pub const ALL: [FileOperation; 6] = [
        FileOperation::Write,
        FileOperation::Rewrite,
        FileOperation::Read,
        FileOperation::Reread,
        FileOperation::RandomRead,
        FileOperation::RandomWrite,
    ];

    /// The name in study files.
    pub fn name(self) -> &'static str {
        match self {
            FileOperation::Write => "write",
            FileOperation::Rewrite => "rewrite",
            FileOperation::Read => "read",
            FileOperation::Reread => "reread",
            FileOperation::RandomRead => "random-read",
            FileOperation::RandomWrite => "random-write",
        }
    }

    /// Whether records are read.
    pub fn reads(self) -> bool {
        matches!(self, FileOperation::Read | FileOperation::Reread | FileOperation::RandomRead)
    }

    /// Whether records are visited in random order.
    pub fn is_random(self) -> bool {
        matches!(self, FileOperation::RandomRead | FileOperation::RandomWrite)
    }
}

/// Messages of one size between a client and a server over TCP, the server keeping them in its memory
/// or on its virtual disk: what a user of a VM waits for (the `nfs-datastore` study).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Transfer {
    /// Size of a message in bytes.
    pub message_bytes: u64,
    /// The direction of the message.
    pub direction: TransferDirection,
    /// Where the server stores it.
    pub sink: TransferSink,
    /// Messages per trial, one after another.
    pub messages: u32,
}

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransferDirection {
    /// From the client to the server; ends when the server acknowledges it.
    Write,
    /// From the server to the client.
    Read,
}

impl TransferDirection {
    /// What messages in this direction are for the server.
    pub fn kind(self) -> Kind {
        match self {
            TransferDirection::Write => Kind::Write,
            TransferDirection::Read => Kind::Read,
        }
    }
}

/// Where the server stores messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransferSink {
    /// In memory: the datastore is not involved, as a control.
    Memory,
    /// On the worker's virtual disk, which is on the datastore.
    Disk,
}

/// VMs deployed from a template: each gets a copy of the template's disk, which is customised by small random
/// writes, and read as during a boot (the `vsan` study's desktops). Workers deploy one VM each, all at
/// once; the time of each step is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Deployment {
    /// Size of each read and write of the copy, in bytes; 0 if the storage clones the template.
    pub copy_bytes: u32,
    /// Whether the storage makes each disk as a clone of the template. Its bytes do not pass through the host, and
    /// blocks that were not written since are the template's.
    #[serde(default)]
    pub clone: bool,
    /// I/Os outstanding per VM.
    pub outstanding: u32,
    /// Random 4 KiB writes that customise the copy.
    pub customise_writes: u32,
    /// Random 4 KiB reads of the first boot.
    pub boot_reads: u32,
}

/// The time of one step of a trial of fixed work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepTime {
    /// Name of the step, such as `copy`.
    pub name: String,
    /// How many times it was done (once per VM).
    pub times: u64,
    /// Total time.
    pub total_ns: u64,
    /// The longest time.
    pub max_ns: u64,
}

impl StepTime {
    /// A step that has not been done yet.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), times: 0, total_ns: 0, max_ns: 0 }
    }

    /// Records one execution that took this long.
    pub fn add(&mut self, took_ns: u64) {
        self.times += 1;
        self.total_ns += took_ns;
        self.max_ns = self.max_ns.max(took_ns);
    }
}
