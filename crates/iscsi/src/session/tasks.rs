//! The tasks of a connection: a table of slots, where a tag consists of a slot and its use count.
//!
//! An answer is found by its tag without searching, and an answer to the slot's previous use is
//! recognized as late because the count differs. Tasks at the target are linked in the order of
//! their last sign of life, so that the one silent longest is found at once.

use super::action::Action;
use super::coverage::Coverage;
use crate::pdu::NO_TAG;

/// What a task belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// Part of an operation.
    Operation(u32),
    /// A command.
    Control(u32),
    /// A NOP-Out that asks for an answer.
    Ping,
    /// The logout.
    Logout,
}

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Free,
    Waiting,
    Sent,
}

/// One task.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) owner: Owner,
    pub(super) action: Action,
    /// Where its data starts within the operation's.
    pub(super) offset: u32,
    /// Bytes of its data.
    pub(super) length: u32,
    /// Bytes of a write that have been sent or are being sent.
    pub(super) sent: u32,
    /// The next DataSN.
    pub(super) data_sn: u32,
    /// The next R2TSN.
    pub(super) r2t_sn: u32,
    /// Bytes of a read that have arrived.
    pub(super) coverage: Coverage,
    /// How often it was sent again at once.
    pub(super) attempts: u8,
    /// How often it was sent again after a delay.
    pub(super) refusals: u8,
    standing: Standing,
    generation: u16,
    since_ns: u64,
    older: u32,
    newer: u32,
}

/// No slot.
const NONE: u32 = u32::MAX;

/// The most slots that a tag can identify; with all bits set it would be
/// [`NO_TAG`](crate::pdu::NO_TAG).
const MAX_TASKS: usize = 0xfffe;

const GENERATIONS: u16 = 0x7fff;

/// What a tag refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A task at the target.
    Task(u32),
    /// A task that was concluded before, or belongs to an earlier connection.
    Late,
    /// A task that never existed.
    Never,
}

/// Combines a slot's use count and its index.
#[inline]
fn tag(generation: u16, index: u32) -> u32 {
    u32::from(generation) << 16 | index
}

/// The table.
#[derive(Debug)]
pub(super) struct Tasks {
    slots: Vec<Task>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
}

impl Tasks {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), oldest: NONE, newest: NONE }
    }

    /// Whether there is space for one more task.
    pub(super) fn has_room(&self) -> bool {
        !self.free.is_empty() || self.slots.len() < MAX_TASKS
    }

    /// Allocates a task that waits to be sent. Only called while there is space.
    #[inline]
    pub(super) fn allocate(
        &mut self,
        owner: Owner,
        action: Action,
        offset: u32,
        length: u32,
    ) -> u32 {
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.slots.push(Task::free());
                (self.slots.len() - 1) as u32
            }
        };
        if let Some(task) = self.slots.get_mut(index as usize) {
            task.owner = owner;
            task.action = action;
            task.offset = offset;
            task.length = length;
            task.attempts = 0;
            task.refusals = 0;
            task.rewind();
            task.standing = Standing::Waiting;
        }
        index
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&Task> {
        self.slots.get(index as usize)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Task> {
        self.slots.get_mut(index as usize)
    }

    /// The tag of a task.
    #[inline]
    pub(super) fn tag(&self, index: u32) -> u32 {
        tag(self.get(index).map_or(0, |task| task.generation), index)
    }

    /// What a tag refers to.
    #[inline]
    pub(super) fn find(&self, tag: u32) -> Found {
        let index = tag & 0xffff;
        match self.get(index) {
            None => Found::Never,
            Some(_) if tag >> 31 != 0 => Found::Never,
            Some(task)
                if task.standing == Standing::Sent && task.generation == (tag >> 16) as u16 =>
            {
                Found::Task(index)
            }
            Some(_) => Found::Late,
        }
    }

    /// The task is sent to the target, with `bytes` of its data; returns its tag.
    #[inline]
    pub(super) fn sent(&mut self, index: u32, bytes: u32, now_ns: u64) -> u32 {
        let Some(task) = self.get_mut(index) else { return NO_TAG };
        (task.standing, task.sent) = (Standing::Sent, bytes);
        let tag = tag(task.generation, index);
        // Pings and logouts have separate timers.
        if matches!(task.owner, Owner::Operation(_) | Owner::Control(_)) {
            self.append(index, now_ns);
        }
        tag
    }

    /// The task is sent to the target, which may take its time; returns its tag.
    pub(super) fn sent_without_timer(&mut self, index: u32) -> u32 {
        let Some(task) = self.get_mut(index) else { return NO_TAG };
        task.standing = Standing::Sent;
        tag(task.generation, index)
    }

    /// The target has shown that it is working on the task.
    #[inline]
    pub(super) fn touch(&mut self, index: u32, now_ns: u64) {
        self.unlink(index);
        self.append(index, now_ns);
    }

    /// Since when the task that has been silent longest is silent.
    #[inline]
    pub(super) fn oldest_since_ns(&self) -> Option<u64> {
        self.get(self.oldest).map(|task| task.since_ns)
    }

    /// The task will be sent again, with another tag.
    pub(super) fn renew(&mut self, index: u32) {
        self.unlink(index);
        if let Some(task) = self.get_mut(index) {
            task.rewind();
            task.next_generation();
            task.standing = Standing::Waiting;
        }
    }

    /// The task is done.
    #[inline]
    pub(super) fn release(&mut self, index: u32) {
        self.unlink(index);
        if let Some(task) = self.get_mut(index) {
            task.standing = Standing::Free;
            task.next_generation();
            self.free.push(index);
        }
    }

    /// The connection is gone and every task with it.
    pub(super) fn reset(&mut self) {
        (self.oldest, self.newest) = (NONE, NONE);
        self.free.clear();
        for (index, task) in self.slots.iter_mut().enumerate().rev() {
            if task.standing != Standing::Free {
                task.next_generation();
            }
            task.standing = Standing::Free;
            (task.older, task.newer) = (NONE, NONE);
            self.free.push(index as u32);
        }
    }

    #[inline]
    fn append(&mut self, index: u32, now_ns: u64) {
        let newest = std::mem::replace(&mut self.newest, index);
        match self.get_mut(newest) {
            Some(task) => task.newer = index,
            None => self.oldest = index,
        }
        if let Some(task) = self.get_mut(index) {
            task.since_ns = now_ns;
            (task.older, task.newer) = (newest, NONE);
        }
    }

    #[inline]
    fn unlink(&mut self, index: u32) {
        let (first, last) = (self.oldest == index, self.newest == index);
        let Some(task) = self.get_mut(index) else { return };
        let (older, newer) =
            (std::mem::replace(&mut task.older, NONE), std::mem::replace(&mut task.newer, NONE));
        match self.get_mut(older) {
            Some(task) => task.newer = newer,
            None if first => self.oldest = newer,
            None => {}
        }
        match self.get_mut(newer) {
            Some(task) => task.older = older,
            None if last => self.newest = older,
            None => {}
        }
    }
}

impl Task {
    fn free() -> Self {
        Self {
            owner: Owner::Ping,
            action: Action::Read,
            offset: 0,
            length: 0,
            sent: 0,
            data_sn: 0,
            r2t_sn: 0,
            coverage: Coverage::default(),
            attempts: 0,
            refusals: 0,
            standing: Standing::Free,
            generation: 0,
            since_ns: 0,
            older: NONE,
            newer: NONE,
        }
    }

    fn rewind(&mut self) {
        (self.sent, self.data_sn, self.r2t_sn) = (0, 0, 0);
        self.coverage.clear();
    }

    fn next_generation(&mut self) {
        self.generation = self.generation.wrapping_add(1) & GENERATIONS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(tasks: &mut Tasks, now_ns: u64) -> u32 {
        let index = tasks.allocate(Owner::Control(0), Action::Read, 0, 0);
        tasks.sent(index, 0, now_ns);
        index
    }

    #[test]
    fn a_tag_is_good_until_its_task_is_done() {
        let mut tasks = Tasks::new();
        let index = tasks.allocate(Owner::Ping, Action::Read, 0, 0);
        let tag = tasks.tag(index);
        assert_eq!(tasks.find(tag), Found::Late);
        tasks.sent(index, 0, 1);
        assert_eq!(tasks.find(tag), Found::Task(index));
        tasks.release(index);
        assert_eq!(tasks.find(tag), Found::Late);
        let again = sent(&mut tasks, 2);
        assert_eq!(again, index);
        assert_eq!(tasks.find(tag), Found::Late);
        let tag = tasks.tag(index);
        tasks.renew(index);
        tasks.sent(index, 0, 3);
        assert_ne!(tasks.tag(index), tag);
        assert_eq!(tasks.find(tag), Found::Late);
        assert_eq!(tasks.find(tag + 1), Found::Never);
        assert_eq!(tasks.find(u32::MAX), Found::Never);
        let tag = tasks.tag(index);
        tasks.reset();
        assert_eq!(tasks.find(tag), Found::Late);
        assert_eq!(tasks.oldest_since_ns(), None);
    }

    #[test]
    fn the_task_silent_longest_is_known() {
        let mut tasks = Tasks::new();
        let slots: Vec<u32> = (1..=4).map(|now_ns| sent(&mut tasks, now_ns)).collect();
        assert_eq!(tasks.oldest_since_ns(), Some(1));
        tasks.touch(slots[0], 5);
        assert_eq!(tasks.oldest_since_ns(), Some(2));
        tasks.release(slots[2]);
        tasks.renew(slots[1]);
        assert_eq!(tasks.oldest_since_ns(), Some(4));
        tasks.release(slots[3]);
        assert_eq!(tasks.oldest_since_ns(), Some(5));
        tasks.touch(slots[0], 6);
        assert_eq!(tasks.oldest_since_ns(), Some(6));
        tasks.release(slots[0]);
        assert_eq!(tasks.oldest_since_ns(), None);
        sent(&mut tasks, 7);
        assert_eq!(tasks.oldest_since_ns(), Some(7));
    }
}
