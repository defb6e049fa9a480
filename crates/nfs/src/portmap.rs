//! The port mapper, version 2 (RFC 1833 section 3): which port a service listens on.

use crate::error::NfsError;
use crate::procedure::Procedure;
use crate::xdr::{Decoder, XdrError, put_u32};

/// The port on which every port mapper listens.
pub const PORTMAP_PORT: u16 = 111;
const TCP: u32 = 6;

/// PMAPPROC_GETPORT for TCP. The reply is `None` if the service is not registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GetPort {
    /// The requested program: [`crate::NFS_PROGRAM`] or [`crate::MOUNT_PROGRAM`].
    pub program: u32,
    /// Its version.
    pub version: u32,
}

impl Procedure for GetPort {
    type Reply = Option<u16>;
    const PROGRAM: u32 = 100_000;
    const VERSION: u32 = 2;
    const NUMBER: u32 = 3;

    fn encode(&self, out: &mut Vec<u8>) {
        for word in [self.program, self.version, TCP, 0] {
            put_u32(out, word);
        }
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError> {
        let port = decoder.u32("the port")?;
        let narrow =
            u16::try_from(port).map_err(|_| XdrError::Undefined { what: "a port", value: port })?;
        Ok((narrow != 0).then_some(narrow))
    }
}
