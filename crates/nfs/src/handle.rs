//! A file handle: the server's identifier of a file, opaque to the client.

use crate::xdr::{Decoder, XdrError, put_opaque};

/// The longest handle (RFC 1813 section 2.4, `NFS3_FHSIZE`).
const MAX_BYTES: usize = 64;

/// A file handle. Stored inline, so that it can be copied without allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileHandle {
    bytes: [u8; MAX_BYTES],
    length: u8,
}

impl FileHandle {
    /// Makes a handle from its bytes.
    ///
    /// # Errors
    /// More than 64 bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, XdrError> {
        let mut handle = Self { bytes: [0; MAX_BYTES], length: bytes.len() as u8 };
        match handle.bytes.get_mut(..bytes.len()) {
            Some(place) => place.copy_from_slice(bytes),
            None => {
                let what = "a file handle";
                return Err(XdrError::TooLong { what, length: bytes.len(), limit: MAX_BYTES });
            }
        }
        Ok(handle)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&self.bytes)
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_opaque(out, self.bytes());
    }

    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, XdrError> {
        Self::new(decoder.opaque(MAX_BYTES, "a file handle")?)
    }
}

impl std::fmt::Debug for FileHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FileHandle(")?;
        for byte in self.bytes() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}
