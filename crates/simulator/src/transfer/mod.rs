//! Transfers in virtual time: a client and a server for each VM, like the runner's on real sockets.
//!
//! The bytes go over the machine's own stations, so that transfers compete with each other, and with
//! what their servers do on the datastore, as they do in the field. Counting works like in the runner's
//! client: the sample of a prediction has the form of a measured one.

mod pair;
mod trial;

use stormeter_disk::{Completion, Disks, DisksError, Kind, Operation, Wait};
use stormeter_driver::{FixedWorkLog, Observer};
use stormeter_trial::{Ended, Sample, StepTime};

use crate::machine::{ClientWay, Machine};
use pair::{Message, Pair, SLOTS};

pub use trial::{TransferError, TransferTrial};

/// How much time is simulated before checking whether to continue.
const LOOK_UP_NS: u64 = 10_000_000;

/// Executes the transfers, starting at the machine's current time.
///
/// An operation of the sample is a message, a write to the server or a read from it. Its latency is
/// from the moment at which its client starts until the client has the server's answer or the message's
/// last byte. The one step is `transfer`, with the same time.
///
/// # Errors
/// Only for what cannot be driven. Later errors are in [`Sample::ended`] and [`Sample::io_failures`].
pub fn drive_transfer<O: Observer>(
    trial: &TransferTrial,
    machine: &mut Machine,
    observer: &mut O,
) -> Result<Sample, TransferError> {
    trial.transfer.check(trial.vms, trial.disk_bytes, trial.interval_ns)?;
    let way = machine.client().ok_or(TransferError::NoClient)?;
    if trial.vms > way.vms() {
        return Err(TransferError::TooManyVms { vms: trial.vms, room: way.vms() });
    }
    Ok(Transfers::new(trial, way, machine, observer).carry_out())
}

/// Transfers in progress.
struct Transfers<'a, O> {
    trial: &'a TransferTrial,
    machine: &'a mut Machine,
    observer: &'a mut O,
    pairs: Vec<Pair>,
    log: FixedWorkLog,
    kind: Kind,
    step: StepTime,
    /// Number of pairs with a message in progress.
    active: u64,
    /// Number of operations in the machine.
    outstanding: u64,
    operations: Vec<Operation>,
}

impl<'a, O: Observer> Transfers<'a, O> {
    fn new(
        trial: &'a TransferTrial,
        way: ClientWay,
        machine: &'a mut Machine,
        observer: &'a mut O,
    ) -> Self {
        Self {
            trial,
            machine,
            observer,
            pairs: (0..trial.vms).map(|vm| Pair::new(vm, trial, way)).collect(),
            log: FixedWorkLog::new(0, trial.vms, trial.interval_ns),
            kind: trial.transfer.direction.kind(),
            step: StepTime::named("transfer"),
            active: u64::from(trial.vms),
            outstanding: 0,
            operations: Vec::new(),
        }
    }

    fn carry_out(mut self) -> Sample {
        let start_ns = self.machine.time().now_ns();
        self.log.open(start_ns, self.observer);
        let ended = match self.run(start_ns) {
            Ok(ended) => ended,
            Err(error) => Ended::QueueBroken { reason: error.to_string() },
        };
        let now_ns = self.log.now_ns();
        let ages = self.pairs.iter().map(|pair| pair.age_ns(now_ns) as i64);
        let carried_ns = ages.sum();
        self.log.close(carried_ns, vec![self.step], ended, self.observer)
    }

    fn run(&mut self, start_ns: u64) -> Result<Ended, DisksError> {
        let mut completions = Vec::new();
        let mut look_up_ns = start_ns;
        let mut last_progress_ns = start_ns;
        for pair in &mut self.pairs {
            pair.begin(start_ns, &mut self.operations);
        }
        self.submit()?;
        let mut now_ns = start_ns;
        while self.active > 0 {
            let awake_ns = look_up_ns.min(self.log.row_due_ns());
            self.machine.reap(Wait::AtMost(awake_ns.saturating_sub(now_ns)), &mut completions)?;
            now_ns = self.machine.time().now_ns();
            self.log.advance(now_ns, self.active, self.observer);
            if !completions.is_empty() {
                last_progress_ns = now_ns;
            }
            for completion in completions.drain(..) {
                self.outstanding -= 1;
                if !self.completed(completion, now_ns) {
                    return Ok(Ended::TooManyErrors);
                }
            }
            self.submit()?;
            if now_ns >= look_up_ns {
                look_up_ns = now_ns + LOOK_UP_NS;
                if self.observer.cancelled() {
                    return Ok(Ended::Cancelled);
                }
            }
            if now_ns - last_progress_ns >= self.trial.limits.stall_ns {
                return Ok(Ended::Stalled { outstanding: self.outstanding });
            }
        }
        Ok(Ended::Completed)
    }

    fn submit(&mut self) -> Result<(), DisksError> {
        self.outstanding += self.operations.len() as u64;
        self.machine.submit(&self.operations)?;
        self.operations.clear();
        Ok(())
    }

    /// Passes a completion to its pair; returns whether to continue.
    fn completed(&mut self, completion: Completion, now_ns: u64) -> bool {
        let (vm, place) = (completion.slot / SLOTS, completion.slot % SLOTS);
        let pair = &mut self.pairs[vm as usize];
        if let Some(failure) = pair.io_completed(completion) {
            self.log.io_failed(failure);
            return false;
        }
        let bytes = completion.outcome().unwrap_or_default();
        match pair.completed(place, bytes, &mut self.operations) {
            Message::Under => {}
            Message::Moved(bytes) => self.log.moved(self.kind, bytes),
            Message::Ended { moved_bytes } => {
                self.log.moved(self.kind, moved_bytes);
                let took_ns = pair.age_ns(now_ns);
                self.log.ended(vm, self.kind, self.trial.transfer.message_bytes, took_ns);
                self.step.add(took_ns);
                if !pair.begin(now_ns, &mut self.operations) {
                    self.active -= 1;
                }
            }
        }
        true
    }
}
