//! Entry points for arbitrary bytes, for fuzzers and for the tests that do the same on a small
//! scale. None of them may panic, loop forever, or allocate memory that the bytes merely claim.

use std::rc::Rc;

use stormeter_disk::{Kind, Operation};
use stormeter_wire::{Heap, Memory, Outbox, Session as WireSession};

use crate::login::{Isid, Negotiation, Parameters};
use crate::scsi::{self, Lun, Sense, cdb};
use crate::session::{Command, Options, Session, Timeouts};
use crate::{binary, discovery, pdu, text};

/// All parsers that have no state.
pub fn parsers(bytes: &[u8]) {
    for (key, value) in text::pairs(bytes).flatten() {
        let _ = text::number(key, value, 0..=u32::MAX);
        let _ = text::yes(key, value);
        let _ = binary::decode(value, 1024);
        let _ = discovery::portal(value);
    }
    let mut negotiation = Negotiation::new(Parameters::default(), false);
    negotiation.offer(&mut Vec::new());
    let mut reply = Vec::new();
    let taken = text::pairs(bytes)
        .flatten()
        .try_for_each(|(key, value)| negotiation.take(key, value, &mut reply));
    if taken.is_ok() {
        let _ = negotiation.finish();
    }
    let _ = discovery::targets(bytes);
    if let Some(sense) = Sense::parse(bytes) {
        let _ = (sense.to_string(), sense.errno(), sense.advice());
    }
    let _ = scsi::inquiry(bytes);
    let _ = scsi::serial_number(bytes);
    let _ = scsi::block_limits(bytes);
    let _ = scsi::logical_provisioning(bytes);
    let _ = scsi::capacity_10(bytes);
    let _ = scsi::capacity_16(bytes);
    let _ = scsi::mode_sense_6(bytes);
    let digests = pdu::Digests { header: true, data: true };
    let _ = pdu::parse(bytes, digests, 1 << 16);
}

/// A session that reads, writes, flushes and sends commands, fed with a stream from the target.
///
/// The first byte selects: bit 0 sends a NOP by letting time pass, bit 1 closes in the middle, the
/// rest is the largest piece that arrives at once. Returns the number of completed operations,
/// which shows whether an input has any effect.
///
/// # Panics
/// An operation is completed twice, or the session leaves more unread than it may: what a fuzzer
/// should find.
pub fn session(bytes: &[u8]) -> usize {
    let Some((&how, stream)) = bytes.split_first() else { return 0 };
    let mut memory = Heap::new(6, 64 << 10);
    let mut out = Outbox::default();
    let mut done = Vec::new();
    let mut session = Session::new(options());
    session.connected(0, &memory, &mut out);
    for slot in 0..6 {
        let kind = match slot {
            0 | 2 => Kind::Read,
            1 | 3 => Kind::Write,
            4 => Kind::DurableWrite,
            _ => Kind::Flush,
        };
        let is_flush = kind == Kind::Flush;
        let operation = Operation {
            offset_bytes: if is_flush { 0 } else { u64::from(slot) * 65_536 },
            length_bytes: if is_flush { 0 } else { 4096 << (slot % 4 * 4 / 3) },
            disk: 0,
            slot,
            buffer: slot,
            kind,
        };
        session.submit(&operation, 0, &memory, &mut out);
    }
    session.command(Command::reading(cdb::inquiry(None, 36), 36), 1, 0, &memory, &mut out);
    let piece = usize::from(how >> 2) + 1;
    let (mut taken, mut given, mut now_ns) = (0, 0, 0);
    while given < stream.len() {
        given = (given + piece * 7).min(stream.len());
        now_ns += 1_000_000;
        if how & 1 != 0 {
            now_ns += 300_000_000;
        }
        let unread = stream.get(taken..given).unwrap_or_default();
        match session.receive(unread, now_ns, &mut memory, &mut out, &mut done) {
            Ok(step) => taken += step,
            Err(error) => {
                let _ = error.to_string();
                break;
            }
        }
        assert!(given - taken <= <Session as WireSession>::MAX_LEFT_BYTES, "held back too much");
        if let Some(span) = session.direct() {
            let length = span.length.min((stream.len() - given) as u32);
            let piece = stream.get(given..given + length as usize).unwrap_or_default();
            let whole = memory.bytes_mut(span.part(0, length)).is_some_and(|place| {
                place.copy_from_slice(piece);
                true
            });
            assert!(whole, "a span that there is not");
            given += length as usize;
            taken = given;
            if session.received_directly(length, now_ns, &mut memory, &mut out, &mut done).is_err()
            {
                break;
            }
        }
        if how & 2 != 0 && given > stream.len() / 2 {
            session.close(now_ns, &memory, &mut out);
        }
        if session.deadline_ns().is_some_and(|due_ns| due_ns <= now_ns)
            && session.tick(now_ns, &memory, &mut out, &mut done).is_err()
        {
            break;
        }
        let _ = out.gather(&memory);
    }
    let _ = session.incidents();
    while session.control_result().is_some() {}
    session.disconnected(now_ns);
    let mut left = Vec::new();
    session.surrender(&mut left);
    let mut slots: Vec<u32> =
        done.iter().map(|one| one.slot).chain(left.iter().map(|one| one.slot)).collect();
    slots.sort_unstable();
    assert_eq!(slots, [0, 1, 2, 3, 4, 5], "each operation is completed or surrendered, once");
    done.len()
}

fn options() -> Options {
    Options {
        initiator_name: "iqn.2026-01.org.example:fuzz".into(),
        isid: Isid::random(0, 0),
        target_name: "iqn.2026-01.org.example:target".into(),
        lun: Lun(0),
        chap: None,
        parameters: Parameters::default(),
        block_bytes: 512,
        extents: vec![0],
        disk_bytes: 1 << 20,
        cache: Rc::default(),
        max_transfer_bytes: 32 << 10,
        timeouts: Timeouts::default(),
        flush_on_close: true,
        random: Box::new(|| 4),
    }
}
