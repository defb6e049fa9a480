//! Every way in which a storage system can lose data, one at a time.

use stormeter_driver::{Expectations, PriorContent, Seal, drive, drive_verified};
use stormeter_simulator::VirtualTime;
use stormeter_trial::{Corruption, FoundBlock, SizeShare, Workload, WorkloadError};

use crate::memory::{Lie, Memory, Plan};
use crate::setting::{Outcome, Store, workload};

/// What is found after a lie in the first of two trials on a small disk, which both trials read
/// completely.
fn found(lie: Lie, seed: u64, bytes: u32) -> Vec<Corruption> {
    let mut load = workload(8);
    load.sizes = vec![SizeShare { bytes, share: 1.0 }];
    let mut store = Store::new(load, 2, 48 * u64::from(bytes));
    let plan = Plan { lie: Some((lie, 50 + seed)), ..Plan::default() };
    let outcome = store.run(seed, 1, plan);
    assert!(outcome.lied, "{lie:?} was never told");
    let mut corruptions = outcome.verified.corruptions;
    corruptions.extend(store.run(seed + 1000, 1, Plan::default()).verified.corruptions);
    corruptions
}

/// Each lie is detected with most seeds (a lost write that the next write overwrites harms
/// nothing), and every finding has one of its names.
fn is_found_as(lie: Lie, bytes: u32, is_its_name: impl Fn(&Corruption) -> bool) {
    const SEEDS: u64 = 40;
    let mut times = 0;
    for seed in 0..SEEDS {
        let corruptions = found(lie, seed, bytes);
        times += u64::from(!corruptions.is_empty());
        for corruption in &corruptions {
            assert!(is_its_name(corruption), "seed {seed}: {lie:?} was called {corruption}");
        }
    }
    assert!(times * 4 >= SEEDS, "{lie:?} was found from {times} of {SEEDS} seeds only");
}

fn is_older(corruption: &Corruption) -> bool {
    let words = corruption.to_string();
    let is_older = match (&corruption.found, corruption.expected.generations.as_slice()) {
        (FoundBlock::Block(name), [expected]) => {
            name.offset_bytes == corruption.expected.offset_bytes && name.generation < *expected
        }
        _ => false,
    };
    is_older && words.contains(": generation ") && words.contains(" instead of generation ")
}

fn is_misplaced(corruption: &Corruption) -> bool {
    let is_elsewhere = matches!(&corruption.found, FoundBlock::Block(name)
        if name.offset_bytes != corruption.expected.offset_bytes
            || name.disk != corruption.expected.disk);
    is_elsewhere && corruption.to_string().contains(": the block of disk ")
}

fn is_damaged(corruption: &Corruption) -> bool {
    let words = corruption.to_string();
    matches!(corruption.found, FoundBlock::Damaged { stored_checksum, checksum }
        if stored_checksum != checksum)
        && words.contains("checksum 0x")
        && words.contains(" instead of 0x")
}

#[test]
fn a_lost_write_shows_as_an_older_generation() {
    is_found_as(Lie::LostWrite, 4096, is_older);
    is_found_as(Lie::LostWrite, 65_536, is_older);
}

#[test]
fn a_stale_read_shows_as_an_older_generation() {
    is_found_as(Lie::StaleRead, 4096, is_older);
}

#[test]
fn a_misplaced_write_shows_at_both_places() {
    is_found_as(Lie::MisplacedWrite, 4096, |found| is_older(found) || is_misplaced(found));
    let all: Vec<Corruption> =
        (0..20).flat_map(|seed| found(Lie::MisplacedWrite, seed, 4096)).collect();
    assert!(all.iter().any(is_misplaced) && all.iter().any(is_older), "{all:?}");
}

#[test]
fn a_torn_write_shows_as_damage_within_a_block_and_as_older_blocks_beyond() {
    is_found_as(Lie::TornWrite, 4096, is_damaged);
    is_found_as(Lie::TornWrite, 65_536, is_older);
}

#[test]
fn a_flipped_bit_shows_as_damage() {
    is_found_as(Lie::FlippedWrite, 65_536, |found| {
        // The bit may be part of the magic.
        is_damaged(found) || found.found == FoundBlock::OtherData
    });
}

#[test]
fn a_completion_that_is_another_one_s_shows_what_the_buffer_held() {
    is_found_as(Lie::SwappedCompletions, 4096, |found| {
        is_misplaced(found) || is_older(found) || found.found == FoundBlock::Zeros
    });
    let all: Vec<Corruption> =
        (0..20).flat_map(|seed| found(Lie::SwappedCompletions, seed, 4096)).collect();
    assert!(all.iter().any(is_misplaced), "{all:?}");
}

#[test]
fn zeros_are_called_zeros() {
    is_found_as(Lie::ZeroRead, 4096, |found| found.to_string().contains("no stormeter block"));
}

/// Where no write distinguishes them, only the offset does: blocks as prepared.
#[test]
fn prepared_blocks_in_the_place_of_others_are_found() {
    let block = |disk: usize, number: usize| (disk, number * 4096..(number + 1) * 4096);
    for (one, other) in [(block(0, 3), block(0, 9)), (block(0, 3), block(1, 3))] {
        let load = Workload { read_percent: 100.0, ..workload(4) };
        let mut store = Store::new(load, 2, 16 * 4096);
        {
            let contents = &mut store.contents.borrow_mut();
            let bytes = contents[one.0].now[one.1.clone()].to_vec();
            contents[other.0].now[other.1.clone()].copy_from_slice(&bytes);
        }
        let Outcome { verified, .. } = store.run(1, 1, Plan::default());
        assert!(verified.wrong_blocks > 0);
        for corruption in &verified.corruptions {
            assert!(is_misplaced(corruption), "{corruption}");
            assert_eq!(corruption.expected.disk as usize, other.0);
            assert_eq!(corruption.expected.offset_bytes as usize, other.1.start);
        }
    }
}

#[test]
fn a_block_of_another_datastore_is_none_of_ours() {
    let mut store = Store::new(workload(4), 1, 64 * 4096);
    let seal = Seal { owner: 1, unit_bytes: 4096 };
    store.expectations = Expectations::new(seal, PriorContent::Prepared, 0, 1, 64 * 4096);
    let Outcome { verified, .. } = store.run(1, 1, Plan::default());
    assert!(verified.wrong_blocks > 10);
    assert_eq!(verified.corruptions.len(), 10, "the first ones are kept");
    for corruption in &verified.corruptions {
        assert!(matches!(corruption.found, FoundBlock::Foreign(_)), "{corruption}");
    }
}

#[test]
fn after_a_resumption_place_and_checksum_are_still_looked_at() {
    for lie in [Lie::ZeroRead, Lie::SwappedCompletions] {
        let mut store = Store::new(workload(8), 1, 4096 * 4096);
        store.resume(1);
        // Read before anything has been written, so as good as never.
        let plan = Plan { lie: Some((lie, 0)), ..Plan::default() };
        let Outcome { verified, .. } = store.run(2, 1, plan);
        assert!(verified.wrong_blocks > 0, "{lie:?}");
        assert!(verified.unknown_blocks > 0);
        assert!(verified.corruptions[0].expected.generations.is_empty(), "{verified:?}");
    }
}

#[test]
fn a_trial_and_its_expectations_must_fit() {
    let mut store = Store::new(workload(4), 2, 64 * 4096);
    let time = VirtualTime::new();
    let trial = store.trial(1);
    let mut disks = Memory::new(
        store.contents.clone(),
        0,
        time.clone(),
        trial.buffer_needs(),
        Plan::default(),
        1,
    );
    let mut clock = time.clock();
    let plain = drive(&trial, || Some(0), &mut disks, &mut clock, &mut ());
    assert_eq!(plain.unwrap_err(), WorkloadError::VerifyExpectations);
    let (one, _) = store.expectations.lend().split(1);
    let fewer = drive_verified(&trial, || Some(0), &mut disks, &mut clock, &mut (), one);
    assert_eq!(fewer.unwrap_err(), WorkloadError::VerifyExpectations);
}
