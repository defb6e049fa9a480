//! For fuzzers: all decoders and a whole session, driven by bytes alone.
//!
//! These functions assert what must hold whatever a server sends; a panic is a finding.

use stormeter_disk::{Completion, Kind, Operation};
use stormeter_wire::{Heap, Outbox, Session};

use crate::{
    Assembler, Auth, Commit, Create, Export, FileHandle, FileSystemLimits, FileSystemSpace,
    GetAttributes, GetPort, Lookup, MakeDirectory, Mnt, NfsSession, Null, Procedure, Read,
    ReadDirectory, Remove, RemoveDirectory, Rename, SessionOptions, Stability, Umnt, Write,
    decode_reply,
};

/// The transaction number with which streams for [`replies`] and [`session`] start.
pub const FIRST_XID: u32 = 1;
/// The slots of flushes start here.
pub const FLUSH_SLOTS: u32 = 16;
const BUFFER_BYTES: u32 = 64 << 10;
const SPLIT_BYTES: u32 = 3000;

fn decode<P: Procedure>(record: &[u8]) {
    // Any reply or error will do, but it must be one of the two.
    let _ = decode_reply::<P>(record, FIRST_XID);
}

/// Takes `bytes` as a stream of records and every record as the reply to every control procedure.
pub fn replies(bytes: &[u8]) {
    let mut assembler = Assembler::new(64 << 10);
    let mut rest = bytes;
    while let Ok(Some(record)) = assembler.feed(&mut rest) {
        assert!(record.len() <= 64 << 10, "a record is bounded");
        decode::<GetPort>(&record);
        decode::<Mnt<'_>>(&record);
        decode::<Umnt<'_>>(&record);
        decode::<Export>(&record);
        decode::<Null>(&record);
        decode::<GetAttributes>(&record);
        decode::<Lookup<'_>>(&record);
        decode::<Read>(&record);
        decode::<Write<'_>>(&record);
        decode::<Create<'_>>(&record);
        decode::<MakeDirectory<'_>>(&record);
        decode::<Remove<'_>>(&record);
        decode::<RemoveDirectory<'_>>(&record);
        decode::<Rename<'_>>(&record);
        decode::<ReadDirectory>(&record);
        decode::<FileSystemSpace>(&record);
        decode::<FileSystemLimits>(&record);
        decode::<Commit>(&record);
    }
}

/// The first bytes of [`session`]: how the session is set up and its stream is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Script {
    /// Unstable writes.
    pub unstable: bool,
    /// Each write that completes is followed by a flush of its disk; see [`Script::flush_after`].
    pub flushes: bool,
    /// Number of operations submitted, 1 to 16. The even ones write, every other one of them durably;
    /// number `n` is `1000 * (n + 1)` bytes long and starts at 64 KiB times `n`; those of more than
    /// 3000 bytes are split.
    pub operations: u32,
    /// The stream arrives in parts of this many bytes, 1 to 256 times 16.
    pub part_bytes: usize,
    /// After this many parts the connection breaks once.
    pub break_after: usize,
}

impl Script {
    /// Encodes it.
    #[must_use]
    pub fn bytes(self) -> [u8; 4] {
        [
            u8::from(self.unstable) | u8::from(self.flushes) << 1,
            (self.operations.clamp(1, 16) - 1) as u8,
            (self.part_bytes / 16).clamp(1, 256) as u8 - 1,
            self.break_after.min(255) as u8,
        ]
    }

    /// Decodes it.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 4]) -> Self {
        let [flags, operations, part, break_after] = bytes;
        Self {
            unstable: flags & 1 != 0,
            flushes: flags & 2 != 0,
            operations: u32::from(operations & 15) + 1,
            part_bytes: (usize::from(part) + 1) * 16,
            break_after: usize::from(break_after),
        }
    }

    /// The operations that are submitted.
    #[must_use]
    pub fn operations(self) -> Vec<Operation> {
        let operation = |number: u32| Operation {
            offset_bytes: u64::from(number) << 16,
            length_bytes: 1000 * (number + 1),
            disk: number % 2,
            slot: number,
            buffer: number,
            kind: match number % 4 {
                0 => Kind::Write,
                2 => Kind::DurableWrite,
                _ => Kind::Read,
            },
        };
        (0..self.operations).map(operation).collect()
    }

    /// The flush that follows the completion of an operation: its slot is the operation's plus
    /// [`FLUSH_SLOTS`].
    #[must_use]
    pub fn flush_after(self, completion: &Completion) -> Option<Operation> {
        let mut operations = self.operations().into_iter();
        let wrote = |one: &Operation| one.slot == completion.slot && one.kind.is_write();
        let operation = operations.find(wrote).filter(|_| self.flushes)?;
        let slot = operation.slot + FLUSH_SLOTS;
        let (offset_bytes, length_bytes, kind) = (0, 0, Kind::Flush);
        Some(Operation { offset_bytes, length_bytes, slot, kind, ..operation })
    }

    /// The session under test.
    ///
    /// # Panics
    /// Never: its handles are short.
    #[must_use]
    pub fn session(self) -> NfsSession {
        let files = [[0_u8; 5].as_slice(), &[1; 8]];
        let files = files.iter().filter_map(|bytes| FileHandle::new(bytes).ok()).collect();
        let mut options = SessionOptions::new(files, Auth::none(), FIRST_XID);
        options.read_max_bytes = SPLIT_BYTES;
        options.write_max_bytes = SPLIT_BYTES;
        options.log_bytes = 6000;
        if self.unstable {
            options.stability = Stability::Unstable;
        }
        NfsSession::new(&options)
    }
}

/// Drives a session; the server sends what follows the [`Script`] in `bytes`.
///
/// # Panics
/// An operation completes twice or not at all, or moves more than its length, or the session
/// consumes more than it was given or leaves more than it may.
pub fn session(bytes: &[u8]) {
    let Some((script, mut stream)) = bytes.split_first_chunk::<4>() else { return };
    let script = Script::from_bytes(*script);
    let mut operations = script.operations();
    let mut session = script.session();
    let mut memory = Heap::new(operations.len(), BUFFER_BYTES as usize);
    let mut out = Outbox::default();
    let mut done = Vec::new();
    let mut now_ns = 0;
    session.connected(now_ns, &memory, &mut out);
    for operation in &operations {
        session.submit(operation, now_ns, &memory, &mut out);
    }
    let mut inbox = Vec::new();
    let (mut parts, mut seen) = (0, 0);
    while !stream.is_empty() {
        out.clear();
        parts += 1;
        now_ns += 1_000_000;
        let length = script.part_bytes.min(stream.len());
        let (part, rest) = stream.split_at(length);
        stream = rest;
        if let (true, Some(span)) = (inbox.is_empty(), session.direct()) {
            let length = span.length.min(part.len() as u32);
            let result =
                session.received_directly(length, now_ns, &mut memory, &mut out, &mut done);
            if result.is_err() {
                break;
            }
            inbox.extend_from_slice(part.get(length as usize..).unwrap_or_default());
        } else {
            inbox.extend_from_slice(part);
        }
        match session.receive(&inbox, now_ns, &mut memory, &mut out, &mut done) {
            Ok(taken) => {
                assert!(taken <= inbox.len(), "no more is taken than was given");
                inbox.drain(..taken);
                assert!(inbox.len() <= NfsSession::MAX_LEFT_BYTES, "little is left");
            }
            Err(_) => break,
        }
        let late = session.deadline_ns().is_some_and(|deadline| deadline <= now_ns);
        if late && session.tick(now_ns, &memory, &mut out, &mut done).is_err() {
            break;
        }
        let news = done.get(seen..).unwrap_or_default();
        for flush in news.iter().filter_map(|one| script.flush_after(one)) {
            session.submit(&flush, now_ns, &memory, &mut out);
            operations.push(flush);
        }
        seen = done.len();
        if parts == script.break_after {
            inbox.clear();
            session.disconnected(now_ns);
            session.connected(now_ns, &memory, &mut out);
        }
    }
    session.close(now_ns, &memory, &mut out);
    session.disconnected(now_ns);
    check(&operations, &done, &mut session);
}

fn check(operations: &[Operation], done: &[Completion], session: &mut NfsSession) {
    let mut ended = vec![false; 2 * FLUSH_SLOTS as usize];
    let outstanding = session.outstanding() as usize;
    let mut given_up = Vec::new();
    session.surrender(&mut given_up);
    assert_eq!(given_up.len(), outstanding, "all that is outstanding is handed back");
    for completion in done {
        let operation = operations.iter().find(|one| one.slot == completion.slot);
        let moved = completion.outcome().unwrap_or(0);
        let length = operation.map_or(0, |operation| operation.length_bytes);
        assert!(moved <= length, "no more is moved than was asked for");
    }
    let slots = done.iter().map(|one| one.slot).chain(given_up.iter().map(|one| one.slot));
    for slot in slots {
        let Some(ended) = ended.get_mut(slot as usize) else { panic!("slot {slot} is unknown") };
        assert!(!std::mem::replace(ended, true), "slot {slot} ended twice");
    }
    let ended = ended.iter().filter(|ended| **ended).count();
    assert_eq!(ended, operations.len(), "every operation ends");
    let incidents = session.incidents();
    assert!(incidents.len() <= 64, "incidents are bounded");
}
