//! NFS procedures that move data: READ, WRITE, COMMIT (RFC 1813 section 3.3), one at a time. The
//! data path proper is [`crate::NfsSession`].

use crate::attributes::{Attributes, decode_change};
use crate::error::NfsError;
use crate::files::decode_status;
use crate::handle::FileHandle;
use crate::procedure::Procedure;
use crate::xdr::{Decoder, XdrError, put_opaque, put_u32, put_u64};

/// How stable written data should be, or is (`stable_how`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u32)]
pub enum Stability {
    /// In the server's memory; lost if it restarts before a COMMIT.
    Unstable = 0,
    /// The data, and the metadata needed to find it, survive a restart.
    DataSync = 1,
    /// Data and attributes survive a restart.
    #[default]
    FileSync = 2,
}

impl Stability {
    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, XdrError> {
        match decoder.u32("the stability")? {
            0 => Ok(Self::Unstable),
            1 => Ok(Self::DataSync),
            2 => Ok(Self::FileSync),
            value => Err(XdrError::Undefined { what: "the stability", value }),
        }
    }
}

/// Identifies the server's current instance (`writeverf3`): if it changes, unstable data may be
/// lost.
pub type WriteVerifier = [u8; 8];

/// The result of a READ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadData {
    /// The data.
    pub data: Vec<u8>,
    /// Whether the file ends after them.
    pub end_of_file: bool,
}

/// NFSPROC3_READ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// The file.
    pub file: FileHandle,
    /// Offset in bytes.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u32,
}

impl Procedure for Read {
    type Reply = ReadData;
    const NUMBER: u32 = 6;

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.put(out);
        put_u64(out, self.offset_bytes);
        put_u32(out, self.length_bytes);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        Attributes::decode_optional(decoder)?;
        let count = decoder.u32("the count")?;
        let end_of_file = decoder.bool("the end of file")?;
        // Limited by the record, whose length was checked when it arrived.
        let data = decoder.opaque(decoder.left(), "the data")?.to_vec();
        if data.len() != count as usize {
            return Err(NfsError::CountDiffers { count, carried: data.len() as u32 });
        }
        Ok(ReadData { data, end_of_file })
    }
}

/// The result of a WRITE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Bytes written; may be fewer than given.
    pub count: u32,
    /// How stable they are.
    pub stability: Stability,
    /// The server's current instance.
    pub verifier: WriteVerifier,
}

/// NFSPROC3_WRITE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write<'a> {
    /// The file.
    pub file: FileHandle,
    /// Offset in bytes.
    pub offset_bytes: u64,
    /// The requested stability.
    pub stability: Stability,
    /// The data.
    pub data: &'a [u8],
}

impl Procedure for Write<'_> {
    type Reply = Written;
    const NUMBER: u32 = 7;

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.put(out);
        put_u64(out, self.offset_bytes);
        put_u32(out, self.data.len() as u32);
        put_u32(out, self.stability as u32);
        put_opaque(out, self.data);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        decode_change(decoder)?;
        Ok(Written {
            count: decoder.u32("the count")?,
            stability: Stability::decode(decoder)?,
            verifier: decoder.array("the verifier")?,
        })
    }
}

/// NFSPROC3_COMMIT: makes unstable writes stable. The reply identifies the server's current
/// instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commit {
    /// The file.
    pub file: FileHandle,
    /// Offset in bytes.
    pub offset_bytes: u64,
    /// Length in bytes; 0: to the end of the file.
    pub length_bytes: u32,
}

impl Procedure for Commit {
    type Reply = WriteVerifier;
    const NUMBER: u32 = 21;

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.put(out);
        put_u64(out, self.offset_bytes);
        put_u32(out, self.length_bytes);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        decode_status(decoder)?;
        decode_change(decoder)?;
        Ok(decoder.array("the verifier")?)
    }
}
