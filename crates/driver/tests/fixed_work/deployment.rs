//! Deployments: the contents of the copies, the order of operations, the time of each step.

use std::collections::HashSet;

use stormeter_disk::{Completion, DeviceError, Disks, DisksError, Kind, Operation, Wait};
use stormeter_driver::drive_deployment;
use stormeter_simulator::VirtualTime;
use stormeter_trial::{Deployment, Ended, FixedWork};

use crate::setting::*;

const CHUNKS: u64 = 16;

#[test]
fn a_copy_is_the_template_but_for_what_customised_it() {
    let mut trial = deployment(4, 3);
    // The last chunk is incomplete.
    trial.disk_bytes += 8192;
    let time = VirtualTime::new();
    let content = |disk: u32, at: usize| (disk as u8 * 50) ^ (at / 4096 * 7 + at % 251) as u8;
    let mut disks = Watched::new(MemoryDisks::new(&trial, time.clone(), content));
    let sample =
        drive_deployment(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap();
    assert_laws(&sample);
    let template: Vec<u8> = (0..trial.disk_bytes as usize).map(|at| content(3, at)).collect();
    assert!(disks.disks.disks[3] == template, "the template was written to");
    let mut seen = HashSet::new();
    for vm in 0..3 {
        let own = disks.submitted.iter().filter(|one| one.disk == vm && one.length_bytes == 4096);
        let written: HashSet<u64> =
            own.filter(|one| one.kind == Kind::Write).map(|one| one.offset_bytes).collect();
        assert!(written.len() > 20);
        for (block, bytes) in disks.disks.disks[vm as usize].chunks(4096).enumerate() {
            let offset = block * 4096;
            let is_copy = bytes == &template[offset..offset + 4096];
            assert_eq!(is_copy, !written.contains(&(offset as u64)), "VM {vm} at {offset}");
            assert!(is_copy || seen.insert(bytes.to_vec()), "customised twice alike");
        }
    }
    // All bytes that moved: the template read and written once per VM, and the small I/Os.
    let bytes = 3 * (2 * trial.disk_bytes + (30 + 50) * 4096);
    assert_eq!((sample.writes.operations, sample.writes.bytes), (3, bytes));
    let rows: u64 = sample.intervals.iter().map(|row| row.writes.bytes + row.reads.bytes).sum();
    assert_eq!(rows, bytes);
}

#[test]
fn one_step_follows_the_other_and_each_is_timed() {
    let service_ns = 100 * US;
    let (sample, watched) = run_watched(&deployment(1, 1), constant(service_ns, 4), &mut ());
    let steps: Vec<_> =
        sample.steps.iter().map(|step| (step.name.as_str(), step.times, step.total_ns)).collect();
    let expected = [
        ("copy", 1, 2 * CHUNKS * service_ns),
        ("customise", 1, 30 * service_ns),
        ("boot", 1, 50 * service_ns),
    ];
    assert_eq!(steps, expected);
    assert_eq!(sample.window_ns, (2 * CHUNKS + 80) * service_ns);
    assert_eq!(sample.writes.latency_sum_ns, sample.window_ns);
    assert_eq!(watched.deepest, 1);

    // Four at once, two VMs: everything takes a quarter, rounded up to whole rounds.
    let (sample, watched) = run_watched(&deployment(4, 2), constant(service_ns, 8), &mut ());
    let rounds = 2 * CHUNKS.div_ceil(4) + 30_u64.div_ceil(4) + 50_u64.div_ceil(4);
    assert_eq!(sample.window_ns, rounds * service_ns);
    assert_eq!(watched.deepest, 8);
    assert_eq!(sample.steps[0].total_ns, 2 * sample.steps[0].max_ns);
    assert_eq!(sample.operations(), 2);
    assert!((sample.outstanding_mean - 2.0).abs() < 1e-9);
    // No step starts before the previous one has ended, for each VM.
    for vm in 0..2 {
        let kinds =
            watched.submitted.iter().filter(|one| one.disk == vm && one.length_bytes == 4096);
        let kinds: Vec<Kind> = kinds.map(|one| one.kind).collect();
        assert!(kinds[..30].iter().all(|&kind| kind == Kind::Write));
        assert!(kinds[30..].iter().all(|&kind| kind == Kind::Read));
    }
}

#[test]
fn steps_without_ios_are_left_out() {
    let mut trial = deployment(2, 2);
    let FixedWork::Deploy(deployment) = &mut trial.fixed_work else { panic!() };
    *deployment = Deployment { customise_writes: 0, boot_reads: 0, ..*deployment };
    let (sample, _) = run(&trial, constant(100 * US, 8));
    assert_eq!(sample.ended, Ended::Completed);
    assert_eq!(sample.steps.len(), 1);
    assert_eq!(sample.operations(), 2);
}

/// Disks on a storage that clones, or fails to.
struct Cloning {
    disks: MemoryDisks,
    cloned: Vec<(u32, u32)>,
    done: Vec<Completion>,
    fails: bool,
}

impl Disks for Cloning {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        for one in operations {
            assert!(self.cloned.iter().any(|(_, disk)| *disk == one.disk), "there is no such disk");
        }
        self.disks.submit(operations)
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        completions.append(&mut self.done);
        self.disks.reap(wait, completions)
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        self.disks.buffer(buffer)
    }

    fn clone_disk(&mut self, template: u32, disk: u32, slot: u32) -> Result<(), DisksError> {
        self.disks.disks[disk as usize] = self.disks.disks[template as usize].clone();
        self.cloned.push((template, disk));
        self.done.push(match self.fails {
            false => Completion::moved(slot, 0),
            true => Completion::failed(slot, DeviceError::NO_SPACE),
        });
        Ok(())
    }
}

fn cloning(fails: bool) -> (stormeter_trial::FixedWorkTrial, Cloning, VirtualTime) {
    let mut trial = deployment(4, 3);
    let FixedWork::Deploy(deployment) = &mut trial.fixed_work else { panic!() };
    *deployment = Deployment { clone: true, copy_bytes: 0, ..*deployment };
    let time = VirtualTime::new();
    let disks = MemoryDisks::new(&trial, time.clone(), |disk, at| disk as u8 ^ at as u8);
    (trial, Cloning { disks, cloned: Vec::new(), done: Vec::new(), fails }, time)
}

#[test]
fn a_clone_is_made_by_the_storage_and_moves_nothing() {
    let (trial, mut disks, time) = cloning(false);
    let sample =
        drive_deployment(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap();
    assert_laws(&sample);
    disks.cloned.sort_unstable();
    assert_eq!(disks.cloned, [(3, 0), (3, 1), (3, 2)]);
    let steps: Vec<&str> = sample.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["clone", "customise", "boot"]);
    assert_eq!(sample.writes.bytes, 3 * (30 + 50) * 4096);
}

#[test]
fn a_clone_that_fails_ends_the_trial() {
    let reason = |sample: stormeter_trial::Sample| match sample.ended {
        Ended::QueueBroken { reason } => reason,
        other => panic!("{other:?}"),
    };
    let (trial, mut disks, time) = cloning(true);
    let sample =
        drive_deployment(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap();
    assert!(reason(sample).starts_with("cloning the template failed: No space left"));
    // Storage that has no clones says so, instead of working on disks that are not there.
    let (trial, disks, time) = cloning(false);
    let mut without = disks.disks;
    let sample =
        drive_deployment(&trial, || Some(0), &mut without, &mut time.clock(), &mut ()).unwrap();
    assert!(reason(sample).contains("no clones"));
}
