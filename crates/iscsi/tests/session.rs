//! A session at work: what is sent follows the negotiated rules, and what is received is trusted
//! only as far as it may be.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

mod common;

use common::wire::{ASKS, Line, commands, data_in, plain, sense, with};
use stormeter_disk::{DeviceError, Kind, Operation, StorageEvent};
use stormeter_iscsi::pdu::{
    Bhs, DataIn, DataOut, Digests, NO_TAG, R2t, ScsiCommand, ScsiResponse, flags,
};
use stormeter_iscsi::scsi::{Sense, cdb};
use stormeter_iscsi::{Command, CommandError, Error};
use stormeter_wire::{Memory as _, Session as _};

fn r2t(tag: u32, r2t_sn: u32, buffer_offset: u32, desired_bytes: u32) -> Bhs {
    let (flags, lun, task_tag, transfer_tag) = (flags::FINAL, 1 << 48, tag, 0xabcd);
    R2t {
        flags,
        lun,
        task_tag,
        transfer_tag,
        r2t_sn,
        buffer_offset,
        desired_bytes,
        ..R2t::default()
    }
    .encode()
}

fn protocol(outcome: Result<(), Error>) -> &'static str {
    match outcome {
        Err(Error::Protocol { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_read_goes_out_as_the_rfc_lays_it_out() {
    let mut line = Line::ready(plain(), ASKS);
    line.submit(Kind::Read, 3, 0x1234, 8);
    let heard = line.heard();
    let command = ScsiCommand::decode(&heard[0].0);
    assert_eq!(
        command,
        ScsiCommand {
            immediate: false,
            flags: flags::FINAL | flags::READ | flags::SIMPLE,
            lun: 1 << 48,
            task_tag: command.task_tag,
            expected_bytes: 4096,
            cmd_sn: 1,
            exp_stat_sn: 102,
            cdb: cdb::read(0x1234, 8),
            data_bytes: 0,
        }
    );
    let tag = command.task_tag;
    // The second half first, then the first half with the status.
    line.say(DataIn { flags: 0, ..data_in(tag, 2048, 0) }.encode(), &[2; 2048]).unwrap();
    assert!(line.done.is_empty());
    let last = DataIn {
        flags: flags::FINAL | flags::STATUS,
        stat_sn: line.status(),
        ..data_in(tag, 0, 1)
    };
    line.say(last.encode(), &[1; 2048]).unwrap();
    assert_eq!(line.completed(), (3, Ok(4096)));
    assert_eq!(line.memory.buffers[3][..2048], [1; 2048]);
    assert_eq!(line.memory.buffers[3][2048..4096], [2; 2048]);
    assert_eq!(line.session.outstanding(), 0);
}

#[test]
fn large_operations_are_split_and_joined() {
    let mut line = Line::ready(plain(), ASKS);
    line.submit(Kind::Read, 0, 100, 100);
    let commands = commands(&line.heard());
    let lengths: Vec<u32> = commands.iter().map(|one| one.expected_bytes / 512).collect();
    assert_eq!(lengths, [40, 40, 20]);
    assert_eq!(commands[2].cdb, cdb::read(180, 20));
    for command in commands.iter().rev() {
        assert!(line.done.is_empty());
        let length = command.expected_bytes as usize;
        line.say(data_in(command.task_tag, 0, 0).encode(), &vec![7; length]).unwrap();
        line.respond(command.task_tag, 0, &[]).unwrap();
    }
    assert_eq!(line.completed(), (0, Ok(51_200)));
}

#[test]
fn one_failing_part_fails_the_operation_once() {
    let mut line = Line::new(plain());
    line.window = (1, 1);
    line.log_in(ASKS);
    line.submit(Kind::Read, 0, 0, 100);
    line.submit(Kind::Read, 1, 0, 1);
    let tag = commands(&line.heard())[0].task_tag;
    line.window = (2, 2);
    line.respond(tag, 2, &sense(3, 0x11, 0)).unwrap();
    assert_eq!(line.completed(), (0, Err(DeviceError::IO)));
    // Its other parts are never sent; the next operation is.
    let after = commands(&line.heard());
    assert_eq!((after.len(), after[0].expected_bytes), (1, 512));
    let event = line.session.incidents()[0].event.clone();
    let StorageEvent::Sense { said, .. } = event else { panic!("{event:?}") };
    assert!(said.as_str().contains("unrecovered read error"), "{said}");
}

/// As with LIO: InitialR2T=No, immediate data, and segments of 8192 bytes.
#[test]
fn data_goes_along_where_the_target_takes_it() {
    let (mut line, answers) = (
        Line::new(plain()),
        "HeaderDigest=None DataDigest=None InitialR2T=No ImmediateData=Yes FirstBurstLength=16384 \
         MaxBurstLength=16384 MaxOutstandingR2T=1 MaxRecvDataSegmentLength=8192",
    );
    line.log_in(answers);
    for (place, byte) in line.memory.buffers[0].iter_mut().enumerate() {
        *byte = (place / 512) as u8;
    }
    line.submit(Kind::Write, 0, 0, 40);
    let heard = line.heard();
    let command = ScsiCommand::decode(&heard[0].0);
    assert_eq!(command.flags, flags::WRITE | flags::SIMPLE);
    assert_eq!((command.expected_bytes, heard[0].1.len()), (20_480, 8192));
    let out = DataOut::decode(&heard[1].0);
    assert_eq!((out.transfer_tag, out.data_sn, out.buffer_offset), (NO_TAG, 0, 8192));
    assert_eq!((out.flags, out.data_bytes, heard.len()), (flags::FINAL, 8192, 2));
    line.say(r2t(command.task_tag, 0, 16_384, 4096), &[]).unwrap();
    let heard = line.heard();
    let out = DataOut::decode(&heard[0].0);
    assert_eq!((out.transfer_tag, out.data_sn, out.buffer_offset), (0xabcd, 0, 16_384));
    assert_eq!(heard[0].1, line.memory.buffers[0][16_384..20_480]);
    line.respond(command.task_tag, 0, &[]).unwrap();
    assert_eq!(line.completed(), (0, Ok(20_480)));

    // If everything fits into the immediate data, that is final.
    line.submit(Kind::Write, 1, 0, 1);
    let heard = line.heard();
    assert_eq!((heard.len(), heard[0].1.len()), (1, 512));
    assert_ne!(ScsiCommand::decode(&heard[0].0).flags & flags::FINAL, 0);
}

#[test]
fn payload_is_sent_from_where_it_lies() {
    let mut line = Line::ready(plain(), "InitialR2T=No ImmediateData=Yes");
    line.submit(Kind::Write, 2, 0, 8);
    let own = line.out.contents().0.len();
    assert_eq!((own, line.out.length()), (48, 48 + 4096));
}

#[test]
fn several_requests_may_be_answered_and_none_beyond_the_command() {
    let (mut line, tag) = with(Kind::Write, 40, ASKS);
    line.say(r2t(tag, 0, 0, 12_288), &[]).unwrap();
    line.say(r2t(tag, 1, 12_288, 8192), &[]).unwrap();
    let lengths: Vec<usize> = line.heard().iter().map(|one| one.1.len()).collect();
    assert_eq!(lengths, [8192, 4096, 8192]);
    for (bad, words) in [
        (r2t(tag, 2, 16_384, 8192), "more than the command has"),
        (r2t(tag, 2, u32::MAX, 2), "more than the command has"),
        (r2t(tag, 2, 0, 512), "twice"),
        (r2t(tag, 1, 0, 512), "out of turn"),
        (r2t(tag, 2, 0, 0), "nothing"),
        (r2t(tag, 2, 0, 16_385), "MaxBurstLength"),
        (r2t(tag | 0x1234, 0, 0, 1), "never given"),
    ] {
        let problem = protocol(line.say(bad, &[]));
        assert!(problem.contains(words), "{problem} instead of {words}");
    }
    // GOOD after half of the data was requested: not accepted.
    let (mut line, tag) = with(Kind::Write, 40, ASKS);
    line.say(r2t(tag, 0, 0, 10_240), &[]).unwrap();
    assert!(protocol(line.respond(tag, 0, &[])).contains("before the data was fetched"));
}

#[test]
fn unsolicited_data_is_refused() {
    for (data, length, words) in [
        (data_in(0, 4096, 0), 512, "beyond"),
        (data_in(0, u32::MAX, 0), 512, "beyond"),
        (data_in(0, 0, 1), 512, "out of turn"),
        (data_in(9, 0, 0), 512, "never given"),
    ] {
        let (mut line, tag) = with(Kind::Read, 8, ASKS);
        let data = DataIn { task_tag: tag + data.task_tag, ..data };
        let problem = protocol(line.say(data.encode(), &vec![0; length]));
        assert!(problem.contains(words), "{problem} instead of {words}");
    }
    let (mut line, tag) = with(Kind::Read, 8, ASKS);
    line.say(data_in(tag, 0, 0).encode(), &[0; 1024]).unwrap();
    assert!(protocol(line.say(data_in(tag, 512, 1).encode(), &[0; 512])).contains("came before"));
    let (mut line, tag) = with(Kind::Read, 8, ASKS);
    line.say(data_in(tag, 0, 0).encode(), &[0; 1024]).unwrap();
    assert!(protocol(line.respond(tag, 0, &[])).contains("before the data came"));
    let (mut line, tag) = with(Kind::Write, 8, ASKS);
    assert!(protocol(line.say(data_in(tag, 0, 0).encode(), &[0; 512])).contains("reads nothing"));
    // One byte more than declared, rejected before any of it is stored.
    let (mut line, tag) = with(Kind::Read, 8, ASKS);
    let mut bhs = data_in(tag, 0, 0).encode();
    bhs.set_data_bytes((256 << 10) + 1);
    assert!(matches!(line.give(&bhs.0), Err(Error::Frame(_))));
}

#[test]
fn residuals_are_taken_at_their_word() {
    let (mut line, tag) = with(Kind::Read, 8, ASKS);
    line.say(data_in(tag, 0, 0).encode(), &[1; 1536]).unwrap();
    let response = ScsiResponse {
        flags: flags::FINAL | flags::UNDERFLOW,
        task_tag: tag,
        stat_sn: line.status(),
        residual_bytes: 2560,
        ..ScsiResponse::default()
    };
    line.say(response.encode(), &[]).unwrap();
    assert_eq!(line.completed(), (0, Ok(1536)));

    let (mut line, tag) = with(Kind::Read, 8, ASKS);
    let last = DataIn {
        flags: flags::FINAL | flags::STATUS | flags::OVERFLOW,
        stat_sn: line.status(),
        residual_bytes: 4096,
        ..data_in(tag, 0, 0)
    };
    line.say(last.encode(), &[1; 4096]).unwrap();
    assert_eq!(line.completed(), (0, Ok(4096)));

    let (mut line, tag) = with(Kind::Read, 8, ASKS);
    let response = ScsiResponse { residual_bytes: 4097, stat_sn: line.status(), ..response };
    let response = ScsiResponse { task_tag: tag, ..response };
    assert!(protocol(line.say(response.encode(), &[])).contains("more than was asked for"));
}

#[test]
fn operations_that_cannot_be_fail_at_once() {
    let mut line = Line::ready(plain(), ASKS);
    let good = Operation {
        offset_bytes: 0,
        length_bytes: 512,
        disk: 0,
        slot: 1,
        buffer: 0,
        kind: Kind::Read,
    };
    for (operation, outcome) in [
        (Operation { offset_bytes: 100, ..good }, Err(DeviceError(22))),
        (Operation { length_bytes: 100, ..good }, Err(DeviceError(22))),
        (Operation { disk: 1, ..good }, Err(DeviceError(22))),
        (Operation { offset_bytes: u64::MAX - 511, ..good }, Err(DeviceError(22))),
        (Operation { length_bytes: 0, ..good }, Ok(0)),
    ] {
        line.session.submit(&operation, 0, &line.memory, &mut line.out);
        assert_eq!((line.session.outstanding(), line.session.deadline_ns()), (1, Some(0)));
        line.tick().unwrap();
        assert_eq!(line.completed(), (1, outcome));
    }
    assert!(line.out.is_empty());
}

#[test]
fn commands_bring_their_bytes_or_their_sense() {
    let mut line = Line::ready(plain(), "InitialR2T=Yes ImmediateData=Yes");
    let inquiry = Command::reading(cdb::inquiry(None, 96), 96);
    line.session.command(inquiry, 1, 0, &line.memory, &mut line.out);
    let command = commands(&line.heard())[0];
    assert_eq!(command.expected_bytes, 96);
    let last = DataIn {
        flags: flags::FINAL | flags::STATUS | flags::UNDERFLOW,
        stat_sn: line.status(),
        residual_bytes: 60,
        ..data_in(command.task_tag, 0, 0)
    };
    line.say(last.encode(), &[4; 36]).unwrap();
    assert_eq!(line.session.control_result(), Some((1, Ok(vec![4; 36]))));

    let unmap = Command::writing(cdb::unmap(24), vec![3; 24]);
    line.session.command(unmap, 2, 0, &line.memory, &mut line.out);
    let heard = line.heard();
    assert_eq!(heard[0].1, [3; 24]);
    line.respond(heard[0].0.task_tag(), 2, &sense(5, 0x20, 0)).unwrap();
    let expected = Sense { key: 5, asc: 0x20, ascq: 0 };
    assert_eq!(line.session.control_result(), Some((2, Err(CommandError::Check(expected)))));
}

#[test]
fn large_payload_is_received_directly_unless_a_digest_wants_to_see_it() {
    let (mut line, tag) = with(Kind::Read, 40, ASKS);
    let mut bhs = data_in(tag, 0, 0).encode();
    bhs.set_data_bytes(20_480);
    line.give(&bhs.0).unwrap();
    line.give(&[5; 100]).unwrap();
    let span = line.session.direct().unwrap();
    assert_eq!((span.buffer, span.offset, span.length), (0, 100, 20_380));
    line.memory.bytes_mut(span).unwrap().fill(6);
    let (memory, out, done) = (&mut line.memory, &mut line.out, &mut line.done);
    assert!(line.session.received_directly(20_381, 0, memory, out, done).is_err());
    line.session.received_directly(20_380, 0, memory, out, done).unwrap();
    assert_eq!(line.session.direct(), None);
    line.respond(tag, 0, &[]).unwrap();
    assert_eq!(line.completed(), (0, Ok(20_480)));
    assert_eq!(line.memory.buffers[0][99..101], [5, 6]);

    let mut line = Line::ready(plain(), "HeaderDigest=CRC32C DataDigest=CRC32C");
    line.digests = Digests { header: true, data: true };
    line.submit(Kind::Read, 0, 0, 40);
    let tag = commands(&line.heard())[0].task_tag;
    let mut bhs = data_in(tag, 0, 0).encode();
    bhs.set_data_bytes(20_480);
    line.give(&bhs.0).unwrap();
    let digest = crc32c::crc32c(&bhs.0);
    line.give(&digest.to_le_bytes()).unwrap();
    assert_eq!(line.session.direct(), None);
    line.give(&[0; 20_480]).unwrap();
    assert!(matches!(line.give(&[0; 4]), Err(Error::Frame(_))));
}
