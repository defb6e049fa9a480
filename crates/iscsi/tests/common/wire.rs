//! A session with the test itself at the other end: it sends PDUs and sees the answers.

use super::options;
use stormeter_disk::{Completion, DeviceError, Kind, Operation};
use stormeter_iscsi::pdu::{
    Bhs, Data, DataIn, Digests, LoginResponse, NO_TAG, ScsiCommand, ScsiResponse, flags, parse, put,
};
use stormeter_iscsi::{Error, Options, Parameters, Session};
use stormeter_wire::{Heap, Outbox, Session as WireSession};

pub struct Line {
    pub session: Session,
    pub memory: Heap,
    pub out: Outbox,
    pub done: Vec<Completion>,
    pub now_ns: u64,
    pub stat_sn: u32,
    /// ExpCmdSN and MaxCmdSN for the next answer.
    pub window: (u32, u32),
    pub digests: Digests,
    left: Vec<u8>,
}

impl Line {
    pub fn new(options: Options) -> Self {
        let mut line = Self {
            session: Session::new(options),
            memory: Heap::new(8, 128 << 10),
            out: Outbox::default(),
            done: Vec::new(),
            now_ns: 0,
            stat_sn: 100,
            window: (1, 8),
            digests: Digests::default(),
            left: Vec::new(),
        };
        line.connect();
        line
    }

    /// Connected and logged in, with these keys as the target's answers.
    pub fn ready(options: Options, answers: &str) -> Self {
        let mut line = Self::new(options);
        line.log_in(answers);
        line
    }

    pub fn connect(&mut self) {
        self.left.clear();
        self.session.connected(self.now_ns, &self.memory, &mut self.out);
    }

    pub fn disconnect(&mut self) {
        self.out.clear();
        self.session.disconnected(self.now_ns);
    }

    pub fn log_in(&mut self, answers: &str) {
        self.heard();
        self.login(0x81, 0, "AuthMethod=None TargetPortalGroupTag=1").unwrap();
        self.heard();
        self.login(0x87, 9, answers).unwrap();
    }

    /// Sends a successful login response; blanks separate the keys.
    pub fn login(&mut self, bits: u8, tsih: u16, keys: &str) -> Result<(), Error> {
        let response = LoginResponse {
            flags: bits,
            isid: [0x80, 1, 2, 3, 0, 1],
            tsih,
            stat_sn: self.stat_sn,
            exp_cmd_sn: self.window.0,
            max_cmd_sn: self.window.1,
            ..LoginResponse::default()
        };
        self.stat_sn = self.stat_sn.wrapping_add(1);
        let text: String = keys.split_whitespace().map(|pair| format!("{pair}\0")).collect();
        self.say(response.encode(), text.as_bytes())
    }

    /// The target sends a PDU.
    pub fn say(&mut self, mut bhs: Bhs, data: &[u8]) -> Result<(), Error> {
        let mut out = Outbox::default();
        put(&mut out, &mut bhs, Data::Bytes(data), self.digests);
        let bytes = out.gather(&self.memory);
        self.give(&bytes)
    }

    /// The target sends bytes.
    pub fn give(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.left.extend_from_slice(bytes);
        let outcome = self.session.receive(
            &self.left,
            self.now_ns,
            &mut self.memory,
            &mut self.out,
            &mut self.done,
        );
        // After an error, the received bytes are of no further use.
        let taken = outcome.inspect_err(|_| self.left.clear())?;
        self.left.drain(..taken);
        Ok(())
    }

    /// The PDUs that the session has sent since.
    pub fn heard(&mut self) -> Vec<(Bhs, Vec<u8>)> {
        let bytes = self.out.gather(&self.memory);
        let (mut at, mut heard) = (0, Vec::new());
        while let Some(whole) = parse(&bytes[at..], self.digests, 1 << 24).unwrap() {
            heard.push((whole.bhs, whole.data.to_vec()));
            at += whole.total_bytes;
        }
        assert_eq!(at, bytes.len(), "a PDU is not whole");
        heard
    }

    pub fn submit(&mut self, kind: Kind, slot: u32, block: u64, blocks: u32) {
        let operation = Operation {
            offset_bytes: block * 512,
            length_bytes: blocks * 512,
            disk: 0,
            slot,
            buffer: slot,
            kind,
        };
        self.session.submit(&operation, self.now_ns, &self.memory, &mut self.out);
    }

    pub fn tick(&mut self) -> Result<(), Error> {
        self.session.tick(self.now_ns, &self.memory, &mut self.out, &mut self.done)
    }

    pub fn close(&mut self) {
        self.session.close(self.now_ns, &self.memory, &mut self.out);
    }

    pub fn status(&mut self) -> u32 {
        self.stat_sn = self.stat_sn.wrapping_add(1);
        self.stat_sn.wrapping_sub(1)
    }

    /// Sends a response with a status and data (length of sense and sense).
    pub fn respond(&mut self, tag: u32, status: u8, data: &[u8]) -> Result<(), Error> {
        let response = ScsiResponse {
            flags: flags::FINAL,
            status,
            task_tag: tag,
            stat_sn: self.status(),
            exp_cmd_sn: self.window.0,
            max_cmd_sn: self.window.1,
            ..ScsiResponse::default()
        };
        self.say(response.encode(), data)
    }

    /// The one completion since.
    pub fn completed(&mut self) -> (u32, Result<u32, DeviceError>) {
        let done = std::mem::take(&mut self.done);
        assert_eq!(done.len(), 1, "{done:?}");
        (done[0].slot, done[0].outcome())
    }
}

/// Fixed-format sense data after its length field.
pub fn sense(key: u8, asc: u8, ascq: u8) -> Vec<u8> {
    vec![0, 18, 0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, asc, ascq, 0, 0, 0, 0]
}

pub const SECOND: u64 = 1_000_000_000;

pub fn plain() -> Options {
    options(Parameters::default())
}

/// The target requests all data of writes.
pub const ASKS: &str = "InitialR2T=Yes ImmediateData=No MaxBurstLength=16384 MaxOutstandingR2T=2 \
    MaxRecvDataSegmentLength=8192";

pub fn commands(heard: &[(Bhs, Vec<u8>)]) -> Vec<ScsiCommand> {
    let commands = heard.iter().filter(|one| one.0.opcode() == ScsiCommand::OPCODE);
    commands.map(|one| ScsiCommand::decode(&one.0)).collect()
}

/// A logged-in session that has sent one operation of this many disk blocks; returns its tag.
pub fn with(kind: Kind, blocks: u32, answers: &str) -> (Line, u32) {
    let mut line = Line::ready(plain(), answers);
    line.submit(kind, 0, 0, blocks);
    let tag = commands(&line.heard())[0].task_tag;
    (line, tag)
}

pub fn data_in(tag: u32, offset: u32, data_sn: u32) -> DataIn {
    DataIn {
        flags: flags::FINAL,
        task_tag: tag,
        transfer_tag: NO_TAG,
        data_sn,
        buffer_offset: offset,
        ..DataIn::default()
    }
}
