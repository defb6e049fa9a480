//! The MOUNT protocol, version 3 (RFC 1813 section 5): from an export's path to its file handle.

use crate::error::NfsError;
use crate::handle::FileHandle;
use crate::procedure::Procedure;
use crate::status::MountStatus;
use crate::xdr::{Decoder, XdrError, put_opaque};

/// The MOUNT program's number.
pub const MOUNT_PROGRAM: u32 = 100_005;
/// The version for NFS version 3.
pub const MOUNT_VERSION: u32 = 3;
/// The longest path (`MNTPATHLEN`).
const MAX_PATH_BYTES: usize = 1024;
/// The longest name of a host or group (`MNTNAMLEN`).
const MAX_NAME_BYTES: usize = 255;
/// The protocol does not limit the list of flavors; there are fewer than this.
const MAX_FLAVORS: u32 = 64;
/// Nor does it limit the lists of exports and of groups.
const MAX_EXPORTS: usize = 1 << 16;

/// The result of mounting an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounted {
    /// The handle of its directory.
    pub directory: FileHandle,
    /// Kinds of credentials that the server accepts; 1 is AUTH_SYS, 0 AUTH_NONE.
    pub flavors: Vec<u32>,
}

/// MOUNTPROC3_MNT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mnt<'a> {
    /// The export's path on the server.
    pub path: &'a str,
}

impl Procedure for Mnt<'_> {
    type Reply = Mounted;
    const PROGRAM: u32 = MOUNT_PROGRAM;
    const VERSION: u32 = MOUNT_VERSION;
    const NUMBER: u32 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        put_opaque(out, self.path.as_bytes());
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        match decoder.u32("the status")? {
            0 => {}
            code => return Err(MountStatus::from_code(code).into()),
        }
        let directory = FileHandle::decode(decoder)?;
        let what = "the list of flavors";
        let count = decoder.u32(what)?;
        if count > MAX_FLAVORS {
            let (length, limit) = (count as usize, MAX_FLAVORS as usize);
            return Err(XdrError::TooLong { what, length, limit }.into());
        }
        let flavors = (0..count).map(|_| decoder.u32(what)).collect::<Result<_, _>>()?;
        Ok(Mounted { directory, flavors })
    }
}

/// MOUNTPROC3_UMNT: the server may forget that this client uses the export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Umnt<'a> {
    /// The export's path on the server.
    pub path: &'a str,
}

impl Procedure for Umnt<'_> {
    type Reply = ();
    const PROGRAM: u32 = MOUNT_PROGRAM;
    const VERSION: u32 = MOUNT_VERSION;
    const NUMBER: u32 = 3;

    fn encode(&self, out: &mut Vec<u8>) {
        put_opaque(out, self.path.as_bytes());
    }

    fn decode(_: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        Ok(())
    }
}

/// A directory that a server exports. Names are only shown, never sent back: invalid UTF-8 is
/// replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportEntry {
    /// Its path on the server.
    pub path: String,
    /// Hosts and groups that may mount it; empty: all.
    pub groups: Vec<String>,
}

/// MOUNTPROC3_EXPORT: lists what the server exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Export;

impl Procedure for Export {
    type Reply = Vec<ExportEntry>;
    const PROGRAM: u32 = MOUNT_PROGRAM;
    const VERSION: u32 = MOUNT_VERSION;
    const NUMBER: u32 = 5;

    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(decoder.list(MAX_EXPORTS, "the list of exports", |entry| {
            Ok(ExportEntry {
                path: text(entry.opaque(MAX_PATH_BYTES, "an export's path")?),
                groups: entry.list(MAX_EXPORTS, "the list of groups", |group| {
                    Ok(text(group.opaque(MAX_NAME_BYTES, "a group's name")?))
                })?,
            })
        })?)
    }
}
