//! Requests that await a reply, found by transaction number without a hash: the low bits are the
//! index, the whole number is compared.
//!
//! Numbers rise; one whose slot is still taken by a slow request is skipped. The table is at most
//! half full, so that this is rare, and it can grow in place: numbers that differ in few bits also
//! differ in more bits.

/// What a request does, and for which operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Reads part of an operation.
    Read { transfer: u32, from: u32, length: u32 },
    /// Writes part of an operation.
    Write { transfer: u32, from: u32, length: u32 },
    /// Commits the logged writes of a file up to a sequence number.
    Commit { file: u32, upto: u64 },
    /// Writes part of a log entry again.
    Rewrite { entry: u64, from: u32, length: u32 },
}

impl Work {
    /// Whether the session itself made it, rather than an operation.
    pub(super) fn is_internal(self) -> bool {
        matches!(self, Self::Commit { .. } | Self::Rewrite { .. })
    }
}

/// A request that awaits a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) xid: u32,
    pub(super) work: Work,
    /// How often the server has asked to retry later.
    pub(super) waits: u32,
    /// Whether it was sent on the current connection.
    pub(super) sent: bool,
    /// When it was sent.
    pub(super) sent_ns: u64,
}

/// The requests that await a reply.
#[derive(Debug)]
pub(super) struct Table {
    slots: Vec<Option<Request>>,
    mask: u32,
    next_xid: u32,
    /// No request is older.
    oldest_xid: u32,
    count: u32,
}

impl Table {
    pub(super) fn new(first_xid: u32) -> Self {
        const PLACES: u32 = 64;
        Self {
            slots: vec![None; PLACES as usize],
            mask: PLACES - 1,
            next_xid: first_xid,
            oldest_xid: first_xid,
            count: 0,
        }
    }

    /// Adds a request and gives it a number.
    #[inline]
    pub(super) fn insert(&mut self, work: Work, waits: u32, sent: bool, sent_ns: u64) -> u32 {
        if (self.count as usize + 1) * 2 > self.slots.len() {
            self.grow();
        }
        loop {
            let xid = self.next_xid;
            self.next_xid = xid.wrapping_add(1);
            let Some(slot) = self.slots.get_mut((xid & self.mask) as usize) else { continue };
            if slot.is_none() {
                *slot = Some(Request { xid, work, waits, sent, sent_ns });
                if self.count == 0 {
                    self.oldest_xid = xid;
                }
                self.count += 1;
                return xid;
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![None; old.len() * 2];
        self.mask = self.mask * 2 + 1;
        for request in old.into_iter().flatten() {
            if let Some(slot) = self.slots.get_mut((request.xid & self.mask) as usize) {
                *slot = Some(request);
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, xid: u32) -> Option<&Request> {
        self.slots.get((xid & self.mask) as usize)?.as_ref().filter(|request| request.xid == xid)
    }

    #[inline]
    pub(super) fn remove(&mut self, xid: u32) -> Option<Request> {
        let slot = self.slots.get_mut((xid & self.mask) as usize)?;
        let request = slot.take_if(|request| request.xid == xid)?;
        self.count -= 1;
        if xid == self.oldest_xid {
            self.advance();
        }
        Some(request)
    }

    /// Finds the oldest request again. Every number is passed once, or the table is searched once
    /// for as many numbers as it has slots: cheap on average, however long one request was stuck.
    #[inline]
    fn advance(&mut self) {
        if self.count == 0 {
            self.oldest_xid = self.next_xid;
            return;
        }
        let base = self.oldest_xid;
        if self.next_xid.wrapping_sub(base) as usize > self.slots.len() {
            let ages = self.slots.iter().flatten().map(|request| request.xid.wrapping_sub(base));
            self.oldest_xid = base.wrapping_add(ages.min().unwrap_or(0));
            return;
        }
        while self.oldest_xid != self.next_xid && self.get(self.oldest_xid).is_none() {
            self.oldest_xid = self.oldest_xid.wrapping_add(1);
        }
    }

    /// Of the requests sent on this connection, the one that has waited longest.
    #[inline]
    pub(super) fn oldest_sent(&self) -> Option<&Request> {
        match self.get(self.oldest_xid) {
            Some(request) if request.sent => Some(request),
            None => None,
            // While the log is verified, the session's own requests are sent before older ones.
            Some(_) => self
                .slots
                .iter()
                .flatten()
                .filter(|request| request.sent)
                .min_by_key(|request| request.xid.wrapping_sub(self.oldest_xid)),
        }
    }

    pub(super) fn any_sent(&self, wanted: impl Fn(Work) -> bool) -> bool {
        self.slots.iter().flatten().any(|request| request.sent && wanted(request.work))
    }

    /// The connection is gone: the session's own requests are dropped, the others have to be sent
    /// again. Returns how many of those had been sent.
    pub(super) fn break_off(&mut self) -> u32 {
        let mut broken = 0;
        for slot in &mut self.slots {
            if slot.take_if(|request| request.work.is_internal()).is_some() {
                self.count -= 1;
            } else if let Some(request) = slot {
                broken += u32::from(request.sent);
                request.sent = false;
            }
        }
        if self.get(self.oldest_xid).is_none() {
            self.advance();
        }
        broken
    }

    /// Marks all unsent requests as sent and returns their numbers in order.
    pub(super) fn send_all(&mut self, now_ns: u64) -> Vec<u32> {
        let mut xids = Vec::new();
        for request in self.slots.iter_mut().flatten().filter(|request| !request.sent) {
            request.sent = true;
            request.sent_ns = now_ns;
            xids.push(request.xid);
        }
        xids.sort_unstable_by_key(|xid| xid.wrapping_sub(self.oldest_xid));
        xids
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(None);
        self.count = 0;
        self.oldest_xid = self.next_xid;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(transfer: u32) -> Work {
        Work::Read { transfer, from: 0, length: 1 }
    }

    #[test]
    fn numbers_never_meet_however_slow_one_is() {
        // The numbers wrap around, and one request stays while thousands pass.
        let mut table = Table::new(u32::MAX - 1000);
        let slow = table.insert(read(0), 0, true, 1);
        let mut seen = vec![slow];
        for turn in 0..5000_u32 {
            let xids: Vec<_> = (0..40).map(|_| table.insert(read(turn), 0, true, 2)).collect();
            assert_eq!(table.oldest_sent().unwrap().xid, slow);
            for xid in xids.iter().rev() {
                assert_eq!(table.remove(*xid).unwrap().work, read(turn));
                assert_eq!(table.remove(*xid), None);
            }
            seen.extend(xids);
        }
        let late = table.insert(read(7), 0, true, 3);
        assert!(table.remove(slow).is_some());
        assert_eq!(table.oldest_sent().unwrap().xid, late);
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count);
    }

    #[test]
    fn a_break_keeps_numbers_and_order() {
        let mut table = Table::new(u32::MAX - 2);
        let xids: Vec<_> = (0..100).map(|one| table.insert(read(one), 0, true, 1)).collect();
        let own = table.insert(Work::Commit { file: 0, upto: 1 }, 0, true, 1);
        table.remove(xids[0]);
        assert_eq!(table.break_off(), 99);
        assert_eq!(table.get(own), None);
        assert_eq!(table.oldest_sent(), None);
        let own = table.insert(Work::Commit { file: 0, upto: 1 }, 0, true, 2);
        assert_eq!(table.oldest_sent().unwrap().xid, own);
        table.remove(own);
        assert_eq!(table.send_all(3), xids[1..]);
        assert_eq!(table.oldest_sent().unwrap().xid, xids[1]);
    }
}
