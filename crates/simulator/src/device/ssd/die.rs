//! A flash die: it does one thing at a time, in order; background work is done in between.
//!
//! Background work (programming pages that are already safe in the write buffer, garbage collection,
//! erasing) starts when there is nothing else to do, and is not interrupted: a read that arrives then
//! waits for it. It needs no events: its progress follows from the time, and is computed when needed.

use std::collections::VecDeque;

/// Background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chore {
    /// Programs a page of the write buffer.
    Program,
    /// Garbage collection: reads a page and programs it elsewhere.
    Move,
    /// Erases a block.
    Erase,
}

/// How long the operations take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DieTimes {
    pub(crate) read_ns: u64,
    pub(crate) program_ns: u64,
    pub(crate) erase_ns: u64,
}

impl DieTimes {
    #[inline]
    pub(crate) fn of(&self, chore: Chore) -> u64 {
        match chore {
            Chore::Program => self.program_ns,
            Chore::Move => self.read_ns + self.program_ns,
            Chore::Erase => self.erase_ns,
        }
    }
}

/// A die.
#[derive(Debug, Default)]
pub(crate) struct Die {
    /// It is busy until then.
    free_at_ns: u64,
    chores: VecDeque<Chore>,
    busy_ns: u64,
    /// When the last page of the buffer that it has started is programmed.
    programmed_ns: u64,
}

impl Die {
    /// Starts the background work that it has time for before `now_ns`; returns how many pages of the
    /// buffer that frees.
    #[inline]
    pub(crate) fn catch_up(&mut self, now_ns: u64, times: &DieTimes) -> u32 {
        let mut programs = 0;
        while self.free_at_ns <= now_ns
            && let Some(chore) = self.chores.pop_front()
        {
            programs += self.begin(chore, times);
        }
        programs
    }

    #[inline]
    fn begin(&mut self, chore: Chore, times: &DieTimes) -> u32 {
        let takes_ns = times.of(chore);
        self.free_at_ns += takes_ns;
        self.busy_ns += takes_ns;
        let is_program = chore == Chore::Program;
        if is_program {
            self.programmed_ns = self.free_at_ns;
        }
        u32::from(is_program)
    }

    /// Does everything up to its last page of the buffer before whatever comes next; returns how many pages
    /// that programs, and when the last one is programmed. The die has caught up.
    pub(crate) fn write_out(&mut self, times: &DieTimes) -> (u32, u64) {
        let last = self.chores.iter().rposition(|&chore| chore == Chore::Program);
        let due = last.map_or(0, |last| last + 1);
        let mut programs = 0;
        for _ in 0..due {
            programs += self.do_one(times);
        }
        (programs, self.programmed_ns)
    }

    /// Does one chore before whatever comes next, if there is one; returns how many pages of the
    /// buffer that frees.
    #[inline]
    pub(crate) fn do_one(&mut self, times: &DieTimes) -> u32 {
        match self.chores.pop_front() {
            Some(chore) => self.begin(chore, times),
            None => 0,
        }
    }

    /// Foreground work follows what the die is doing; returns when it starts. The die has caught up.
    #[inline]
    pub(crate) fn visit(&mut self, now_ns: u64, takes_ns: u64) -> u64 {
        let start_ns = self.free_at_ns.max(now_ns);
        self.free_at_ns = start_ns + takes_ns;
        self.busy_ns += takes_ns;
        start_ns
    }

    /// Adds background work. The die has caught up.
    #[inline]
    pub(crate) fn later(&mut self, now_ns: u64, chore: Chore) {
        if self.chores.is_empty() {
            self.free_at_ns = self.free_at_ns.max(now_ns);
        }
        self.chores.push_back(chore);
    }

    /// When it starts its next chore if nothing else arrives; `u64::MAX`: it has none.
    #[inline]
    pub(crate) fn next_chore_ns(&self) -> u64 {
        if self.chores.is_empty() { u64::MAX } else { self.free_at_ns }
    }

    /// Time for which it was busy until `now_ns`.
    pub(crate) fn busy_until(&self, now_ns: u64, times: &DieTimes) -> u64 {
        let mut free_at_ns = self.free_at_ns;
        let mut busy_ns = self.busy_ns;
        for &chore in &self.chores {
            if free_at_ns >= now_ns {
                break;
            }
            free_at_ns += times.of(chore);
            busy_ns += times.of(chore);
        }
        busy_ns.saturating_sub(free_at_ns.saturating_sub(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: DieTimes = DieTimes { read_ns: 50, program_ns: 500, erase_ns: 3000 };

    #[test]
    fn a_read_waits_for_the_chore_that_has_begun_and_for_no_other() {
        let mut die = Die::default();
        for chore in [Chore::Program, Chore::Erase, Chore::Move] {
            die.later(1000, chore);
        }
        assert_eq!(die.busy_until(1200, &TIMES), 200);
        assert_eq!(die.catch_up(1600, &TIMES), 1);
        assert_eq!(die.visit(1600, TIMES.read_ns), 4500);
        assert_eq!(die.next_chore_ns(), 4550);
        assert_eq!(die.busy_until(4560, &TIMES), 500 + 3000 + 50 + 10);
        assert_eq!(die.catch_up(4549, &TIMES), 0);
        assert_eq!(die.visit(4549, TIMES.read_ns), 4550);
        assert_eq!(die.do_one(&TIMES), 0);
        assert_eq!(die.visit(4549, TIMES.read_ns), 4600 + 550);
        assert_eq!(die.next_chore_ns(), u64::MAX);
    }

    #[test]
    fn pages_of_the_buffer_are_written_out_and_what_follows_them_is_left() {
        let mut die = Die::default();
        assert_eq!(die.write_out(&TIMES), (0, 0));
        for chore in [Chore::Program, Chore::Move, Chore::Program, Chore::Erase] {
            die.later(1000, chore);
        }
        assert_eq!(die.catch_up(1100, &TIMES), 1);
        assert_eq!(die.write_out(&TIMES), (1, 1000 + 500 + 550 + 500));
        assert_eq!(die.next_chore_ns(), 2550);
        assert_eq!(die.write_out(&TIMES), (0, 2550));
    }
}
