//! Decides which trials count if blocks were measured again, and which are still due.
//!
//! A trial that broke (it failed, or its counters break a law) invalidates its block: trials that are compared with one
//! another must be from the same time. So they are measured again together, at most twice. The last attempt counts,
//! whatever it shows; earlier attempts stay in the results file and are counted
//! ([`stormeter_statistics::MeasuredAgain`]), so that storage that breaks trial after trial does not pass by repetition.
//!
//! A **member** is a cell, which has one trial in a block. A **group** is the cells that are compared with one another,
//! those of one load. A **redo** measures all blocks of a group again on request: no earlier trial counts then, so that
//! trials cannot be picked by their results.

use std::collections::HashMap;

use stormeter_results::{Attempt, Phase, TrialOutcome, TrialRecord};
use stormeter_statistics::laws::broken_law;
use stormeter_statistics::{BrokenBy, MeasuredAgain};
use stormeter_study::{Cell, StudyPlan, WorkloadKind};

/// The largest number of times that a block is measured again.
const AGAIN: u32 = 2;

/// What is needed to judge trials.
#[derive(Debug, Default)]
struct Of {
    cells: Vec<Cell>,
    /// The workloads, by number.
    workloads: Vec<WorkloadKind>,
    /// Per datastore: whether it answers from nothing.
    is_null: Vec<bool>,
}

/// The trials of all blocks, attempt by attempt.
#[derive(Debug)]
pub struct Attempts {
    of: Of,
    /// Per member: its group.
    group_of: Vec<usize>,
    groups: Vec<Group>,
}

#[derive(Debug, Default)]
struct Group {
    members: Vec<usize>,
    /// How often all of its blocks were measured again on request.
    redo: u32,
    blocks: HashMap<u32, Vec<Made>>,
}

/// A recorded trial.
#[derive(Debug)]
struct Made {
    member: usize,
    attempt: Attempt,
    is_broken: bool,
}

/// A trial that is still due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Its turn in the block.
    pub position: u32,
    /// Which cell.
    pub member: usize,
    /// Which attempt at its block it will belong to.
    pub attempt: Attempt,
    /// Whether the block would be measured again by it, and no trial of that attempt has been made yet.
    pub begins_again: bool,
}

impl Attempts {
    /// The attempts that these trials of the plan are of. `is_null` says of each datastore whether it answers from
    /// nothing; a list that is too short says no of the rest.
    pub fn of(plan: &StudyPlan, is_null: Vec<bool>, trials: &[TrialRecord]) -> Self {
        let mut loads = Vec::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let cells = plan.cells();
        for (index, cell) in cells.iter().enumerate() {
            let load = (cell.workload, cell.vms, cell.outstanding);
            match loads.iter().position(|known| *known == load) {
                Some(group) => groups[group].push(index),
                None => {
                    loads.push(load);
                    groups.push(vec![index]);
                }
            }
        }
        let mut attempts = Self::new(groups);
        let workloads = plan.workloads.iter().map(|workload| workload.kind.clone()).collect();
        attempts.of = Of { cells, workloads, is_null };
        for trial in trials {
            attempts.add(trial);
        }
        attempts
    }

    fn new(groups: Vec<Vec<usize>>) -> Self {
        let count = groups.iter().map(Vec::len).sum();
        let mut group_of = vec![0; count];
        for (group, members) in groups.iter().enumerate() {
            for &member in members {
                group_of[member] = group;
            }
        }
        let groups = groups.into_iter().map(|members| Group { members, ..Group::default() });
        Self { of: Of::default(), group_of, groups: groups.collect() }
    }

    /// Takes a trial into account.
    pub fn add(&mut self, trial: &TrialRecord) {
        if let Some(cell) = trial.cell {
            self.made(cell, trial, self.of.what_broke(trial).is_some());
        }
    }

    fn made(&mut self, member: usize, trial: &TrialRecord, is_broken: bool) {
        let Some(group) = self.group_of.get(member).and_then(|&group| self.groups.get_mut(group))
        else {
            return;
        };
        if trial.phase == Phase::Main {
            group.redo = group.redo.max(trial.attempt.redo);
            let made = Made { member, attempt: trial.attempt, is_broken };
            group.blocks.entry(trial.block).or_default().push(made);
        }
    }

    /// Measures all blocks of this member's group again.
    pub fn redo(&mut self, members: &[usize]) {
        let mut groups: Vec<usize> =
            members.iter().filter_map(|&member| self.group_of.get(member).copied()).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            self.groups[group].redo += 1;
        }
    }

    /// Whether a trial of a block counts. All others do: a ceiling has no attempts.
    pub fn counts(&self, trial: &TrialRecord) -> bool {
        if trial.phase != Phase::Main {
            return true;
        }
        let group = trial.cell.and_then(|member| self.group_of.get(member));
        let Some(group) = group else { return true };
        let group = &self.groups[*group];
        trial.attempt.redo == group.redo && group.reached(trial.block) == Some(trial.attempt.number)
    }

    /// The trials of a block that are still to be made, as far as that is known now; `order` is the members in
    /// the order of their turns.
    pub fn due(&self, block: u32, order: &[usize]) -> Vec<Due> {
        let of_group: Vec<(u32, Vec<usize>, bool)> =
            self.groups.iter().map(|group| group.due(block)).collect();
        let due = (0..).zip(order).filter_map(|(position, &member)| {
            let group = *self.group_of.get(member)?;
            let (number, members, begins_again) = &of_group[group];
            let attempt = Attempt { redo: self.groups[group].redo, number: *number };
            let begins_again = *begins_again;
            members.contains(&member).then_some(Due { position, member, attempt, begins_again })
        });
        due.collect()
    }

    /// Blocks of which something can be read: the most of all groups, as one that is ahead shows its verdict.
    pub fn readable_blocks(&self) -> usize {
        self.groups.iter().map(Group::sound_blocks).max().unwrap_or(0)
    }

    /// Per member: how often its trials broke in blocks that were measured again, and why.
    pub fn measured_again(&self, trials: &[TrialRecord]) -> Vec<Option<MeasuredAgain>> {
        self.measured_again_by(trials, |trial| self.of.what_broke(trial))
    }

    fn measured_again_by(
        &self,
        trials: &[TrialRecord],
        what_broke: impl Fn(&TrialRecord) -> Option<Broken>,
    ) -> Vec<Option<MeasuredAgain>> {
        let mut all: Vec<Option<MeasuredAgain>> = vec![None; self.group_of.len()];
        let mut seen = std::collections::HashSet::new();
        for trial in trials.iter().filter(|trial| trial.phase == Phase::Main) {
            let Some(member) = trial.cell else { continue };
            let Some(group) = self.group_of.get(member).map(|&group| &self.groups[group]) else {
                continue;
            };
            if trial.attempt.redo != group.redo || self.counts(trial) {
                continue;
            }
            let Some(Broken { by: first, by_storage }) = what_broke(trial) else { continue };
            let is_new = seen.insert((member, trial.block));
            let of = group.current_blocks();
            let again =
                all[member].get_or_insert(MeasuredAgain { blocks: 0, of, first, by_storage: 0 });
            again.blocks += u32::from(is_new);
            again.by_storage += u32::from(is_new && by_storage);
        }
        all
    }
}

impl Group {
    fn current(&self, block: u32) -> impl Iterator<Item = &Made> {
        let made = self.blocks.get(&block).into_iter().flatten();
        made.filter(|made| made.attempt.redo == self.redo)
    }

    /// The last attempt at a block; `None` before the first.
    fn reached(&self, block: u32) -> Option<u32> {
        self.current(block).map(|made| made.attempt.number).max()
    }

    fn of_attempt(&self, block: u32, number: u32) -> impl Iterator<Item = &Made> {
        self.current(block).filter(move |made| made.attempt.number == number)
    }

    /// Number of the attempt, who has no trial in it yet, and whether it would measure the block again.
    fn due(&self, block: u32) -> (u32, Vec<usize>, bool) {
        let reached = self.reached(block).unwrap_or(0);
        let is_made = |member: usize| self.of_attempt(block, reached).any(|it| it.member == member);
        let missing: Vec<usize> =
            self.members.iter().copied().filter(|&member| !is_made(member)).collect();
        let broke = self.of_attempt(block, reached).any(|made| made.is_broken);
        if !missing.is_empty() || !broke || reached >= AGAIN || self.has_given_up() {
            return (reached, missing, false);
        }
        (reached + 1, self.members.clone(), true)
    }

    /// Whether a block broke in all of its attempts: then its cell is invalid, and measuring others again would waste
    /// time.
    fn has_given_up(&self) -> bool {
        self.blocks.keys().any(|&block| self.of_attempt(block, AGAIN).any(|made| made.is_broken))
    }

    /// The number of blocks whose last attempt is complete and sound.
    fn sound_blocks(&self) -> usize {
        let is_sound = |block: &&u32| {
            let (number, missing, _) = self.due(**block);
            let broke = self.of_attempt(**block, number).any(|made| made.is_broken);
            missing.is_empty() && !broke
        };
        self.blocks.keys().filter(is_sound).count()
    }

    /// The number of blocks measured since the last redo.
    fn current_blocks(&self) -> u32 {
        self.blocks.keys().filter(|&&block| self.reached(block).is_some()).count() as u32
    }
}

/// Why a trial broke.
#[derive(Debug)]
struct Broken {
    by: BrokenBy,
    /// Whether the storage is to blame and not the measurement.
    by_storage: bool,
}

impl Of {
    /// Why a trial is not a measurement; `None` if it is one.
    fn what_broke(&self, trial: &TrialRecord) -> Option<Broken> {
        let cell = self.cells.get(trial.cell?)?;
        let is_null = self.is_null.get(cell.datastore).copied().unwrap_or(false);
        what_broke(self.workloads.get(cell.workload)?, is_null, trial)
    }
}

fn what_broke(kind: &WorkloadKind, is_null: bool, trial: &TrialRecord) -> Option<Broken> {
    match &trial.outcome {
        TrialOutcome::Failed { failure, .. } => Some(Broken {
            by: BrokenBy::Failure(failure.clone()),
            by_storage: failure.is_by_storage(),
        }),
        TrialOutcome::Measured { sample, .. } => {
            let law = broken_law(kind, sample, is_null)?;
            let by_storage = sample.failed_operations() > 0;
            Some(Broken { by: BrokenBy::Law(Box::new(law)), by_storage })
        }
    }
}

#[cfg(test)]
mod tests {
    use stormeter_trial::TrialFailure;

    use super::*;

    fn trial(block: u32, cell: usize, attempt: Attempt) -> TrialRecord {
        TrialRecord {
            id: 0,
            block,
            position: 0,
            datastore: Some(cell),
            cell: Some(cell),
            phase: Phase::Main,
            started_unix_ms: 0,
            elapsed_ns: 0,
            seed: 0,
            outcome: TrialOutcome::Failed {
                failure: TrialFailure::Datastore { said: "stalled".into() },
                sample: None,
            },
            incidents: Vec::new(),
            monitor: Vec::new(),
            guests: Vec::new(),
            components: Vec::new(),
            attempt,
        }
    }

    fn broken_by(said: &str) -> Broken {
        let by = BrokenBy::Failure(TrialFailure::Datastore { said: said.into() });
        Broken { by, by_storage: true }
    }

    const FIRST: Attempt = Attempt { redo: 0, number: 0 };

    fn two() -> Attempts {
        Attempts::new(vec![vec![0, 1]])
    }

    /// Records the due trials of a block; member 0 breaks as long as `breaks` says so. Returns the number of trials.
    fn carry_out(attempts: &mut Attempts, block: u32, breaks: impl Fn(u32) -> bool) -> usize {
        let mut made = 0;
        loop {
            let due = attempts.due(block, &[1, 0]);
            if due.is_empty() {
                return made;
            }
            for Due { member, attempt, .. } in due {
                let is_broken = member == 0 && breaks(attempt.number);
                attempts.made(member, &trial(block, member, attempt), is_broken);
                made += 1;
            }
        }
    }

    #[test]
    fn a_sound_block_is_measured_once_and_a_broken_one_again_with_all_that_it_is_compared_with() {
        let mut attempts = two();
        let due = attempts.due(0, &[1, 0]);
        assert_eq!(
            due.iter().map(|it| (it.position, it.member)).collect::<Vec<_>>(),
            [(0, 1), (1, 0)]
        );
        assert_eq!(carry_out(&mut attempts, 0, |_| false), 2);
        assert_eq!(carry_out(&mut attempts, 1, |attempt| attempt == 0), 4);
        assert!(!attempts.counts(&trial(1, 1, FIRST)), "the sound one of the broken block, too");
        assert!(attempts.counts(&trial(1, 1, Attempt { redo: 0, number: 1 })));
        assert_eq!(attempts.readable_blocks(), 2);
    }

    #[test]
    fn a_block_is_measured_again_at_most_twice_and_then_no_other_one() {
        let mut attempts = two();
        assert_eq!(carry_out(&mut attempts, 0, |_| true), 6);
        assert!(attempts.counts(&trial(0, 0, Attempt { redo: 0, number: 2 })), "and stays broken");
        assert_eq!(carry_out(&mut attempts, 1, |_| true), 2);
        assert_eq!(attempts.readable_blocks(), 0);
    }

    #[test]
    fn groups_do_not_wait_for_each_other_and_a_killed_attempt_is_finished() {
        let mut attempts = Attempts::new(vec![vec![0, 1], vec![2, 3]]);
        for member in 0..4 {
            attempts.made(member, &trial(0, member, FIRST), member == 2);
        }
        let due = |attempts: &Attempts| -> Vec<(usize, u32, bool)> {
            let due = attempts.due(0, &[3, 2, 1, 0]);
            due.iter().map(|it| (it.member, it.attempt.number, it.begins_again)).collect()
        };
        assert_eq!(due(&attempts), [(3, 1, true), (2, 1, true)]);
        let again = Attempt { redo: 0, number: 1 };
        attempts.made(3, &trial(0, 3, again), false);
        assert_eq!(due(&attempts), [(2, 1, false)], "killed in the second attempt");
    }

    #[test]
    fn a_redo_measures_every_block_again_and_nothing_from_before_counts() {
        let mut attempts = two();
        for block in 0..2 {
            carry_out(&mut attempts, block, |_| true);
        }
        attempts.redo(&[0, 1]);
        assert!(!attempts.counts(&trial(1, 1, FIRST)));
        assert_eq!(carry_out(&mut attempts, 0, |_| false), 2);
        assert_eq!(carry_out(&mut attempts, 1, |_| false), 2);
        assert!(attempts.counts(&trial(1, 1, Attempt { redo: 1, number: 0 })));
        let all: Vec<TrialRecord> =
            vec![trial(0, 0, FIRST), trial(1, 0, Attempt { redo: 1, number: 0 })];
        let broken = |_: &TrialRecord| Some(broken_by(""));
        assert_eq!(attempts.measured_again_by(&all, broken), [None, None]);
    }

    #[test]
    fn what_broke_is_counted_by_block() {
        let mut attempts = two();
        carry_out(&mut attempts, 0, |_| false);
        carry_out(&mut attempts, 1, |attempt| attempt < 2);
        let all: Vec<TrialRecord> =
            (0..3).map(|number| trial(1, 0, Attempt { redo: 0, number })).collect();
        let broken =
            |trial: &TrialRecord| Some(broken_by(&format!("attempt {}", trial.attempt.number)));
        let again = attempts.measured_again_by(&all, broken).remove(0).unwrap();
        let first = broken_by("attempt 0").by;
        let expected = MeasuredAgain { blocks: 1, of: 2, first, by_storage: 1 };
        assert_eq!(again, expected);
    }

    #[test]
    fn no_two_attempts_draw_the_same_operations() {
        let attempts = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)];
        let draws = attempts.map(|(redo, number)| Attempt { redo, number }.draw_of(7));
        assert_eq!(draws[0], 7);
        assert!((0..draws.len()).all(|at| !draws[..at].contains(&draws[at])), "{draws:?}");
    }
}
