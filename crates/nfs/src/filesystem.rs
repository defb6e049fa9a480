//! NFS procedures about a file system: FSSTAT, FSINFO (RFC 1813 section 3.3).

use crate::attributes::{Attributes, Time};
use crate::error::NfsError;
use crate::files::decode_status;
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
