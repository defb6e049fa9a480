//! The commands in progress: as many as the queue is deep; others wait in order of arrival (tags of
//! NCQ, entries of an NVMe queue).
//!
//! A command has several stages, with an event for each. In the event queue it is represented by an
//! access of the device itself, which is created once per slot and reused, so that no command
//! allocates memory once the maximum has been reached.

use std::collections::VecDeque;

use crate::device::{Access, Bench};

/// The next stage of a command when its event occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Its bytes are sent over the interface.
    Send,
    /// Its pages are programmed.
    Program,
    /// Nothing: it is complete.
    Done,
    /// The same, and this many pages of the buffer are programmed.
    Flushed(u32),
}

/// A command in progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command {
    /// The access that it belongs to.
    pub(super) access: u32,
    /// The access that stands for its events; its purpose is the command's slot.
    event: u32,
    pub(super) next: Next,
    /// Since when the device has it; for a read whose pages are arriving, when the first is there.
    pub(super) since_ns: u64,
}

/// The commands in progress, and those that wait for a slot.
#[derive(Debug)]
pub(super) struct Commands {
    depth: u32,
    places: Vec<Command>,
    free: Vec<u32>,
    line: VecDeque<u32>,
}

impl Commands {
    pub(super) fn new(depth: u32) -> Self {
        let (places, free, line) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { depth: depth.max(1), places, free, line }
    }

    /// An access arrives; returns its slot, if one is free.
    #[inline]
    pub(super) fn arrive(&mut self, access: u32, bench: &mut Bench<'_>) -> Option<u32> {
        let command = Command { access, event: 0, next: Next::Done, since_ns: bench.now_ns };
        if let Some(place) = self.free.pop() {
            let event = self.places[place as usize].event;
            self.places[place as usize] = Command { event, ..command };
            return Some(place);
        }
        let place = self.places.len() as u32;
        if place >= self.depth {
            self.line.push_back(access);
            return None;
        }
        let about = Access { purpose: place, background: true, ..bench.accesses[access] };
        let event = bench.accesses.insert(about);
        self.places.push(Command { event, ..command });
        Some(place)
    }

    /// A command is complete. Returns whether its slot was reused, by the access that has waited
    /// longest.
    #[inline]
    pub(super) fn done(&mut self, place: u32, now_ns: u64) -> bool {
        let Some(access) = self.line.pop_front() else {
            self.free.push(place);
            return false;
        };
        let command = &mut self.places[place as usize];
        (command.access, command.since_ns) = (access, now_ns);
        true
    }

    /// Schedules the event of a command.
    #[inline]
    pub(super) fn at(&mut self, at_ns: u64, place: u32, next: Next, bench: &mut Bench<'_>) {
        let command = &mut self.places[place as usize];
        command.next = next;
        bench.at(at_ns, command.event);
    }
}

impl std::ops::Index<u32> for Commands {
    type Output = Command;

    #[inline]
    fn index(&self, place: u32) -> &Command {
        &self.places[place as usize]
    }
}

impl std::ops::IndexMut<u32> for Commands {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut Command {
        &mut self.places[place as usize]
    }
}
