//! fio's I/O engines, and what Stormeter does in their place.

/// What stands for an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    /// Files and devices, with this many requests outstanding at most for each job; `None`: as many as iodepth says.
    Files {
        /// The most that a job keeps outstanding.
        most_outstanding: Option<u32>,
    },
    /// Nothing: `null:`.
    Null,
    /// An export: `nfs://`.
    Nfs,
    /// A LUN: `iscsi://`.
    Iscsi,
    /// A pool of a Ceph cluster: `rbd:`.
    Rbd,
}

const SYNCHRONOUS: Engine = Engine::Files { most_outstanding: Some(1) };
const QUEUED: Engine = Engine::Files { most_outstanding: None };

/// fio's engine on Linux where a job names none.
pub(super) const DEFAULT: &str = "psync";

const TAKEN: &[(&str, Engine)] = &[
    ("sync", SYNCHRONOUS),
    ("psync", SYNCHRONOUS),
    ("vsync", SYNCHRONOUS),
    ("pvsync", SYNCHRONOUS),
    ("pvsync2", SYNCHRONOUS),
    ("libaio", QUEUED),
    ("io_uring", QUEUED),
    ("posixaio", QUEUED),
    ("solarisaio", QUEUED),
    ("windowsaio", QUEUED),
    ("null", Engine::Null),
    ("cpp_null", Engine::Null),
    ("nfs", Engine::Nfs),
    ("libiscsi", Engine::Iscsi),
    ("rbd", Engine::Rbd),
];

const NETWORK: &str = "it measures a network, and Stormeter measures storage";
const NETWORK_ADVICE: &str =
    "leave the job out; a workload with transfer in the study file sends messages over TCP";
const NO_STORAGE: &str = "it does no I/O that could be measured";
const OTHER_STORAGE: &str = "this storage is reached by a client that Stormeter does not have";
const MEMORY: &str = "it reaches memory by load and store, which is no I/O";
const CALLS: &str = "it measures calls of the file system other than reads and writes";
const BLOCK: &str = "name it as a block device, with ioengine=libaio";

const REFUSED: &[(&str, &str, &str)] = &[
    ("net", NETWORK, NETWORK_ADVICE),
    ("netsplice", NETWORK, NETWORK_ADVICE),
    ("rdma", NETWORK, NETWORK_ADVICE),
    ("librpma_apm_client", NETWORK, NETWORK_ADVICE),
    ("librpma_apm_server", NETWORK, NETWORK_ADVICE),
    ("librpma_gpspm_client", NETWORK, NETWORK_ADVICE),
    ("librpma_gpspm_server", NETWORK, NETWORK_ADVICE),
    ("cpuio", NO_STORAGE, "leave the job out"),
    ("exec", NO_STORAGE, "leave the job out; steps of a study run commands at times of a trial"),
    (
        "mmap",
        "page faults are no requests: nothing says when one was issued",
        "write ioengine=psync",
    ),
    ("splice", "bytes stay in the kernel and reach no buffer", "write ioengine=psync"),
    ("dev-dax", MEMORY, "write ioengine=libaio on a file system of that memory"),
    ("libpmem", MEMORY, "write ioengine=libaio on a file system of that memory"),
    ("pmemblk", MEMORY, "write ioengine=libaio on a file system of that memory"),
    ("libcufile", "it moves data to a GPU", "write ioengine=libaio"),
    ("falloc", CALLS, "leave the job out"),
    ("ftruncate", CALLS, "leave the job out"),
    ("e4defrag", CALLS, "leave the job out"),
    ("filecreate", CALLS, "leave the job out"),
    ("filestat", CALLS, "leave the job out"),
    ("filedelete", CALLS, "leave the job out"),
    ("sg", "it sends SCSI commands past the block layer", BLOCK),
    ("io_uring_cmd", "it sends NVMe commands past the block layer", BLOCK),
    ("xnvme", "it sends NVMe commands past the block layer", BLOCK),
    ("libblkio", "it reaches the device past the kernel", BLOCK),
    ("libzbc", "zones of a device have no counterpart in a study file", BLOCK),
    ("mtd", "raw flash is no block device", "write ioengine=libaio on a file system of that flash"),
    ("nbd", OTHER_STORAGE, "attach it with nbd-client and name /dev/nbd0"),
    (
        "rados",
        "it writes objects, and a virtual disk is an image",
        "write ioengine=rbd with pool= and rbdname=",
    ),
    ("gfapi", OTHER_STORAGE, "mount the volume and name the directory"),
    ("gfapi_async", OTHER_STORAGE, "mount the volume and name the directory"),
    ("dfs", OTHER_STORAGE, "mount it and name the directory"),
    ("libhdfs", OTHER_STORAGE, "mount it and name the directory"),
    ("ime_psync", OTHER_STORAGE, "mount it and name the directory"),
    ("ime_psyncv", OTHER_STORAGE, "mount it and name the directory"),
    ("ime_aio", OTHER_STORAGE, "mount it and name the directory"),
    ("http", OTHER_STORAGE, "leave the job out"),
    ("guasi", "its library is not maintained", "write ioengine=libaio"),
    ("binject", "its driver is not maintained", "write ioengine=libaio"),
];

/// The engine of this name, or why there is none and what to do.
pub(super) fn find(name: &str) -> Result<Engine, (String, &'static str)> {
    if let Some((_, engine)) = TAKEN.iter().find(|(taken, _)| *taken == name) {
        return Ok(*engine);
    }
    match REFUSED.iter().find(|(refused, ..)| *refused == name) {
        Some((_, reason, advice)) => Err((format!("engine {name}: {reason}"), *advice)),
        None => {
            Err((format!("no engine {name} is known"), "write ioengine=libaio, or leave it out"))
        }
    }
}
