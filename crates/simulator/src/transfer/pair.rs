//! A client and a server: what each of their two threads does next, and what is in progress between
//! them.
//!
//! A thread does one thing at a time. The bytes of a message are a stream: the sender's thread passes
//! them to the network segment by segment, the receiver's takes what has arrived, and TCP keeps the
//! sender from running further ahead than the network and its receive buffer can hold.

use stormeter_disk::{Completion, Kind, Operation};
use stormeter_driver::{MessageDisk, MessageStore};
use stormeter_trial::{IoFailure, TransferDirection, TransferSink};

use super::trial::TransferTrial;
use crate::machine::{ClientWay, Lane};

/// Slots of each pair: its lanes, and its I/Os.
pub(super) const SLOTS: u32 = FIRST_IO + MessageStore::OUTSTANDING;
const LANES: [Lane; 4] = [Lane::ClientCpu, Lane::ServerCpu, Lane::There, Lane::Back];
const FIRST_IO: u32 = LANES.len() as u32;

/// The result of a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Message {
    /// The message is in progress.
    Under,
    /// This many of its bytes have passed the client's socket.
    Moved(u64),
    /// It has arrived.
    Ended {
        /// Bytes that passed the client's socket just now.
        moved_bytes: u64,
    },
}

/// The progress of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The client starts.
    Asking,
    /// A read: the request is in transit.
    Request,
    /// A read: the server processes it.
    Serving,
    /// Bytes are being sent.
    Moving,
    /// A write: the server has it all.
    Closing,
    /// A write: the answer is in transit.
    Answer,
    /// There are no more messages.
    Done,
}

/// One pair.
#[derive(Debug)]
pub(super) struct Pair {
    vm: u32,
    way: ClientWay,
    is_write: bool,
    message_bytes: u64,
    segment_bytes: u64,
    messages_left: u32,
    store: Option<MessageStore>,
    stage: Stage,
    began_ns: u64,
    /// Bytes that the sender's thread has started, that arrived, that the receiver's thread has started
    /// and that it has consumed.
    started: u64,
    arrived: u64,
    taking: u64,
    taken: u64,
    is_sending: bool,
}

impl Pair {
    pub(super) fn new(vm: u32, trial: &TransferTrial, way: ClientWay) -> Self {
        let transfer = &trial.transfer;
        let disk = MessageDisk {
            server: vm,
            disk: vm,
            bytes: trial.disk_bytes,
            start: trial.start,
            first_slot: vm * SLOTS + FIRST_IO,
        };
        Self {
            vm,
            way,
            is_write: transfer.direction == TransferDirection::Write,
            message_bytes: transfer.message_bytes,
            segment_bytes: way.segment_bytes(transfer.message_bytes),
            messages_left: transfer.messages,
            store: (transfer.sink == TransferSink::Disk).then(|| MessageStore::new(disk)),
            stage: Stage::Done,
            began_ns: 0,
            started: 0,
            arrived: 0,
            taking: 0,
            taken: 0,
            is_sending: false,
        }
    }

    /// Starts the next message; returns whether there is one.
    pub(super) fn begin(&mut self, now_ns: u64, operations: &mut Vec<Operation>) -> bool {
        if self.messages_left == 0 {
            self.stage = Stage::Done;
            return false;
        }
        self.messages_left -= 1;
        self.began_ns = now_ns;
        (self.started, self.arrived, self.taking, self.taken) = (0, 0, 0, 0);
        if let Some(store) = &mut self.store {
            store.begin();
        }
        self.bare(Stage::Asking, Lane::ClientCpu, operations);
        true
    }

    /// How long the message has been in progress; 0 without one.
    pub(super) fn age_ns(&self, now_ns: u64) -> u64 {
        match self.stage {
            Stage::Done => 0,
            _ => now_ns.saturating_sub(self.began_ns),
        }
    }

    /// If that was an I/O of the server, it is no longer outstanding. Returns how it failed.
    pub(super) fn io_completed(&mut self, completion: Completion) -> Option<IoFailure> {
        self.store.as_mut()?.completed(completion)
    }

    /// An operation on this many bytes is done.
    pub(super) fn completed(
        &mut self,
        place: u32,
        bytes: u32,
        operations: &mut Vec<Operation>,
    ) -> Message {
        let bytes = u64::from(bytes);
        let mut moved_bytes = 0;
        match LANES.get(place as usize) {
            None => {}
            Some(&lane) => match self.stage {
                Stage::Asking if self.is_write => self.stage = Stage::Moving,
                Stage::Asking => self.bare(Stage::Request, Lane::There, operations),
                Stage::Request => self.bare(Stage::Serving, Lane::ServerCpu, operations),
                Stage::Serving => {
                    self.stage = Stage::Moving;
                    self.read_ahead(operations);
                }
                Stage::Moving => {
                    if lane == Lane::ClientCpu {
                        moved_bytes = bytes;
                    }
                    self.moved(lane, bytes, operations);
                }
                Stage::Closing => self.bare(Stage::Answer, Lane::Back, operations),
                Stage::Answer => return Message::Ended { moved_bytes },
                Stage::Done => {}
            },
        }
        if self.stage == Stage::Moving {
            self.send(operations);
            self.take(operations);
            if self.taken == self.message_bytes && self.is_stored() {
                if !self.is_write {
                    return Message::Ended { moved_bytes };
                }
                self.bare(Stage::Closing, Lane::ServerCpu, operations);
            }
        }
        if moved_bytes > 0 { Message::Moved(moved_bytes) } else { Message::Under }
    }

    /// Bytes have advanced one step.
    fn moved(&mut self, lane: Lane, bytes: u64, operations: &mut Vec<Operation>) {
        let (sender, wire) = match self.is_write {
            true => (Lane::ClientCpu, Lane::There),
            false => (Lane::ServerCpu, Lane::Back),
        };
        if lane == sender {
            self.is_sending = false;
            self.loaded(wire, bytes, operations);
            if let (false, Some(store)) = (self.is_write, &mut self.store)
                && store.is_end(self.started, self.message_bytes)
            {
                store.sent();
                self.read_ahead(operations);
            }
        } else if lane == wire {
            self.arrived += bytes;
        } else {
            self.taken += bytes;
            if let (true, Some(store)) = (self.is_write, &mut self.store)
                && store.is_end(self.taken, self.message_bytes)
            {
                operations.extend(store.write(self.message_bytes));
            }
        }
    }

    /// The sender's thread starts the next segment.
    fn send(&mut self, operations: &mut Vec<Operation>) {
        let segment = self.segment_bytes;
        let under_way = self.started - self.arrived;
        let is_full = under_way > 0 && under_way + segment > self.way.under_way_bytes
            || self.started - self.taken + segment > self.way.window_bytes;
        if self.is_sending || is_full {
            return;
        }
        let reach = match &self.store {
            Some(store) if !self.is_write => store.reach_bytes(self.message_bytes),
            _ => self.message_bytes,
        };
        let bytes = reach.saturating_sub(self.started).min(segment);
        if bytes > 0 {
            self.started += bytes;
            self.is_sending = true;
            let lane = if self.is_write { Lane::ClientCpu } else { Lane::ServerCpu };
            self.loaded(lane, bytes, operations);
        }
    }

    /// The receiver's thread takes what has arrived.
    fn take(&mut self, operations: &mut Vec<Operation>) {
        if self.taking > self.taken {
            return;
        }
        let reach = match &self.store {
            Some(store) if self.is_write => store.reach_bytes(self.message_bytes),
            _ => self.message_bytes,
        };
        let there = self.arrived.min(reach).saturating_sub(self.taken);
        let bytes = there.min(self.segment_bytes);
        if bytes > 0 {
            self.taking += bytes;
            let lane = if self.is_write { Lane::ServerCpu } else { Lane::ClientCpu };
            self.loaded(lane, bytes, operations);
        }
    }

    fn read_ahead(&mut self, operations: &mut Vec<Operation>) {
        if let Some(store) = &mut self.store {
            operations.extend(std::iter::from_fn(|| store.read_ahead(self.message_bytes)));
        }
    }

    /// Whether none of the server's I/Os is outstanding.
    fn is_stored(&self) -> bool {
        self.store.as_ref().is_none_or(|store| store.outstanding() == 0)
    }

    /// An operation without bytes; the message stays in this stage until it is done.
    fn bare(&mut self, stage: Stage, lane: Lane, operations: &mut Vec<Operation>) {
        self.stage = stage;
        operations.push(self.on(lane, Kind::Read, 1));
    }

    fn loaded(&self, lane: Lane, bytes: u64, operations: &mut Vec<Operation>) {
        operations.push(self.on(lane, Kind::Write, bytes as u32));
    }

    fn on(&self, lane: Lane, kind: Kind, length_bytes: u32) -> Operation {
        let slot = self.vm * SLOTS + lane as u32;
        let disk = self.way.disk(self.vm, lane);
        Operation { offset_bytes: 0, length_bytes, disk, slot, buffer: slot, kind }
    }
}
