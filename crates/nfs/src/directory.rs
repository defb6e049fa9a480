//! The NFS procedure that lists a directory: READDIR (RFC 1813 section 3.3).

use crate::attributes::Attributes;
use crate::error::NfsError;
use crate::files::decode_status;
use crate::handle::FileHandle;
use crate::procedure::Procedure;
use crate::xdr::{Decoder, put_u32, put_u64};

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
    const NUMBER: u32 = 16;

    fn encode(&self, out: &mut Vec<u8>) {
        self.directory.put(out);
        put_u64(out, self.cursor.cookie);
        out.extend_from_slice(&self.cursor.verifier);
        put_u32(out, self.most_bytes);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        Attributes::decode_optional(decoder)?;
        let verifier = decoder.array("the directory's verifier")?;
        let mut cookie = None;
        let entries = decoder.list(MAX_ENTRIES, "the directory's entries", |one| {
            let file_number = one.u64("the file's number")?;
            let name = one.opaque(MAX_NAME_BYTES, "a name")?.to_vec();
            cookie = Some(one.u64("the cookie")?);
            Ok(Entry { file_number, name })
        })?;
        let end = decoder.bool("the end of the directory")?;
        let next = cookie.filter(|_| !end).map(|cookie| Cursor { cookie, verifier });
        Ok(Listing { entries, next })
    }
}
