//! Valid study files: how they are read, and their defaults.

use stormeter_study::{
    Blocks, Metric, Order, Prepare, Reset, StudyPlan, StudyWorkload, Timing, Unit, WorkloadKind,
    parse_study, parse_study_file, profile, study_profile, study_profiles, workloads_text,
};
use stormeter_trial::{Arrivals, Distribution, FileOperation, FlushEvery};

#[track_caller]
fn parsed(text: &str) -> StudyPlan {
    parse_study(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// A file with two datastores and these lines.
#[track_caller]
fn with(lines: &str) -> StudyPlan {
    parsed(&format!("datastores: {{a: /a, b: /b}}\n{lines}\n"))
}

#[track_caller]
fn io(workload: &StudyWorkload) -> &stormeter_trial::Workload {
    match &workload.kind {
        WorkloadKind::Io(io) => io,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_old_spelling_of_a_key_is_read_with_a_note() {
    let read = |key: &str| {
        let text = format!("datastores: {{a: /a, b: /b}}\ndesign:\n  {key}: 2h\n");
        parse_study_file(&text).unwrap_or_else(|errors| panic!("{errors}"))
    };
    let new = read("time-limit");
    assert_eq!(new.plan.design.time_limit_ns, Some(7_200_000_000_000));
    assert_eq!(new.notes, []);
    let old = read("time_limit");
    assert_eq!(old.plan, new.plan);
    let notes: Vec<String> = old.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["line 3, column 3: time_limit is the old spelling of time-limit"]);
    let workload = |key: &str| {
        let text = format!("datastores: {{a: /a, b: /b}}\nworkloads: [{{name: w, {key}: 8KiB}}]");
        parse_study_file(&text).unwrap_or_else(|errors| panic!("{errors}"))
    };
    let (new, old) = (workload("request-size"), workload("sizes"));
    assert_eq!((new.plan, new.notes), (old.plan, vec![]));
    let notes: Vec<String> = old.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["line 2, column 23: sizes is the old spelling of request-size"]);
    // Elsewhere it is a name like any other.
    let named = parse_study_file("datastores: {a: /a, time_limit: /b}").unwrap();
    assert_eq!((named.plan.datastores[1].name.as_str(), named.notes), ("time_limit", vec![]));
}

#[test]
fn hosts_keep_their_order_and_the_ways_to_them() {
    let plan = parsed(include_str!("good/hosts.yaml"));
    let hosts: Vec<(&str, String)> =
        plan.hosts.iter().map(|host| (host.name.as_str(), host.reached_by.to_string())).collect();
    let hosts: Vec<(&str, &str)> = hosts.iter().map(|(name, way)| (*name, way.as_str())).collect();
    assert_eq!(
        hosts,
        [
            ("here", "local"),
            ("esx1", "ssh:root@esx1"),
            ("esx2", "ssh:root@esx2:2222"),
            ("pod", "command: kubectl exec -i vm-0 -- stormeter agent"),
            ("box", "command: podman exec -i box {agent}"),
            ("vm3", "lab:vm3"),
            ("vm4", "command: podman exec -i vm4 {agent}"),
            ("esx4", "ssh:root@esx4"),
        ]
    );
    let addresses: Vec<_> = plan.hosts.iter().filter_map(|host| host.address.as_deref()).collect();
    assert_eq!(addresses, ["10.0.0.7:7878", "[fe80::7]:7878"]);
    assert!(with("").hosts.is_empty());
    // A plan without hosts is stored as it was before hosts existed.
    assert!(!serde_json::to_string(&with("")).unwrap().contains("hosts"));
}

#[test]
fn vms_are_dealt_over_hosts_in_turn() {
    let dealt = |vms, hosts| -> Vec<u32> {
        (0..hosts).map(|host| stormeter_study::vms_of_host(vms, host, hosts)).collect()
    };
    assert_eq!(dealt(7, 3), [3, 2, 2]);
    assert_eq!(dealt(1, 3), [1, 0, 0]);
    assert_eq!(dealt(5, 1), [5]);
}

#[test]
fn the_example_of_the_design_is_read() {
    let plan = parsed(include_str!("good/design.yaml"));
    assert_eq!(plan.study, "Which datastore for the build farm?");
    let names: Vec<&str> = plan.datastores.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["local", "nas", "san"]);
    assert_eq!(plan.datastores[2].url, "iscsi://nas1/iqn.2026-01.example:vm/0");
    assert_eq!((plan.vms.as_slice(), plan.outstanding.as_slice()), (&[1, 4, 16][..], &[4][..]));
    assert_eq!(plan.disk_bytes, 10 << 30);
    let s = 1_000_000_000;
    assert_eq!(plan.timing, Timing { ramp_ns: 5 * s, duration_ns: 20 * s, interval_ns: s });
    assert_eq!(plan.design.reset, Reset::Recreate);
    assert_eq!(plan.design.time_limit_ns, Some(7200 * s));
    assert_eq!(plan.questions.len(), 4);
    assert_eq!(plan.workloads[1].name, "vm-8k-changed");
    assert_eq!(io(&plan.workloads[1]).read_percent, 60.0);
    assert_eq!(io(&plan.workloads[1]).name, "vm-8k-changed");
}

#[test]
fn a_file_with_nothing_but_datastores_has_every_default() {
    let plan = with("");
    let s = 1_000_000_000;
    assert_eq!(plan.study, "Comparison of a, b");
    assert_eq!(plan.baseline, 0);
    assert_eq!(*io(&plan.workloads[0]), profile("vm-4k").unwrap().workload);
    assert_eq!((plan.vms.as_slice(), plan.outstanding.is_empty()), (&[1][..], true));
    assert_eq!((plan.disk_bytes, plan.prepare), (1 << 30, Prepare::Random));
    assert_eq!(plan.timing, Timing { ramp_ns: 2 * s, duration_ns: 10 * s, interval_ns: s });
    assert_eq!(plan.design.blocks, Blocks::Auto { min: 5, max: 100 });
    assert_eq!((plan.design.precision, plan.design.margin, plan.design.level), (0.02, 0.05, 0.95));
    assert_eq!((plan.design.metric, plan.design.order), (Metric::Iops, Order::Randomized));
    assert_eq!((&plan.design.reset, plan.design.unit), (&Reset::None, Unit::Trial));
    assert_eq!((plan.design.time_limit_ns, plan.threads, plan.verify), (None, 0, false));
    assert_eq!((plan.seed, plan.questions.len()), (1, 0));
}

#[test]
fn everything_that_can_be_written_is_read() {
    let plan = parsed(include_str!("good/everything.yaml"));
    let names: Vec<&str> = plan.workloads.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "vm-4k",
            "vm-8k-60",
            "mix",
            "bursts",
            "users",
            "files-write",
            "files-reread",
            "iozone-read-changed",
            "copy",
            "desks",
            "clones"
        ]
    );
    assert_eq!(plan.datastores[1].url, "nfs://nas1/export/vm?connections=4");
    assert_eq!(
        (plan.datastores[2].name.as_str(), plan.datastores[2].url.as_str()),
        ("no keeper", "null:")
    );
    assert_eq!(plan.ceilings(), ["nfs://nas1/export/memory"]);
    assert_eq!(plan.urls().last(), plan.ceilings().last(), "opened behind the datastores");
    assert_eq!(plan.baseline, 1);
    let mix = io(&plan.workloads[2]);
    assert_eq!(
        mix.sizes.iter().map(|s| (s.bytes, s.share)).collect::<Vec<_>>(),
        [(4096, 70.0), (8192, 30.0)]
    );
    assert_eq!((mix.read_percent, mix.random_percent), (75.0, 80.0));
    assert_eq!(mix.distribution, Distribution::Zipf { exponent: 1.1 });
    assert_eq!(
        (mix.alignment_bytes, mix.arrivals),
        (Some(4096), Arrivals::Closed { outstanding: 8 })
    );
    assert_eq!((mix.content.compressible_percent, mix.content.duplicate_percent), (50.0, 30.0));
    assert_eq!(plan.workloads[2].disk_bytes, Some(2 << 30));
    assert_eq!((mix.durable, mix.flush), (true, Some(FlushEvery::Writes { writes: 8 })));
    let burst = io(&plan.workloads[3]).burst.unwrap();
    assert_eq!((burst.length, burst.delay_ns), (16, 10_000_000));
    assert_eq!(io(&plan.workloads[4]).arrivals, Arrivals::Constant { rate_per_s: 500.0 });
    let WorkloadKind::File(test) = plan.workloads[6].kind else { panic!() };
    assert_eq!((test.operation, test.record_bytes), (FileOperation::Reread, 8192));
    assert_eq!((test.outstanding, test.client_cache), (2, true));
    let WorkloadKind::Transfer(transfer) = plan.workloads[8].kind else { panic!() };
    assert_eq!((transfer.message_bytes, transfer.messages), (100_000, 10));
    let WorkloadKind::Deploy(deployment) = plan.workloads[9].kind else { panic!() };
    assert_eq!((deployment.customise_writes, deployment.boot_reads), (10, 20));
    // The order abba needs pairs of blocks.
    assert_eq!(plan.design.blocks, Blocks::Auto { min: 6, max: 50 });
    assert_eq!((plan.design.level, plan.design.metric), (0.99, Metric::LatencyP99));
    assert_eq!(plan.design.reset, Reset::Command("zfs rollback tank/vm@clean".into()));
    assert_eq!((plan.seed, plan.threads), (7, 2));
}

#[test]
fn the_metric_follows_the_workloads() {
    for (workloads, metric) in [
        ("[vm-4k, deploy]", Metric::Iops),
        ("[iozone]", Metric::Throughput),
        ("[disk-write-1mb, memory-read-1mb]", Metric::LatencyMean),
        ("[deploy]", Metric::Elapsed),
        ("[deploy, iozone-write]", Metric::Elapsed),
        ("[{profile: vm-4k, rate: 100}]", Metric::LatencyMean),
    ] {
        assert_eq!(with(&format!("workloads: {workloads}")).design.metric, metric, "{workloads}");
    }
}

#[test]
fn every_profile_as_it_is_printed_is_the_same_workload() {
    for profile in study_profiles() {
        // Large enough for every message; if a profile has its own size, that one counts.
        let text = format!(
            "disk: {{size: 1GiB}}\n{}",
            workloads_text(std::slice::from_ref(&profile.workload))
        );
        let mut read = with(&text).workloads;
        assert_eq!(read.remove(0), profile.workload, "{text}");
    }
    let all: Vec<StudyWorkload> = study_profiles().into_iter().map(|p| p.workload).collect();
    assert_eq!(with(&workloads_text(&all)).workloads, all);
}

#[test]
fn a_workload_with_every_key_is_printed_and_read_back() {
    let plan = parsed(include_str!("good/everything.yaml"));
    assert_eq!(with(&workloads_text(&plan.workloads)).workloads, plan.workloads);
    // Sizes and pauses that no binary unit divides, and a name that YAML would take for something
    // else.
    let odd = "workloads:\n  - {name: 'null', request-size: 1536B, outstanding: 2, burst: {length: 1, \
               delay: 1.5ms}}";
    let odd = with(odd).workloads;
    assert_eq!(with(&workloads_text(&odd)).workloads, odd);
}

#[test]
fn a_workload_that_flushes_can_be_told_not_to() {
    let plan = with(
        "workloads: [{profile: wal, flush: never, durable: true}, {profile: journal, flush: 1s}]",
    );
    let [wal, journal] = [0, 1].map(|index| io(&plan.workloads[index]).clone());
    assert_eq!((wal.durable, wal.flush), (true, None));
    assert_eq!(journal.flush, Some(FlushEvery::Interval { ns: 1_000_000_000 }));
    assert_eq!(with(&workloads_text(&plan.workloads)).workloads, plan.workloads);
}

#[test]
fn a_question_that_says_durably_makes_its_writes_durable() {
    let durable = |question: &str| {
        let lines = format!("workloads: [vm-4k, vm-8k, wal]\nquestions: ['{question}']");
        with(&lines)
            .workloads
            .iter()
            .map(|it| (it.name.clone(), io(it).durable))
            .collect::<Vec<_>>()
    };
    let named = |durable: [bool; 3]| {
        ["vm-4k", "vm-8k", "wal"].map(String::from).into_iter().zip(durable).collect::<Vec<_>>()
    };
    assert_eq!(durable("b is faster than a in iops, durably"), named([true, true, false]));
    assert_eq!(durable("b is faster than a on vm-8k, durably"), named([false, true, false]));
    assert_eq!(durable("b is faster than a"), named([false; 3]));
}

#[test]
fn a_profile_changes_its_name_only_when_it_is_changed() {
    let names = |lines: &str| with(lines).workloads.into_iter().map(|w| w.name).collect::<Vec<_>>();
    assert_eq!(names("workloads: [{profile: vm-4k}]"), ["vm-4k"]);
    assert_eq!(names("workloads: [{profile: vm-4k, read: 75%}]"), ["vm-4k"]);
    assert_eq!(names("workloads: [{profile: vm-4k, size: 2GiB}]"), ["vm-4k-changed"]);
    assert_eq!(names("workloads: [{profile: vm-4k, read: 50%, name: half}]"), ["half"]);
    assert_eq!(names("workloads: vm-8k"), ["vm-8k"]);
}

#[test]
fn a_set_of_profiles_is_all_of_them() {
    let plan = with("workloads: [iozone]");
    let all: Vec<StudyWorkload> =
        study_profile("iozone").unwrap().into_iter().map(|p| p.workload).collect();
    assert_eq!(plan.workloads, all);
    let plan = with("workloads: [{profile: iozone, record: 64KiB, name: large, size: 1GiB}]");
    assert_eq!(plan.workloads.len(), 6);
    for (workload, operation) in plan.workloads.iter().zip(FileOperation::ALL) {
        let WorkloadKind::File(test) = workload.kind else { panic!() };
        assert_eq!((test.operation, test.record_bytes), (operation, 65536));
        assert_eq!(workload.name, format!("large-{}", operation.name()));
        assert_eq!(workload.disk_bytes, Some(1 << 30));
    }
    let plan = with("workloads: [{file-test: all, size: 1MiB}]");
    assert_eq!(plan.workloads[4].name, "iozone-random-read");
}

#[test]
fn sizes_are_binary_or_decimal_as_they_are_written() {
    let bytes = |size: &str| with(&format!("disk: {{size: {size}}}")).disk_bytes;
    assert_eq!(
        (bytes("10GiB"), bytes("10GB"), bytes("1.5 GiB")),
        (10 << 30, 10_000_000_000, 3 << 29)
    );
}

#[test]
fn a_short_trial_has_rows_too() {
    let timing = with("measure: {ramp: 0, duration: 500ms}").timing;
    assert_eq!((timing.ramp_ns, timing.interval_ns), (0, 50_000_000));
}

#[test]
fn anchors_line_ends_and_byte_order_marks_change_nothing() {
    let plain =
        with("workloads: [{profile: vm-8k, read: 60%}]\nload: {vms: [1, 2], outstanding: [1, 2]}");
    let anchors = "workloads: [{profile: vm-8k, read: 60%}]\nload: {vms: &levels [1, 2], \
                   outstanding: *levels}";
    assert_eq!(with(anchors), plain);
    let text = format!("\u{feff}datastores: {{a: /a, b: /b}}\n{anchors}\n").replace('\n', "\r\n");
    assert_eq!(parsed(&text), plain);
}

#[test]
fn the_same_file_is_the_same_plan() {
    let text = include_str!("good/everything.yaml");
    assert_eq!(parsed(text), parsed(text));
    let trials = |plan: &StudyPlan| (0..8).map(|b| plan.trials_of_block(b)).collect::<Vec<_>>();
    assert_eq!(trials(&parsed(text)), trials(&parsed(text)));
    let json = serde_json::to_string(&parsed(text)).unwrap();
    assert_eq!(serde_json::from_str::<StudyPlan>(&json).unwrap(), parsed(text));
}

#[test]
fn desktops_have_a_workload_for_each_pool() {
    let plan = parsed(include_str!("good/desktops.yaml"));
    let names: Vec<&str> = plan.workloads.iter().map(|workload| workload.name.as_str()).collect();
    assert_eq!(names, ["portal-pool-0", "portal-pool-4", "class"]);
    let load = |index: usize| plan.workloads[index].kind.desktops().unwrap();
    let (portal, class) = (load(1), load(2));
    assert_eq!((load(0).broker.pool, portal.broker.pool, class.broker.pool), (0, 4, 0));
    assert_eq!((portal.arrivals_per_s, portal.users), (0.01, Some(180)));
    assert_eq!(
        portal.class.map(|class| (class.users, class.at_ns / 1_000_000_000)),
        Some((60, 3600))
    );
    assert_eq!(portal.broker.capacity.fits(portal.broker.desktop, 100), 32, "two CPUs each");
    assert_eq!(portal.session.log_on.arrivals, Arrivals::Closed { outstanding: 2 });
    assert_eq!(portal.session.work.arrivals, Arrivals::Poisson { rate_per_s: 8.0 });
    assert_eq!(portal.slots(), 8);
    // Defaults: one by one copies are full, and nothing is limited.
    assert_eq!((class.deployment.copy_bytes, class.broker.deploying_most), (0, u32::MAX));
    assert_eq!(class.session.idle_percent, 0.0);
    // One set of disks serves all, with a template.
    assert_eq!((plan.disks().count, plan.disks().bytes), (65, 8 << 30));
    assert_eq!(plan.load_label(&plan.cells()[0]), "64 desktops");
    let text =
        format!("datastores: {{a: /a}}\ndisk: {{size: 8GiB}}\n{}", workloads_text(&plan.workloads));
    assert_eq!(parsed(&text).workloads, plan.workloads, "{text}");
    assert_eq!(parsed(&text).design.metric, Metric::LatencyP95);
}
