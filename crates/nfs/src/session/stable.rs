//! How unstable data becomes stable: with COMMITs, and by writing lost data again.
//!
//! Recovery holds everything else back. It first waits for outstanding WRITEs: otherwise one of
//! them could be executed before an older block is written again over it. Then the log is written
//! in order, several entries at a time as long as they do not overlap, and stably, so that it ends
//! even if the server restarts again.

use stormeter_disk::StorageEvent;
use stormeter_wire::Outbox;

use super::answers::check_count;
use super::log::Verdict;
use super::table::Work;
use super::{NfsSession, Phase};
use crate::data::{Stability, WriteVerifier, Written};
use crate::error::NfsError;

/// Number of entries that are written again at a time.
const REWRITES: usize = 32;

impl NfsSession {
    /// On a new connection: asks what the server still has of the data it accepted.
    pub(super) fn verify(&mut self, now_ns: u64, out: &mut Outbox) {
        self.phase = Phase::Verifying;
        self.commit_all(now_ns, out);
    }

    fn commit_all(&mut self, now_ns: u64, out: &mut Outbox) {
        let upto = self.log.last_sequence();
        for file in self.log.dirty_files(upto) {
            self.commit(file, upto, false, now_ns, out);
        }
    }

    pub(super) fn commit_ended(&mut self, file: u32, upto: u64, verifier: WriteVerifier) {
        self.committing.retain(|one| !one.is_for(file, upto));
        self.verdict = self.verdict.max(self.log.confirm(file, upto, verifier));
    }

    pub(super) fn begin_recovery(&mut self, has_restarted: bool) {
        self.phase = Phase::Recovering;
        self.next_rewrite = 0;
        if has_restarted {
            let rewritten_bytes = self.log.logged_bytes() as u64;
            self.incidents.note(StorageEvent::ServerRestarted { rewritten_bytes });
        }
    }

    /// Does what is due for stability. Called after everything that may have changed it.
    pub(super) fn settle(&mut self, now_ns: u64, out: &mut Outbox) {
        if matches!(self.phase, Phase::Normal | Phase::Verifying)
            && self.committing.is_empty()
            && self.verdict != Verdict::Kept
        {
            self.begin_recovery(self.verdict == Verdict::Restarted);
        }
        match self.phase {
            Phase::Down => {}
            Phase::Verifying => {
                if self.committing.is_empty() {
                    self.enter_normal(now_ns, out);
                }
            }
            Phase::Recovering => {
                self.recover(now_ns, out);
                if self.log.is_empty() {
                    self.enter_normal(now_ns, out);
                }
            }
            Phase::Normal => {
                self.commit_if_due(now_ns, out);
                if !self.held_writes.is_empty() {
                    self.release_held(now_ns, out);
                }
            }
        }
    }

    fn commit_if_due(&mut self, now_ns: u64, out: &mut Outbox) {
        let is_waiting = self.committing.iter().any(|one| !one.by_flush);
        if self.log.is_empty() || is_waiting || self.verdict != Verdict::Kept {
            return;
        }
        let ending = self.closing && self.transfers.count() == 0;
        if self.log.is_half_full() || ending {
            self.commit_all(now_ns, out);
        }
    }

    fn recover(&mut self, now_ns: u64, out: &mut Outbox) {
        let draining = !self.committing.is_empty()
            || self.table.any_sent(|work| matches!(work, Work::Write { .. }));
        if draining {
            return;
        }
        if self.next_rewrite == 0 {
            self.verdict = Verdict::Kept;
            self.log.renew();
        }
        while self.rewriting.len() < REWRITES {
            let Some(entry) = self.log.next_to_rewrite(self.next_rewrite) else { return };
            let under_way = |one: &u64| self.log.entry(*one).is_some_and(|one| one.overlaps(entry));
            if self.rewriting.iter().any(under_way) {
                return;
            }
            let (sequence, length) = (entry.sequence, entry.data.len() as u32);
            self.rewriting.push(sequence);
            self.next_rewrite = sequence + 1;
            self.dispatch(Work::Rewrite { entry: sequence, from: 0, length }, 0, now_ns, out);
        }
    }

    pub(super) fn rewrite_ended(
        &mut self,
        entry: u64,
        from: u32,
        length: u32,
        written: &Written,
        now_ns: u64,
        out: &mut Outbox,
    ) -> Result<(), NfsError> {
        let count = check_count(written.count, length)?;
        if written.stability < Stability::FileSync {
            return Err(NfsError::NotStable { stability: written.stability as u32 });
        }
        if count < length {
            let (from, length) = (from + count, length - count);
            self.dispatch(Work::Rewrite { entry, from, length }, 0, now_ns, out);
        } else {
            self.rewriting.retain(|one| *one != entry);
            self.log.rewritten(entry);
        }
        Ok(())
    }
}
