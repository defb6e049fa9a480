//! Invalid data units: each is noticed, the session opened again, and outstanding commands sent again.

use stormeter_peers::{Direction, Fault};

use super::{ALWAYS, Bench, assert_each_recovered};
use crate::fixture::{Load, Moment, compare};

const DIGESTS: [(&str, &str); 2] = [("HeaderDigest", "CRC32C"), ("DataDigest", "CRC32C")];
const WITH_DIGESTS: &str = "&header-digest=crc32c&data-digest=crc32c";

#[test]
fn answers_that_break_the_protocol_are_noticed() {
    let to_client = Direction::ToClient;
    let faults = [
        (Fault::StatSn { add: 3 }, "an answer of the target is lost"),
        (Fault::ImpossibleLength, "16777215"),
        (Fault::Truncate { direction: to_client, after_bytes: 70 }, "closed the connection"),
        (Fault::Truncate { direction: Direction::ToServer, after_bytes: 70 }, "ConnectionLost"),
        (Fault::DuplicateReply, "Stale"),
        (Fault::SwapReplies, "ConnectionLost"),
        // Not known, or that of a command that is done: then its own is missed.
        (Fault::ChangeReplyId, "ConnectionLost"),
    ];
    assert_each_recovered(&Bench::new(&[], ""), Load::default(), &faults);
}

#[test]
fn data_asked_for_beyond_the_command_is_not_sent() {
    let bench = Bench::new(&[("InitialR2T", "Yes"), ("ImmediateData", "No")], "");
    let beyond = |offset_bytes, length_bytes| Fault::R2t { offset_bytes, length_bytes };
    let reported = "asks for more than the command has";
    let faults = [
        (beyond(4096, 512), reported),
        (beyond(0, 8192), reported),
        (beyond(u32::MAX - 511, 512), reported),
    ];
    let load = Load { read_percent: 20.0, ..Load::default() };
    assert_each_recovered(&bench, load, &faults);
}

#[test]
fn with_digests_no_wrong_byte_comes_through() {
    let bench = Bench::new(&DIGESTS, WITH_DIGESTS);
    let flip = |at_byte| Fault::FlipBit { direction: Direction::ToClient, at_byte };
    let reported = "digest";
    let faults = [
        (Fault::CorruptData { min_bytes: 4096 }, reported),
        (flip(0), reported),
        (flip(7), "ConnectionLost"),
        (flip(4000), reported),
    ];
    assert_each_recovered(&bench, Load { read_percent: 90.0, ..Load::default() }, &faults);
}

/// What the digests are for, and that verifying sees what they would have.
#[test]
fn without_digests_a_wrong_byte_is_a_wrong_block() {
    let bench = Bench::new(&[], "");
    let outcome = bench.compare_with(|bench| {
        bench.proxy.plan(Fault::CorruptData { min_bytes: 4096 }).unwrap();
    });
    assert_eq!(bench.proxy.fired(), 1);
    assert!(outcome.conclusion.analysis.is_invalid(), "{outcome:?}");
    let trials = outcome.conclusion.trials.iter();
    let verified = trials.filter_map(|trial| trial.sample()?.verified.as_ref());
    assert_eq!(verified.map(|verified| verified.wrong_blocks).sum::<u64>(), 1);
    bench.assert_removed();
}

#[test]
fn a_target_that_is_full_or_busy_for_a_while_is_asked_again() {
    let bench = Bench::new(&[], "");
    let statuses = [(0x28, "7 × TargetFull"), (0x08, "7 × TargetBusy")];
    let times = 7;
    let outcome = compare(&bench.url, Load::default(), |moment| {
        if let Moment::Row(trial, 1) = moment {
            let (status, _) = statuses[trial as usize];
            bench.proxy.plan_times(Fault::ScsiStatus { status }, times).unwrap();
        }
    });
    assert_eq!(bench.proxy.fired(), 2 * times);
    for (trial, (_, reported)) in statuses.iter().enumerate() {
        outcome.assert_recovered(trial, &[reported]);
        assert!(!outcome.incidents(trial).contains("onnect"), "{outcome:?}");
    }
    outcome.assert_valid();
    bench.assert_removed();
}

#[test]
fn a_window_that_never_opens_is_given_up() {
    let bench = Bench::new(&[], "");
    let outcome = compare(&bench.url, Load::default(), |moment| match moment {
        Moment::Row(0, 1) => bench.proxy.plan_times(Fault::FreezeMaxCmdSn, ALWAYS).unwrap(),
        Moment::End(0) => bench.proxy.clear(),
        _ => {}
    });
    assert!(bench.proxy.fired() > 0);
    outcome.assert_broke(&["timed out"]);
    let incidents = outcome.incidents(0);
    assert!(incidents.contains("no room in the target's window"), "{incidents}");
    assert!(
        incidents.contains("TimedOut") && incidents.contains("after_ns: 2000000000"),
        "{incidents}"
    );
    bench.assert_removed();
}

#[test]
fn a_target_that_stays_full_is_given_up() {
    let bench = Bench::new(&[], "");
    let outcome = compare(&bench.url, Load::default(), |moment| match moment {
        Moment::Row(0, 1) => {
            bench.proxy.plan_times(Fault::ScsiStatus { status: 0x28 }, ALWAYS).unwrap();
        }
        Moment::End(0) => bench.proxy.clear(),
        _ => {}
    });
    let fired = bench.proxy.fired();
    outcome.assert_broke(&["busy"]);
    let incidents = outcome.incidents(0);
    assert!(incidents.contains("TargetFull"), "{incidents}");
    // Each I/O was tried again as long as the URL's two seconds allow: with ever longer waits that
    // is fourteen times, and not the sixty-four without it.
    let mut samples = outcome.conclusion.trials.iter().filter_map(|trial| trial.sample());
    let failed = samples.find_map(|sample| Some(sample.failed_operations()).filter(|&n| n > 0));
    let failed = failed.unwrap();
    assert!(fired > failed && fired < 30 * failed, "{fired} refusals of {failed} I/Os");
    bench.assert_removed();
}
