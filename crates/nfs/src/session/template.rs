//! Prepared calls: per file and procedure, everything but transaction number, offset and length is
//! the same in every call, so it is encoded once, copied, and patched.

use stormeter_wire::Outbox;

use crate::handle::FileHandle;
use crate::procedure::call_bytes;
use crate::record::LAST_FRAGMENT;
use crate::rpc::Auth;
use crate::xdr::padding;
use crate::{Commit, Read, Stability, Write};

/// The calls of one file.
#[derive(Debug)]
pub(super) struct Template {
    read: Vec<u8>,
    write: Vec<u8>,
    commit: Vec<u8>,
}

impl Template {
    pub(super) fn new(file: FileHandle, auth: &Auth) -> Self {
        let (offset_bytes, length_bytes) = (0, 0);
        let stability = Stability::Unstable;
        Self {
            read: call_bytes(0, auth, &Read { file, offset_bytes, length_bytes }),
            write: call_bytes(0, auth, &Write { file, offset_bytes, stability, data: &[] }),
            commit: call_bytes(0, auth, &Commit { file, offset_bytes, length_bytes }),
        }
    }

    #[inline]
    pub(super) fn put_read(&self, out: &mut Outbox, xid: u32, offset_bytes: u64, length: u32) {
        let call = append(out, &self.read, xid);
        if let Some(tail) = call.last_chunk_mut::<12>() {
            *tail = place(offset_bytes, length);
        }
    }

    /// A COMMIT of the whole file.
    pub(super) fn put_commit(&self, out: &mut Outbox, xid: u32) {
        append(out, &self.commit, xid);
    }

    /// All of a WRITE except its data, which must follow, and then [`put_padding`].
    #[inline]
    pub(super) fn put_write(
        &self,
        out: &mut Outbox,
        xid: u32,
        offset_bytes: u64,
        length: u32,
        stability: Stability,
    ) {
        let call = append(out, &self.write, xid);
        let body = call.len() - 4 + length as usize + padding(length as usize);
        if let Some(mark) = call.first_chunk_mut::<4>() {
            *mark = (LAST_FRAGMENT | body as u32).to_be_bytes();
        }
        if let Some(tail) = call.last_chunk_mut::<20>() {
            let (head, rest) = tail.split_at_mut(12);
            head.copy_from_slice(&place(offset_bytes, length));
            let two = u64::from(stability as u32) << 32 | u64::from(length);
            rest.copy_from_slice(&two.to_be_bytes());
        }
    }
}

/// The zeros after a WRITE's data.
#[inline]
pub(super) fn put_padding(out: &mut Outbox, length: u32) {
    if length & 3 != 0 {
        out.put(&[0; 3][..padding(length as usize)]);
    }
}

#[inline]
fn append<'a>(out: &'a mut Outbox, template: &[u8], xid: u32) -> &'a mut [u8] {
    let bytes = out.tail();
    let start = bytes.len();
    bytes.extend_from_slice(template);
    let call = bytes.get_mut(start..).unwrap_or_default();
    if let Some(head) = call.first_chunk_mut::<8>()
        && let Some(place) = head.last_chunk_mut::<4>()
    {
        *place = xid.to_be_bytes();
    }
    call
}

#[inline]
fn place(offset_bytes: u64, length: u32) -> [u8; 12] {
    (u128::from(offset_bytes) << 64 | u128::from(length) << 32)
        .to_be_bytes()
        .first_chunk()
        .copied()
        .unwrap_or_default()
}
