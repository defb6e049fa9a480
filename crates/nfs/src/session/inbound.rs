//! Received bytes, split anywhere: headers of replies are read in place, payload goes straight to
//! its buffer. Only a reply in several fragments is reassembled first.

use stormeter_disk::Completion;
use stormeter_wire::{Memory, Outbox, Span};

use super::expected::Inbound;
use super::{MAX_REPLY_HEAD_BYTES, NfsSession};
use crate::error::NfsError;
use crate::record::{LAST_FRAGMENT, RecordError};
use crate::xdr::XdrError;

/// No valid header of a reply is longer; more bytes would not help.
const MAX_HEAD_BYTES: usize = 1024;

impl NfsSession {
    /// Consumes received bytes; see [`stormeter_wire::Session::receive`].
    #[inline]
    pub(super) fn take_in(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<usize, NfsError> {
        let mut rest = bytes;
        loop {
            match self.inbound {
                Inbound::Head => {
                    let Some((mark, after)) = rest.split_first_chunk::<4>() else { break };
                    let mark = u32::from_be_bytes(*mark);
                    if mark & LAST_FRAGMENT == 0 {
                        self.inbound = Inbound::Assembling;
                        continue;
                    }
                    let length = mark & !LAST_FRAGMENT;
                    let limit_bytes = self.read_max_bytes + MAX_REPLY_HEAD_BYTES;
                    if length > limit_bytes {
                        let length_bytes = u64::from(length);
                        return Err(RecordError::TooLong { length_bytes, limit_bytes }.into());
                    }
                    let come = after.get(..length as usize).unwrap_or(after);
                    match self.head(come, length, now_ns, memory, out, done) {
                        Ok(head) => rest = after.get(head..).unwrap_or_default(),
                        Err(NfsError::Xdr(XdrError::Truncated { .. }))
                            if come.len() < (length as usize).min(MAX_HEAD_BYTES) =>
                        {
                            break;
                        }
                        Err(error) => return Err(error),
                    }
                }
                Inbound::Payload { span, .. } => {
                    if rest.is_empty() {
                        break;
                    }
                    rest = self.copy_payload(span, rest, now_ns, memory, out, done)?;
                }
                Inbound::Skip { left } => {
                    let length = rest.len().min(left as usize);
                    if length == 0 {
                        break;
                    }
                    rest = rest.get(length..).unwrap_or_default();
                    self.inbound = Inbound::skip(left - length as u32);
                }
                Inbound::Assembling => {
                    let Some(record) = self.assembler.feed(&mut rest)? else { break };
                    self.inbound = Inbound::Head;
                    self.whole_record(&record, now_ns, memory, out, done)?;
                }
            }
        }
        Ok(bytes.len() - rest.len())
    }

    fn whole_record(
        &mut self,
        record: &[u8],
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), NfsError> {
        let head = self.head(record, record.len() as u32, now_ns, memory, out, done)?;
        if let Inbound::Payload { span, .. } = self.inbound {
            let payload = record.get(head..).unwrap_or_default();
            self.copy_payload(span, payload, now_ns, memory, out, done)?;
        }
        self.inbound = Inbound::Head;
        Ok(())
    }

    /// Copies payload and returns the remaining bytes.
    #[inline]
    fn copy_payload<'a>(
        &mut self,
        span: Span,
        bytes: &'a [u8],
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<&'a [u8], NfsError> {
        let length = bytes.len().min(span.length as usize);
        let (payload, rest) = bytes.split_at(length);
        let place = memory
            .bytes_mut(span.part(0, length as u32))
            .filter(|place| place.len() == length)
            .ok_or(NfsError::Buffer { buffer: span.buffer })?;
        place.copy_from_slice(payload);
        self.payload_arrived(length as u32, now_ns, out, done)?;
        Ok(rest)
    }

    /// This many bytes of payload have arrived.
    #[inline]
    pub(super) fn payload_arrived(
        &mut self,
        length: u32,
        now_ns: u64,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), NfsError> {
        self.heard_ns = now_ns;
        let Inbound::Payload { xid, span, rest, count, end_of_file } = self.inbound else {
            return Ok(());
        };
        let span = span.part(length, span.length);
        if span.length > 0 {
            self.inbound = Inbound::Payload { xid, span, rest, count, end_of_file };
            return Ok(());
        }
        self.inbound = Inbound::skip(rest);
        self.read_ended(xid, count, end_of_file, now_ns, out, done)
    }

    /// Decides what follows a header of `head` bytes in a record of `length` that carries no
    /// payload.
    #[inline]
    pub(super) fn skip_after(&mut self, head: usize, length: u32) -> usize {
        self.inbound = Inbound::skip(length.saturating_sub(head as u32));
        head
    }
}
