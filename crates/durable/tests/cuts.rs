//! Power cuts at random moments of simulated storage with a volatile cache: honest storage is never accused, storage
//! that lies is caught.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod store;

use store::{Faults, Store, Ticks};
use stormeter_durable::{
    Acknowledged, Moment, Outcome, Place, Ring, RunId, Speed, Verdict, WriteError, judge,
    read_back, write,
};

const PATIENCE_NS: u64 = 1_000_000_000;

/// Records that leave little to luck: each has a chance of its own to get out of the cache.
const ENOUGH: u64 = 8;

/// How often each variant of a cut was made.
const CUTS: u64 = 1000;

/// Writes until the power goes after `operations` of them, and judges what is left.
fn cut(ring: &Ring, speed: Speed, faults: Faults, operations: u64, seed: u64) -> Verdict {
    let mut store = Store::new(ring, faults, seed);
    store.cut_after(operations);
    let mut lines: Vec<Acknowledged> = Vec::new();
    let mut clock = Ticks::default();
    let ended = write(&mut store, &mut clock, ring, speed, &mut |_| false, &mut |_, up_to| {
        let moment = up_to * 1000;
        lines.push(Acknowledged { up_to, at: Moment { unix_ms: moment, monotonic_ns: moment } });
        Ok::<(), String>(())
    });
    assert!(matches!(ended, Err(WriteError::Disks(_))), "{ended:?}");
    store.power_cycle();
    judge(ring, &lines, &read(&mut store, ring)).unwrap()
}

fn read(store: &mut Store, ring: &Ring) -> Vec<Place> {
    read_back(store, &mut Ticks::default(), ring, 4, PATIENCE_NS, &|| false).unwrap()
}

/// Rings and speeds that differ with the seed, and after how many operations the power goes: within the first pass
/// for some, after several for others.
fn setting(seed: u64) -> (Ring, Speed, u64) {
    let group = [1, 2, 3, 8][(seed % 4) as usize];
    let block_bytes = [512, 4096][(seed / 4 % 2) as usize];
    let places = u64::from(group) * (4 + seed / 8 % 5) + seed / 40 % 3;
    let ring =
        Ring { run: RunId(seed), disk_bytes: places * u64::from(block_bytes), block_bytes, group };
    ring.check().unwrap();
    let outstanding = 1 + (seed / 7 % 9) as u32;
    let speed = Speed { outstanding, durable: false, patience_ns: PATIENCE_NS };
    (ring, speed, 1 + seed * 7919 % (places * 4))
}

fn cuts(faults: Faults, durable: bool) -> Vec<Verdict> {
    let verdict = |seed| {
        let (ring, speed, operations) = setting(seed);
        cut(&ring, Speed { durable, ..speed }, faults, operations, seed)
    };
    (0..CUTS).map(verdict).collect()
}

fn count(verdicts: &[Verdict], is_it: impl Fn(&Verdict) -> bool) -> usize {
    verdicts.iter().filter(|verdict| is_it(verdict)).count()
}

fn is_broken(verdict: &Verdict) -> bool {
    verdict.outcome == Outcome::Broken
}

#[test]
fn honest_storage_is_never_accused() {
    for durable in [false, true] {
        let verdicts = cuts(Faults::default(), durable);
        for (seed, verdict) in verdicts.iter().enumerate() {
            assert!(!is_broken(verdict), "seed {seed}, durable {durable}: {verdict:?}");
            assert_eq!((verdict.order, verdict.beyond_journal), (None, None), "seed {seed}");
        }
        // The cuts are where they hurt: writes under way were torn, later ones survived, and most had something to
        // judge.
        assert!(count(&verdicts, |verdict| verdict.torn_under_way > 0) > 50);
        assert!(count(&verdicts, |verdict| verdict.later > 0) > 200);
        assert!(count(&verdicts, |verdict| verdict.outcome == Outcome::Kept) > 700);
    }
}

#[test]
fn flushes_that_do_nothing_are_caught() {
    let verdicts = cuts(Faults { flush_lies: true, ..Faults::default() }, false);
    let judged = count(&verdicts, |verdict| verdict.judged >= ENOUGH);
    let caught = count(&verdicts, |verdict| verdict.judged >= ENOUGH && is_broken(verdict));
    assert!(judged > 600, "{judged}");
    assert!(caught * 100 >= judged * 99, "{caught} of {judged}");
    // What is left of a cache is a random part of it: later records without earlier ones.
    assert!(count(&verdicts, |verdict| verdict.order.is_some()) > 500);
    assert!(count(&verdicts, |verdict| verdict.causes.older > 0) > 300);
    assert!(count(&verdicts, |verdict| verdict.causes.torn > 0) > 100);
}

#[test]
fn durable_writes_that_stay_in_the_cache_are_caught() {
    let verdicts = cuts(Faults { flush_lies: true, ..Faults::default() }, true);
    let judged = count(&verdicts, |verdict| verdict.judged >= ENOUGH);
    let caught = count(&verdicts, |verdict| verdict.judged >= ENOUGH && is_broken(verdict));
    assert!(caught * 100 >= judged * 99, "{caught} of {judged}");
}

#[test]
fn a_flush_that_forgets_a_tenth_is_caught_in_time() {
    // What it forgets often gets out of the cache before the power goes: one cut does not always show it.
    let verdicts = cuts(Faults { flush_forgets: true, ..Faults::default() }, false);
    let judged = count(&verdicts, |verdict| verdict.judged >= ENOUGH);
    let caught = count(&verdicts, |verdict| verdict.judged >= ENOUGH && is_broken(verdict));
    assert!(caught * 5 > judged, "{caught} of {judged}");
    assert!(count(&verdicts, |verdict| verdict.lost > 0 && verdict.order.is_some()) > 100);
}

#[test]
fn misdirected_writes_are_found() {
    let verdicts = cuts(Faults { misdirects: true, ..Faults::default() }, false);
    let found = count(&verdicts, |verdict| verdict.misplaced_count > 0);
    assert!(found > 300, "{found}");
    let misplaced = verdicts.iter().flat_map(|verdict| &verdict.misplaced);
    assert!(misplaced.clone().count() > 0);
    for one in misplaced {
        assert_ne!(one.found_at_bytes, one.belongs_at_bytes);
    }
}

#[test]
fn a_flush_that_fails_ends_it_and_nothing_that_it_covered_counts() {
    let (ring, speed, _) = setting(3);
    let mut store = Store::new(&ring, Faults { third_flush_fails: true, ..Faults::default() }, 1);
    let mut kept = Vec::new();
    let mut keep = |_: &mut Store, up_to| {
        kept.push(up_to);
        Ok::<(), String>(())
    };
    let ended = write(&mut store, &mut Ticks::default(), &ring, speed, &mut |_| false, &mut keep);
    let (from, to) = (u64::from(2 * ring.group + 1), u64::from(3 * ring.group));
    assert!(matches!(ended, Err(WriteError::Flush { from: f, to: t, .. }) if (f, t) == (from, to)));
    assert_eq!(kept, [u64::from(ring.group), u64::from(2 * ring.group)]);
    assert!(ended.unwrap_err().to_string().contains("none of them counts"));
}

#[test]
fn it_stops_between_groups_when_it_is_told_to() {
    let (ring, speed, _) = setting(5);
    let mut store = Store::new(&ring, Faults::default(), 1);
    let mut kept = Vec::new();
    let mut times = 0;
    let mut stop = |_| {
        times += 1;
        times > 4
    };
    let mut keep = |_: &mut Store, up_to| {
        kept.push(up_to);
        Ok::<(), String>(())
    };
    let last =
        write(&mut store, &mut Ticks::default(), &ring, speed, &mut stop, &mut keep).unwrap();
    assert_eq!(kept.last(), Some(&last));
    assert_eq!(last, u64::from(ring.group) * kept.len() as u64);
    // All of it is there without a cut, on the stable part too: the last flush came after the last write.
    store.power_cycle();
    let places = read(&mut store, &ring);
    let lines: Vec<_> = kept
        .iter()
        .map(|&up_to| Acknowledged { up_to, at: Moment { unix_ms: 0, monotonic_ns: 0 } })
        .collect();
    let verdict = judge(&ring, &lines, &places).unwrap();
    assert_eq!((verdict.outcome, verdict.lost, verdict.later), (Outcome::Kept, 0, 0));
}

#[test]
fn storage_that_falls_silent_is_given_up_only_after_it_was_told_to_stop() {
    let (ring, speed, _) = setting(5);
    let mut store = Store::new(&ring, Faults { silent: true, ..Faults::default() }, 1);
    let mut asked = 0;
    let mut stop = |_| {
        asked += 1;
        asked > 50
    };
    let ended = write(&mut store, &mut Ticks::default(), &ring, speed, &mut stop, &mut |_, _| {
        Ok::<(), String>(())
    });
    assert!(matches!(ended, Err(WriteError::Stalled { outstanding }) if outstanding > 0));
    assert!(asked > 50);
}
