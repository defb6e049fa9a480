//! How requests are sent: at once, or when there is a connection, space in the log, or the time to
//! retry has come.

use stormeter_disk::Operation;
use stormeter_wire::{Outbox, Span};

use super::expected::Inbound;
use super::table::Work;
use super::template::{Template, put_padding};
use super::{NfsSession, Phase};
use crate::data::Stability;

impl Phase {
    /// Whether requests of this kind may be sent.
    pub(super) fn lets_go(self, work: Work) -> bool {
        match self {
            Self::Down | Self::Normal => true,
            Self::Verifying | Self::Recovering => work.is_internal(),
        }
    }
}

impl NfsSession {
    pub(super) fn may_go(&self, work: Work) -> bool {
        // Without a connection nothing is sent, so nothing is urgent.
        self.phase != Phase::Down && self.phase.lets_go(work)
    }

    /// The time at which the server will have been silent for too long.
    #[inline]
    pub(super) fn silent_ns(&self) -> Option<u64> {
        if self.phase == Phase::Down {
            return None;
        }
        let oldest = self.table.oldest_sent()?;
        let since_ns = match self.inbound {
            // A long reply on a slow line counts as an answer as long as it grows.
            Inbound::Payload { xid, .. } if xid == oldest.xid => self.heard_ns.max(oldest.sent_ns),
            _ => oldest.sent_ns,
        };
        Some(since_ns.saturating_add(self.reply_ns))
    }

    /// Starts a part of an operation, or the rest of one.
    #[inline]
    pub(super) fn begin(&mut self, work: Work, now_ns: u64, out: &mut Outbox) {
        if let Work::Write { length, .. } = work {
            let room = self.phase.lets_go(work)
                && (!self.is_logging()
                    || (self.held_writes.is_empty() && self.log.reserve(length)));
            if !room {
                self.held_writes.push_back(work);
                return;
            }
        } else if !self.phase.lets_go(work) {
            self.held_reads.push_back(work);
            return;
        }
        self.dispatch(work, 0, now_ns, out);
    }

    /// Releases held requests, as far as they may be sent.
    pub(super) fn release_held(&mut self, now_ns: u64, out: &mut Outbox) {
        while let Some(work) = self.held_reads.pop_front() {
            self.dispatch(work, 0, now_ns, out);
        }
        while let Some(work) = self.held_writes.front().copied() {
            if let Work::Write { length, .. } = work
                && self.is_logging()
                && !self.log.reserve(length)
            {
                return;
            }
            self.held_writes.pop_front();
            self.dispatch(work, 0, now_ns, out);
        }
    }

    /// Gives a request its number and sends it, if there is a connection.
    #[inline]
    pub(super) fn dispatch(&mut self, work: Work, waits: u32, now_ns: u64, out: &mut Outbox) {
        let sent = self.phase != Phase::Down;
        let xid = self.table.insert(work, waits, sent, now_ns);
        if sent {
            self.put(xid, work, out);
        }
    }

    /// An operation, and the calls of its file.
    #[inline]
    fn target(&self, transfer: u32) -> Option<(&Operation, &Template)> {
        let operation = self.transfers.operation(transfer)?;
        Some((operation, self.templates.get(operation.disk as usize)?))
    }

    #[inline]
    fn put(&self, xid: u32, work: Work, out: &mut Outbox) {
        match work {
            Work::Read { transfer, from, length } => {
                let Some((operation, template)) = self.target(transfer) else { return };
                template.put_read(out, xid, operation.offset_bytes + u64::from(from), length);
            }
            Work::Write { transfer, from, length } => {
                let Some((operation, template)) = self.target(transfer) else { return };
                let offset_bytes = operation.offset_bytes + u64::from(from);
                let stability = self.asked(operation.kind);
                template.put_write(out, xid, offset_bytes, length, stability);
                out.payload(Span { buffer: operation.buffer, offset: from, length });
                put_padding(out, length);
            }
            Work::Commit { file, .. } => {
                if let Some(template) = self.templates.get(file as usize) {
                    template.put_commit(out, xid);
                }
            }
            Work::Rewrite { entry, from, length } => {
                let Some(entry) = self.log.entry(entry) else { return };
                let Some(template) = self.templates.get(entry.file as usize) else { return };
                let offset_bytes = entry.offset_bytes + u64::from(from);
                template.put_write(out, xid, offset_bytes, length, Stability::FileSync);
                let bytes = entry.data.get(from as usize..).unwrap_or_default();
                out.put(bytes.get(..length as usize).unwrap_or(bytes));
                put_padding(out, length);
            }
        }
    }

    /// Operations are sent from now on: first those that were outstanding on the previous
    /// connection.
    pub(super) fn enter_normal(&mut self, now_ns: u64, out: &mut Outbox) {
        self.phase = Phase::Normal;
        for xid in self.table.send_all(now_ns) {
            if let Some(request) = self.table.get(xid).copied() {
                self.put(xid, request.work, out);
            }
        }
        self.release_held(now_ns, out);
    }
}
