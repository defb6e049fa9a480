//! NFS procedures about one file: NULL, GETATTR, LOOKUP (RFC 1813 section 3.3).

use crate::attributes::Attributes;
use crate::error::NfsError;
use crate::handle::FileHandle;
use crate::procedure::Procedure;
use crate::status::NfsStatus;
use crate::xdr::{Decoder, put_opaque};

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
    const NUMBER: u32 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.put(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        Ok(Attributes::decode(decoder)?)
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
