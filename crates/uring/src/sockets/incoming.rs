//! The receiving side of a connection: its inbox and the one receive that may be armed.

use std::io;

use super::inbox::Inbox;
use super::pool::Pool;
use super::transfer::{Header, Transfer};
use super::{SocketError, SocketSpan};
use crate::operation::Kind;

/// Receives of one connection, one at a time.
pub(super) struct Incoming {
    inbox: Inbox,
    /// Whether a receive is armed: from then on the inbox's tail and the direct span may be written
    /// by the kernel, until `complete`.
    armed: bool,
    /// Where the first bytes of the armed receive go; its buffer is claimed.
    direct: Option<SocketSpan>,
    /// The armed receive in runs: the direct span if there is one, the tail if there is room.
    vectors: Vec<libc::iovec>,
    header: Header,
}

impl Incoming {
    pub(super) fn new(receive_bytes: u32) -> io::Result<Self> {
        Ok(Self {
            inbox: Inbox::new(receive_bytes as usize)?,
            armed: false,
            direct: None,
            vectors: Vec::with_capacity(2),
            header: Header::new(),
        })
    }

    pub(super) fn is_armed(&self) -> bool {
        self.armed
    }

    /// The contents of the inbox.
    #[inline]
    pub(super) fn filled(&self) -> &[u8] {
        self.inbox.filled()
    }

    #[inline]
    pub(super) fn consume(&mut self, bytes: usize) {
        self.inbox.consume(bytes);
    }

    /// Arms a receive and claims the memory that it will write to. Returns whether there is
    /// something new to start: an armed receive into the inbox suffices.
    #[inline]
    pub(super) fn arm(
        &mut self,
        place: u32,
        direct: Option<SocketSpan>,
        pool: &mut Pool,
    ) -> Result<bool, SocketError> {
        let direct = direct.filter(|span| span.length > 0);
        if self.armed {
            let same = direct.is_none() && self.direct.is_none();
            return if same { Ok(false) } else { Err(SocketError::Receiving { place }) };
        }
        let (tail, room) = self.inbox.tail();
        if room == 0 && direct.is_none() {
            return Err(SocketError::InboxFull { place });
        }
        self.vectors.clear();
        if let Some(span) = direct {
            let address = pool.claim(Kind::Read, span)?;
            let vector = libc::iovec { iov_base: address.cast(), iov_len: span.length as usize };
            self.vectors.push(vector);
        }
        if room > 0 {
            self.vectors.push(libc::iovec { iov_base: tail.cast(), iov_len: room });
        }
        self.direct = direct;
        self.armed = true;
        Ok(true)
    }

    /// The armed receive as one call. Its memory belongs to the kernel until
    /// [`complete`](Self::complete).
    #[inline]
    pub(super) fn transfer(&mut self) -> Transfer {
        match self.vectors.as_slice() {
            [one] => Transfer::One { address: one.iov_base.cast(), length: one.iov_len },
            _ => {
                let count = self.vectors.len();
                Transfer::Many(self.header.naming(self.vectors.as_mut_ptr(), count))
            }
        }
    }

    /// How many bytes the armed receive can accept.
    pub(super) fn room(&self) -> usize {
        self.vectors.iter().map(|vector| vector.iov_len).sum()
    }

    /// The armed receive has ended with this many bytes, or none. Returns how many of them are in
    /// the direct span.
    #[inline]
    pub(super) fn complete(&mut self, received: usize, pool: &mut Pool) -> u32 {
        self.armed = false;
        let mut direct_bytes = 0;
        if let Some(span) = self.direct.take() {
            pool.release(span.buffer);
            direct_bytes = received.min(span.length as usize);
        }
        self.inbox.grow(received - direct_bytes);
        direct_bytes as u32
    }

    /// Discards everything that was received, for another connection. No receive may be armed.
    pub(super) fn clear(&mut self) {
        debug_assert!(!self.armed);
        self.inbox.clear();
    }
}
