//! A session whose server is played by hand, word by word.

use stormeter_disk::{Completion, DeviceError, Kind, Operation};
use stormeter_nfs::{Auth, NfsError, NfsSession, SessionOptions, Stability};
use stormeter_wire::{Heap, Outbox, Session};

use crate::hex::hex;
use crate::{HANDLE, handle};

/// Both ends of a connection: the session, and what it is sent by hand.
pub(crate) struct Ends {
    pub(crate) session: NfsSession,
    pub(crate) memory: Heap,
    pub(crate) out: Outbox,
    pub(crate) done: Vec<Completion>,
}

impl Ends {
    pub(crate) fn new(stability: Stability) -> Self {
        Self::with(|options| options.stability = stability)
    }

    pub(crate) fn with(set: impl FnOnce(&mut SessionOptions)) -> Self {
        let mut options = SessionOptions::new(vec![handle()], Auth::none(), 7);
        options.read_max_bytes = 64 << 10;
        set(&mut options);
        let mut ends = Self {
            session: NfsSession::new(&options),
            memory: Heap::new(2, 64 << 10),
            out: Outbox::default(),
            done: Vec::new(),
        };
        ends.session.connected(0, &ends.memory, &mut ends.out);
        ends
    }

    pub(crate) fn submit(&mut self, kind: Kind, offset_bytes: u64, length_bytes: u32) {
        let operation = Operation { offset_bytes, length_bytes, disk: 0, slot: 5, buffer: 1, kind };
        self.session.submit(&operation, 0, &self.memory, &mut self.out);
    }

    pub(crate) fn receive(&mut self, dump: &str) -> Result<usize, NfsError> {
        let Self { session, memory, out, done } = self;
        session.receive(&hex(dump), 0, memory, out, done)
    }

    pub(crate) fn tick(&mut self, now_ns: u64) -> Result<(), NfsError> {
        self.session.tick(now_ns, &self.memory, &mut self.out, &mut self.done)
    }

    pub(crate) fn sent(&mut self) -> Vec<u8> {
        self.out.gather(&self.memory)
    }

    pub(crate) fn outcome(&mut self) -> Result<u32, DeviceError> {
        let [completion] = self.done[..] else { panic!("{:?}", self.done) };
        self.done.clear();
        assert_eq!(completion.slot, 5);
        completion.outcome()
    }
}

/// A call without credentials.
pub(crate) fn call(mark: u32, xid: u32, procedure: u32, arguments: &str) -> Vec<u8> {
    hex(&format!(
        "{mark:08x} {xid:08x} 00000000 00000002 000186a3 00000003 {procedure:08x}
         00000000 00000000 00000000 00000000 {HANDLE} {arguments}"
    ))
}

/// A reply's head after the number: accepted, executed, status OK.
pub(crate) const OK: &str = "00000001 00000000 00000000 00000000 00000000 00000000 ";
