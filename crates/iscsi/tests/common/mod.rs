//! What the tests share: a target in memory, and a session connected to it.
// Each test is a separate crate that uses only part of this.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod target;
pub mod wire;

use std::rc::Rc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_iscsi::scsi::Lun;
use stormeter_iscsi::{Isid, Options, Parameters, Timeouts};

/// Seeded random numbers.
#[derive(Debug, Clone)]
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from `low` to `high`, inclusive.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + (self.word() % (u64::from(high - low) + 1)) as u32
    }

    /// True with a probability in thousandths.
    pub fn chance(&mut self, per_mille: u32) -> bool {
        self.between(0, 999) < per_mille
    }
}

pub const BLOCK: u32 = 512;

/// Options for a unit that consists of disk 0.
pub fn options(parameters: Parameters) -> Options {
    Options {
        initiator_name: "iqn.2026-01.org.example:us".into(),
        isid: Isid::random(0x0102_0300_0000_0000, 1),
        target_name: "iqn.2026-01.org.example:them".into(),
        lun: Lun::of_number(1).unwrap(),
        chap: None,
        parameters,
        block_bytes: BLOCK,
        extents: vec![0],
        disk_bytes: 0,
        cache: Rc::default(),
        max_transfer_bytes: 40 * BLOCK,
        timeouts: Timeouts::default(),
        flush_on_close: false,
        random: Box::new(|| 4),
    }
}
