//! What was read back, judged against the journal.

use serde::Serialize;
use stormeter_disk::DeviceError;

use crate::{Acknowledged, Content, Ring, RunId};

/// Misplaced records that are listed.
const MOST_LISTED: usize = 100;

/// What was found at a place of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nobody looked.
    Unread,
    /// It was read.
    Holds(Content),
    /// It cannot be read.
    Unreadable(DeviceError),
}

/// Why nothing can be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The disk has another run's records.
    #[error(
        "the disk has records of run {found}, and the journal is of run {journal}: give the journal of that run"
    )]
    OtherRun {
        /// The run on the disk.
        found: RunId,
        /// The run of the journal.
        journal: RunId,
    },
}

/// The result in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Every record that could be judged is there.
    Kept,
    /// Acknowledged records are lost, or records are where they do not belong.
    Broken,
    /// There is no record that could be judged.
    NothingToJudge,
}

/// Consecutive acknowledged records that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// The first.
    pub from: u64,
    /// The last.
    pub to: u64,
    /// When the first was acknowledged.
    pub acknowledged_from: Acknowledged,
    /// When the last was.
    pub acknowledged_to: Acknowledged,
}

/// What is in the places of the lost records, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Causes {
    /// An older record, whole.
    pub older: u64,
    /// What was there before the first record.
    pub never_written: u64,
    /// Parts of records.
    pub torn: u64,
    /// A record that belongs elsewhere.
    pub misplaced: u64,
    /// Zeros.
    pub zeros: u64,
    /// Another run's record.
    pub foreign: u64,
    /// Bytes that no run wrote.
    pub unrecognised: u64,
    /// The storage cannot read it.
    pub unreadable: u64,
}

/// A record at a place where it does not belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Misplaced {
    /// The record.
    pub number: u64,
    /// Where it was found, in bytes.
    pub found_at_bytes: u64,
    /// Where it belongs, in bytes.
    pub belongs_at_bytes: u64,
}

/// A record is there whose group came after that of a record that was acknowledged and is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Order {
    /// The first record that is missing.
    pub missing: u64,
    /// The last record that is there.
    pub present: u64,
}

/// What the check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The result.
    pub outcome: Outcome,
    /// The last acknowledged record, counted from 1; 0 if none was.
    pub acknowledged: u64,
    /// Records that had to be there.
    pub judged: u64,
    /// Of these, records that are not there or not whole.
    pub lost: u64,
    /// The same as ranges, the earliest first.
    pub ranges: Vec<Lost>,
    /// What is there instead.
    pub causes: Causes,
    /// Records that belong elsewhere, acknowledged or not; the first ones.
    pub misplaced: Vec<Misplaced>,
    /// How many there are.
    pub misplaced_count: u64,
    /// Whether later writes survived earlier acknowledged ones.
    pub order: Option<Order>,
    /// Records after the last acknowledged one that are there. They may be.
    pub later: u64,
    /// Places over which a write may have been under way that are torn. They may be.
    pub torn_under_way: u64,
    /// A record that was written after the journal's last line and the group that may follow it: the journal has
    /// lost its end.
    pub beyond_journal: Option<u64>,
}

/// Judges what was read back: `places` in the order of the ring, `acknowledged` as the journal has it.
///
/// # Errors
/// The disk is another run's.
pub fn judge(
    ring: &Ring,
    acknowledged: &[Acknowledged],
    places: &[Place],
) -> Result<Verdict, CheckError> {
    refuse_other_run(ring, places)?;
    let last = acknowledged.last().map_or(0, |last| last.up_to);
    let next_group = last + u64::from(ring.group);
    let seen = places.iter().filter_map(newest).max().unwrap_or(0);
    // Records up to this one may have been written when the power went. A record that is there was written, even
    // if the journal has lost the lines that came before it.
    let written = next_group.max(ring.group_end(seen));

    let mut verdict = Verdict {
        outcome: Outcome::Kept,
        acknowledged: last,
        judged: 0,
        lost: 0,
        ranges: Vec::new(),
        causes: Causes::default(),
        misplaced: Vec::new(),
        misplaced_count: 0,
        order: None,
        later: 0,
        torn_under_way: 0,
        beyond_journal: (seen > next_group).then_some(seen),
    };
    let mut lost = Vec::new();
    let mut present = 0;
    for (place, found) in (0..).zip(places) {
        if let Place::Holds(Content::Misplaced { number, offset_bytes }) = *found {
            verdict.misplaced_count += 1;
            if verdict.misplaced.len() < MOST_LISTED {
                let found_at_bytes = ring.offset_bytes(place);
                let belongs_at_bytes = offset_bytes;
                verdict.misplaced.push(Misplaced { number, found_at_bytes, belongs_at_bytes });
            }
        }
        let whole = match found {
            Place::Holds(Content::Record { number }) => Some(*number),
            _ => None,
        };
        present = present.max(whole.unwrap_or(0));
        let due = ring.newest_at(place, last).filter(|number| number + ring.places() > written);
        match due {
            Some(number) => {
                verdict.judged += 1;
                if whole != Some(number) {
                    lost.push(number);
                    verdict.causes.count(found);
                }
            }
            None => {
                verdict.later += u64::from(whole.is_some_and(|number| number > last));
                let is_torn = matches!(found, Place::Holds(Content::Torn { .. }));
                verdict.torn_under_way += u64::from(is_torn);
            }
        }
    }
    lost.sort_unstable();
    verdict.lost = lost.len() as u64;
    verdict.ranges = ranges(&lost, acknowledged);
    if let Some(&missing) = lost.first()
        && present > ring.group_end(missing)
    {
        verdict.order = Some(Order { missing, present });
    }
    verdict.outcome = if verdict.lost > 0 || verdict.misplaced_count > 0 {
        Outcome::Broken
    } else if verdict.judged == 0 {
        Outcome::NothingToJudge
    } else {
        Outcome::Kept
    };
    Ok(verdict)
}

fn refuse_other_run(ring: &Ring, places: &[Place]) -> Result<(), CheckError> {
    if places.iter().any(|place| newest(place).is_some()) {
        return Ok(());
    }
    let foreign = places.iter().find_map(|place| match place {
        Place::Holds(Content::Foreign { run }) => Some(*run),
        _ => None,
    });
    foreign.map_or(Ok(()), |found| Err(CheckError::OtherRun { found, journal: ring.run }))
}

/// The newest of the run's records of which something is at a place.
fn newest(place: &Place) -> Option<u64> {
    match *place {
        Place::Holds(Content::Record { number } | Content::Misplaced { number, .. }) => {
            Some(number)
        }
        Place::Holds(Content::Torn { newest }) => Some(newest),
        _ => None,
    }
}

impl Causes {
    fn count(&mut self, found: &Place) {
        let counter = match found {
            Place::Unread | Place::Unreadable(_) => &mut self.unreadable,
            Place::Holds(content) => match content {
                Content::Record { number: 0 } => &mut self.never_written,
                Content::Record { .. } => &mut self.older,
                Content::Torn { .. } => &mut self.torn,
                Content::Misplaced { .. } => &mut self.misplaced,
                Content::Foreign { .. } => &mut self.foreign,
                Content::Zeros => &mut self.zeros,
                Content::Unrecognised => &mut self.unrecognised,
            },
        };
        *counter += 1;
    }
}

/// Consecutive numbers as ranges, with the lines that acknowledged them.
fn ranges(lost: &[u64], acknowledged: &[Acknowledged]) -> Vec<Lost> {
    // The first line whose number is not below that of the record.
    let line = |number: u64| {
        let index = acknowledged.partition_point(|line| line.up_to < number);
        acknowledged[index.min(acknowledged.len() - 1)]
    };
    let runs = lost.chunk_by(|one, next| one + 1 == *next);
    let range = |run: &[u64]| {
        let (from, to) = (*run.first()?, *run.last()?);
        Some(Lost { from, to, acknowledged_from: line(from), acknowledged_to: line(to) })
    };
    runs.filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Moment;

    /// Twelve places, two records a flush.
    const RING: Ring = Ring { run: RunId(1), disk_bytes: 12 * 512, block_bytes: 512, group: 2 };

    fn lines(last: u64) -> Vec<Acknowledged> {
        let at = |up_to| Moment { unix_ms: up_to, monotonic_ns: up_to };
        (1..=last / 2).map(|n| Acknowledged { up_to: 2 * n, at: at(2 * n) }).collect()
    }

    fn holds(content: Content) -> Place {
        Place::Holds(content)
    }

    /// The disk after the records up to `last`.
    fn disk(last: u64) -> Vec<Place> {
        let record = |place| RING.newest_at(place, last).unwrap_or(0);
        (0..12).map(|place| holds(Content::Record { number: record(place) })).collect()
    }

    fn verdict(last: u64, change: impl FnOnce(&mut [Place])) -> Verdict {
        let mut places = disk(last);
        change(&mut places);
        judge(&RING, &lines(last), &places).unwrap()
    }

    #[test]
    fn what_is_there_is_kept() {
        let verdict = verdict(30, |_| {});
        assert_eq!((verdict.outcome, verdict.acknowledged), (Outcome::Kept, 30));
        // Two of the twelve records lie where the next group may have been under way.
        assert_eq!((verdict.judged, verdict.lost, verdict.later), (10, 0, 0));
    }

    #[test]
    fn before_the_first_pass_ends_nothing_is_overwritten() {
        assert_eq!(verdict(8, |_| {}).judged, 8);
        assert_eq!(verdict(10, |_| {}).judged, 10);
        assert_eq!(verdict(12, |_| {}).judged, 10);
    }

    #[test]
    fn what_the_group_under_way_left_is_not_held_against_the_storage() {
        for left in [
            Content::Record { number: 31 },
            Content::Record { number: 19 },
            Content::Torn { newest: 31 },
            Content::Unrecognised,
            Content::Zeros,
        ] {
            // Record 31 goes to place 6, over record 19.
            let verdict = verdict(30, |places| places[6] = holds(left));
            assert_eq!((verdict.outcome, verdict.judged), (Outcome::Kept, 10), "{left:?}");
            assert_eq!(verdict.later, u64::from(left == Content::Record { number: 31 }));
            assert_eq!(verdict.torn_under_way, u64::from(matches!(left, Content::Torn { .. })));
        }
    }

    #[test]
    fn a_lost_tail_keeps_the_order_and_a_lost_middle_does_not() {
        // The records 29 and 30 are at the places 4 and 5, where 17 and 18 were.
        let tail = verdict(30, |places| {
            places[4] = holds(Content::Record { number: 17 });
            places[5] = holds(Content::Record { number: 18 });
        });
        assert_eq!((tail.outcome, tail.lost, tail.order), (Outcome::Broken, 2, None));
        assert_eq!((tail.ranges[0].from, tail.ranges[0].to, tail.causes.older), (29, 30, 2));
        assert_eq!(tail.ranges[0].acknowledged_from.up_to, 30);

        let middle = verdict(30, |places| places[2] = holds(Content::Record { number: 15 }));
        assert_eq!(middle.order, Some(Order { missing: 27, present: 30 }));
        let within = verdict(30, |places| places[4] = holds(Content::Record { number: 17 }));
        assert_eq!((within.lost, within.order), (1, None), "one flush covers 29 and 30");
        // A write that nobody flushed survived one that was acknowledged.
        let later = verdict(30, |places| {
            places[4] = holds(Content::Record { number: 17 });
            places[6] = holds(Content::Record { number: 31 });
        });
        assert_eq!(later.order, Some(Order { missing: 29, present: 31 }));
    }

    #[test]
    fn ranges_have_the_times_of_their_own_acknowledgements() {
        let verdict = verdict(30, |places| {
            for number in [22, 23, 24, 27] {
                places[RING.place_of(number) as usize] = holds(Content::Zeros);
            }
        });
        let range = |lost: &Lost| {
            (lost.from, lost.to, lost.acknowledged_from.at.unix_ms, lost.acknowledged_to.at.unix_ms)
        };
        let found: Vec<_> = verdict.ranges.iter().map(range).collect();
        assert_eq!(found, [(22, 24, 22, 24), (27, 27, 28, 28)]);
        assert_eq!((verdict.lost, verdict.causes.zeros), (4, 4));
    }

    #[test]
    fn each_cause_is_counted_apart() {
        let verdict = verdict(10, |places| {
            places[0] = holds(Content::Torn { newest: 1 });
            places[1] = holds(Content::Zeros);
            places[2] = holds(Content::Unrecognised);
            places[3] = Place::Unreadable(DeviceError::IO);
            places[4] = holds(Content::Foreign { run: RunId(9) });
            places[5] = holds(Content::Record { number: 0 });
            places[6] = holds(Content::Misplaced { number: 1, offset_bytes: 0 });
        });
        let expected = Causes {
            older: 0,
            never_written: 1,
            torn: 1,
            misplaced: 1,
            zeros: 1,
            foreign: 1,
            unrecognised: 1,
            unreadable: 1,
        };
        assert_eq!((verdict.causes, verdict.lost), (expected, 7));
        let misplaced = Misplaced { number: 1, found_at_bytes: 6 * 512, belongs_at_bytes: 0 };
        assert_eq!(verdict.misplaced, [misplaced]);
    }

    #[test]
    fn a_misplaced_record_is_wrong_wherever_it_is() {
        // Nothing was written at the last place yet.
        let verdict = verdict(6, |places| {
            places[11] = holds(Content::Misplaced { number: 7, offset_bytes: 6 * 512 });
        });
        assert_eq!((verdict.outcome, verdict.lost), (Outcome::Broken, 0));
        assert_eq!(verdict.misplaced_count, 1);
    }

    #[test]
    fn without_acknowledged_records_nothing_is_judged() {
        let verdict = verdict(0, |places| places[0] = holds(Content::Record { number: 1 }));
        assert_eq!((verdict.outcome, verdict.judged), (Outcome::NothingToJudge, 0));
        assert_eq!(verdict.later, 1);
    }

    #[test]
    fn a_journal_that_lost_its_end_accuses_nobody() {
        // The disk went on to record 37, and the journal ends at 30.
        let verdict = judge(&RING, &lines(30), &disk(37)).unwrap();
        assert_eq!((verdict.outcome, verdict.beyond_journal), (Outcome::Kept, Some(37)));
        assert_eq!((verdict.judged, verdict.later), (4, 7));
    }

    #[test]
    fn another_runs_disk_is_refused() {
        let places = vec![holds(Content::Foreign { run: RunId(9) }); 12];
        let error = judge(&RING, &lines(30), &places).unwrap_err();
        assert_eq!(error, CheckError::OtherRun { found: RunId(9), journal: RunId(1) });
        let places = vec![holds(Content::Zeros); 12];
        assert_eq!(judge(&RING, &lines(30), &places).unwrap().lost, 10);
    }
}
