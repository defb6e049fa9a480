//! The client of a transfer: sends or requests messages, one after another, and times each.

use stormeter_datastore::RealClock;
use stormeter_disk::{Clock, Kind};
use stormeter_driver::{FixedWorkLog, Observer, Payload};
use stormeter_trial::{Ended, Sample, StepTime, Transfer, TransferDirection};

use super::stream::Stream;
use crate::watcher::Watcher;

/// The client of one pair.
pub(super) struct Client {
    pub(super) stream: Stream,
    pub(super) transfer: Transfer,
    /// Its number among all pairs.
    pub(super) number: u32,
    pub(super) seed: u64,
    pub(super) interval_ns: u64,
}

/// The instruments that measure a message.
struct Measuring<'a, 'b> {
    clock: &'a mut RealClock,
    watcher: &'a mut Watcher<'b>,
    log: FixedWorkLog,
    kind: Kind,
    step: StepTime,
}

impl Client {
    /// Transfers all messages, from the start on.
    pub(super) fn work(
        mut self,
        start: impl FnOnce() -> Option<u64>,
        clock: &mut RealClock,
        watcher: &mut Watcher<'_>,
    ) -> Sample {
        let mut payload = Payload::new(self.seed, 2 * self.number);
        let mut scratch = vec![0; Payload::CHUNK_BYTES];
        let mut measuring = Measuring {
            clock,
            watcher,
            log: FixedWorkLog::new(self.number, 1, self.interval_ns),
            kind: self.transfer.direction.kind(),
            step: StepTime::named("transfer"),
        };
        let Some(start_ns) = start() else {
            return measuring.close(0, Ended::Cancelled);
        };
        measuring.wait_for(start_ns);
        for _ in 0..self.transfer.messages {
            let began_ns = measuring.clock.now_ns();
            measuring.log.advance(began_ns, 0, measuring.watcher);
            if measuring.watcher.cancelled() {
                return measuring.close(0, Ended::Cancelled);
            }
            let transferred = match self.transfer.direction {
                TransferDirection::Write => self.send(&mut payload, &mut measuring),
                TransferDirection::Read => self.fetch(&mut scratch, &mut measuring),
            };
            let ended_ns = measuring.passed();
            let took_ns = ended_ns.saturating_sub(began_ns);
            if let Err(ended) = transferred {
                return measuring.close(took_ns as i64, ended);
            }
            measuring.log.ended(0, measuring.kind, self.transfer.message_bytes, took_ns);
            measuring.step.add(took_ns);
        }
        measuring.close(0, Ended::Completed)
    }

    /// Sends a message and waits for the server's acknowledgement.
    fn send(
        &mut self,
        payload: &mut Payload,
        measuring: &mut Measuring<'_, '_>,
    ) -> Result<(), Ended> {
        let mut left = self.transfer.message_bytes;
        while left > 0 {
            let chunk = payload.chunk(left);
            self.stream.send(chunk, &mut || measuring.look())?;
            left -= chunk.len() as u64;
            measuring.moved(chunk.len());
        }
        self.stream.receive(&mut [0], &mut || measuring.look())
    }

    /// Requests a message and receives it.
    fn fetch(
        &mut self,
        scratch: &mut [u8],
        measuring: &mut Measuring<'_, '_>,
    ) -> Result<(), Ended> {
        self.stream.send(&[1], &mut || measuring.look())?;
        let mut left = self.transfer.message_bytes;
        while left > 0 {
            let length = left.min(scratch.len() as u64) as usize;
            self.stream.receive(&mut scratch[..length], &mut || measuring.look())?;
            left -= length as u64;
            measuring.moved(length);
        }
        Ok(())
    }
}

impl Measuring<'_, '_> {
    fn wait_for(&mut self, start_ns: u64) {
        let now_ns = self.clock.now_ns();
        std::thread::sleep(std::time::Duration::from_nanos(start_ns.saturating_sub(now_ns)));
        self.log.open(start_ns, self.watcher);
    }

    /// The message in transfer was so until now.
    fn passed(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        self.log.advance(now_ns, 1, self.watcher);
        now_ns
    }

    fn look(&mut self) -> Result<(), Ended> {
        self.passed();
        if self.watcher.cancelled() { Err(Ended::Cancelled) } else { Ok(()) }
    }

    fn moved(&mut self, bytes: usize) {
        self.passed();
        self.log.moved(self.kind, bytes as u64);
    }

    fn close(self, carried_ns: i64, ended: Ended) -> Sample {
        self.log.close(carried_ns, vec![self.step], ended, self.watcher)
    }
}
