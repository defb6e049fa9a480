//! Trials that end when their work is done and not when their time is up.
//!
//! A timed workload answers "how fast?". Some questions are asked by a fixed amount of work: a file
//! written from begin to end, a transfer into a server, sixty desktops deployed. Such a trial is an
//! *fixed work*: its operations are what somebody waits for (a record, a transfer, a deployed VM), its
//! window is as long as it took. These are descriptions only, plain values like
//! [`crate::Trial`], because a trial may be carried to an agent on another machine.

use serde::{Deserialize, Serialize};

/// One pass over a file, record by record: the tests of iozone (Norcott & Capps, *Iozone Filesystem
/// Benchmark*). Every worker (iozone: process) has a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTest {
    /// Which test.
    pub operation: FileOperation,
    /// Bytes of a record: each read or write moves one.
    pub record_bytes: u32,
    /// Records outstanding per worker; iozone's programs wait for each record, so 1.
    pub outstanding: u32,
    /// Whether the client's page cache takes part. Without it (the default) storage is measured;
    /// with it the test says what an application sees, memory included.
    pub client_cache: bool,
}

/// The tests of a file, by iozone's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOperation {
    /// Writes a file that does not exist yet, from begin to end.
    Write,
    /// Writes over a file that exists.
    Rewrite,
    /// Reads a file from begin to end.
    Read,
    /// Reads it once more.
    Reread,
    /// Reads every record once, in random order.
    RandomRead,
    /// Writes every record of an existing file once, in random order.
    RandomWrite,
}

impl FileOperation {
    /// All of them, in iozone's order.
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

    /// Whether the file must exist, fully written, before the measured pass.
    pub fn wants_written_file(self) -> bool {
        self != FileOperation::Write
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Which way the message goes.
    pub direction: TransferDirection,
    /// Where the server keeps it.
    pub sink: TransferSink,
    /// Messages in a trial, one after the other.
    pub messages: u32,
}

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferDirection {
    /// From the client to the server; ends when the server says that it has it.
    Write,
    /// From the server to the client.
    Read,
}

/// Where the server keeps messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferSink {
    /// In memory: the datastore takes no part, as a control.
    Memory,
    /// On the worker's virtual disk, which lives on the datastore.
    Disk,
}

/// VMs deployed from a template: the template's disk is copied, the copy is customised by small random
/// writes, and read as a boot reads it (the `vsan` study's desktops). Workers deploy one VM each,
/// all at once; the time of each step is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployment {
    /// Bytes of each read and write of the copy.
    pub copy_bytes: u32,
    /// Copies outstanding per VM.
    pub outstanding: u32,
    /// Random 4 KiB writes that customise the copy.
    pub customise_writes: u32,
    /// Random 4 KiB reads of the first boot.
    pub boot_reads: u32,
}

/// The time of one step of a trial of fixed work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTime {
    /// Which step, such as `copy`.
    pub name: String,
    /// How many times it was done (once a VM).
    pub times: u64,
    /// Sum of what each took.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

impl StepTime {
    /// A step that was not done yet.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), times: 0, total_ns: 0, max_ns: 0 }
    }

    /// It was done once, and took so long.
    pub fn add(&mut self, took_ns: u64) {
        self.times += 1;
        self.total_ns += took_ns;
        self.max_ns = self.max_ns.max(took_ns);
    }
}
