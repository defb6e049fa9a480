//! Applies replies to the requests that they answer.

use stormeter_disk::{Completion, DeviceError, Operation, StorageEvent};
use stormeter_wire::{Memory, Outbox, Span};

use super::expected::Inbound;
use super::table::{Request, Work};
use super::{NfsSession, Phase};
use crate::attributes::{ATTRIBUTES_BYTES, BEFORE_BYTES};
use crate::data::{Stability, Written};
use crate::error::NfsError;
use crate::files::decode_status;
use crate::rpc::decode_reply_head;
use crate::status::NfsStatus;
use crate::xdr::{Decoder, XdrError, padding};

/// After this many replies that match no request, the connection is given up.
const MAX_UNKNOWN_REPLIES: u32 = 1000;

/// Whether a header is the usual one: a reply, accepted, verifier empty, executed, status OK. Two
/// comparisons replace reading seven words one by one.
#[inline(always)]
fn is_plain_success(head: &[u8; 28]) -> bool {
    let [_, _, _, _, reply @ .., a, b, c, d, e, f, g, h] = head;
    let (reply, verifier) = reply.split_at(8);
    let accepted: [u8; 8] = [*a, *b, *c, *d, *e, *f, *g, *h];
    reply == [0, 0, 0, 1, 0, 0, 0, 0] && verifier.ends_with(&[0; 4]) && accepted == [0; 8]
}

/// Skips `post_op_attr`.
#[inline(always)]
fn skip_attributes(decoder: &mut Decoder<'_>) -> Result<(), XdrError> {
    if decoder.bool("attributes")? { decoder.skip(ATTRIBUTES_BYTES, "attributes") } else { Ok(()) }
}

/// Skips `wcc_data`.
#[inline(always)]
fn skip_change(decoder: &mut Decoder<'_>) -> Result<(), XdrError> {
    if decoder.bool("attributes before")? {
        decoder.skip(BEFORE_BYTES, "attributes before")?;
    }
    skip_attributes(decoder)
}

impl NfsSession {
    /// Reads the header of a reply of `length` bytes, of which `record` has arrived, and acts on
    /// it. Returns how much of the record it consumed; `inbound` says what the rest is. If the
    /// header turns out to be incomplete, nothing has changed.
    #[inline]
    pub(super) fn head(
        &mut self,
        record: &[u8],
        length: u32,
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<usize, NfsError> {
        let mut decoder = Decoder::new(record);
        let xid = decoder.u32("the transaction's number")?;
        let Some(request) = self.table.get(xid).filter(|request| request.sent).copied() else {
            self.unknown_reply()?;
            return Ok(self.skip_after(4, length));
        };
        match record.split_first_chunk::<28>() {
            Some((head, results)) if is_plain_success(head) => decoder = Decoder::new(results),
            _ => {
                if !self.unusual_head(&request, &mut decoder, now_ns, done)? {
                    return Ok(self.skip_after(record.len() - decoder.left(), length));
                }
            }
        }
        if let Work::Read { transfer, from, length: asked } = request.work {
            skip_attributes(&mut decoder)?;
            let count = decoder.u32("the count")?;
            let end_of_file = decoder.bool("the end of file")?;
            let carried = decoder.u32("the data's length")?;
            let head = record.len() - decoder.left();
            if count != carried {
                return Err(NfsError::CountDiffers { count, carried });
            }
            if count > asked {
                return Err(NfsError::MovedTooMuch { asked_bytes: asked, moved_bytes: count });
            }
            // No overflow: the count is at most the requested length.
            let needed = count + padding(count as usize) as u32;
            let left = length.saturating_sub(head as u32);
            let Some(rest) = left.checked_sub(needed) else {
                // An error rather than a lack of bytes: the record as a whole is too short.
                let what = "a READ reply: the data's length";
                return Err(XdrError::TooLong {
                    what,
                    length: needed as usize,
                    limit: left as usize,
                }
                .into());
            };
            if count == 0 {
                self.read_ended(xid, 0, end_of_file, now_ns, out, done)?;
                return Ok(self.skip_after(head, length));
            }
            let buffer = self.transfers.operation(transfer).map_or(u32::MAX, |one| one.buffer);
            let rest = rest + padding(count as usize) as u32;
            let span = Span { buffer, offset: from, length: count };
            self.inbound = Inbound::Payload { xid, span, rest, count, end_of_file };
            self.heard_ns = now_ns;
            return Ok(head);
        }
        skip_change(&mut decoder)?;
        if let Work::Commit { file, upto } = request.work {
            let verifier = decoder.array("the verifier")?;
            self.table.remove(xid);
            self.commit_ended(file, upto, verifier);
            self.end_flushes(done);
        } else {
            let written = Written {
                count: decoder.u32("the count")?,
                stability: Stability::decode(&mut decoder)?,
                verifier: decoder.array("the verifier")?,
            };
            self.table.remove(xid);
            match request.work {
                Work::Rewrite { entry, from, length } => {
                    self.rewrite_ended(entry, from, length, &written, now_ns, out)?;
                    self.end_flushes(done);
                }
                work => self.write_ended(work, &written, now_ns, memory, out, done)?,
            }
        }
        Ok(self.skip_after(record.len() - decoder.left(), length))
    }

    /// Reads a header that is not the usual one. Returns whether results follow; if not, the
    /// request has been handled.
    #[cold]
    fn unusual_head(
        &mut self,
        request: &Request,
        decoder: &mut Decoder<'_>,
        now_ns: u64,
        done: &mut Vec<Completion>,
    ) -> Result<bool, NfsError> {
        match decode_reply_head(decoder).and_then(|()| decode_status(decoder)) {
            Ok(()) => Ok(true),
            Err(error @ (NfsError::Status(_) | NfsError::Rpc(_))) => {
                self.table.remove(request.xid);
                self.refused_by_server(request, error, now_ns, done)?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    #[cold]
    fn unknown_reply(&mut self) -> Result<(), NfsError> {
        self.incidents.note(StorageEvent::UnknownReply);
        self.unknown_replies += 1;
        if self.unknown_replies > MAX_UNKNOWN_REPLIES {
            return Err(NfsError::UnknownReplies { count: self.unknown_replies });
        }
        Ok(())
    }

    /// All data of a READ has arrived.
    #[inline]
    pub(super) fn read_ended(
        &mut self,
        xid: u32,
        count: u32,
        end_of_file: bool,
        now_ns: u64,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), NfsError> {
        let Some(Request { work: Work::Read { transfer, from, length }, .. }) =
            self.table.remove(xid)
        else {
            return Ok(());
        };
        if count < length {
            if !end_of_file {
                if count == 0 {
                    return Err(NfsError::MovedNothing { asked_bytes: length });
                }
                let (from, length) = (from + count, length - count);
                self.begin(Work::Read { transfer, from, length }, now_ns, out);
                return Ok(());
            }
            self.transfers.ends_at(transfer, from + count);
        }
        self.transfers.piece_ended(transfer, done);
        Ok(())
    }

    /// A WRITE was answered.
    #[inline]
    fn write_ended(
        &mut self,
        work: Work,
        written: &Written,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), NfsError> {
        let Work::Write { transfer, from, length } = work else { return Ok(()) };
        let count = check_count(written.count, length)?;
        let Some(operation) = self.transfers.operation(transfer).copied() else { return Ok(()) };
        if self.is_logging() {
            self.log_write(&operation, from, written, memory)?;
            self.log.release(length - count);
        }
        if written.stability < self.asked(operation.kind) {
            self.not_stable(&operation, written.stability);
            self.transfers.fail(transfer, DeviceError::IO);
        } else if count < length {
            let (from, length) = (from + count, length - count);
            self.begin(Work::Write { transfer, from, length }, now_ns, out);
            return Ok(());
        }
        self.transfers.piece_ended(transfer, done);
        Ok(())
    }

    #[cold]
    fn not_stable(&mut self, operation: &Operation, found: Stability) {
        let asked = self.asked(operation.kind);
        self.incidents.failure(|| StorageEvent::LessStable {
            io: operation.into(),
            asked: format!("{asked:?}").into(),
            granted: format!("{found:?}").into(),
        });
    }

    /// The server refused a request.
    #[cold]
    fn refused_by_server(
        &mut self,
        request: &Request,
        error: NfsError,
        now_ns: u64,
        done: &mut Vec<Completion>,
    ) -> Result<(), NfsError> {
        if error == NfsError::Status(NfsStatus::Jukebox) {
            self.incidents.note(StorageEvent::AskedToWait);
            let waits = request.waits.saturating_add(1);
            let waited_ns =
                (0..waits).fold(0, |sum: u64, one| sum.saturating_add(self.wait_ns(one)));
            if waited_ns <= self.waits_ns {
                let due_ns = now_ns.saturating_add(self.wait_ns(request.waits));
                self.waits.push(due_ns, Request { waits, ..*request });
                return Ok(());
            }
        }
        let (transfer, length) = match request.work {
            Work::Read { transfer, length, .. } | Work::Write { transfer, length, .. } => {
                (transfer, length)
            }
            Work::Commit { file, upto } => return self.commit_refused(file, upto, error, done),
            Work::Rewrite { .. } => return Err(error),
        };
        if matches!(request.work, Work::Write { .. }) && self.is_logging() {
            self.log.release(length);
        }
        if let Some(operation) = self.transfers.operation(transfer) {
            self.incidents.failure(|| StorageEvent::Refused {
                io: operation.into(),
                said: error.to_string().into(),
            });
        }
        self.transfers.fail(transfer, error.errno());
        self.transfers.piece_ended(transfer, done);
        Ok(())
    }

    /// How long to wait when the server asks for it again, after `waits` earlier times.
    fn wait_ns(&self, waits: u32) -> u64 {
        self.wait_first_ns.saturating_mul(1 << waits.min(31)).min(self.wait_most_ns)
    }

    fn log_write(
        &mut self,
        operation: &Operation,
        from: u32,
        written: &Written,
        memory: &impl Memory,
    ) -> Result<(), NfsError> {
        let Written { count, stability, verifier } = *written;
        let durable = stability != Stability::Unstable;
        if self.asked(operation.kind) == Stability::Unstable {
            self.commits_at_once = Some(durable && self.commits_at_once != Some(false));
        }
        if durable && self.log.is_empty() {
            self.log.release(count);
            return Ok(());
        }
        let buffer = operation.buffer;
        let span = Span { buffer, offset: from, length: count };
        let bytes = memory.bytes(span).ok_or(NfsError::Buffer { buffer })?;
        if self.phase == Phase::Normal && self.log.last_differs(verifier) {
            self.begin_recovery(true);
        }
        let offset_bytes = operation.offset_bytes + u64::from(from);
        self.log.push(operation.disk, offset_bytes, bytes, verifier, durable);
        Ok(())
    }
}

/// Checks the byte count in a WRITE reply.
pub(super) fn check_count(count: u32, asked_bytes: u32) -> Result<u32, NfsError> {
    if count > asked_bytes {
        return Err(NfsError::MovedTooMuch { asked_bytes, moved_bytes: count });
    }
    if count == 0 && asked_bytes > 0 {
        return Err(NfsError::MovedNothing { asked_bytes });
    }
    Ok(count)
}
