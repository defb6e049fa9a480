//! A small target that does whatever the protocol allows, in random order, and insists on
//! everything that the protocol demands of the initiator.

use stormeter_iscsi::pdu::{
    BHS_BYTES, Bhs, Data, DataIn, DataOut, Digests, LoginRequest, LoginResponse, LogoutResponse,
    NO_TAG, NopIn, NopOut, R2t, ScsiCommand, ScsiResponse, flags, parse, put,
};
use stormeter_wire::{Heap, Outbox};

use super::{BLOCK, Dice};

/// How a target behaves.
#[derive(Debug, Clone)]
pub struct Manner {
    pub header_digest: bool,
    pub data_digest: bool,
    pub initial_r2t: bool,
    pub immediate_data: bool,
    pub first_burst: u32,
    pub max_burst: u32,
    pub max_receive: u32,
    pub max_r2t: u32,
    pub largest_window: u32,
    /// How many commands in a thousand get each of BUSY, TASK SET FULL and UNIT ATTENTION.
    pub refusals: u32,
    /// The additional sense code of those attentions.
    pub attention: u8,
    /// How many answers in a thousand are sent twice.
    pub echoes: u32,
    /// Whether login keys are split over several PDUs.
    pub piecemeal: bool,
    /// Whether writes may have the FUA bit, and flushes a range of blocks.
    pub takes_fua: bool,
    pub takes_ranges: bool,
    /// Whether the first command of each session gets a unit attention for a reset.
    pub greets: bool,
    /// Whether flushes are answered and not carried out.
    pub lies: bool,
}

struct Burst {
    tag: u32,
    at: u32,
    end: u32,
    data_sn: u32,
}

struct Task {
    tag: u32,
    write: bool,
    /// The data must be on the medium before the answer.
    forced: bool,
    /// Instead of moving data, these bytes are put on the medium.
    flush: Option<std::ops::Range<usize>>,
    begin: usize,
    length: u32,
    /// Bytes sent or received.
    moved: u32,
    /// Bytes requested.
    asked: u32,
    sn: u32,
    bursts: Vec<Burst>,
    data: Vec<u8>,
    /// Data-In, split and shuffled in advance.
    pieces: Vec<(u32, u32)>,
}

pub struct Target {
    pub manner: Manner,
    /// What reads find: the medium and the cache above it.
    pub disk: Vec<u8>,
    /// What a loss of power leaves.
    medium: Vec<u8>,
    /// The next command is refused as the first after a reset.
    greeting: bool,
    pub logins: u32,
    dice: Dice,
    inbox: Vec<u8>,
    pub outbox: Vec<u8>,
    full: bool,
    digests: Digests,
    stat_sn: u32,
    exp_cmd_sn: u32,
    max_cmd_sn: u32,
    initiator_receive: u32,
    next_tag: u32,
    tasks: Vec<Task>,
    /// Keys that have not been sent yet.
    held: Vec<u8>,
    pub pongs: u32,
}

impl Target {
    pub fn new(manner: Manner, disk: Vec<u8>, dice: Dice) -> Self {
        let mut target = Self {
            manner,
            medium: disk.clone(),
            disk,
            greeting: false,
            logins: 0,
            dice,
            inbox: Vec::new(),
            outbox: Vec::new(),
            full: false,
            digests: Digests::default(),
            stat_sn: 0,
            exp_cmd_sn: 0,
            max_cmd_sn: 0,
            initiator_receive: 8192,
            next_tag: 0,
            tasks: Vec::new(),
            held: Vec::new(),
            pongs: 0,
        };
        target.hang_up();
        target
    }

    /// The connection is gone, with all tasks.
    pub fn hang_up(&mut self) {
        self.inbox.clear();
        self.outbox.clear();
        self.held.clear();
        self.tasks.clear();
        self.full = false;
        self.digests = Digests::default();
        self.initiator_receive = 8192;
        // Close enough to the maximum that the numbers wrap.
        self.stat_sn = u32::MAX - 3;
    }

    /// The power fails: of the blocks that are only in the cache some had been written to the
    /// medium already, and the others are lost.
    pub fn cut_power(&mut self) {
        self.hang_up();
        let (disk, medium) = (self.disk.chunks(BLOCK as usize), self.medium.chunks_mut(512));
        for (cached, kept) in disk.zip(medium) {
            if self.dice.chance(300) {
                kept.copy_from_slice(cached);
            }
        }
        self.disk.clone_from(&self.medium);
        self.manner.greets = true;
    }

    pub fn is_idle(&self) -> bool {
        self.tasks.is_empty()
    }

    fn send(&mut self, mut bhs: Bhs, data: &[u8]) {
        let mut out = Outbox::default();
        put(&mut out, &mut bhs, Data::Bytes(data), self.digests);
        self.outbox.extend(out.gather(&Heap::default()));
    }

    fn status(&mut self) -> u32 {
        let taken = self.stat_sn;
        self.stat_sn = taken.wrapping_add(1);
        taken
    }

    /// The window: anything between closed and large, but never smaller than promised.
    fn window(&mut self) -> u32 {
        let room = self.dice.between(0, self.manner.largest_window);
        let end = self.exp_cmd_sn.wrapping_add(room).wrapping_sub(1);
        if end.wrapping_sub(self.max_cmd_sn) < 1 << 31 {
            self.max_cmd_sn = end;
        }
        self.max_cmd_sn
    }

    pub fn receive(&mut self, bytes: &[u8]) {
        self.inbox.extend_from_slice(bytes);
        loop {
            let most = if self.full { self.manner.max_receive } else { 8192 };
            let Some(whole) = parse(&self.inbox, self.digests, most).unwrap() else { return };
            let (bhs, data, total) = (whole.bhs, whole.data.to_vec(), whole.total_bytes);
            self.inbox.drain(..total);
            match bhs.opcode() {
                LoginRequest::OPCODE => self.login(&LoginRequest::decode(&bhs), &data),
                ScsiCommand::OPCODE => self.command(&ScsiCommand::decode(&bhs), &data),
                DataOut::OPCODE => self.data_out(&DataOut::decode(&bhs), &data),
                NopOut::OPCODE => self.nop_out(&NopOut::decode(&bhs), &data),
                0x06 => {
                    assert!(self.tasks.is_empty(), "logout with tasks outstanding");
                    let response = LogoutResponse {
                        flags: flags::FINAL,
                        task_tag: bhs.task_tag(),
                        stat_sn: self.status(),
                        exp_cmd_sn: self.exp_cmd_sn,
                        max_cmd_sn: self.max_cmd_sn,
                        ..LogoutResponse::default()
                    };
                    self.send(response.encode(), &[]);
                }
                other => panic!("opcode {other:#x} from an initiator"),
            }
        }
    }

    fn nop_out(&mut self, nop: &NopOut, data: &[u8]) {
        assert!(nop.immediate && nop.cmd_sn == self.exp_cmd_sn);
        if nop.task_tag == NO_TAG {
            assert_eq!((nop.transfer_tag, data), (77, &b"ping!"[..]));
            self.pongs += 1;
            return;
        }
        let pong = NopIn {
            flags: flags::FINAL,
            task_tag: nop.task_tag,
            transfer_tag: NO_TAG,
            stat_sn: self.status(),
            exp_cmd_sn: self.exp_cmd_sn,
            max_cmd_sn: self.max_cmd_sn,
            ..NopIn::default()
        };
        self.send(pong.encode(), &[]);
    }

    fn login(&mut self, request: &LoginRequest, data: &[u8]) {
        assert!(!self.full && request.immediate);
        let mut answer = std::mem::take(&mut self.held);
        let text = std::str::from_utf8(data).unwrap();
        for pair in text.split_terminator('\0') {
            let (key, value) = pair.split_once('=').unwrap();
            let value = self.negotiate(key, value);
            if let Some(value) = value {
                answer.extend(format!("{key}={value}\0").bytes());
            }
        }
        let (stage, next) = (request.flags >> 2 & 3, request.flags & 3);
        if stage == 1 && request.flags & flags::TRANSIT != 0 && !text.is_empty() {
            let own = format!("MaxRecvDataSegmentLength={}\0", self.manner.max_receive);
            answer.extend(own.bytes());
        }
        let mut bits = stage << 2;
        if self.manner.piecemeal && answer.len() > 20 {
            self.held = answer.split_off(answer.len() / 2);
            bits |= flags::CONTINUE;
        } else if request.flags & flags::TRANSIT != 0 {
            bits |= flags::TRANSIT | next;
        }
        self.exp_cmd_sn = request.cmd_sn;
        // One command, until a later answer allows more.
        self.max_cmd_sn = request.cmd_sn;
        let done = bits & flags::TRANSIT != 0 && next == 3;
        let response = LoginResponse {
            flags: bits,
            isid: request.isid,
            tsih: if done { 9 } else { 0 },
            task_tag: request.task_tag,
            stat_sn: self.status(),
            exp_cmd_sn: self.exp_cmd_sn,
            max_cmd_sn: self.max_cmd_sn,
            ..LoginResponse::default()
        };
        self.send(response.encode(), &answer);
        if done {
            self.full = true;
            self.greeting = self.manner.greets;
            self.logins += 1;
            self.digests =
                Digests { header: self.manner.header_digest, data: self.manner.data_digest };
        }
    }

    fn negotiate(&mut self, key: &str, value: &str) -> Option<String> {
        let manner = &mut self.manner;
        let yes = |truth: bool| Some(if truth { "Yes" } else { "No" }.to_owned());
        let least = |own: &mut u32| {
            *own = (*own).min(value.parse().unwrap());
            Some(own.to_string())
        };
        match key {
            "InitiatorName" | "TargetName" | "SessionType" => None,
            "AuthMethod" => Some("None".to_owned()),
            "HeaderDigest" => Some(if manner.header_digest { "CRC32C" } else { "None" }.to_owned()),
            "DataDigest" => Some(if manner.data_digest { "CRC32C" } else { "None" }.to_owned()),
            "InitialR2T" => {
                manner.initial_r2t |= value == "Yes";
                yes(manner.initial_r2t)
            }
            "ImmediateData" => {
                manner.immediate_data &= value == "Yes";
                yes(manner.immediate_data)
            }
            "FirstBurstLength" => least(&mut manner.first_burst),
            "MaxBurstLength" => {
                let answer = least(&mut manner.max_burst);
                manner.first_burst = manner.first_burst.min(manner.max_burst);
                answer
            }
            "MaxOutstandingR2T" => least(&mut manner.max_r2t),
            "MaxRecvDataSegmentLength" => {
                self.initiator_receive = value.parse().unwrap();
                None
            }
            "DataPDUInOrder" | "DataSequenceInOrder" => yes(value == "Yes"),
            _ => Some(value.to_owned()),
        }
    }

    fn command(&mut self, command: &ScsiCommand, data: &[u8]) {
        assert_eq!(command.cmd_sn, self.exp_cmd_sn, "commands come in order");
        assert!(
            self.max_cmd_sn.wrapping_sub(command.cmd_sn) < 1 << 31,
            "command {} beyond the window {}",
            command.cmd_sn,
            self.max_cmd_sn
        );
        assert_eq!(command.lun, 1 << 48);
        assert!(self.tasks.iter().all(|task| task.tag != command.task_tag), "a tag in use");
        self.exp_cmd_sn = command.cmd_sn.wrapping_add(1);
        let (write, is_flush) = match command.cdb[0] {
            0x28 => (false, false),
            0x2a => (true, false),
            0x35 => (false, true),
            other => panic!("command {other:#x}"),
        };
        let direction = match (write, is_flush) {
            (_, true) => 0,
            (true, _) => flags::WRITE,
            (false, _) => flags::READ,
        };
        assert_eq!(command.flags & 0x7f, direction | flags::SIMPLE);
        assert!(command.cdb[1] == 0 || write && command.cdb[1] == 8, "{:?}", command.cdb);
        let forced = command.cdb[1] == 8;
        let lba = u32::from_be_bytes(command.cdb[2..6].try_into().unwrap());
        let blocks = u16::from_be_bytes(command.cdb[7..9].try_into().unwrap());
        let begin = lba as usize * BLOCK as usize;
        let (length, flush) = match (is_flush, u32::from(blocks) * BLOCK) {
            (false, length) => (length, None),
            (true, 0) => (0, Some(begin..self.disk.len())),
            (true, length) => (0, Some(begin..begin + length as usize)),
        };
        assert_eq!(command.expected_bytes, length);
        let manner = &self.manner;
        let immediate = data.len() as u32;
        let most = if manner.immediate_data { manner.first_burst.min(length) } else { 0 };
        assert!(immediate <= most, "{immediate} bytes of immediate data, {most} allowed");
        let follows = command.flags & flags::FINAL == 0;
        assert!(!follows || write && !manner.initial_r2t, "unsolicited data is not allowed");
        let sense =
            |key, asc| [0, 18, 0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, asc, 0, 0, 0, 0, 0];
        if std::mem::take(&mut self.greeting) {
            return self.respond(command.task_tag, 2, &sense(6, 0x29));
        }
        for status in [0x08, 0x28, 0x02] {
            if self.dice.chance(self.manner.refusals) {
                let sense = sense(6, self.manner.attention);
                let sense: &[u8] = if status == 2 { &sense } else { &[] };
                self.respond(command.task_tag, status, sense);
                return;
            }
        }
        let is_range = flush.as_ref().is_some_and(|range| range.len() < self.disk.len());
        if forced && !self.manner.takes_fua || is_range && !self.manner.takes_ranges {
            return self.respond(command.task_tag, 2, &sense(5, 0x24));
        }
        let mut task = Task {
            tag: command.task_tag,
            write,
            forced,
            begin,
            length,
            moved: immediate,
            asked: immediate,
            sn: 0,
            bursts: Vec::new(),
            data: vec![0; length as usize],
            flush,
            pieces: Vec::new(),
        };
        task.data[..data.len()].copy_from_slice(data);
        if follows {
            let end = manner.first_burst.min(length);
            task.asked = end;
            task.bursts.push(Burst { tag: NO_TAG, at: immediate, end, data_sn: 0 });
        }
        if !write && !is_flush {
            task.data.copy_from_slice(&self.disk[task.begin..task.begin + length as usize]);
            let mut at = 0;
            while at < length {
                let piece = self.dice.between(1, self.initiator_receive).min(length - at);
                task.pieces.push((at, piece));
                at += piece;
            }
            for at in 1..task.pieces.len() {
                if self.dice.chance(100) {
                    task.pieces.swap(at - 1, at);
                }
            }
            task.pieces.reverse();
        }
        self.tasks.push(task);
    }

    fn data_out(&mut self, out: &DataOut, data: &[u8]) {
        let Some(task) = self.tasks.iter_mut().find(|task| task.tag == out.task_tag) else {
            assert_eq!(out.transfer_tag, NO_TAG, "data for a task that there is not");
            return;
        };
        let at = task.bursts.iter().position(|burst| burst.tag == out.transfer_tag).unwrap();
        let burst = &mut task.bursts[at];
        assert_eq!((out.data_sn, out.buffer_offset), (burst.data_sn, burst.at));
        assert_eq!(out.lun, if out.transfer_tag == NO_TAG { 1 << 48 } else { 0x5555 });
        let begin = burst.at as usize;
        task.data[begin..begin + data.len()].copy_from_slice(data);
        burst.at += data.len() as u32;
        burst.data_sn += 1;
        task.moved += data.len() as u32;
        assert!(burst.at <= burst.end && !data.is_empty());
        assert_eq!(burst.at == burst.end, out.flags & flags::FINAL != 0);
        if burst.at == burst.end {
            task.bursts.remove(at);
        }
    }

    fn respond(&mut self, tag: u32, status: u8, data: &[u8]) {
        let begin = self.outbox.len();
        let response = ScsiResponse {
            flags: flags::FINAL,
            status,
            task_tag: tag,
            stat_sn: self.status(),
            exp_cmd_sn: self.exp_cmd_sn,
            max_cmd_sn: self.window(),
            ..ScsiResponse::default()
        };
        self.send(response.encode(), data);
        if self.dice.chance(self.manner.echoes) {
            let again = self.outbox[begin..].to_vec();
            self.outbox.extend(again);
        }
    }

    /// Performs one step for one task.
    pub fn step(&mut self) {
        if !self.full {
            return;
        }
        if self.tasks.is_empty() || self.dice.chance(5) {
            // Reports the window, and sometimes asks for an answer.
            let wants = self.dice.chance(100);
            let nop = NopIn {
                flags: flags::FINAL,
                task_tag: NO_TAG,
                transfer_tag: if wants { 77 } else { NO_TAG },
                stat_sn: self.stat_sn,
                exp_cmd_sn: self.exp_cmd_sn,
                max_cmd_sn: self.window(),
                ..NopIn::default()
            };
            self.send(nop.encode(), if wants { b"ping!" } else { b"" });
            return;
        }
        let at = self.dice.between(0, self.tasks.len() as u32 - 1) as usize;
        if let Some(range) = self.tasks[at].flush.clone() {
            let task = self.tasks.swap_remove(at);
            if !self.manner.lies {
                self.medium[range.clone()].copy_from_slice(&self.disk[range]);
            }
            return self.respond(task.tag, 0, &[]);
        }
        if self.tasks[at].write { self.step_write(at) } else { self.step_read(at) }
    }

    fn step_write(&mut self, at: usize) {
        let task = &mut self.tasks[at];
        if task.moved == task.length {
            let task = self.tasks.swap_remove(at);
            let end = task.begin + task.data.len();
            self.disk[task.begin..end].copy_from_slice(&task.data);
            if task.forced {
                self.medium[task.begin..end].copy_from_slice(&task.data);
            }
            self.respond(task.tag, 0, &[]);
            return;
        }
        let solicited = task.bursts.iter().filter(|burst| burst.tag != NO_TAG).count();
        let unsolicited = solicited < task.bursts.len();
        if task.asked == task.length || unsolicited || solicited as u32 >= self.manner.max_r2t {
            return;
        }
        let most = self.manner.max_burst.min(task.length - task.asked);
        let length = self.dice.between(1.max(most / 5), most);
        let (tag, r2t_sn, begin) = (self.next_tag, task.sn, task.asked);
        self.next_tag = (self.next_tag + 1) % 1000;
        task.bursts.push(Burst { tag, at: begin, end: begin + length, data_sn: 0 });
        task.asked += length;
        task.sn += 1;
        let r2t = R2t {
            flags: flags::FINAL,
            lun: 0x5555,
            task_tag: task.tag,
            transfer_tag: tag,
            r2t_sn,
            buffer_offset: begin,
            desired_bytes: length,
            stat_sn: self.stat_sn,
            exp_cmd_sn: self.exp_cmd_sn,
            max_cmd_sn: self.max_cmd_sn,
            ..R2t::default()
        };
        self.send(r2t.encode(), &[]);
    }

    fn step_read(&mut self, at: usize) {
        let (offset, length) = self.tasks[at].pieces.pop().unwrap();
        let last = self.tasks[at].pieces.is_empty();
        let collapsed = last && self.dice.chance(500);
        let begin = offset as usize;
        let data = self.tasks[at].data[begin..begin + length as usize].to_vec();
        let mut unit = DataIn {
            flags: if last { flags::FINAL } else { 0 },
            task_tag: self.tasks[at].tag,
            transfer_tag: NO_TAG,
            exp_cmd_sn: self.exp_cmd_sn,
            max_cmd_sn: self.max_cmd_sn,
            data_sn: self.tasks[at].sn,
            buffer_offset: offset,
            ..DataIn::default()
        };
        self.tasks[at].sn += 1;
        if collapsed {
            unit.flags |= flags::STATUS;
            unit.stat_sn = self.status();
            unit.max_cmd_sn = self.window();
        }
        let from = self.outbox.len();
        self.send(unit.encode(), &data);
        if !last {
            return;
        }
        let task = self.tasks.swap_remove(at);
        if !collapsed {
            self.respond(task.tag, 0, &[]);
        }
        if self.dice.chance(self.manner.echoes) {
            // Data of a command that is done and whose data is no longer needed.
            let end = from + BHS_BYTES + if self.digests.header { 4 } else { 0 };
            assert!(end <= self.outbox.len());
            unit.flags = 0;
            self.send(unit.encode(), &data);
        }
    }
}
