//! NFS procedures about one file: NULL, GETATTR, SETATTR, LOOKUP, ACCESS (RFC 1813 section 3.3).

use crate::attributes::{Attributes, SetAttributes, Time, decode_change};
use crate::error::NfsError;
use crate::handle::FileHandle;
use crate::procedure::Procedure;
use crate::status::NfsStatus;
use crate::xdr::{Decoder, put_opaque, put_u32};

/// The NFS program's number.
pub const NFS_PROGRAM: u32 = 100_003;
/// The version implemented here.
pub const NFS_VERSION: u32 = 3;

/// Reads the status that precedes every result.
pub(crate) fn decode_status(decoder: &mut Decoder<'_>) -> Result<(), NfsError> {
    match decoder.u32("the status")? {
        0 => Ok(()),
        code => Err(NfsStatus::from_code(code).into()),
    }
}

/// A name in a directory (`diropargs3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The directory.
    pub directory: FileHandle,
    /// The name as bytes, as the server sends or expects it.
    pub name: &'a [u8],
}

impl Place<'_> {
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        self.directory.put(out);
        put_opaque(out, self.name);
    }
}

/// NFSPROC3_NULL: checks that the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Null;

impl Procedure for Null {
    type Reply = ();
    const PROGRAM: u32 = NFS_PROGRAM;
    const VERSION: u32 = NFS_VERSION;
    const NUMBER: u32 = 0;

    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(_: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        Ok(())
    }
}

/// NFSPROC3_GETATTR: a file's attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GetAttributes {
    /// The file.
    pub file: FileHandle,
}

impl Procedure for GetAttributes {
    type Reply = Attributes;
    const PROGRAM: u32 = NFS_PROGRAM;
    const VERSION: u32 = NFS_VERSION;
    const NUMBER: u32 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.put(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        Ok(Attributes::decode(decoder)?)
    }
}

/// NFSPROC3_SETATTR: sets a file's attributes, including its length. The reply has the attributes
/// after the change, if the server sends them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeAttributes {
    /// The file.
    pub file: FileHandle,
    /// What to set.
    pub attributes: SetAttributes,
    /// Refuse (NFS3ERR_NOT_SYNC) unless the attributes were last changed at this time.
    pub only_if_changed_at: Option<Time>,
}

impl Procedure for ChangeAttributes {
    type Reply = Option<Attributes>;
    const PROGRAM: u32 = NFS_PROGRAM;
    const VERSION: u32 = NFS_VERSION;
    const NUMBER: u32 = 2;

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.put(out);
        self.attributes.put(out);
        put_u32(out, u32::from(self.only_if_changed_at.is_some()));
        if let Some(time) = self.only_if_changed_at {
            time.put(out);
        }
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        Ok(decode_change(decoder)?)
    }
}

/// The result of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The file's handle.
    pub file: FileHandle,
    /// The file's attributes, if the server sends them.
    pub attributes: Option<Attributes>,
}

/// NFSPROC3_LOOKUP: from a name to a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lookup<'a> {
    /// Directory and name.
    pub place: Place<'a>,
}

impl Procedure for Lookup<'_> {
    type Reply = Found;
    const PROGRAM: u32 = NFS_PROGRAM;
    const VERSION: u32 = NFS_VERSION;
    const NUMBER: u32 = 3;

    fn encode(&self, out: &mut Vec<u8>) {
        self.place.put(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        let file = FileHandle::decode(decoder)?;
        let attributes = Attributes::decode_optional(decoder)?;
        Attributes::decode_optional(decoder)?;
        Ok(Found { file, attributes })
    }
}

/// NFSPROC3_ACCESS: which of the given rights the caller has. The reply contains those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The file.
    pub file: FileHandle,
    /// The rights in question, a sum of the constants.
    pub rights: u32,
}

impl Access {
    /// Read a file, list a directory.
    pub const READ: u32 = 1;
    /// Look up names in a directory.
    pub const LOOKUP: u32 = 2;
    /// Change a file's contents.
    pub const MODIFY: u32 = 4;
    /// Extend a file, add names to a directory.
    pub const EXTEND: u32 = 8;
    /// Remove names from a directory.
    pub const DELETE: u32 = 16;
    /// Execute a file.
    pub const EXECUTE: u32 = 32;
}

impl Procedure for Access {
    type Reply = u32;
    const PROGRAM: u32 = NFS_PROGRAM;
    const VERSION: u32 = NFS_VERSION;
    const NUMBER: u32 = 4;

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.put(out);
        put_u32(out, self.rights);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        Attributes::decode_optional(decoder)?;
        Ok(decoder.u32("the rights")?)
    }
}
