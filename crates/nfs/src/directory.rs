//! NFS procedures that list a directory: READDIR, READDIRPLUS (RFC 1813 section 3.3).

use crate::attributes::Attributes;
use crate::error::NfsError;
use crate::files::{NFS_PROGRAM, NFS_VERSION, decode_status};
use crate::handle::FileHandle;
use crate::procedure::Procedure;
use crate::xdr::{Decoder, XdrError, put_u32, put_u64};

/// Longer names are refused; the protocol leaves the limit to the server, file systems have 255.
const MAX_NAME_BYTES: usize = 1024;
/// More entries in one reply are refused; a reply of a mebibyte contains fewer.
const MAX_ENTRIES: usize = 1 << 16;

/// A position in a listing. The default is the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// The last entry's cookie.
    pub cookie: u64,
    /// The server's mark for the directory's current state.
    pub verifier: [u8; 8],
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The file's id within the file system.
    pub file_number: u64,
    /// The name as bytes, which need not be text.
    pub name: Vec<u8>,
    /// The attributes: READDIRPLUS only, if the server sends them.
    pub attributes: Option<Attributes>,
    /// The handle: READDIRPLUS only, if the server sends it.
    pub file: Option<FileHandle>,
}

/// Part of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The names.
    pub entries: Vec<Entry>,
    /// Where to continue; `None` at the end. A server that sends neither entries nor an end is
    /// taken to be at the end.
    pub next: Option<Cursor>,
}

fn decode_listing(decoder: &mut Decoder<'_>, plus: bool) -> Result<Listing, NfsError> {
    decode_status(decoder)?;
    Attributes::decode_optional(decoder)?;
    let verifier = decoder.array("the directory's verifier")?;
    let mut cookie = None;
    let entries = decoder.list(MAX_ENTRIES, "the directory's entries", |one| {
        let file_number = one.u64("the file's number")?;
        let name = one.opaque(MAX_NAME_BYTES, "a name")?.to_vec();
        cookie = Some(one.u64("the cookie")?);
        let (attributes, file) = if plus { decode_plus(one)? } else { (None, None) };
        Ok(Entry { file_number, name, attributes, file })
    })?;
    let end = decoder.bool("the end of the directory")?;
    let next = cookie.filter(|_| !end).map(|cookie| Cursor { cookie, verifier });
    Ok(Listing { entries, next })
}

fn decode_plus(
    decoder: &mut Decoder<'_>,
) -> Result<(Option<Attributes>, Option<FileHandle>), XdrError> {
    let attributes = Attributes::decode_optional(decoder)?;
    Ok((attributes, decoder.optional("a file handle", FileHandle::decode)?))
}

/// NFSPROC3_READDIR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadDirectory {
    /// The directory.
    pub directory: FileHandle,
    /// Where to continue.
    pub cursor: Cursor,
    /// The largest size of the result, in bytes.
    pub most_bytes: u32,
}

impl Procedure for ReadDirectory {
    type Reply = Listing;
    const PROGRAM: u32 = NFS_PROGRAM;
    const VERSION: u32 = NFS_VERSION;
    const NUMBER: u32 = 16;

    fn encode(&self, out: &mut Vec<u8>) {
        self.directory.put(out);
        put_u64(out, self.cursor.cookie);
        out.extend_from_slice(&self.cursor.verifier);
        put_u32(out, self.most_bytes);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_listing(decoder, false)
    }
}

/// NFSPROC3_READDIRPLUS: names with attributes and handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadDirectoryPlus {
    /// The directory.
    pub directory: FileHandle,
    /// Where to continue.
    pub cursor: Cursor,
    /// The largest size of names and ids, in bytes.
    pub most_name_bytes: u32,
    /// The largest size of the result, in bytes.
    pub most_bytes: u32,
}

impl Procedure for ReadDirectoryPlus {
    type Reply = Listing;
    const PROGRAM: u32 = NFS_PROGRAM;
    const VERSION: u32 = NFS_VERSION;
    const NUMBER: u32 = 17;

    fn encode(&self, out: &mut Vec<u8>) {
        self.directory.put(out);
        put_u64(out, self.cursor.cookie);
        out.extend_from_slice(&self.cursor.verifier);
        put_u32(out, self.most_name_bytes);
        put_u32(out, self.most_bytes);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_listing(decoder, true)
    }
}
