//! ONC RPC (RFC 5531): calls in, replies out.
//!
//! Every credential is accepted: a server that only this machine can reach, and that runs with the
//! rights of the user who started it, has no users to distinguish.

use crate::xdr::{Garbage, Put, Reader};

/// The bit of a record mark that marks the record's last fragment (RFC 5531 section 11).
pub(crate) const LAST_FRAGMENT: u32 = 1 << 31;

/// The most bytes of a credential or verifier (RFC 5531 section 8.2).
const MAX_AUTH_BYTES: usize = 400;

/// The outcome of a call that reached its program (RFC 5531 section 9, `accept_stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accepted {
    Success,
    ProgramUnavailable,
    /// The program exists in this version only.
    ProgramMismatch(u32),
    ProcedureUnavailable,
    GarbageArguments,
}

/// One call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) xid: u32,
    pub(crate) program: u32,
    pub(crate) version: u32,
    pub(crate) procedure: u32,
    pub(crate) arguments: Reader<'a>,
}

/// The contents of a record.
#[derive(Debug)]
pub(crate) enum Record<'a> {
    Call(Call<'a>),
    /// A call in another version of RPC.
    OtherRpc {
        xid: u32,
    },
}

impl<'a> Record<'a> {
    /// # Errors
    /// The record is not a call; the connection is unusable.
    #[inline]
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Garbage> {
        let mut reader = Reader::new(bytes);
        let xid = reader.u32()?;
        if reader.u32()? != 0 {
            return Err(Garbage);
        }
        if reader.u32()? != 2 {
            return Ok(Self::OtherRpc { xid });
        }
        let (program, version, procedure) = (reader.u32()?, reader.u32()?, reader.u32()?);
        for _ in ["credential", "verifier"] {
            reader.u32()?;
            reader.opaque(MAX_AUTH_BYTES)?;
        }
        Ok(Self::Call(Call { xid, program, version, procedure, arguments: reader }))
    }
}

/// Starts a reply: record mark (to be filled in by [`finish`]), header, status.
pub(crate) fn begin(reply: &mut Vec<u8>, xid: u32, verdict: Accepted) {
    let code = match verdict {
        Accepted::Success => 0,
        Accepted::ProgramUnavailable => 1,
        Accepted::ProgramMismatch(_) => 2,
        Accepted::ProcedureUnavailable => 3,
        Accepted::GarbageArguments => 4,
    };
    // Record mark, xid, REPLY, MSG_ACCEPTED, an empty verifier of AUTH_NONE, the status.
    for word in [0, xid, 1, 0, 0, 0, code] {
        reply.put_u32(word);
    }
    if let Accepted::ProgramMismatch(version) = verdict {
        reply.put_u32(version);
        reply.put_u32(version);
    }
}

/// Denies a call because of its RPC version: MSG_DENIED, RPC_MISMATCH, lowest and highest version.
pub(crate) fn deny(reply: &mut Vec<u8>, xid: u32) {
    for word in [0, xid, 1, 1, 0, 2, 2] {
        reply.put_u32(word);
    }
}

/// Fills in the record mark of the reply that starts at `start` and is followed by `payload_bytes`.
pub(crate) fn finish(reply: &mut [u8], start: usize, payload_bytes: usize) {
    if let Some((mark, body)) = reply.get_mut(start..).and_then(<[u8]>::split_first_chunk_mut::<4>)
    {
        *mark = (LAST_FRAGMENT | (body.len() + payload_bytes) as u32).to_be_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn a_call_is_taken_apart() {
        let bytes = call(&[9, 0, 2, 100_003, 3, 1, 1, 4, 77, 0, 0, 42]);
        let Ok(Record::Call(mut found)) = Record::read(&bytes) else { panic!("no call") };
        assert_eq!((found.xid, found.program, found.version, found.procedure), (9, 100_003, 3, 1));
        assert_eq!(found.arguments.u32(), Ok(42));
    }

    #[test]
    fn what_is_no_call_is_refused() {
        assert!(Record::read(&call(&[9, 1, 2, 3, 4, 5, 0, 0, 0, 0])).is_err());
        assert!(Record::read(&call(&[9, 0, 2, 3, 4, 5, 0, 401])).is_err());
        assert!(Record::read(&[1, 2, 3]).is_err());
        let other = call(&[9, 0, 3]);
        assert!(matches!(Record::read(&other), Ok(Record::OtherRpc { xid: 9 })));
    }

    #[test]
    fn the_mark_counts_the_payload() {
        let mut reply = vec![1, 2, 3];
        begin(&mut reply, 5, Accepted::Success);
        finish(&mut reply, 3, 4096);
        assert_eq!(reply[3..7], (LAST_FRAGMENT | (24 + 4096)).to_be_bytes());
    }
}
