//! The trials of a plan in order, and the resources that they need.

use stormeter_study::{StudyPlan, block_order, parse_study, plan_text, trial_seed};

const STUDY: &str = "study: Two places\ndatastores: {local: /srv/vm, nas: \"nfs://nas1/vm\"}\n";

#[track_caller]
fn plan(lines: &str) -> StudyPlan {
    parse_study(&format!("{STUDY}{lines}\n")).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_cell_has_one_turn_a_block_in_each_order() {
    for order in ["randomized", "abba", "as-written"] {
        let plan = plan(&format!("load: {{vms: [1, 2, 4]}}\ndesign: {{order: {order}}}"));
        for block in 0..20 {
            let mut trials = plan.trials_of_block(block);
            trials.sort_unstable();
            assert_eq!(trials, (0..6).collect::<Vec<_>>(), "{order}, block {block}");
        }
    }
}

#[test]
fn the_orders_are_what_they_are_called() {
    let random = plan("load: {vms: [1, 2, 4]}");
    for block in 0..20 {
        assert_eq!(random.trials_of_block(block), block_order(1, block, 6));
    }
    let blocks: Vec<_> = (0..20).map(|block| random.trials_of_block(block)).collect();
    assert!(blocks.windows(2).any(|pair| pair[0] != pair[1]));
    let abba = plan("design: {order: abba}");
    assert_eq!(abba.trials_of_block(0), [0, 1]);
    assert_eq!(abba.trials_of_block(1), [1, 0]);
    assert_eq!(abba.trials_of_block(2), [0, 1]);
    let written = plan("design: {order: as-written}");
    assert_eq!(written.trials_of_block(1), [0, 1]);
}

#[test]
fn another_seed_is_another_order_and_other_operations() {
    let (one, other) =
        (plan("seed: 1\nload: {vms: [1, 2, 4]}"), plan("seed: 2\nload: {vms: [1, 2, 4]}"));
    let orders = |plan: &StudyPlan| (0..20).map(|b| plan.trials_of_block(b)).collect::<Vec<_>>();
    assert_ne!(orders(&one), orders(&other));
    assert_ne!(one.seed_of(3), other.seed_of(3));
    assert_ne!(one.seed_of(3), one.seed_of(4));
    assert_eq!(one.seed_of(3), trial_seed(1, 3));
    // Cells of one load differ only in their datastore and start at the same place; no others do.
    let cells = one.cells();
    let starts: Vec<_> = (0..3)
        .flat_map(|block| (0..cells.len()).map(move |cell| (block, cell)))
        .map(|(block, cell)| {
            let load = (block, cells[cell].workload, cells[cell].vms, cells[cell].outstanding);
            (load, one.start_of(block, cell))
        })
        .collect();
    for (load, start) in &starts {
        for (other, begins) in &starts {
            assert_eq!(load == other, start == begins, "{load:?} {other:?}");
        }
    }
    assert_ne!(one.start_of(0, 0), other.start_of(0, 0));
}

#[test]
fn the_time_is_that_of_the_timed_trials() {
    let estimate = plan("measure: {ramp: 1s, duration: 4s}\ndesign: {blocks: 10}").estimate();
    assert_eq!((estimate.timed_trials, estimate.fixed_work_trials), (2, 0));
    assert_eq!(estimate.block_ns, 10_000_000_000);
    assert_eq!((estimate.least_ns, estimate.most_ns), (100_000_000_000, 100_000_000_000));
    let estimate = plan("workloads: [vm-4k, iozone]").estimate();
    assert_eq!((estimate.timed_trials, estimate.fixed_work_trials), (2, 12));
    assert_eq!((estimate.blocks_least, estimate.blocks_most), (5, 100));
    assert_eq!((estimate.least_ns, estimate.most_ns), (120_000_000_000, 2_400_000_000_000));
    let limited = plan("design: {time-limit: 5m}").estimate();
    assert_eq!((limited.least_ns, limited.most_ns), (120_000_000_000, 300_000_000_000));
}

#[test]
fn one_set_of_disks_serves_every_workload() {
    let bytes = |lines: &str| plan(lines).estimate().space_bytes;
    assert_eq!(bytes("load: {vms: [1, 4]}"), [4 << 30, 4 << 30]);
    // The template is an additional disk.
    assert_eq!(bytes("workloads: [deploy]\nload: {vms: 4}"), [5 << 30, 5 << 30]);
    // The largest disk of one workload, as many times as another one needs disks.
    let both =
        "workloads: [{profile: deploy, size: 1GiB}, {profile: rt, size: 2GiB}]\nload: {vms: 4}";
    assert_eq!(bytes(both), [10 << 30, 10 << 30]);
    assert_eq!(bytes("workloads: [vm-4k, bst, rt]"), [10 << 30, 10 << 30]);
    assert_eq!(bytes("workloads: [iozone]\nload: {vms: 5}"), [500 << 20, 500 << 20]);
}

#[test]
fn the_plan_is_shown_trial_by_trial() {
    let text = plan_text(&plan(
        "load: {vms: [1, 16]}\ndesign: {blocks: 2, order: abba}\nmeasure: {ramp: 1s, duration: 4s}\n\
         questions: [nas is faster than local in iops]",
    ));
    let trials: Vec<&str> = text.lines().filter(|line| line.contains("  block ")).collect();
    assert_eq!(
        trials,
        [
            "  1  block 1    local  vm-4k  1 VM",
            "  2  block 1    nas    vm-4k  1 VM",
            "  3  block 1    local  vm-4k  16 VMs",
            "  4  block 1    nas    vm-4k  16 VMs",
            "  5  block 2    nas    vm-4k  16 VMs",
            "  6  block 2    local  vm-4k  16 VMs",
            "  7  block 2    nas    vm-4k  1 VM",
            "  8  block 2    local  vm-4k  1 VM",
        ]
    );
    for words in
        ["Two places", "16GiB  /srv/vm  (baseline)", "40.0s", "nas is faster than local in iops"]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
}

#[test]
fn what_is_long_is_summed_up() {
    let text = plan_text(&plan("design: {blocks: 300}"));
    assert_eq!(text.lines().filter(|line| line.contains("  block ")).count(), 200);
    assert!(text.contains("and so on: 400 more trials"), "{text}");
    let text = plan_text(&plan("load: {vms: [1, 2]}"));
    assert_eq!(text.lines().filter(|line| line.contains("  block ")).count(), 8);
    assert!(text.contains("20 to 400 trials"), "{text}");
}
