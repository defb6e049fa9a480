//! The numbers of NFSv3 and its MOUNT protocol (RFC 1813) that both NFS servers use.

use std::io;

use nix::errno::Errno;

use crate::xdr::{Garbage, Put};

/// The program NFS.
pub(crate) const NFS_PROGRAM: u32 = 100_003;
/// The program MOUNT (RFC 1813 section 5.0).
pub(crate) const MOUNT_PROGRAM: u32 = 100_005;
/// The version of both.
pub(crate) const VERSION: u32 = 3;
/// The longest file handle in bytes.
pub(crate) const MAX_HANDLE_BYTES: usize = 64;
/// The longest path of a MOUNT request in bytes.
pub(crate) const MAX_PATH_BYTES: usize = 1024;
/// The most that one READ or WRITE moves here, in bytes.
pub(crate) const MAX_TRANSFER_BYTES: u32 = 1 << 20;

/// Procedures of NFS by number (RFC 1813 section 3.3).
pub(crate) mod procedure {
    pub(crate) const NULL: u32 = 0;
    pub(crate) const GETATTR: u32 = 1;
    pub(crate) const SETATTR: u32 = 2;
    pub(crate) const LOOKUP: u32 = 3;
    pub(crate) const ACCESS: u32 = 4;
    pub(crate) const READLINK: u32 = 5;
    pub(crate) const READ: u32 = 6;
    pub(crate) const WRITE: u32 = 7;
    pub(crate) const CREATE: u32 = 8;
    pub(crate) const MKDIR: u32 = 9;
    pub(crate) const SYMLINK: u32 = 10;
    pub(crate) const MKNOD: u32 = 11;
    pub(crate) const REMOVE: u32 = 12;
    pub(crate) const RMDIR: u32 = 13;
    pub(crate) const RENAME: u32 = 14;
    pub(crate) const LINK: u32 = 15;
    pub(crate) const READDIR: u32 = 16;
    pub(crate) const READDIRPLUS: u32 = 17;
    pub(crate) const FSSTAT: u32 = 18;
    pub(crate) const FSINFO: u32 = 19;
    pub(crate) const PATHCONF: u32 = 20;
    pub(crate) const COMMIT: u32 = 21;
}

/// Procedures of MOUNT by number (RFC 1813 section 5.2).
pub(crate) mod mount {
    pub(crate) const NULL: u32 = 0;
    pub(crate) const MNT: u32 = 1;
    pub(crate) const DUMP: u32 = 2;
    pub(crate) const UMNT: u32 = 3;
    pub(crate) const UMNTALL: u32 = 4;
    pub(crate) const EXPORT: u32 = 5;
}

/// The requested stability of a WRITE (RFC 1813 section 3.3.7, `stable_how`).
pub(crate) const UNSTABLE: u32 = 0;
/// The data, and the metadata needed to read it again.
pub(crate) const DATA_SYNC: u32 = 1;
/// The data and all metadata of the file.
pub(crate) const FILE_SYNC: u32 = 2;

/// The type of a regular file (RFC 1813 section 2.5, `ftype3`).
pub(crate) const REGULAR: u32 = 1;
/// The type of a directory.
pub(crate) const DIRECTORY: u32 = 2;

/// Times can be set, and the whole file system behaves alike (FSINFO's `properties`: FSF3_HOMOGENEOUS
/// and FSF3_CANSETTIME; neither links nor symbolic links).
pub(crate) const PROPERTIES: u32 = 0x18;

/// Why NFS refuses (RFC 1813 section 2.6, `nfsstat3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Status {
    NotPermitted = 1,
    NoEntry = 2,
    Io = 5,
    Access = 13,
    Exists = 17,
    OtherDevice = 18,
    NotDirectory = 20,
    IsDirectory = 21,
    Invalid = 22,
    TooBig = 27,
    NoSpace = 28,
    ReadOnly = 30,
    NameTooLong = 63,
    NotEmpty = 66,
    Quota = 69,
    Stale = 70,
    BadHandle = 10001,
    NotSync = 10002,
    NotSupported = 10004,
    TooSmall = 10005,
    ServerFault = 10006,
    /// The server is temporarily short of a resource; the client tries again.
    Jukebox = 10008,
}

impl From<Errno> for Status {
    fn from(error: Errno) -> Self {
        match error {
            Errno::EPERM => Self::NotPermitted,
            Errno::ENOENT => Self::NoEntry,
            Errno::EIO => Self::Io,
            // A symbolic link where none is followed; writing to a file that could only be opened
            // for reading.
            Errno::EACCES | Errno::ELOOP | Errno::EBADF => Self::Access,
            Errno::EEXIST => Self::Exists,
            Errno::EXDEV => Self::OtherDevice,
            Errno::ENOTDIR => Self::NotDirectory,
            Errno::EISDIR => Self::IsDirectory,
            Errno::EINVAL => Self::Invalid,
            Errno::EFBIG => Self::TooBig,
            Errno::ENOSPC => Self::NoSpace,
            Errno::EROFS => Self::ReadOnly,
            Errno::ENAMETOOLONG => Self::NameTooLong,
            Errno::ENOTEMPTY => Self::NotEmpty,
            Errno::EDQUOT => Self::Quota,
            Errno::ESTALE => Self::Stale,
            Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM => Self::Jukebox,
            _ => Self::ServerFault,
        }
    }
}

impl From<io::Error> for Status {
    fn from(error: io::Error) -> Self {
        error.raw_os_error().map_or(Self::Io, |code| Errno::from_raw(code).into())
    }
}

/// Why a procedure has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The arguments are malformed.
    Garbage,
    /// The answer is this status.
    Status(Status),
}

impl From<Garbage> for Failure {
    fn from(_: Garbage) -> Self {
        Self::Garbage
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        Self::Status(error.into())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Status(error.into())
    }
}

/// A time in NFS format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Time {
    pub(crate) seconds: u32,
    pub(crate) nanoseconds: u32,
}

/// A file's attributes (RFC 1813 section 2.5, `fattr3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) kind: u32,
    pub(crate) mode: u32,
    pub(crate) links: u32,
    pub(crate) owner: u32,
    pub(crate) group: u32,
    pub(crate) size_bytes: u64,
    pub(crate) used_bytes: u64,
    pub(crate) filesystem: u64,
    pub(crate) inode: u64,
    pub(crate) accessed: Time,
    pub(crate) modified: Time,
    pub(crate) changed: Time,
}

impl Attributes {
    /// Appends them.
    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        for word in [self.kind, self.mode, self.links, self.owner, self.group] {
            to.put_u32(word);
        }
        to.put_u64(self.size_bytes);
        to.put_u64(self.used_bytes);
        // Devices are not served.
        to.put_u64(0);
        to.put_u64(self.filesystem);
        to.put_u64(self.inode);
        for time in [self.accessed, self.modified, self.changed] {
            to.put_u32(time.seconds);
            to.put_u32(time.nanoseconds);
        }
    }

    /// Appends them as `post_op_attr`.
    pub(crate) fn put_after(&self, to: &mut Vec<u8>) {
        to.put_u32(1);
        self.put(to);
    }

    /// Appends them as `wcc_data` without attributes from before the change.
    pub(crate) fn put_change(&self, to: &mut Vec<u8>) {
        to.put_u32(0);
        self.put_after(to);
    }
}

/// How many zero words follow a status other than OK: each stands for omitted attributes. `None` if
/// there is no procedure with this number.
pub(crate) fn absent_attributes(number: u32) -> Option<usize> {
    use procedure::*;
    Some(match number {
        NULL | GETATTR => 0,
        LOOKUP | ACCESS | READLINK | READ | READDIR | READDIRPLUS | FSSTAT | FSINFO | PATHCONF => 1,
        SETATTR | WRITE | CREATE | MKDIR | SYMLINK | MKNOD | REMOVE | RMDIR | COMMIT => 2,
        LINK => 3,
        RENAME => 4,
        _ => return None,
    })
}
