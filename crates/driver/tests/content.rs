//! The contents of a disk after the loop has written to it, as deduplicating or compressing storage
//! would see them.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use stormeter_disk::{Clock, Completion, Disks, DisksError, Kind, Operation, Wait};
use stormeter_driver::drive;
use stormeter_testkit::workload;
use stormeter_trial::{Arrivals, Content, Limits, SizeShare, Trial, Workload};

const BLOCK: usize = 4096;
const DISK: usize = 8 << 20;

/// A disk in memory that answers at the next reap; buffers are busy until then, as with the kernel.
struct Memory {
    bytes: Vec<u8>,
    buffers: Vec<Vec<u8>>,
    outstanding: Vec<Operation>,
    handed_out: Rc<Cell<u32>>,
}

impl Disks for Memory {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        self.outstanding.extend_from_slice(operations);
        Ok(())
    }

    fn reap(&mut self, _: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        for operation in self.outstanding.drain(..) {
            let (at, length) = (operation.offset_bytes as usize, operation.length_bytes as usize);
            assert_eq!(operation.kind, Kind::Write);
            let buffer = &self.buffers[operation.buffer as usize];
            self.bytes[at..at + length].copy_from_slice(&buffer[..length]);
            completions.push(Completion::moved(operation.slot, operation.length_bytes));
        }
        Ok(())
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        self.handed_out.set(self.handed_out.get() + 1);
        let busy = self.outstanding.iter().any(|operation| operation.buffer == buffer);
        self.buffers.get_mut(buffer as usize).filter(|_| !busy).map(Vec::as_mut_slice)
    }
}

struct Ticking(u64);

impl Clock for Ticking {
    fn now_ns(&mut self) -> u64 {
        self.0 += 1000;
        self.0
    }
}

fn written(content: Content, outstanding: u32) -> Vec<u8> {
    let trial = Trial {
        workload: Workload {
            sizes: vec![SizeShare { bytes: BLOCK as u32, share: 1.0 }],
            read_percent: 0.0,
            random_percent: 0.0,
            content,
            ..workload(Arrivals::Closed { outstanding })
        },
        first_disk: 0,
        disks: 1,
        disk_bytes: DISK as u64,
        seed: 5,
        start: Default::default(),
        content_seed: 0,
        ramp_ns: 0,
        duration_ns: 20_000_000,
        interval_ns: 20_000_000,
        limits: Limits::default(),
        verify: false,
    };
    let needs = trial.buffer_needs();
    let mut disks = Memory {
        bytes: vec![0; DISK],
        buffers: vec![vec![0; needs.bytes as usize]; needs.count as usize],
        outstanding: Vec::new(),
        handed_out: Rc::default(),
    };
    let handed_out = disks.handed_out.clone();
    let start = || {
        // Filling takes time; it must not count towards the ramp or the window.
        assert!(handed_out.get() >= needs.count - needs.in_flight - 1);
        Some(0)
    };
    let sample = drive(&trial, start, &mut disks, &mut Ticking(0), &mut ());
    let sample = sample.expect("a workload that fits its disk");
    assert!(sample.operations() as usize * BLOCK > DISK, "the whole disk is to be written");
    disks.bytes
}

/// Sixteen bytes at one offset in a block, as a compressor's match finder would look them up.
fn distinct_strings(bytes: &[u8], at: usize) -> usize {
    bytes.chunks(BLOCK).map(|block| &block[at..at + 16]).collect::<HashSet<_>>().len()
}

#[test]
fn neighbouring_blocks_share_nothing_that_a_compressor_could_use() {
    for outstanding in [1, 16] {
        let bytes = written(Content::default(), outstanding);
        for window in bytes.chunks(1 << 20) {
            for at in [8, 1000, 4080] {
                assert_eq!(distinct_strings(window, at), window.len() / BLOCK);
            }
        }
    }
}

#[test]
fn no_block_is_written_twice_alike() {
    let bytes = written(Content::default(), 4);
    let blocks: HashSet<&[u8]> = bytes.chunks(BLOCK).collect();
    assert_eq!(blocks.len(), DISK / BLOCK);
}

#[test]
fn duplicates_are_written_as_often_as_asked() {
    let half = Content { compressible_percent: 0.0, duplicate_percent: 50.0 };
    let bytes = written(half, 4);
    let blocks: HashSet<&[u8]> = bytes.chunks(BLOCK).collect();
    let unique = blocks.len() as f64 / (DISK / BLOCK) as f64;
    assert!((unique - 0.5).abs() < 0.06, "{unique}");
}
