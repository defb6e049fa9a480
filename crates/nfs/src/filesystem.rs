//! NFS procedures about a file system: FSSTAT, FSINFO, PATHCONF (RFC 1813 section 3.3).

use crate::attributes::{Attributes, Time};
use crate::error::NfsError;
use crate::files::{NFS_PROGRAM, NFS_VERSION, decode_status};
use crate::handle::FileHandle;
use crate::procedure::Procedure;
use crate::xdr::Decoder;

/// Total and free space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Total size, in bytes.
    pub total_bytes: u64,
    /// Free space, in bytes.
    pub free_bytes: u64,
    /// Free space available to this user, in bytes.
    pub available_bytes: u64,
    /// Total number of file slots.
    pub total_files: u64,
    /// Free file slots.
    pub free_files: u64,
    /// Free file slots available to this user.
    pub available_files: u64,
    /// How long these numbers are likely to stay valid, in seconds.
    pub unchanged_seconds: u32,
}

/// NFSPROC3_FSSTAT: the space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSystemSpace {
    /// A file in it.
    pub file: FileHandle,
}

impl Procedure for FileSystemSpace {
    type Reply = Space;
    const PROGRAM: u32 = NFS_PROGRAM;
    const VERSION: u32 = NFS_VERSION;
    const NUMBER: u32 = 18;

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.put(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        Attributes::decode_optional(decoder)?;
        Ok(Space {
            total_bytes: decoder.u64("the total space")?,
            free_bytes: decoder.u64("the free space")?,
            available_bytes: decoder.u64("the available space")?,
            total_files: decoder.u64("the total of files")?,
            free_files: decoder.u64("the free files")?,
            available_files: decoder.u64("the available files")?,
            unchanged_seconds: decoder.u32("the time of validity")?,
        })
    }
}

/// What a server supports for a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest READ (`rtmax`), in bytes.
    pub read_max_bytes: u32,
    /// The preferred size of a READ, in bytes.
    pub read_preferred_bytes: u32,
    /// READ sizes should be multiples of this.
    pub read_multiple_bytes: u32,
    /// The largest WRITE (`wtmax`), in bytes.
    pub write_max_bytes: u32,
    /// The preferred size of a WRITE, in bytes.
    pub write_preferred_bytes: u32,
    /// WRITE sizes should be multiples of this.
    pub write_multiple_bytes: u32,
    /// The preferred size of a READDIR, in bytes.
    pub directory_preferred_bytes: u32,
    /// The largest file, in bytes.
    pub file_max_bytes: u64,
    /// The resolution of the server's times.
    pub time_step: Time,
    /// Properties (`FSF3_*`), a sum of bits.
    pub properties: u32,
}

/// NFSPROC3_FSINFO: what a server supports for a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSystemLimits {
    /// The file system's root.
    pub file: FileHandle,
}

impl Procedure for FileSystemLimits {
    type Reply = Limits;
    const PROGRAM: u32 = NFS_PROGRAM;
    const VERSION: u32 = NFS_VERSION;
    const NUMBER: u32 = 19;

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.put(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        Attributes::decode_optional(decoder)?;
        Ok(Limits {
            read_max_bytes: decoder.u32("rtmax")?,
            read_preferred_bytes: decoder.u32("rtpref")?,
            read_multiple_bytes: decoder.u32("rtmult")?,
            write_max_bytes: decoder.u32("wtmax")?,
            write_preferred_bytes: decoder.u32("wtpref")?,
            write_multiple_bytes: decoder.u32("wtmult")?,
            directory_preferred_bytes: decoder.u32("dtpref")?,
            file_max_bytes: decoder.u64("the largest file")?,
            time_step: Time::decode(decoder)?,
            properties: decoder.u32("the properties")?,
        })
    }
}

/// Which names a server allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameRules {
    /// The largest number of links to a file.
    pub links_max: u32,
    /// The longest name, in bytes.
    pub name_max_bytes: u32,
    /// Longer names are refused; otherwise they are truncated.
    pub refuses_long: bool,
    /// Only root may change a file's owner.
    pub giving_restricted: bool,
    /// Names are case-insensitive.
    pub case_insensitive: bool,
    /// Names keep their case.
    pub case_preserving: bool,
}

/// NFSPROC3_PATHCONF: which names a server allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathRules {
    /// A file.
    pub file: FileHandle,
}

impl Procedure for PathRules {
    type Reply = NameRules;
    const PROGRAM: u32 = NFS_PROGRAM;
    const VERSION: u32 = NFS_VERSION;
    const NUMBER: u32 = 20;

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.put(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        Attributes::decode_optional(decoder)?;
        Ok(NameRules {
            links_max: decoder.u32("the most links")?,
            name_max_bytes: decoder.u32("the longest name")?,
            refuses_long: decoder.bool("no_trunc")?,
            giving_restricted: decoder.bool("chown_restricted")?,
            case_insensitive: decoder.bool("case_insensitive")?,
            case_preserving: decoder.bool("case_preserving")?,
        })
    }
}
