//! What every remote procedure has in common: a call encoded as bytes, a reply decoded from bytes.
//!
//! Control connections (finding the port, mounting, creating files) use this, one call after
//! another; the data path has its own implementation in [`crate::NfsSession`].

use crate::error::NfsError;
use crate::record::LAST_FRAGMENT;
use crate::rpc::{Auth, decode_reply_head, put_call_head};
use crate::xdr::Decoder;

/// The NFS program's number.
pub const NFS_PROGRAM: u32 = 100_003;
/// The version implemented here.
pub const NFS_VERSION: u32 = 3;

/// One remote procedure; a value of the type is a call's arguments.
pub trait Procedure {
    /// The result.
    type Reply;
    /// The program's number; NFS unless stated otherwise.
    const PROGRAM: u32 = NFS_PROGRAM;
    /// The program's version.
    const VERSION: u32 = NFS_VERSION;
    /// The procedure's number within the program.
    const NUMBER: u32;

    /// Appends the arguments.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads the results.
    ///
    /// # Errors
    /// The server's refusal, or bytes that are not valid results.
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self::Reply, NfsError>;
}

/// A whole call as sent on the wire, including the record mark.
#[must_use]
pub fn call_bytes<P: Procedure>(xid: u32, auth: &Auth, procedure: &P) -> Vec<u8> {
    let mut out = vec![0; 4];
    put_call_head(&mut out, xid, P::PROGRAM, P::VERSION, P::NUMBER, auth);
    procedure.encode(&mut out);
    let mark = LAST_FRAGMENT | (out.len() - 4) as u32;
    if let Some(first) = out.first_chunk_mut() {
        *first = mark.to_be_bytes();
    }
    out
}

/// Reads a record (see [`crate::Assembler`]) as the reply to call `xid`.
///
/// # Errors
/// The reply to another call, a refusal, or bytes that are not a valid reply.
pub fn decode_reply<P: Procedure>(record: &[u8], xid: u32) -> Result<P::Reply, NfsError> {
    let mut decoder = Decoder::new(record);
    let found = decoder.u32("the transaction's number")?;
    if found != xid {
        return Err(NfsError::OtherReply { expected: xid, found });
    }
    decode_reply_head(&mut decoder)?;
    P::decode(&mut decoder)
}
