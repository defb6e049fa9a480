//! What guests did, from a seed.

use stormeter_trial::{GuestActivity, GuestKind, GuestRow};

use super::Dice;

pub(super) fn guest(dice: &mut Dice) -> GuestActivity {
    GuestActivity {
        name: dice.text(),
        kind: GuestKind::ALL[dice.below(4) as usize],
        rows: (0..dice.below(4)).map(|_| guest_row(dice)).collect(),
    }
}

fn guest_row(dice: &mut Dice) -> GuestRow {
    GuestRow {
        at_ns: dice.count(),
        length_ns: dice.count(),
        cpus_busy: dice.float(),
        waited: dice.float(),
        memory_bytes: dice.count(),
        disk_read_bytes_per_s: dice.maybe(Dice::float),
        disk_write_bytes_per_s: dice.maybe(Dice::float),
        network_receive_bytes_per_s: dice.maybe(Dice::float),
        network_transmit_bytes_per_s: dice.maybe(Dice::float),
    }
}
