//! Flushes: when each of them has ended, and what becomes of it if a COMMIT is refused.
//!
//! A flush waits for the log to hold nothing more that it covers. A COMMIT is the usual way there; after a restart of
//! the server, writing the lost data again is. Nothing but the log decides, so a flush that is outstanding when the
//! connection breaks needs no care: the log is verified on the next one, by COMMITs.

use stormeter_disk::{Completion, DeviceError, Operation, StorageEvent};
use stormeter_wire::Outbox;

use super::awaited::{Committing, Flush};
use super::log::Verdict;
use super::table::Work;
use super::{NfsSession, Phase};
use crate::error::NfsError;

impl NfsSession {
    /// Sends a COMMIT of the file, if there is anything to commit and none under way that covers it.
    #[inline(never)] // Off the way of reads and writes.
    pub(super) fn submit_flush(&mut self, operation: &Operation, now_ns: u64, out: &mut Outbox) {
        let (file, slot) = (operation.disk, operation.slot);
        if self.forgotten.contains(&file) {
            self.ended.push((*operation, Completion::failed(slot, DeviceError::IO)));
            return;
        }
        let Some(upto) = self.log.last_unsettled(file) else {
            self.ended.push((*operation, Completion::moved(slot, 0)));
            return;
        };
        let transfer = self.transfers.begin(operation, 1);
        self.flushes.push(Flush { transfer, file, upto });
        // Otherwise the log is verified or written again, which is as good, or soon will be.
        if self.phase == Phase::Normal && self.verdict == Verdict::Kept {
            self.commit(file, upto, true, now_ns, out);
        }
    }

    /// Sends a COMMIT, unless one is under way that covers the file up to this entry of the log.
    pub(super) fn commit(
        &mut self,
        file: u32,
        upto: u64,
        by_flush: bool,
        now_ns: u64,
        out: &mut Outbox,
    ) {
        if self.committing.iter().any(|one| one.file == file && one.upto >= upto) {
            return;
        }
        let upto = self.log.last_sequence();
        self.committing.push(Committing { file, upto, by_flush });
        self.dispatch(Work::Commit { file, upto }, 0, now_ns, out);
    }

    /// Ends the flushes for which the log holds nothing more. Called when it has lost entries.
    pub(super) fn end_flushes(&mut self, done: &mut Vec<Completion>) {
        let Self { flushes, log, transfers, .. } = self;
        flushes.retain(|flush| {
            let waits = log.is_unsettled(flush.file, flush.upto);
            if !waits {
                transfers.piece_ended(flush.transfer, done);
            }
            waits
        });
    }

    /// The server refused a COMMIT. What the log has of the file is in doubt from now on, even if a later COMMIT
    /// succeeds: servers may drop data that they failed to write. The flushes that it covered fail. If there is none, or on a connection
    /// whose log is being verified, nobody else would learn of it: the connection is given up.
    #[cold]
    pub(super) fn commit_refused(
        &mut self,
        file: u32,
        upto: u64,
        error: NfsError,
        done: &mut Vec<Completion>,
    ) -> Result<(), NfsError> {
        let by_flush = self.committing.iter().any(|one| one.is_for(file, upto) && one.by_flush);
        self.committing.retain(|one| !one.is_for(file, upto));
        self.log.doubt(file);
        let mut has_failed = false;
        for flush in self.flushes.extract_if(.., |one| one.file == file && one.upto <= upto) {
            has_failed = true;
            if let Some(operation) = self.transfers.operation(flush.transfer) {
                self.incidents.failure(|| StorageEvent::Refused {
                    io: operation.into(),
                    said: error.to_string().into(),
                });
            }
            self.transfers.fail(flush.transfer, error.errno());
            self.transfers.piece_ended(flush.transfer, done);
        }
        if has_failed && by_flush && self.phase == Phase::Normal { Ok(()) } else { Err(error) }
    }
}
