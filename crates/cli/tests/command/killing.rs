//! A run that is killed again and again at moments that follow from a seed.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::place::{Place, until};
use crate::results::{Trial, trials};

/// Which datastore had which turn, with which operations.
pub(crate) fn turns(trials: &[Trial]) -> HashSet<(i64, i64, i64, String)> {
    let turn = |t: &Trial| (t.block, t.position, t.datastore, t.seed.clone());
    trials.iter().map(turn).collect()
}

/// Starts the commands one after the other and kills each: the first while disks are written below `a`
/// or soon after, the others when up to `most_trials` less one more trials are finished. Nothing that
/// was finished is lost or changed. Gives the trials that are in the results file then.
pub(crate) fn kill_again_and_again<'c>(
    place: &Place,
    results: &Path,
    commands: impl Iterator<Item = &'c str>,
    most_trials: u64,
    seed: u64,
) -> Vec<Trial> {
    // xorshift (G. Marsaglia, "Xorshift RNGs", 2003): moments that differ and can be repeated.
    let mut state = seed;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut kept: Vec<Trial> = Vec::new();
    for (round, command) in commands.enumerate() {
        let mut running = place.start(command);
        if round == 0 {
            running.until("a working folder", || place.folders("a").pop());
        } else {
            let more = kept.len() + random(most_trials) as usize;
            until("another trial", || {
                (running.ended().is_some() || trials(results).len() >= more).then_some(())
            });
        }
        let moment = Instant::now() + Duration::from_millis(random(250));
        until("a moment", || (Instant::now() >= moment).then_some(()));
        assert_eq!(running.ended(), None, "it must be killed before it ends");
        let before = trials(results);
        running.kill();
        let after = trials(results);
        assert!(after.starts_with(&before), "a finished trial is lost: {before:?}, {after:?}");
        assert!(after.len() <= before.len() + 1, "{before:?}, {after:?}");
        assert!(after.starts_with(&kept), "an earlier trial was changed: {kept:?}, {after:?}");
        kept = after;
    }
    kept
}
