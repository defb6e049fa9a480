//! A session over time: windows that close, targets that refuse, go silent, log us out or
//! disappear.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

mod common;

use common::wire::{ASKS, Line, SECOND, commands, data_in, plain, sense, with};
use stormeter_disk::{DeviceError, Incident, Kind, Operation, StalePart, StorageEvent};
use stormeter_iscsi::pdu::{AsyncMessage, LogoutResponse, NO_TAG, NopIn, NopOut, Reject, flags};
use stormeter_iscsi::scsi::cdb;
use stormeter_iscsi::{Command, CommandError, Error, Options};
use stormeter_wire::{Session as _, SessionState};

/// The unit's sense data in words.
#[track_caller]
fn said(incident: &Incident) -> &str {
    let StorageEvent::Sense { said, .. } = &incident.event else { panic!("{incident:?}") };
    said.as_str()
}

#[test]
fn the_window_holds_commands_back_until_it_opens() {
    let mut line = Line::new(plain());
    line.window = (1, 1);
    line.log_in(ASKS);
    for slot in 0..4 {
        line.submit(Kind::Read, slot, 0, 1);
    }
    assert_eq!(commands(&line.heard()).len(), 1);
    let nop = NopIn {
        task_tag: NO_TAG,
        transfer_tag: NO_TAG,
        stat_sn: line.stat_sn,
        exp_cmd_sn: 2,
        max_cmd_sn: 3,
        ..NopIn::default()
    };
    line.now_ns = SECOND;
    line.say(nop.encode(), &[]).unwrap();
    let numbers: Vec<u32> = commands(&line.heard()).iter().map(|one| one.cmd_sn).collect();
    assert_eq!(numbers, [2, 3]);
    // It never opens again. The outstanding commands keep receiving answers.
    line.now_ns = 11 * SECOND - 1;
    let live = |slot: u32| data_in(slot, 0, 0);
    for tag in 0..3 {
        line.say(live(tag).encode(), &[0; 512]).unwrap();
    }
    line.tick().unwrap();
    line.now_ns += 1;
    assert!(matches!(
        line.tick(),
        Err(Error::Silent { awaited: "room in the target's window", waited_ns }) if waited_ns == 10 * SECOND
    ));
}

#[test]
fn a_silent_command_is_asked_after_and_then_given_up() {
    let (mut line, _) = with(Kind::Read, 8, ASKS);
    assert_eq!(line.session.deadline_ns(), Some(5 * SECOND));
    line.now_ns = 5 * SECOND;
    line.tick().unwrap();
    let heard = line.heard();
    let ping = NopOut::decode(&heard[0].0);
    assert!(ping.immediate && ping.cmd_sn == 2 && ping.transfer_tag == NO_TAG);
    let pong = NopIn {
        flags: flags::FINAL,
        task_tag: ping.task_tag,
        transfer_tag: NO_TAG,
        stat_sn: line.status(),
        ..NopIn::default()
    };
    line.say(pong.encode(), &[]).unwrap();
    assert_eq!(line.session.deadline_ns(), Some(10 * SECOND));
    line.now_ns = 10 * SECOND;
    assert!(matches!(line.tick(), Err(Error::Silent { awaited: "answer to a command", .. })));
}

#[test]
fn a_ping_without_answer_ends_an_idle_connection() {
    let mut line = Line::ready(plain(), ASKS);
    line.now_ns = 5 * SECOND;
    line.tick().unwrap();
    assert_eq!(line.heard().len(), 1);
    line.now_ns = 15 * SECOND;
    assert!(matches!(line.tick(), Err(Error::Silent { awaited: "answer to a ping", .. })));
}

#[test]
fn the_target_s_pings_are_answered_with_what_they_carry() {
    let mut line = Line::ready(plain(), ASKS);
    let nop = NopIn {
        flags: flags::FINAL,
        lun: 1 << 48,
        task_tag: NO_TAG,
        transfer_tag: 5,
        stat_sn: line.stat_sn,
        ..NopIn::default()
    };
    line.say(nop.encode(), b"hello").unwrap();
    let heard = line.heard();
    let answer = NopOut::decode(&heard[0].0);
    assert!(answer.immediate);
    assert_eq!((answer.task_tag, answer.transfer_tag, answer.lun), (NO_TAG, 5, 1 << 48));
    assert_eq!(heard[0].1, b"hello");
}

#[test]
fn refusals_are_sent_again_later_and_attentions_at_once() {
    let (mut line, tag) = with(Kind::Read, 1, ASKS);
    line.respond(tag, 0x28, &[]).unwrap();
    assert!(line.heard().is_empty() && line.done.is_empty());
    assert_eq!(line.session.deadline_ns(), Some(1_000_000));
    line.now_ns = 1_000_000;
    line.tick().unwrap();
    let again = commands(&line.heard())[0];
    assert_ne!(again.task_tag, tag);
    assert_eq!(again.cmd_sn, 2);
    line.respond(again.task_tag, 2, &sense(6, 0x2a, 0x09)).unwrap();
    let third = commands(&line.heard())[0];
    // The answer to the first arrives once more, late.
    line.respond(tag, 0, &[]).unwrap();
    assert!(line.done.is_empty());
    line.say(data_in(third.task_tag, 0, 0).encode(), &[0; 512]).unwrap();
    line.respond(third.task_tag, 0, &[]).unwrap();
    assert_eq!(line.completed(), (0, Ok(512)));
    let incidents = line.session.incidents();
    assert_eq!(incidents[0].event, StorageEvent::TargetFull);
    assert!(said(&incidents[1]).contains("unit attention"), "{incidents:?}");
    assert_eq!(incidents[2].event, StorageEvent::Stale { part: StalePart::Response });
}

#[test]
fn the_attention_that_greets_every_session_is_no_incident_and_a_later_one_is() {
    let (mut line, tag) = with(Kind::Read, 1, ASKS);
    line.respond(tag, 2, &sense(6, 0x29, 0)).unwrap();
    let again = commands(&line.heard())[0];
    line.say(data_in(again.task_tag, 0, 0).encode(), &[0; 512]).unwrap();
    line.respond(again.task_tag, 0, &[]).unwrap();
    assert_eq!(line.completed(), (0, Ok(512)));
    assert!(line.session.incidents().is_empty());

    line.submit(Kind::Read, 1, 0, 1);
    let tag = commands(&line.heard())[0].task_tag;
    line.respond(tag, 2, &sense(6, 0x29, 0)).unwrap();
    let incidents = line.session.incidents();
    assert!(said(&incidents[0]).contains("unit attention"), "{incidents:?}");
}

#[test]
fn retries_come_to_an_end() {
    for (status, data, error) in [(2, sense(6, 0x29, 0), 5), (0x08, Vec::new(), 16)] {
        let (mut line, mut tag) = with(Kind::Read, 1, ASKS);
        let mut rounds = 0;
        while line.done.is_empty() {
            line.window.1 += 1;
            line.respond(tag, status, &data).unwrap();
            line.now_ns += 256_000_000;
            line.tick().unwrap();
            if let Some(command) = commands(&line.heard()).first() {
                tag = command.task_tag;
            }
            rounds += 1;
            assert!(rounds < 100);
        }
        assert_eq!(line.completed(), (0, Err(DeviceError(error))));
        assert!(rounds > 5);
    }
}

#[test]
fn failures_have_their_errno() {
    for (status, data, errno) in [
        (2, sense(7, 0x27, 0), 30),
        (2, sense(7, 0x27, 7), 28),
        (2, sense(5, 0x21, 0), 22),
        (2, Vec::new(), 5),
        (2, vec![0xff, 0xff, 0x70], 5),
        (0x18, Vec::new(), 52),
        (0x30, Vec::new(), 5),
        (0x77, Vec::new(), 5),
    ] {
        let (mut line, tag) = with(Kind::Read, 1, ASKS);
        line.respond(tag, status, &data).unwrap();
        assert_eq!(line.completed(), (0, Err(DeviceError(errno))));
        assert!(!line.session.incidents().is_empty());
    }
}

#[test]
fn a_lost_status_ends_the_session_and_a_repeated_one_does_not() {
    let (mut line, tag) = with(Kind::Read, 1, ASKS);
    line.stat_sn -= 1;
    line.respond(tag, 0, &[]).unwrap();
    assert!(line.done.is_empty());
    line.stat_sn += 1;
    assert!(matches!(
        line.respond(tag, 0, &[]),
        Err(Error::StatusLost { found: 103, expected: 102 })
    ));
}

#[test]
fn what_is_outstanding_survives_the_connection() {
    let mut line = Line::ready(plain(), ASKS);
    line.submit(Kind::Read, 0, 0, 100);
    line.submit(Kind::Read, 1, 50, 1);
    line.session.command(
        Command::reading(cdb::inquiry(None, 36), 36),
        9,
        0,
        &line.memory,
        &mut line.out,
    );
    let first = commands(&line.heard());
    line.disconnect();
    assert_eq!(line.session.state(), SessionState::Disconnected);
    line.connect();
    line.stat_sn = 7;
    line.log_in(ASKS);
    let again = commands(&line.heard());
    assert_eq!((first.len(), again.len()), (5, 5));
    // The same work with other tags; the command is sent first this time.
    assert!(again.iter().all(|one| first.iter().all(|old| old.task_tag != one.task_tag)));
    assert_eq!(again[0].cdb[0], 0x12);
    assert_eq!(again[1].cdb, first[0].cdb);
    assert_eq!(line.session.incidents()[0].event, StorageEvent::Resent { requests: 2 });

    line.disconnect();
    let mut operations: Vec<Operation> = Vec::new();
    line.session.surrender(&mut operations);
    assert_eq!(operations.iter().map(|one| one.slot).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(line.session.outstanding(), 0);
    assert_eq!(line.session.control_result(), Some((9, Err(CommandError::Surrendered))));
}

/// As sent by LIO and tgtd when their configuration changes.
#[test]
fn asynchronous_messages_are_obeyed() {
    let message = |line: &mut Line, event| {
        let message = AsyncMessage {
            flags: flags::FINAL,
            task_tag: NO_TAG,
            stat_sn: line.status(),
            event,
            ..AsyncMessage::default()
        };
        let data = if event == 0 { sense(6, 0x2a, 9) } else { Vec::new() };
        line.say(message.encode(), &data)
    };
    let (mut line, _) = with(Kind::Read, 1, ASKS);
    message(&mut line, 1).unwrap();
    let logout = line.heard();
    assert_eq!(logout[0].0.opcode(), 6);
    line.submit(Kind::Read, 1, 0, 1);
    assert!(line.heard().is_empty(), "nothing more is sent after a logout");
    let response = LogoutResponse {
        flags: flags::FINAL,
        task_tag: logout[0].0.task_tag(),
        stat_sn: line.status(),
        ..LogoutResponse::default()
    };
    assert_eq!(line.say(response.encode(), &[]), Err(Error::LogoutRequested));
    assert_eq!(line.session.outstanding(), 2);

    for event in [2, 3] {
        let mut line = Line::ready(plain(), ASKS);
        assert!(matches!(message(&mut line, event), Err(Error::Dropped { .. })));
    }
    let mut line = Line::ready(plain(), ASKS);
    message(&mut line, 0).unwrap();
    let event = line.session.incidents()[0].event.clone();
    let StorageEvent::TargetMessage { code: 0, sense: Some(sense), .. } = event else {
        panic!("{event:?}")
    };
    assert!(sense.as_str().contains("capacity has changed"), "{sense}");
    let reject = Reject { reason: 9, stat_sn: line.status(), ..Reject::default() };
    let error = line.say(reject.encode(), &[0x01; 48]).unwrap_err().to_string();
    assert!(error.contains("SCSI Command") && error.contains("invalid PDU field"), "{error}");
}

#[test]
fn leaving_waits_writes_the_cache_out_and_logs_out() {
    let mut line = Line::ready(Options { flush_on_close: true, ..plain() }, ASKS);
    line.submit(Kind::Read, 0, 0, 1);
    let tag = commands(&line.heard())[0].task_tag;
    line.close();
    assert_eq!(line.session.state(), SessionState::Closing);
    assert!(line.heard().is_empty());
    line.respond(tag, 2, &sense(3, 0x11, 0)).unwrap();
    let mode = commands(&line.heard())[0];
    assert_eq!(mode.cdb, cdb::mode_sense_6(8, 192));
    let cached = [11, 0, 0, 0, 8, 6, 4, 0, 0, 0, 0, 0];
    line.say(data_in(mode.task_tag, 0, 0).encode(), &cached).unwrap();
    line.respond(mode.task_tag, 0, &[]).unwrap();
    let flush = commands(&line.heard())[0];
    assert_eq!(flush.cdb, cdb::synchronize_cache());
    line.respond(flush.task_tag, 0, &[]).unwrap();
    let logout = line.heard();
    assert_eq!(logout[0].0.opcode(), 6);
    let response = LogoutResponse {
        task_tag: logout[0].0.task_tag(),
        stat_sn: line.status(),
        ..LogoutResponse::default()
    };
    line.say(response.encode(), &[]).unwrap();
    assert_eq!(line.session.state(), SessionState::Closed);
}

#[test]
fn a_connection_lost_while_leaving_does_not_end_what_is_outstanding() {
    let (mut line, _) = with(Kind::Read, 1, ASKS);
    line.close();
    line.disconnect();
    assert_eq!(line.session.state(), SessionState::Disconnected);
    line.connect();
    line.log_in(ASKS);
    let tag = commands(&line.heard())[0].task_tag;
    line.respond(tag, 2, &sense(3, 0x11, 0)).unwrap();
    assert_eq!(line.heard()[0].0.opcode(), 6);
    line.disconnect();
    assert_eq!(line.session.state(), SessionState::Closed);
}

/// A target that accepts each login and lets one command through: what has waited too long fails
/// instead of waiting for its turn.
#[test]
fn a_window_that_lets_out_one_command_a_connection_is_not_waited_for_without_end() {
    let mut line = Line::new(plain());
    line.window = (1, 1);
    line.log_in(ASKS);
    for slot in 0..3 {
        line.submit(Kind::Read, slot, 0, 1);
    }
    line.now_ns = 20 * SECOND - 1;
    line.submit(Kind::Read, 3, 0, 1);
    line.now_ns += 1;
    line.disconnect();
    assert_eq!(line.session.outstanding(), 4);
    assert_eq!(
        line.session.incidents().last().unwrap().event,
        StorageEvent::TimedOut { operations: 3, after_ns: 20_000_000_000 }
    );
    line.connect();
    line.log_in(ASKS);
    line.tick().unwrap();
    let mut done = line.done.clone();
    done.sort_by_key(|one| one.slot);
    let failed: Vec<_> = done.iter().map(|one| (one.slot, one.outcome())).collect();
    let late = Err(DeviceError(110));
    assert_eq!(failed, [(0, late), (1, late), (2, late)]);
    // The younger one is sent again.
    assert_eq!(commands(&line.heard()).len(), 1);
    assert_eq!(line.session.outstanding(), 1);
}
