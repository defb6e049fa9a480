//! Why a datastore cannot be used: each message says what was found and what to do next.

use std::io;
use std::path::{Path, PathBuf};

use crate::block::DeviceUse;

use nix::errno::Errno;
use stormeter_disk::{DeviceError, Kind};
use stormeter_uring::EngineError;

use crate::UrlError;

/// A refusal or a failure of a datastore. Refusals leave everything as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatastoreError {
    /// A host name that does not resolve to an address.
    #[error("{host} is unknown ({reason}): check the name, or give the address")]
    UnknownHost {
        /// The name.
        host: String,
        /// The resolver's reason.
        reason: String,
    },
    /// Disks of a server that has none.
    #[error("{name} is a server, which has no disks: give it workloads with ftp or vnc")]
    Diskless {
        /// The server.
        name: String,
    },
    /// A server does not answer, or gives an invalid answer.
    #[error("{name} cannot be reached: {reason}; is the server running, and its port open?")]
    Unreachable {
        /// The datastore.
        name: String,
        /// What happened.
        reason: String,
    },
    /// A server answers but refuses the session.
    #[error("{name} opens no session: {reason}")]
    NoSession {
        /// The datastore.
        name: String,
        /// What happened, with advice.
        reason: String,
    },
    /// A server refused a request.
    #[error("cannot {action} {path}: {reason}")]
    Refused {
        /// What was attempted.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The server's reason, with advice.
        reason: String,
    },
    /// A cluster is reached and does not serve.
    #[error("{name} did not serve a request within {waited} (?timeout=){why}")]
    Unserved {
        /// The datastore.
        name: String,
        /// How long was waited.
        waited: String,
        /// What it says of itself, as the end of the sentence.
        why: &'static str,
    },
    /// I/O to a datastore failed in the middle of an operation.
    #[error("{name} broke off: {reason}; see the server's log, then run again")]
    Broken {
        /// The datastore.
        name: String,
        /// What happened.
        reason: String,
    },
    /// A password cannot be read.
    #[error(
        "the password file {path} cannot be read ({reason}): give a file that holds the password \
         in its first line and that this user may read"
    )]
    Password {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// A user was given without a password.
    #[error(
        "no password for user {user} of {name}: give ?password-file=FILE, or set \
         {variable} in the environment"
    )]
    NoPassword {
        /// The user.
        user: String,
        /// The datastore.
        name: String,
        /// The environment variable that may hold it.
        variable: &'static str,
    },
    /// A LUN that is not a disk, or is a disk that cannot be used.
    #[error("{name} is {found}: {advice}")]
    NotADisk {
        /// The LUN.
        name: String,
        /// What it is.
        found: String,
        /// What to do.
        advice: &'static str,
    },
    /// The URL names no datastore.
    #[error(transparent)]
    Url(#[from] UrlError),

    /// The directory does not exist.
    #[error("{path} does not exist: create it (mkdir -p {path}) or mount the file system there")]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// The path is not a directory.
    #[error("{path} is not a directory: give a directory, or a block device by its name in /dev")]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// The system forbids it.
    #[error(
        "no permission to {action} {path}: give a place that this user may write to, or run as a \
         user who may"
    )]
    NoPermission {
        /// What was attempted.
        action: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// The file system is mounted read-only.
    #[error(
        "{path} is on a read-only file system: mount it writable (mount -o remount,rw) or give \
         another place"
    )]
    ReadOnly {
        /// The directory.
        path: PathBuf,
    },
    /// The disks would not leave enough space free.
    #[error(
        "the disks need {needed}, {free} is free on {path} and {reserve} (10 % of it) must stay \
         free: use smaller disks or fewer VMs, or free some space"
    )]
    Space {
        /// The directory.
        path: PathBuf,
        /// Bytes of the disks, as text.
        needed: String,
        /// Free bytes, as text.
        free: String,
        /// Bytes that must stay free, as text.
        reserve: String,
    },
    /// The storage filled up while it was being written.
    #[error(
        "{path} ran full (no space left or quota reached): something else fills it; free some \
         space, or use smaller disks or fewer VMs"
    )]
    Full {
        /// What was being written.
        path: PathBuf,
    },
    /// Something that stormeter did not create has our working folder's name.
    #[error(
        "{path} exists and was not made by this version of stormeter, so it stays untouched: move \
         it away, or give another directory"
    )]
    NameTaken {
        /// The folder.
        path: PathBuf,
    },
    /// Another run is working there.
    #[error("{path} is in use by stormeter, process {pid}: wait for that run to end, or stop it")]
    InUse {
        /// The folder or device.
        path: PathBuf,
        /// The process.
        pid: u32,
    },
    /// A run on another host (or in another container) may work there.
    #[error(
        "{path} belongs to a run of stormeter elsewhere ({place}), which may still go on: if it \
         does not, {remedy}"
    )]
    Elsewhere {
        /// The folder.
        path: PathBuf,
        /// The other host or container.
        place: String,
        /// What to do, in words.
        remedy: String,
    },
    /// The same for a device.
    #[error(
        "{path} belongs to a run of stormeter elsewhere ({place}), which may still go on: if it \
         does not, permit that its data be destroyed"
    )]
    DeviceElsewhere {
        /// The device.
        path: PathBuf,
        /// The other host or container.
        place: String,
    },

    /// No disks, or too many.
    #[error("{count} disks make no sense: use 1 to {most} VMs")]
    Count {
        /// What was asked for.
        count: u32,
        /// The largest possible number.
        most: u32,
    },
    /// The request size is zero.
    #[error("the block size is zero: give a request size of at least 1 byte, such as 4KiB")]
    EmptyBlock,
    /// Requests would split logical blocks.
    #[error(
        "the block size (in units of {block}) is not a multiple of the logical block \
         {logical_block_bytes} of {datastore}: give a multiple of it, or ?direct=0 on a file system"
    )]
    BlockSize {
        /// The unit of all requests and offsets, as text.
        block: String,
        /// The datastore's logical block.
        logical_block_bytes: u32,
        /// The datastore.
        datastore: String,
    },
    /// A disk would be smaller than one block.
    #[error("size {size} is smaller than a block of {block}: use larger disks")]
    SizeBelowBlock {
        /// The disk's size, as text.
        size: String,
        /// The block size, as text.
        block: String,
    },
    /// The disks exceed the largest possible file offset.
    #[error("disks of {size} are larger than any file can be: use smaller disks or fewer VMs")]
    TooLarge {
        /// The disk's size, as text.
        size: String,
    },
    /// A disk would end in the middle of a logical block.
    #[error(
        "size {size_bytes} is not a multiple of the logical block {logical_block_bytes} of \
         {datastore}: use a size of {suggestion_bytes}"
    )]
    DiskSize {
        /// The disk's size.
        size_bytes: u64,
        /// The datastore's logical block.
        logical_block_bytes: u32,
        /// The datastore.
        datastore: String,
        /// The next smaller size that fits.
        suggestion_bytes: u64,
    },

    /// The device does not exist.
    #[error("{path} does not exist: lsblk lists the block devices of this machine")]
    NoDevice {
        /// The device.
        path: PathBuf,
    },
    /// The path is not a block device.
    #[error("{path} is not a block device: lsblk lists those of this machine")]
    NotABlockDevice {
        /// The path.
        path: PathBuf,
    },
    /// The device is read-only.
    #[error("{path} is a read-only device: make it writable (see blockdev) or give another")]
    DeviceReadOnly {
        /// The device.
        path: PathBuf,
    },
    /// The device is mounted, held by another device or open.
    #[error("{path} is in use ({usage}): {}", usage.remedy())]
    DeviceBusy {
        /// The device.
        path: PathBuf,
        /// What uses it.
        usage: DeviceUse,
    },
    /// The name came to refer to another device while it was being opened.
    #[error("{path} was given to another device just now: name the device that is meant")]
    DeviceRenamed {
        /// The name.
        path: PathBuf,
    },
    /// An earlier datastore of the comparison is this same device, under another name or with other
    /// options.
    #[error(
        "{path} is named twice, in different ways (other options, or another name of the device): \
         a device holds the disks of one datastore at a time; name it once, or twice in exactly the \
         same way to see how much it differs from itself"
    )]
    NamedTwice {
        /// The device, as it was named the second time.
        path: PathBuf,
    },
    /// The device holds data.
    #[error(
        "{path} holds data ({found}) and is not touched: use an empty device, or permit that all data on it \
         be destroyed, by this very path{given}"
    )]
    HoldsData {
        /// The device.
        path: PathBuf,
        /// What was found.
        found: String,
        /// What the user gave instead of the device's own path, in words; empty if nothing.
        given: String,
    },
    /// The disks do not fit on the device.
    #[error(
        "the disks need {needed} on {path}, which has {size} (the first and the last MiB stay \
         apart): use smaller disks or fewer VMs"
    )]
    DeviceTooSmall {
        /// The device.
        path: PathBuf,
        /// Bytes needed, as text.
        needed: String,
        /// Bytes of the device, as text.
        size: String,
    },

    /// A prepared disk still has a part that was never written.
    #[error(
        "{path} still has a hole at byte {offset} after it was fully written: reads there would \
         touch no storage; turn off deduplication or compression of the file system, or give another"
    )]
    Hole {
        /// The disk.
        path: PathBuf,
        /// Where the first hole begins.
        offset: u64,
    },
    /// A disk's file is not as it was created.
    #[error("{path} was changed by another process: run again, and the disks are recreated")]
    Changed {
        /// The disk.
        path: PathBuf,
    },
    /// Disks that must be there are not.
    #[error(
        "{path} has no disks of run {run_id}: is the storage back, and is it the same? If it is, it has lost them, or \
         they were removed"
    )]
    NoDisks {
        /// The storage.
        path: PathBuf,
        /// The run.
        run_id: String,
    },
    /// The device holds disks that wait to be checked.
    #[error(
        "{path} holds records of run {run_id} that wait to be checked: check them and have them removed, or permit \
         that all data on it be destroyed"
    )]
    AwaitsCheck {
        /// The device.
        path: PathBuf,
        /// The run.
        run_id: String,
    },
    /// Disks were opened before they were created.
    #[error("the disks {first} to {last} are not prepared: prepare them first")]
    NotPrepared {
        /// The first disk asked for.
        first: u32,
        /// The last disk asked for.
        last: u32,
    },
    /// There is no page cache between the driver and a server that stormeter's own client accesses.
    #[error(
        "{name} is accessed directly, without a client cache: leave the client cache out, or mount it \
         and give the mount point"
    )]
    NoClientCache {
        /// The datastore.
        name: String,
    },
    /// The storage cannot make a disk as a clone of another one, or not as it was opened.
    #[error("{name} cannot clone a disk: {reason}; deploy by copy, or leave this datastore out")]
    NoClones {
        /// The datastore.
        name: String,
        /// What it lacks, or who can.
        reason: &'static str,
    },
    /// The storage does not know flushes or durable writes.
    #[error("{name} refuses a {operation} ({error}): {}", unsupported(*operation))]
    FlushUnsupported {
        /// The datastore.
        name: String,
        /// [`Kind::Flush`] or [`Kind::DurableWrite`].
        operation: Kind,
        /// The answer.
        error: DeviceError,
    },
    /// The storage cannot free blocks.
    #[error(
        "{path} cannot free blocks ({reason}): reset the disks by recreating them (recreate), or by a \
         command of your storage"
    )]
    NoDiscard {
        /// The datastore.
        path: PathBuf,
        /// What it lacks.
        reason: String,
    },
    /// The caller cancelled.
    #[error("interrupted while disks were prepared; what was written is removed")]
    Cancelled,
    /// The limit on open files is reached.
    #[error("too many open files at {path}: raise the limit (ulimit -n) or use fewer VMs")]
    Descriptors {
        /// What was being opened.
        path: PathBuf,
    },
    /// The I/O engine could not be opened.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// io_uring was required and is refused.
    #[error("{reason}; or give ?engine=positional")]
    NoUring {
        /// Why.
        reason: String,
    },
    /// The run id has the wrong form for the name of a working folder.
    #[error("\"{run_id}\" is no run id: 16 hexadecimal digits name a run")]
    RunId {
        /// What was given.
        run_id: String,
    },
    /// The system refused for another reason.
    #[error(
        "cannot {action} {path}: {source}; check the storage (dmesg shows what the kernel saw)"
    )]
    Io {
        /// What was attempted.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// What it means that storage does not know an operation, and what to do.
fn unsupported(operation: Kind) -> &'static str {
    match operation {
        Kind::DurableWrite => {
            "a write cannot be made to wait for stable storage here; measure with flushes instead of durable \
             writes, or another datastore or driver"
        }
        Kind::Read | Kind::Write | Kind::Flush => {
            "an acknowledged write cannot be put on stable storage on demand here; measure without flushes and \
             durable writes, or another datastore or driver"
        }
    }
}

impl DatastoreError {
    /// The variant that fits the system's reason.
    pub(crate) fn system(
        action: &'static str,
        path: impl AsRef<Path>,
        source: impl Into<io::Error>,
    ) -> Self {
        let (path, source) = (path.as_ref().to_path_buf(), source.into());
        match source.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EACCES | Errno::EPERM) => Self::NoPermission { action, path },
            Some(Errno::EROFS) => Self::ReadOnly { path },
            Some(Errno::ENOSPC | Errno::EDQUOT) => Self::Full { path },
            Some(Errno::EMFILE | Errno::ENFILE) => Self::Descriptors { path },
            _ => Self::Io { action, path, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_reason_decides_the_message() {
        let message = |errno: Errno| DatastoreError::system("create", "/srv/vm", errno).to_string();
        assert!(message(Errno::EACCES).starts_with("no permission to create /srv/vm"));
        assert!(message(Errno::EPERM).contains("run as a user who may"));
        assert!(message(Errno::EROFS).contains("read-only"));
        assert!(message(Errno::ENOSPC).contains("ran full"));
        assert!(message(Errno::EDQUOT).contains("quota"));
        assert!(message(Errno::EMFILE).contains("ulimit -n"));
        assert!(message(Errno::EIO).contains("cannot create /srv/vm: Input/output error"));
    }
}
