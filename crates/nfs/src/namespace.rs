//! NFS procedures that create, remove and rename: CREATE, MKDIR, REMOVE, RMDIR, RENAME (RFC 1813
//! section 3.3).

use crate::attributes::{Attributes, decode_change};
use crate::error::NfsError;
use crate::files::{Place, decode_status};
use crate::handle::FileHandle;
use crate::procedure::Procedure;
use crate::xdr::{Decoder, put_u32};

/// Attributes to set (`sattr3`): the permission bits, and all others as the server chooses.
fn put_permissions(out: &mut Vec<u8>, mode: u32) {
    put_u32(out, 1);
    put_u32(out, mode);
    for _owner_group_size_and_times in 0..5 {
        put_u32(out, 0);
    }
}

/// The result of creating a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Created {
    /// Its handle; if the server omits it, look it up.
    pub file: Option<FileHandle>,
    /// Its attributes, if the server sends them.
    pub attributes: Option<Attributes>,
}

impl Created {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, NfsError> {
        decode_status(decoder)?;
        let file = decoder.optional("a file handle", FileHandle::decode)?;
        let attributes = Attributes::decode_optional(decoder)?;
        decode_change(decoder)?;
        Ok(Self { file, attributes })
    }
}

/// NFSPROC3_CREATE: creates a regular file that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Create<'a> {
    /// Directory and name.
    pub place: Place<'a>,
    /// Its permission bits.
    pub mode: u32,
}

impl Procedure for Create<'_> {
    type Reply = Created;
    const NUMBER: u32 = 8;

    fn encode(&self, out: &mut Vec<u8>) {
        self.place.put(out);
        // GUARDED: an existing file is refused (NFS3ERR_EXIST).
        put_u32(out, 1);
        put_permissions(out, self.mode);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        Created::decode(decoder)
    }
}

/// NFSPROC3_MKDIR: creates a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MakeDirectory<'a> {
    /// Directory and name.
    pub place: Place<'a>,
    /// Its permission bits.
    pub mode: u32,
}

impl Procedure for MakeDirectory<'_> {
    type Reply = Created;
    const NUMBER: u32 = 9;

    fn encode(&self, out: &mut Vec<u8>) {
        self.place.put(out);
        put_permissions(out, self.mode);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        Created::decode(decoder)
    }
}

/// NFSPROC3_REMOVE: removes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remove<'a> {
    /// Directory and name.
    pub place: Place<'a>,
}

impl Procedure for Remove<'_> {
    type Reply = ();
    const NUMBER: u32 = 12;

    fn encode(&self, out: &mut Vec<u8>) {
        self.place.put(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        decode_change(decoder)?;
        Ok(())
    }
}

/// NFSPROC3_RMDIR: removes an empty directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoveDirectory<'a> {
    /// Directory and name.
    pub place: Place<'a>,
}

impl Procedure for RemoveDirectory<'_> {
    type Reply = ();
    const NUMBER: u32 = 13;

    fn encode(&self, out: &mut Vec<u8>) {
        self.place.put(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        decode_change(decoder)?;
        Ok(())
    }
}

/// NFSPROC3_RENAME.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rename<'a> {
    /// Old directory and name.
    pub from: Place<'a>,
    /// New directory and name.
    pub to: Place<'a>,
}

impl Procedure for Rename<'_> {
    type Reply = ();
    const NUMBER: u32 = 14;

    fn encode(&self, out: &mut Vec<u8>) {
        self.from.put(out);
        self.to.put(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        decode_change(decoder)?;
        decode_change(decoder)?;
        Ok(())
    }
}
