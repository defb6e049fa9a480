//! The sending side of a connection: the one send that may be in progress.
//!
//! The sender's bytes are taken by swapping vectors, so two of them alternate and none is copied or
//! allocated once both have grown. Payload is referred to in place in the pool, whose buffers are
//! claimed until the end of the send.

use super::pool::Pool;
use super::transfer::{Header, Transfer};
use super::{SocketError, SocketPiece};
use crate::operation::Kind;

/// Sends of one connection, one at a time.
pub(super) struct Outgoing {
    /// The sender's bytes while a send is in progress, otherwise empty.
    bytes: Vec<u8>,
    /// The runs to send; those before `next` have been sent.
    vectors: Vec<libc::iovec>,
    next: usize,
    /// Claimed buffers, one entry per claim.
    claimed: Vec<u32>,
    pieces_a_call: usize,
    header: Header,
}

impl Outgoing {
    pub(super) fn new(pieces_a_call: usize) -> Self {
        Self {
            bytes: Vec::new(),
            vectors: Vec::new(),
            next: 0,
            claimed: Vec::new(),
            pieces_a_call,
            header: Header::new(),
        }
    }

    /// Whether a send is in progress.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        !self.vectors.is_empty()
    }

    /// Accepts data to send. If refused, nothing is changed.
    #[inline]
    pub(super) fn begin(
        &mut self,
        bytes: &mut Vec<u8>,
        pieces: impl Iterator<Item = SocketPiece>,
        pool: &mut Pool,
    ) -> Result<(), SocketError> {
        debug_assert!(!self.is_active());
        match self.gather(bytes, pieces, pool) {
            Ok(()) => {
                // The runs point into the vector's memory, which does not move when swapped.
                std::mem::swap(&mut self.bytes, bytes);
                Ok(())
            }
            Err(refusal) => {
                self.end(pool);
                Err(refusal)
            }
        }
    }

    #[inline]
    fn gather(
        &mut self,
        bytes: &mut [u8],
        pieces: impl Iterator<Item = SocketPiece>,
        pool: &mut Pool,
    ) -> Result<(), SocketError> {
        let given = bytes.len() as u64;
        let mut named = 0;
        for piece in pieces {
            let (address, length) = match piece {
                SocketPiece::Bytes(length) => {
                    let from = named;
                    named += u64::from(length);
                    if named > given {
                        return Err(SocketError::Pieces { named, given });
                    }
                    (bytes.as_mut_ptr().wrapping_add(from as usize), length)
                }
                SocketPiece::Payload(span) if span.length == 0 => continue,
                SocketPiece::Payload(span) => {
                    let address = pool.claim(Kind::Write, span)?;
                    self.claimed.push(span.buffer);
                    (address, span.length)
                }
            };
            if length > 0 {
                let run = libc::iovec { iov_base: address.cast(), iov_len: length as usize };
                self.vectors.push(run);
            }
        }
        if named != given {
            return Err(SocketError::Pieces { named, given });
        }
        if self.vectors.is_empty() { Err(SocketError::Nothing) } else { Ok(()) }
    }

    /// The next call of the send. Its memory belongs to the kernel until [`advance`](Self::advance)
    /// or [`end`](Self::end).
    #[inline]
    pub(super) fn transfer(&mut self) -> Transfer {
        match self.vectors.get_mut(self.next..).unwrap_or_default() {
            [one] => Transfer::One { address: one.iov_base.cast(), length: one.iov_len },
            runs => {
                let count = runs.len().min(self.pieces_a_call);
                Transfer::Many(self.header.naming(runs.as_mut_ptr(), count))
            }
        }
    }

    /// This many bytes have been passed to the kernel; returns whether that was all.
    #[inline]
    pub(super) fn advance(&mut self, mut sent: usize) -> bool {
        while let Some(run) = self.vectors.get_mut(self.next) {
            if sent < run.iov_len {
                run.iov_base = run.iov_base.wrapping_byte_add(sent);
                run.iov_len -= sent;
                return false;
            }
            sent -= run.iov_len;
            self.next += 1;
        }
        true
    }

    /// The send is over, completed or not: releases the buffers and keeps the vectors' memory.
    #[inline]
    pub(super) fn end(&mut self, pool: &mut Pool) {
        for buffer in self.claimed.drain(..) {
            pool.release(buffer);
        }
        self.vectors.clear();
        self.next = 0;
        self.bytes.clear();
    }
}
