//! Targets that die, hang, come back, or are looked for in vain.

use stormeter_peers::{Direction, Fault, Framing, Proxy, Tgt, TgtOptions};

use super::{ALWAYS, Bench, carried_bytes, wait};
use crate::fixture::{Load, Moment, compare};

#[test]
fn a_target_that_is_killed_and_started_again_is_gone_on_with() {
    let mut tgt = Tgt::start(&TgtOptions::default()).unwrap();
    let url = format!("{}?timeout=30s", tgt.url(1));
    let outcome = compare(&url, Load::default(), |moment| {
        if let Moment::Row(_, 1) = moment {
            tgt.restart().unwrap();
        }
    });
    for trial in 0..2 {
        outcome.assert_recovered(trial, &["ConnectionLost", "Reconnected"]);
    }
    outcome.assert_valid();
}

#[test]
fn after_a_reset_the_same_session_is_opened_again() {
    let bench = Bench::new(&[], "");
    let mut broken = 0;
    let outcome = bench.compare_with(|bench| {
        broken = bench.proxy.connections() - 1;
        let direction = Direction::ToServer;
        bench.proxy.plan(Fault::Reset { direction, after_bytes: 1000 }).unwrap();
    });
    assert_eq!(bench.proxy.fired(), 1);
    outcome.assert_recovered(0, &["ConnectionLost", "Resent", "Reconnected"]);
    outcome.assert_recovered(1, &[]);
    outcome.assert_valid();
    // The initiator's part of the session's name (RFC 7143 section 11.12.5) says who comes back, so
    // that the target ends what is left of the old session.
    let isid =
        |connection: u64| bench.proxy.recordings()[connection as usize].from_client[8..14].to_vec();
    assert_eq!(isid(broken), isid(broken + 1));
    assert_ne!(isid(broken), isid(broken + 2), "the next trial's session is another");
    bench.assert_removed();
}

#[test]
fn a_target_that_accepts_and_never_answers_is_given_up() {
    let bench = Bench::new(&[], "");
    let outcome = compare(&bench.url, Load::default(), |moment| match moment {
        Moment::Row(0, 1) => {
            bench.proxy.plan_times(Fault::AcceptOnly, ALWAYS).unwrap();
            bench.proxy.reset_all();
        }
        Moment::End(0) => bench.proxy.clear(),
        _ => {}
    });
    assert!(bench.proxy.fired() > 0);
    outcome.assert_broke(&["timed out"]);
    let incidents = outcome.incidents(0);
    assert!(incidents.contains("PathGivenUp { after_ns: 2000000000,"), "{incidents}");
    bench.assert_removed();
}

/// It logs us in each time, and each time answers no command.
#[test]
fn a_target_that_lets_in_and_then_falls_silent_is_given_up() {
    let bench = Bench::new(&[], "");
    let direction = Direction::ToClient;
    // Planned by bytes and not at a time, because on a busy machine all I/Os of the short trial may have ended by
    // then: its first connection breaks after some blocks, and those after it stall behind the login, which is shorter
    // than this, before the end of a block, which is longer.
    let breaks = Fault::Truncate { direction, after_bytes: 100_000 };
    let stalls = Fault::Stall { direction, after_bytes: 2000 };
    let outcome = compare(&bench.url, Load::default(), |moment| match moment {
        Moment::Begin(0) => {
            bench.proxy.plan(breaks).unwrap();
            bench.proxy.plan_after(stalls, 1, ALWAYS).unwrap();
        }
        Moment::End(0) => {
            assert!(bench.proxy.fired() > 1, "it was let in again");
            bench.proxy.clear();
            bench.proxy.reset_all();
        }
        _ => {}
    });
    outcome.assert_broke(&["timed out"]);
    let incidents = outcome.incidents(0);
    assert!(incidents.contains("PathGivenUp"), "{incidents}");
    bench.assert_removed();
}

#[test]
fn a_target_that_is_gone_when_a_trial_begins_fails_it() {
    let mut bench = Bench::new(&[], "");
    let Bench { proxy, url, .. } = &mut bench;
    let outcome = compare(url, Load::default(), |moment| match moment {
        Moment::Begin(0) => proxy.close(),
        Moment::End(0) => proxy.open().unwrap(),
        _ => {}
    });
    outcome.assert_broke(&["cannot be reached", "Connection refused"]);
    bench.assert_removed();
}

#[test]
fn a_login_that_is_refused_for_a_while_is_tried_again() {
    let bench = Bench::new(&[], "");
    let options = TgtOptions { name: "other".into(), ..TgtOptions::default() };
    let other = Tgt::start(&options).unwrap();
    let outcome = bench.compare_with(|bench| {
        let before = bench.proxy.connections();
        bench.proxy.set_server(other.address());
        bench.proxy.reset_all();
        wait("refused logins", || bench.proxy.connections() >= before + 3);
        bench.proxy.set_server(bench.tgt.address());
    });
    outcome.assert_recovered(0, &["ConnectionLost", "Reconnected"]);
    outcome.assert_valid();
    bench.assert_removed();
}

#[test]
fn a_target_that_is_not_there_any_more_is_named() {
    let bench = Bench::new(&[], "");
    let options = TgtOptions { name: "other".into(), ..TgtOptions::default() };
    let other = Tgt::start(&options).unwrap();
    let outcome = compare(&bench.url, Load::default(), |moment| match moment {
        Moment::Row(0, 1) => {
            bench.proxy.set_server(other.address());
            bench.proxy.reset_all();
        }
        Moment::End(0) => bench.proxy.set_server(bench.tgt.address()),
        _ => {}
    });
    outcome.assert_broke(&["timed out"]);
    let incidents = outcome.incidents(0);
    assert!(incidents.contains("no target named iqn."), "{incidents}");
    bench.assert_removed();
}

/// NOP-In and NOP-Out (RFC 7143 sections 11.18 and 11.19): a target that is not answered ends the
/// session.
#[test]
fn a_targets_ping_is_answered() {
    let tgt = Tgt::start(&TgtOptions {
        parameters: vec![("nop_interval".into(), "1".into()), ("nop_count".into(), "1".into())],
        ..TgtOptions::default()
    })
    .unwrap();
    let proxy = Proxy::start(tgt.address(), Framing::Iscsi, 1).unwrap();
    let url = super::through(&proxy, &tgt, "");
    // So few that all of a session is kept.
    let load = Load { blocks: 1, rate_per_s: 15.0, duration_ms: 3000, ..Load::default() };
    let mut of_trial = 0;
    let outcome = compare(&url, load, |moment| {
        if moment == Moment::Row(0, 1) {
            of_trial = proxy.connections() as usize - 1;
        }
    });
    outcome.assert_recovered(0, &[]);
    outcome.assert_valid();
    assert!(carried_bytes(&proxy) > 0);
    let session = &proxy.recordings()[of_trial];
    let pings = tags(&session.to_client, 0x20);
    let answers = tags(&session.from_client, 0x00);
    assert!(pings.len() > 1, "{pings:x?}");
    assert_eq!(answers, pings);
}

/// Target Transfer Tags of the units of an operation code.
fn tags(mut stream: &[u8], opcode: u8) -> Vec<[u8; 4]> {
    let mut tags = Vec::new();
    while let Some(header) = stream.first_chunk::<48>() {
        let data = u32::from_be_bytes([0, header[5], header[6], header[7]]) as usize;
        if header[0] & 0x3f == opcode {
            tags.push([header[20], header[21], header[22], header[23]]);
        }
        stream = stream.get(48 + data.next_multiple_of(4)..).unwrap_or_default();
    }
    tags
}
