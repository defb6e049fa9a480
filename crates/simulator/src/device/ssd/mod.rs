//! Flash behind a controller, in virtual time.
//!
//! Pages are spread over dies by their address for reads and in turn for writes, like a log. A write
//! completes when it is in the buffer, if there is one, and goes
//! to the dies a whole page at a time; without a buffer it completes when its pages are programmed,
//! each write in separate pages. A buffer with power-loss protection has nothing to flush. From one without, a
//! flush programs what is in it, the last page before it is full, ahead of reads that arrive later; durable
//! writes pass it by. What garbage collection moves follows from how full the flash is, in
//! the steady state ([`amplification`]): sequential writes amplify 1, random ones more. It keeps dies
//! busy, and reads wait for what a die has started; while writes wait for buffer space, reads may also
//! wait for one more chore.
//!
//! It processes as many commands as its queue is deep; a write that waits for buffer space is one of
//! them. The interface is used in the order in which bytes are ready for it, not in the order in which
//! commands arrived: a read whose die is busy does not block others. So a command has one event when
//! its bytes are ready and another when they have been sent.
//!
//! Not modelled: TRIM, wear, the state of the flash before its steady state, caches of the mapping,
//! cells written in two stages (SLC caches), a limit on the controller's commands per second.

mod amplification;
mod commands;
mod die;
mod streams;

use std::collections::VecDeque;

use stormeter_disk::Kind;
use stormeter_site::Ssd as Description;

use super::interface::Interface;
use super::{Access, Bench, DeviceUse};
use commands::{Commands, Next};
use die::{Chore, Die, DieTimes};
use streams::Streams;

/// No access.
const NONE: u32 = u32::MAX;

/// An SSD.
#[derive(Debug)]
pub(crate) struct Ssd {
    description: Description,
    times: DieTimes,
    overhead_ns: u64,
    interface: Interface,
    commands: Commands,
    dies: Vec<Die>,
    /// The last die that was written to, and the last one that garbage collection worked on.
    turn: usize,
    chore_turn: usize,
    page_bytes: u64,
    /// Pages moved by garbage collection for each page written at random.
    moves_per_page: f64,
    streams: Streams,
    /// Bytes in the buffer.
    buffered_bytes: u64,
    /// Of these, less than a page that is not being written yet; and the garbage collection for it.
    open_bytes: u64,
    open_moves: f64,
    /// Fractional pages to move and blocks to erase.
    moves_owed: f64,
    erases_owed: f64,
    /// Write commands that wait for space, in order of arrival.
    waiting: VecDeque<u32>,
    /// The access that stands for this device's own events.
    timer: u32,
    timer_runs: bool,
    waited_ns: u64,
    accesses: u64,
}

impl Ssd {
    pub(crate) fn new(description: Description) -> Self {
        let count = description.channels.max(1) as usize;
        let amplification = amplification::amplification(
            description.spare_share,
            description.filled_share,
            description.pages_per_block,
        );
        let mut ssd = Self {
            times: DieTimes { read_ns: 0, program_ns: 0, erase_ns: 0 },
            overhead_ns: 0,
            interface: Interface::default(),
            commands: Commands::new(description.queue_depth),
            dies: (0..count).map(|_| Die::default()).collect(),
            turn: 0,
            chore_turn: 0,
            page_bytes: u64::from(description.page_bytes.max(512)),
            moves_per_page: amplification - 1.0,
            streams: Streams::new(),
            buffered_bytes: 0,
            open_bytes: 0,
            open_moves: 0.0,
            moves_owed: 0.0,
            erases_owed: 0.0,
            waiting: VecDeque::new(),
            timer: NONE,
            timer_runs: false,
            waited_ns: 0,
            accesses: 0,
            description,
        };
        ssd.slow_down(1.0);
        ssd
    }

    /// Everything takes this many times as long from now on.
    pub(crate) fn slow_down(&mut self, slowness: f64) {
        let slowness = slowness.max(1e-6);
        let about = &self.description;
        self.times = DieTimes {
            read_ns: (about.read_ns * slowness) as u64,
            program_ns: (about.program_ns * slowness) as u64,
            erase_ns: (about.erase_ns * slowness) as u64,
        };
        self.overhead_ns = (about.overhead_ns * slowness) as u64;
        self.interface.set_ns_per_byte(1e9 / about.interface_bytes_per_s * slowness);
    }

    pub(crate) fn arrive(&mut self, access: u32, bench: &mut Bench<'_>) {
        self.accesses += 1;
        if let Some(command) = self.commands.arrive(access, bench) {
            self.begin(command, bench);
        }
    }

    /// The device accepts a command.
    fn begin(&mut self, command: u32, bench: &mut Bench<'_>) {
        let about = bench.accesses[self.commands[command].access];
        self.waited_ns += bench.now_ns - about.arrived_ns;
        match about.kind {
            Kind::Read => self.read(command, &about, bench),
            Kind::Flush => self.flush(command, bench),
            Kind::Write | Kind::DurableWrite if self.writes_through(&about) => {
                self.commands.at(bench.now_ns + self.overhead_ns, command, Next::Send, bench);
            }
            Kind::Write | Kind::DurableWrite => {
                if self.waiting.is_empty() && self.has_room(about.length_bytes, bench.now_ns) {
                    self.buffer(command, &about, bench);
                } else {
                    self.waiting.push_back(command);
                    self.watch(&about, bench);
                }
            }
        }
    }

    /// Whether a write is larger than the buffer, or may not complete in it.
    #[inline]
    fn writes_through(&self, about: &Access) -> bool {
        u64::from(about.length_bytes) > self.description.write_buffer_bytes
            || about.kind == Kind::DurableWrite && !self.description.power_loss_protection
    }

    /// A flush: complete when the dies have what is in the buffer.
    fn flush(&mut self, command: u32, bench: &mut Bench<'_>) {
        let (now_ns, decoded_ns) = (bench.now_ns, bench.now_ns + self.overhead_ns);
        if self.description.power_loss_protection || self.buffered_bytes == 0 {
            self.commands.at(decoded_ns, command, Next::Done, bench);
            return;
        }
        if self.open_bytes > 0 {
            // The page is programmed as if it were full.
            let moves = self.open_moves * self.page_bytes as f64 / self.open_bytes as f64;
            self.buffered_bytes += self.page_bytes - self.open_bytes;
            (self.open_bytes, self.open_moves) = (0, 0.0);
            self.program_later(moves, now_ns);
        }
        let (mut pages, mut end_ns) = (0, decoded_ns);
        for die in &mut self.dies {
            let programs = die.catch_up(now_ns, &self.times);
            self.buffered_bytes -= u64::from(programs) * self.page_bytes;
            let (programs, programmed_ns) = die.write_out(&self.times);
            pages += programs;
            end_ns = end_ns.max(programmed_ns);
        }
        self.commands.at(end_ns, command, Next::Flushed(pages), bench);
    }

    /// The first page of an access and how many it touches.
    #[inline]
    fn pages(&self, about: &Access) -> (u64, u64) {
        let first = about.offset_bytes / self.page_bytes;
        let last =
            (about.offset_bytes + u64::from(about.length_bytes.max(1)) - 1) / self.page_bytes;
        (first, last - first + 1)
    }

    fn read(&mut self, command: u32, about: &Access, bench: &mut Bench<'_>) {
        let from_ns = bench.now_ns + self.overhead_ns;
        let count = self.dies.len();
        let (first, pages) = self.pages(about);
        let mut die = (first % count as u64) as usize;
        let (mut first_ns, mut end_ns) = (u64::MAX, 0);
        let pressed = !self.waiting.is_empty();
        for _ in 0..pages {
            let mut programs = self.dies[die].catch_up(from_ns, &self.times);
            if pressed {
                programs += self.dies[die].do_one(&self.times);
            }
            self.buffered_bytes -= u64::from(programs) * self.page_bytes;
            let start_ns = self.dies[die].visit(from_ns, self.times.read_ns);
            self.waited_ns += start_ns - from_ns;
            let here_ns = start_ns + self.times.read_ns;
            first_ns = first_ns.min(here_ns);
            end_ns = end_ns.max(here_ns);
            die = after(die, count);
        }
        self.commands[command].since_ns = first_ns;
        self.commands.at(end_ns, command, Next::Send, bench);
    }

    /// The bytes of a command are ready for the interface.
    fn send(&mut self, command: u32, about: &Access, bench: &mut Bench<'_>) {
        let now_ns = bench.now_ns;
        let length_bytes = about.length_bytes;
        let (first_ns, last_bytes, next) = match about.kind {
            // Pages are sent as they are read: after the last one is read, only that one is left.
            Kind::Read => {
                let last_bytes = self.page_bytes.min(u64::from(length_bytes)) as u32;
                (self.commands[command].since_ns, last_bytes, Next::Done)
            }
            Kind::Write | Kind::DurableWrite if self.writes_through(about) => {
                (now_ns, length_bytes, Next::Program)
            }
            Kind::Write | Kind::DurableWrite | Kind::Flush => (now_ns, length_bytes, Next::Done),
        };
        let sent_ns = self.interface.pass_on((first_ns, now_ns), length_bytes, last_bytes);
        self.waited_ns += sent_ns - now_ns - self.interface.sending_ns(last_bytes);
        self.commands.at(sent_ns, command, next, bench);
    }

    /// Without a buffer: complete when programmed, and garbage collection follows at once.
    fn program(&mut self, command: u32, about: &Access, bench: &mut Bench<'_>) {
        let now_ns = bench.now_ns;
        let count = self.dies.len() as u64;
        let (first, pages) = self.pages(about);
        let moves = self.moves_of(about);
        let mut end_ns = 0;
        for page in first..first + pages {
            let number = (page % count) as usize;
            let programs = self.dies[number].catch_up(now_ns, &self.times);
            self.buffered_bytes -= u64::from(programs) * self.page_bytes;
            let start_ns = self.dies[number].visit(now_ns, self.times.program_ns);
            self.waited_ns += start_ns - now_ns;
            end_ns = end_ns.max(start_ns + self.times.program_ns);
            self.owe(moves);
            while let Some(chore) = self.next_owed() {
                let takes_ns = self.times.of(chore);
                self.dies[self.chore_turn].visit(now_ns, takes_ns);
            }
        }
        self.commands.at(end_ns, command, Next::Done, bench);
    }

    /// Pages moved by garbage collection for each page of a write.
    fn moves_of(&mut self, about: &Access) -> f64 {
        let length = u64::from(about.length_bytes);
        let follows = self.streams.follows(about.offset_bytes, about.offset_bytes + length.max(1));
        // A write that fills a block of each die leaves whole blocks behind.
        let blocks =
            u64::from(self.description.pages_per_block) * self.page_bytes * self.dies.len() as u64;
        if follows || length >= blocks { 0.0 } else { self.moves_per_page }
    }

    /// A page is written, for which this many are moved.
    fn owe(&mut self, moves: f64) {
        self.moves_owed += moves;
        self.erases_owed += (1.0 + moves) / f64::from(self.description.pages_per_block.max(1));
    }

    /// A chore of garbage collection that is due by now, for the die whose turn it is: all get their
    /// share, in rotation.
    #[inline]
    fn next_owed(&mut self) -> Option<Chore> {
        let chore = if self.moves_owed >= 1.0 {
            self.moves_owed -= 1.0;
            Chore::Move
        } else if self.erases_owed >= 1.0 {
            self.erases_owed -= 1.0;
            Chore::Erase
        } else {
            return None;
        };
        self.chore_turn = after(self.chore_turn, self.dies.len());
        Some(chore)
    }

    /// Whether this many bytes fit into the buffer now.
    #[inline]
    fn has_room(&mut self, length_bytes: u32, now_ns: u64) -> bool {
        let room = self.description.write_buffer_bytes;
        if self.buffered_bytes + u64::from(length_bytes) <= room {
            return true;
        }
        for die in &mut self.dies {
            let programs = die.catch_up(now_ns, &self.times);
            self.buffered_bytes -= u64::from(programs) * self.page_bytes;
        }
        // Less than a page waits for more, and would keep a write out of a very small buffer.
        self.buffered_bytes - self.open_bytes + u64::from(length_bytes) <= room
    }

    /// A write goes into the buffer; whole pages go to the dies.
    fn buffer(&mut self, command: u32, about: &Access, bench: &mut Bench<'_>) {
        let decoded_ns = self.commands[command].since_ns + self.overhead_ns;
        if decoded_ns > bench.now_ns {
            self.commands.at(decoded_ns, command, Next::Send, bench);
        } else {
            self.send(command, about, bench);
        }
        let length = u64::from(about.length_bytes);
        let moves = self.moves_of(about);
        self.buffered_bytes += length;
        self.open_bytes += length;
        self.open_moves += moves * length as f64 / self.page_bytes as f64;
        while self.open_bytes >= self.page_bytes {
            let moves = self.open_moves * self.page_bytes as f64 / self.open_bytes as f64;
            self.open_moves -= moves;
            self.open_bytes -= self.page_bytes;
            self.program_later(moves, bench.now_ns);
        }
    }

    /// The next die gets a page of the buffer to program, for which this many pages are moved.
    fn program_later(&mut self, moves: f64, now_ns: u64) {
        self.owe(moves);
        self.turn = after(self.turn, self.dies.len());
        self.add_chore(self.turn, Chore::Program, now_ns);
        while let Some(chore) = self.next_owed() {
            self.add_chore(self.chore_turn, chore, now_ns);
        }
    }

    #[inline]
    fn add_chore(&mut self, die: usize, chore: Chore, now_ns: u64) {
        let programs = self.dies[die].catch_up(now_ns, &self.times);
        self.buffered_bytes -= u64::from(programs) * self.page_bytes;
        self.dies[die].later(now_ns, chore);
    }

    /// Schedules an event for when a die may have freed some of the buffer.
    fn watch(&mut self, about: &Access, bench: &mut Bench<'_>) {
        if self.timer_runs {
            return;
        }
        let next_ns = self.dies.iter().map(Die::next_chore_ns).min().unwrap_or(u64::MAX);
        if next_ns == u64::MAX {
            return;
        }
        if self.timer == NONE {
            self.timer = bench.accesses.insert(Access { background: true, ..*about });
        }
        self.timer_runs = true;
        bench.at(next_ns, self.timer);
    }

    /// An event that this device scheduled has occurred.
    pub(crate) fn event(&mut self, event: u32, bench: &mut Bench<'_>) {
        if event == self.timer {
            self.timer_runs = false;
            self.admit_waiting(bench);
            return;
        }
        let command = bench.accesses[event].purpose;
        let access = self.commands[command].access;
        let about = bench.accesses[access];
        match self.commands[command].next {
            Next::Send => self.send(command, &about, bench),
            Next::Program => self.program(command, &about, bench),
            Next::Done => self.done(command, bench),
            Next::Flushed(pages) => {
                self.buffered_bytes -= u64::from(pages) * self.page_bytes;
                self.done(command, bench);
                self.admit_waiting(bench);
            }
        }
    }

    /// A command is complete.
    fn done(&mut self, command: u32, bench: &mut Bench<'_>) {
        bench.done.push(self.commands[command].access);
        if self.commands.done(command, bench.now_ns) {
            self.begin(command, bench);
        }
    }

    /// Admits writes that waited for buffer space.
    fn admit_waiting(&mut self, bench: &mut Bench<'_>) {
        while let Some(&command) = self.waiting.front() {
            let about = bench.accesses[self.commands[command].access];
            if !self.has_room(about.length_bytes, bench.now_ns) {
                self.watch(&about, bench);
                return;
            }
            self.waiting.pop_front();
            self.waited_ns += bench.now_ns - self.commands[command].since_ns;
            self.buffer(command, &about, bench);
        }
    }

    pub(crate) fn usage(&self, now_ns: u64) -> DeviceUse {
        let busy = self.dies.iter().map(|die| die.busy_until(now_ns, &self.times));
        let interface_ns = self.interface.busy_until(now_ns);
        DeviceUse {
            servers: self.dies.len() as u32,
            // The interface limits all dies at once.
            busy_ns: busy.sum::<u64>().max(interface_ns * self.dies.len() as u64),
            waited_ns: self.waited_ns,
            accesses: self.accesses,
        }
    }
}

/// The die after this one.
#[inline]
fn after(die: usize, count: usize) -> usize {
    if die + 1 == count { 0 } else { die + 1 }
}
