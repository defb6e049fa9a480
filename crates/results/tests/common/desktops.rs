//! Totals of desktops from a seed.

use stormeter_trial::{DesktopRow, DesktopStep, DesktopTotals, KindTotals, StepTime};

use super::{Dice, some_totals};

pub(super) fn desktops(dice: &mut Dice) -> DesktopTotals {
    let steps = DesktopStep::ALL.map(|step| StepTime {
        name: step.name().into(),
        times: dice.below(9),
        total_ns: dice.count() >> 8,
        max_ns: dice.count(),
    });
    DesktopTotals {
        came: dice.count(),
        usable: dice.count(),
        refused: dice.count(),
        gone: dice.count(),
        replaced: dice.count(),
        waiting: dice.count(),
        at_once: dice.count(),
        deployed: dice.count(),
        failed: dice.count(),
        died: dice.count(),
        idled_out: dice.count(),
        storage_most_bytes: dice.count(),
        steps: steps.into(),
        // What fails is the desktop's end, and no I/O of its own.
        work: [(); 2].map(|()| KindTotals { short_operations: 0, errors: 0, ..some_totals(dice) }),
        unserved: unserved(dice),
        rows: (0..dice.below(4)).map(|_| desktop_row(dice)).collect(),
    }
}

/// Waits move no bytes and do not fail.
fn unserved(dice: &mut Dice) -> KindTotals {
    KindTotals { bytes: 0, short_operations: 0, errors: 0, ..some_totals(dice) }
}

fn desktop_row(dice: &mut Dice) -> DesktopRow {
    DesktopRow {
        start_ns: dice.count(),
        length_ns: dice.count(),
        waiting: dice.float(),
        deploying: dice.float(),
        ready: dice.float(),
        used: dice.float(),
        idle: dice.float(),
        leaving: dice.float(),
    }
}
