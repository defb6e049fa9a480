//! Deployments: the contents of the copies, the order of operations, the time of each step.

use std::collections::HashSet;

use stormeter_disk::Kind;
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
