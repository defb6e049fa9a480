//! Flushes and durable writes: the commands that carry them, what becomes of them if the target
//! refuses them, and what a reset of the unit does to them.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

mod common;

use std::rc::Rc;

use common::wire::{ASKS, Line, SECOND, commands, plain, sense};
use stormeter_disk::{DeviceError, Incident, Kind, StorageEvent};
use stormeter_iscsi::pdu::{NO_TAG, NopIn, NopOut, ScsiCommand, flags};
use stormeter_iscsi::scsi::cdb;
use stormeter_iscsi::{Error, Options, UnitCache};
use stormeter_wire::Session as _;

/// Immediate data, so that a write is one PDU.
const AT_ONCE: &str = "InitialR2T=Yes ImmediateData=Yes FirstBurstLength=65536 MaxBurstLength=65536 \
    MaxRecvDataSegmentLength=65536";
const GOOD: u8 = 0;
const CHECK: u8 = 2;
const UNSUPPORTED: Result<u32, DeviceError> = Err(DeviceError::NOT_SUPPORTED);
const IO: Result<u32, DeviceError> = Err(DeviceError::IO);

fn cached(write_cache: Option<bool>, forced: bool) -> Options {
    Options { cache: Rc::new(UnitCache::new(write_cache, forced)), ..plain() }
}

/// Two small disks far apart on a unit with a volatile cache.
fn small() -> Options {
    Options { extents: vec![4096, 1 << 20], disk_bytes: 64 << 10, ..cached(Some(true), false) }
}

fn ready(options: Options) -> Line {
    Line::ready(options, AT_ONCE)
}

fn submit_flush(line: &mut Line, disk: u32, slot: u32) {
    let flush = stormeter_disk::Operation {
        offset_bytes: 0,
        length_bytes: 0,
        disk,
        slot,
        buffer: slot,
        kind: Kind::Flush,
    };
    line.session.submit(&flush, line.now_ns, &line.memory, &mut line.out);
}

/// The one command that was sent since.
#[track_caller]
fn sent(line: &mut Line) -> ScsiCommand {
    let sent = commands(&line.heard());
    assert_eq!(sent.len(), 1, "{sent:?}");
    line.window.1 += 1;
    sent[0]
}

/// A flush of disk 0.
#[track_caller]
fn flush(line: &mut Line, slot: u32) -> ScsiCommand {
    submit_flush(line, 0, slot);
    sent(line)
}

/// A write that completes.
#[track_caller]
fn write(line: &mut Line) {
    line.submit(Kind::Write, 7, 8, 1);
    let tag = sent(line).task_tag;
    line.respond(tag, GOOD, &[]).unwrap();
    assert_eq!(line.completed(), (7, Ok(512)));
}

#[track_caller]
fn events(line: &mut Line) -> Vec<StorageEvent> {
    let is_sense = |one: &Incident| matches!(one.event, StorageEvent::Sense { .. });
    let incidents = line.session.incidents().into_iter();
    incidents.filter(|one| !is_sense(one)).map(|one| one.event).collect()
}

#[test]
fn a_flush_is_a_synchronize_cache_without_data() {
    let mut line = ready(small());
    submit_flush(&mut line, 1, 3);
    let command = sent(&mut line);
    assert_eq!(command.cdb[..10], [0x35, 0, 0, 0, 8, 0, 0, 0, 128, 0]);
    assert_eq!((command.flags, command.expected_bytes), (flags::FINAL | flags::SIMPLE, 0));
    line.respond(command.task_tag, GOOD, &[]).unwrap();
    assert_eq!(line.completed(), (3, Ok(0)));
    assert_eq!(line.session.outstanding(), 0);
    // A disk that there is not.
    submit_flush(&mut line, 2, 4);
    line.tick().unwrap();
    assert_eq!(line.completed(), (4, Err(DeviceError(22))));
}

#[test]
fn more_blocks_than_a_flush_counts_are_the_whole_unit() {
    let mut line = ready(Options { disk_bytes: 64 << 20, ..small() });
    assert_eq!(flush(&mut line, 0).cdb, cdb::synchronize_cache());
    let mut line = ready(Options { extents: vec![512 << 32], disk_bytes: 64 << 20, ..small() });
    let long = flush(&mut line, 0).cdb;
    assert_eq!(long[..14], [0x91, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0]);
}

#[test]
fn each_flush_whose_range_is_refused_is_tried_once_over_the_whole_unit() {
    let mut line = ready(small());
    let (first, second) = (flush(&mut line, 0), flush(&mut line, 1));
    for (number, refused) in [(0, first), (1, second)] {
        line.respond(refused.task_tag, CHECK, &sense(5, 0x24, 0)).unwrap();
        let whole = sent(&mut line);
        assert_eq!(whole.cdb, cdb::synchronize_cache());
        let (status, data) =
            if number == 0 { (GOOD, Vec::new()) } else { (CHECK, sense(5, 0x24, 0)) };
        line.respond(whole.task_tag, status, &data).unwrap();
        assert_eq!(line.completed(), (number, if number == 0 { Ok(0) } else { UNSUPPORTED }));
    }
}

#[test]
fn a_target_without_the_command_does_not_support_flushes() {
    let mut line = ready(small());
    let tag = flush(&mut line, 0).task_tag;
    line.respond(tag, CHECK, &sense(5, 0x20, 0)).unwrap();
    assert_eq!(line.completed(), (0, UNSUPPORTED));
    // Its short form is another command than the long one.
    let mut line = ready(Options { extents: vec![512 << 32], ..small() });
    let tag = flush(&mut line, 0).task_tag;
    line.respond(tag, CHECK, &sense(5, 0x20, 0)).unwrap();
    let short = sent(&mut line);
    assert_eq!(short.cdb, cdb::synchronize_cache());
    line.respond(short.task_tag, CHECK, &sense(5, 0x20, 0)).unwrap();
    assert_eq!(line.completed(), (0, UNSUPPORTED));
    // Other errors are its own.
    let tag = flush(&mut line, 0).task_tag;
    line.respond(tag, CHECK, &sense(3, 0x0c, 0)).unwrap();
    assert_eq!(line.completed(), (0, IO));
}

#[test]
fn a_flush_is_sent_again_like_any_command() {
    let mut line = ready(small());
    let mut command = flush(&mut line, 0);
    for data in [sense(6, 0x2a, 1), sense(0xb, 0, 0)] {
        line.respond(command.task_tag, CHECK, &data).unwrap();
        command = sent(&mut line);
        assert_eq!(command.cdb[0], 0x35);
    }
    line.respond(command.task_tag, 0x08, &[]).unwrap();
    line.now_ns += SECOND;
    line.tick().unwrap();
    let tag = sent(&mut line).task_tag;
    line.respond(tag, CHECK, &sense(1, 0x17, 0)).unwrap();
    assert_eq!(line.completed(), (0, Ok(0)));

    flush(&mut line, 1);
    line.disconnect();
    line.connect();
    line.log_in(AT_ONCE);
    let tag = sent(&mut line).task_tag;
    line.respond(tag, GOOD, &[]).unwrap();
    assert_eq!(line.completed(), (1, Ok(0)));
}

#[test]
fn a_flush_may_take_a_minute_as_long_as_the_target_answers_pings() {
    let mut line = ready(small());
    flush(&mut line, 0);
    while line.now_ns < 55 * SECOND {
        line.now_ns += 5 * SECOND;
        line.tick().unwrap();
        for (bhs, _) in line.heard() {
            let pong = NopIn {
                flags: flags::FINAL,
                task_tag: NopOut::decode(&bhs).task_tag,
                transfer_tag: NO_TAG,
                stat_sn: line.status(),
                ..NopIn::default()
            };
            line.say(pong.encode(), &[]).unwrap();
        }
    }
    assert_eq!(line.session.deadline_ns(), Some(60 * SECOND));
    line.now_ns = 60 * SECOND;
    let end = line.tick();
    assert!(matches!(end, Err(Error::Silent { awaited: "answer to a flush", .. })), "{end:?}");
}

#[test]
fn a_durable_write_has_the_fua_bit_where_it_counts() {
    for (write_cache, forced) in [(Some(true), true), (Some(false), true), (None, true)] {
        let mut line = ready(cached(write_cache, forced));
        line.submit(Kind::DurableWrite, 0, 16, 2);
        let heard = line.heard();
        let command = commands(&heard)[0];
        assert_eq!(command.cdb[..10], [0x2a, 8, 0, 0, 0, 16, 0, 0, 2, 0]);
        assert_eq!(command.flags & flags::WRITE, flags::WRITE);
        assert_eq!((command.expected_bytes, heard[0].1.len()), (1024, 1024));
        line.respond(command.task_tag, GOOD, &[]).unwrap();
        assert_eq!(line.completed(), (0, Ok(1024)));
    }
    // No FUA and no cache: writes are durable as they are.
    let mut line = ready(cached(Some(false), false));
    line.submit(Kind::DurableWrite, 0, 16, 2);
    let command = sent(&mut line);
    assert_eq!(command.cdb, cdb::write(16, 2));
    line.respond(command.task_tag, GOOD, &[]).unwrap();
    assert_eq!(line.completed(), (0, Ok(1024)));
    // Nor do ordinary writes have it.
    let mut line = ready(cached(Some(true), true));
    line.submit(Kind::Write, 0, 16, 2);
    assert_eq!(sent(&mut line).cdb, cdb::write(16, 2));
}

#[test]
fn without_fua_a_durable_write_completes_after_its_flush() {
    for write_cache in [Some(true), None] {
        let mut line = ready(cached(write_cache, false));
        // Three commands, since one carries at most 40 blocks.
        line.submit(Kind::DurableWrite, 2, 0, 100);
        let parts = commands(&line.heard());
        assert_eq!(parts.len(), 3);
        assert!(parts.iter().all(|one| one.cdb[..2] == [0x2a, 0]), "{parts:?}");
        for part in &parts {
            assert!(commands(&line.heard()).is_empty() && line.done.is_empty());
            line.window.1 += 1;
            line.respond(part.task_tag, GOOD, &[]).unwrap();
        }
        let tag = sent(&mut line).task_tag;
        assert!(line.done.is_empty());
        line.respond(tag, GOOD, &[]).unwrap();
        assert_eq!(line.completed(), (2, Ok(100 * 512)));
        assert_eq!(line.session.outstanding(), 0);
    }
}

#[test]
fn a_failed_flush_fails_the_durable_write() {
    for (data, outcome) in [(sense(5, 0x20, 0), UNSUPPORTED), (sense(3, 0x0c, 0), IO)] {
        let mut line = ready(cached(Some(true), false));
        line.submit(Kind::DurableWrite, 0, 0, 1);
        let tag = sent(&mut line).task_tag;
        line.respond(tag, GOOD, &[]).unwrap();
        let tag = sent(&mut line).task_tag;
        line.respond(tag, CHECK, &data).unwrap();
        assert_eq!(line.completed(), (0, outcome));
    }
    // And one that failed itself is not flushed.
    let mut line = ready(cached(Some(true), false));
    line.submit(Kind::DurableWrite, 0, 0, 1);
    let tag = sent(&mut line).task_tag;
    line.respond(tag, CHECK, &sense(3, 0x0c, 0)).unwrap();
    assert_eq!(line.completed(), (0, IO));
    assert!(line.heard().is_empty());
}

#[test]
fn refused_fua_becomes_a_write_and_a_flush() {
    let mut line = ready(cached(Some(true), true));
    let mut forced = Vec::new();
    for slot in 0..2 {
        line.submit(Kind::DurableWrite, slot, 8 * u64::from(slot), 1);
        forced.push(sent(&mut line));
    }
    for (slot, refused) in (0..2).zip(forced) {
        assert_eq!(refused.cdb[1], 8);
        line.respond(refused.task_tag, CHECK, &sense(5, 0x24, 0)).unwrap();
        let plain = sent(&mut line);
        assert_eq!(plain.cdb, cdb::write(8 * u64::from(slot), 1));
        line.respond(plain.task_tag, GOOD, &[]).unwrap();
        let tag = sent(&mut line).task_tag;
        line.respond(tag, GOOD, &[]).unwrap();
        assert_eq!(line.completed(), (slot, Ok(512)));
    }
    assert_eq!(events(&mut line), [StorageEvent::ForcedAccessRefused]);
    // It is not tried again.
    line.submit(Kind::DurableWrite, 3, 0, 1);
    let plain = sent(&mut line);
    assert_eq!(plain.cdb[1], 0);
    // What is wrong with the write itself is not blamed on FUA.
    line.respond(plain.task_tag, CHECK, &sense(5, 0x24, 0)).unwrap();
    assert_eq!(line.completed(), (3, Err(DeviceError(22))));
    let mut line = ready(cached(Some(true), true));
    line.submit(Kind::DurableWrite, 0, 0, 1);
    let tag = sent(&mut line).task_tag;
    line.respond(tag, CHECK, &sense(5, 0x21, 0)).unwrap();
    assert_eq!(line.completed(), (0, Err(DeviceError(22))));
}

#[test]
fn a_reset_between_write_and_flush_fails_the_flush() {
    let mut line = ready(cached(Some(true), false));
    write(&mut line);
    let command = flush(&mut line, 0);
    line.respond(command.task_tag, CHECK, &sense(6, 0x29, 1)).unwrap();
    let tag = sent(&mut line).task_tag;
    line.respond(tag, GOOD, &[]).unwrap();
    assert_eq!(line.completed(), (0, IO));
    assert_eq!(events(&mut line), [StorageEvent::CacheMayBeLost]);
    // The next covers what was written since.
    write(&mut line);
    let tag = flush(&mut line, 1).task_tag;
    line.respond(tag, GOOD, &[]).unwrap();
    assert_eq!(line.completed(), (1, Ok(0)));
    // Nothing is in the cache that a reset could take, nor does a lost nexus take anything.
    for code in [0, 7] {
        let command = flush(&mut line, 2);
        line.respond(command.task_tag, CHECK, &sense(6, 0x29, code)).unwrap();
        let tag = sent(&mut line).task_tag;
        line.respond(tag, GOOD, &[]).unwrap();
        assert_eq!(line.completed(), (2, Ok(0)));
        write(&mut line);
    }
    assert!(events(&mut line).is_empty());

    let mut line = ready(cached(Some(false), false));
    write(&mut line);
    let command = flush(&mut line, 0);
    line.respond(command.task_tag, CHECK, &sense(6, 0x29, 1)).unwrap();
    let tag = sent(&mut line).task_tag;
    line.respond(tag, GOOD, &[]).unwrap();
    assert_eq!(line.completed(), (0, Ok(0)));
}

#[test]
fn a_durable_write_is_done_over_after_a_reset_before_its_flush() {
    let mut line = ready(cached(Some(true), false));
    line.submit(Kind::DurableWrite, 0, 0, 1);
    let tag = sent(&mut line).task_tag;
    line.respond(tag, GOOD, &[]).unwrap();
    let tag = sent(&mut line).task_tag;
    line.respond(tag, CHECK, &sense(6, 0x29, 0)).unwrap();
    let tag = sent(&mut line).task_tag;
    line.respond(tag, GOOD, &[]).unwrap();
    assert!(line.done.is_empty());
    let again = sent(&mut line);
    assert_eq!(again.cdb, cdb::write(0, 1));
    line.respond(again.task_tag, GOOD, &[]).unwrap();
    let tag = sent(&mut line).task_tag;
    line.respond(tag, GOOD, &[]).unwrap();
    assert_eq!(line.completed(), (0, Ok(512)));
}

/// The greeting of a new session: by itself it does not tell a restart from a broken connection.
#[test]
fn a_restarted_target_fails_the_flush_that_comes_after_it() {
    let mut line = ready(cached(Some(true), false));
    write(&mut line);
    flush(&mut line, 0);
    line.disconnect();
    line.connect();
    line.log_in(AT_ONCE);
    let tag = sent(&mut line).task_tag;
    line.respond(tag, CHECK, &sense(6, 0x29, 0)).unwrap();
    let tag = sent(&mut line).task_tag;
    line.respond(tag, GOOD, &[]).unwrap();
    assert_eq!(line.completed(), (0, IO));
    // A target that does not greet has kept its cache.
    write(&mut line);
    line.disconnect();
    line.connect();
    line.log_in(AT_ONCE);
    let tag = flush(&mut line, 1).task_tag;
    line.respond(tag, GOOD, &[]).unwrap();
    assert_eq!(line.completed(), (1, Ok(0)));
}

#[test]
fn the_cache_is_the_unit_s_on_all_paths() {
    let greet = |line: &mut Line, command: ScsiCommand| {
        line.respond(command.task_tag, CHECK, &sense(6, 0x29, 0)).unwrap();
        let tag = sent(line).task_tag;
        line.respond(tag, GOOD, &[]).unwrap();
    };
    let again = |line: &mut Line| {
        line.disconnect();
        line.connect();
        line.log_in(AT_ONCE);
    };
    let cache = Rc::new(UnitCache::new(Some(true), false));
    let path = || ready(Options { cache: Rc::clone(&cache), ..plain() });
    let (mut one, mut other) = (path(), path());
    // While the other path stays, a greeting on this one is none of a restart.
    write(&mut one);
    again(&mut one);
    let command = flush(&mut one, 0);
    greet(&mut one, command);
    assert_eq!(one.completed(), (0, Ok(0)));
    // Both are lost: what was written over one is not safe by a flush over the other.
    write(&mut one);
    again(&mut one);
    write(&mut one);
    one.disconnect();
    again(&mut other);
    let command = flush(&mut other, 1);
    greet(&mut other, command);
    assert_eq!(other.completed(), (1, IO));
}

#[test]
fn data_of_a_flush_is_not_asked_for() {
    let mut line = Line::ready(small(), ASKS);
    let command = flush(&mut line, 0);
    let r2t = stormeter_iscsi::pdu::R2t {
        flags: flags::FINAL,
        task_tag: command.task_tag,
        transfer_tag: 1,
        stat_sn: line.stat_sn,
        exp_cmd_sn: 2,
        max_cmd_sn: 9,
        desired_bytes: 512,
        ..Default::default()
    };
    assert!(matches!(line.say(r2t.encode(), &[]), Err(Error::Protocol { found: "R2T", .. })));
}
