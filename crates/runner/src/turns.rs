//! Writes the disks of all datastores in turns.
//!
//! After the disks are written, a cache that the datastores of a run share holds what was written last. Written one
//! after another, it would hold the last datastore's disks and nothing of the first one's, and a large cache forgets that
//! only after many blocks: neither another order nor discarding the first block would help. So the datastores take turns,
//! each writing a small part of its disks, in an order that follows from the seed and changes from round to round; then
//! such a cache holds as much of each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use stormeter_datastore::{Datastore, DatastoreError, Prepared};
use stormeter_driver::Seal;
use stormeter_study::fill_order;

use crate::error::RunError;
use crate::fill_spec::FillSpec;
use crate::progress::Progress;

/// The number of turns of each datastore, unless its disks are small or large.
const TURNS: u64 = 64;
/// The shortest turn: between two turns the storage finishes what it has.
const LEAST_BYTES: u64 = 1 << 20;
/// The longest turn: a cache smaller than a turn holds the disks of one datastore only.
const MOST_BYTES: u64 = 64 << 20;
/// How often cancellation is polled while others have their turn.
const CANCEL_CHECK: Duration = Duration::from_millis(100);

/// The turns of the stores.
struct Turns {
    seed: u64,
    turn_bytes: u64,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Per store: whether it has not written everything yet.
    is_here: Vec<bool>,
    /// The stores that follow in this round, the next one last.
    order: Vec<usize>,
    rounds: u32,
    /// The store that has its turn, and the bytes left of it.
    now: Option<usize>,
    left_bytes: u64,
}

impl Turns {
    fn new(seed: u64, stores: usize, store_bytes: u64) -> Self {
        let state = State {
            is_here: vec![true; stores],
            order: Vec::new(),
            rounds: 0,
            now: None,
            left_bytes: 0,
        };
        let turn_bytes = (store_bytes / TURNS).clamp(LEAST_BYTES, MOST_BYTES);
        let turns = Self { seed, turn_bytes, state: Mutex::new(state), changed: Condvar::new() };
        turns.pass(&mut turns.state());
        turns
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, state: &mut State) {
        state.left_bytes = self.turn_bytes;
        state.now = None;
        while state.is_here.contains(&true) {
            match state.order.pop() {
                Some(store) if state.is_here[store] => {
                    state.now = Some(store);
                    break;
                }
                Some(_) => {}
                None => {
                    state.order = fill_order(self.seed, state.rounds, state.is_here.len());
                    state.order.reverse();
                    state.rounds = state.rounds.wrapping_add(1);
                }
            }
        }
        self.changed.notify_all();
    }

    /// Waits until the store may write that many further bytes; returns at once after cancellation.
    fn take(&self, store: usize, bytes: u64, cancelled: &dyn Fn() -> bool) {
        let mut state = self.state();
        while state.now != Some(store) {
            if cancelled() || !state.is_here[store] {
                return;
            }
            let waited = self.changed.wait_timeout(state, CANCEL_CHECK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.left_bytes = state.left_bytes.saturating_sub(bytes);
        if state.left_bytes == 0 {
            self.pass(&mut state);
        }
    }

    /// The store has written everything, or will not.
    fn leave(&self, store: usize) {
        let mut state = self.state();
        state.is_here[store] = false;
        if state.now == Some(store) {
            self.pass(&mut state);
        }
    }
}

/// Gives up the turn in any case: others wait for it.
struct Leaves<'a>(&'a Turns, usize);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

/// Reports the progress of a store to the leading thread.
struct Reporter {
    store: usize,
    counts: mpsc::Sender<(usize, u64, u64)>,
}

impl Progress for Reporter {
    fn preparing(&mut self, _datastore: &str, done: u64, total: u64) {
        // The receiver may have ended.
        let _ = self.counts.send((self.store, done, total));
    }
}

/// Writes the disks of all stores, each with its filling, or finds them written; returns the result of each.
///
/// # Errors
/// The error of the store that failed first; the others are stopped.
pub(crate) fn write_in_turns(
    stores: &mut [Datastore],
    fillings: &[(FillSpec, Option<Seal>)],
    seed: u64,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<Vec<Prepared>, RunError> {
    let most_bytes = fillings.iter().map(|(filling, _)| filling.disks.total_bytes()).max();
    let turns = Turns::new(seed, stores.len(), most_bytes.unwrap_or(0));
    let has_failed = AtomicBool::new(false);
    let urls: Vec<String> = stores.iter().map(|it| it.description().url.to_string()).collect();
    let (counts_in, counts) = mpsc::channel();
    let (ended_in, ended) = mpsc::channel();
    let stops = || cancel.load(Ordering::Relaxed) || has_failed.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        for (store, (datastore, (filling, seal))) in stores.iter_mut().zip(fillings).enumerate() {
            let mut reporter = Reporter { store, counts: counts_in.clone() };
            let (ended_in, turns, stops, has_failed) =
                (ended_in.clone(), &turns, &stops, &has_failed);
            scope.spawn(move || {
                let _leaves = Leaves(turns, store);
                let pace = |bytes| turns.take(store, bytes, stops);
                // A file system places files when they are created.
                pace(0);
                let end =
                    filling.write_paced(datastore, *seal, None, (&pace, stops), &mut reporter);
                has_failed.fetch_or(end.is_err(), Ordering::Relaxed);
                let _ = ended_in.send((store, end));
            });
        }
        drop((counts_in, ended_in));
        while let Ok((store, done, total)) = counts.recv() {
            progress.preparing(&urls[store], done, total);
        }
    });
    let mut prepared = vec![Prepared::default(); urls.len()];
    let mut failure = None;
    for (store, end) in ended {
        match end {
            Ok(how) => prepared[store] = how,
            // Stores that were stopped because another failed report that, too, perhaps before the one that failed.
            Err(error) if failure.as_ref().is_none_or(is_stopped) => failure = Some(error),
            Err(_) => {}
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(prepared),
    }
}

fn is_stopped(error: &RunError) -> bool {
    matches!(error, RunError::Datastore { source: DatastoreError::Cancelled, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Lets stores write parts of these sizes; returns the order of the writes.
    fn written(seed: u64, parts: &[&[u64]]) -> Vec<usize> {
        let total = parts.iter().map(|parts| parts.iter().sum()).max().unwrap_or(0);
        let turns = Turns::new(seed, parts.len(), total);
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for (store, parts) in parts.iter().enumerate() {
                let (turns, order) = (&turns, &order);
                scope.spawn(move || {
                    let _leaves = Leaves(turns, store);
                    for &bytes in *parts {
                        turns.take(store, bytes, &|| false);
                        order.lock().expect("no panic").push(store);
                    }
                });
            }
        });
        order.into_inner().expect("no panic")
    }

    #[test]
    fn every_round_has_a_turn_of_each() {
        let parts: &[u64] = &[MIB; 32];
        for seed in 0..20 {
            let turns = Turns::new(seed, 3, 32 * MIB);
            let mut order = Vec::new();
            for _ in 0..96 {
                let store = turns.state().now.expect("a store has its turn");
                turns.take(store, MIB, &|| false);
                order.push(store);
            }
            let rounds: Vec<&[usize]> = order.chunks(3).collect();
            for round in &rounds {
                let mut round = round.to_vec();
                round.sort_unstable();
                assert_eq!(round, [0, 1, 2]);
            }
            assert!(rounds.iter().any(|round| *round != rounds[0]), "always the same order");
            // The same with a thread per store and no leader.
            let written = written(seed, &[parts, parts, parts]);
            for store in 0..3 {
                assert_eq!(written.iter().filter(|&&it| it == store).count(), 32);
            }
        }
    }

    #[test]
    fn a_store_that_has_ended_keeps_no_other_waiting() {
        let order = written(7, &[&[MIB; 3], &[], &[MIB; 40]]);
        assert_eq!(order.len(), 43);
        assert_eq!(order[order.len() - 30..], [2; 30]);
    }

    #[test]
    fn who_is_to_stop_does_not_wait_for_its_turn() {
        let turns = Turns::new(1, 2, MIB);
        let other = 1 - turns.state().now.expect("a store has its turn");
        turns.take(other, MIB, &|| true);
        assert_eq!(turns.state().left_bytes, MIB, "it took nothing");
    }
}
