//! Commands other than the reads and writes of operations: sent by a probe beforehand, and by a
//! study between I/Os.

use std::collections::VecDeque;

use super::error::CommandError;
use crate::scsi::cdb::Cdb;

/// A command with its own data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The command descriptor block ([`crate::scsi::cdb`]).
    pub cdb: Cdb,
    /// The most bytes that are returned. Either this or `data_out`.
    pub data_in_max: u32,
    /// Bytes to send.
    pub data_out: Vec<u8>,
}

impl Command {
    /// A command that returns at most `data_in_max` bytes.
    pub fn reading(cdb: Cdb, data_in_max: u32) -> Self {
        Self { cdb, data_in_max, data_out: Vec::new() }
    }

    /// A command that sends bytes, or none at all.
    pub fn writing(cdb: Cdb, data_out: Vec<u8>) -> Self {
        Self { cdb, data_in_max: 0, data_out }
    }
}

/// The origin of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    /// The caller, with this tag.
    User(u64),
    /// The session itself, for closing.
    Session,
}

/// The result of a command.
pub(super) type Outcome = Result<Vec<u8>, CommandError>;

/// One command in progress.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) command: Command,
    /// The returned data; its length is `data_in_max`, which our own caller chose.
    pub(super) data_in: Vec<u8>,
    asker: Asker,
}

/// Commands that are waiting, in progress, or done.
#[derive(Debug, Default)]
pub(super) struct Controls {
    slots: Vec<Option<Control>>,
    waiting: VecDeque<u32>,
    results: VecDeque<(u64, Outcome)>,
    own_result: Option<Outcome>,
}

impl Controls {
    pub(super) fn add(&mut self, command: Command, asker: Asker) {
        let data_in = vec![0; command.data_in_max as usize];
        let control = Some(Control { command, data_in, asker });
        let index = match self.slots.iter().position(Option::is_none) {
            Some(free) => {
                self.slots[free] = control;
                free
            }
            None => {
                self.slots.push(control);
                self.slots.len() - 1
            }
        };
        self.waiting.push_back(index as u32);
    }

    pub(super) fn get(&self, index: u32) -> Option<&Control> {
        self.slots.get(index as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Control> {
        self.slots.get_mut(index as usize)?.as_mut()
    }

    /// The next command to send.
    pub(super) fn next(&mut self) -> Option<u32> {
        self.waiting.pop_front()
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether none is waiting or in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    /// The command is done; this many bytes of the returned data are valid.
    pub(super) fn finish(&mut self, index: u32, outcome: Result<u32, CommandError>) {
        let Some(control) = self.slots.get_mut(index as usize).and_then(Option::take) else {
            return;
        };
        let outcome = outcome.map(|length| {
            let mut data = control.data_in;
            data.truncate(length as usize);
            data
        });
        match control.asker {
            Asker::User(tag) => self.results.push_back((tag, outcome)),
            Asker::Session => self.own_result = Some(outcome),
        }
    }

    pub(super) fn result(&mut self) -> Option<(u64, Outcome)> {
        self.results.pop_front()
    }

    pub(super) fn own_result(&mut self) -> Option<Outcome> {
        self.own_result.take()
    }

    /// The connection is gone: all wait to be sent again.
    pub(super) fn rewind(&mut self) {
        self.waiting =
            (0..).zip(&self.slots).filter(|one| one.1.is_some()).map(|one| one.0).collect();
    }

    /// Gives all of them up.
    pub(super) fn surrender(&mut self) {
        self.waiting.clear();
        for index in 0..self.slots.len() as u32 {
            self.finish(index, Err(CommandError::Surrendered));
        }
        self.own_result = None;
    }
}
