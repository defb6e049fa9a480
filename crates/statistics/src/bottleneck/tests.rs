//! Why a cell is as fast as it is, from made-up components.

use super::*;
use stormeter_trial::KindTotals;

/// A number of reads in a second and a number outstanding: their latency follows (Little).
fn sample(operations: u64, outstanding: f64) -> Sample {
    let latency_ns = outstanding * 1e9 / operations as f64;
    Sample {
        window_ns: 1_000_000_000,
        reads: KindTotals {
            operations,
            latency_sum_ns: (latency_ns * operations as f64) as u64,
            ..KindTotals::default()
        },
        outstanding_mean: outstanding,
        ..stormeter_testkit::sample(1.0)
    }
}

/// A component with one unit, which works `service_ns` on each of this many operations a second.
fn component(
    kind: ComponentKind,
    operations: u64,
    (service_ns, queue_ns): (f64, f64),
    response_share: f64,
) -> ComponentUse {
    let busy = operations as f64 * service_ns / 1e9;
    ComponentUse {
        name: kind.name().into(),
        kind,
        units: 1,
        utilisation: busy,
        utilisation_most: busy,
        busy_ns: (busy * 1e9) as u64,
        queue_mean: operations as f64 * (service_ns + queue_ns) / 1e9,
        visits: operations,
        lost: 0,
        response_share,
        series: vec![],
    }
}

/// A trial in which no memory was filling.
fn seen<'a>(sample: &'a Sample, components: &'a [ComponentUse]) -> Seen<'a> {
    Seen { sample, components, drained: 1.0 }
}

#[test]
fn a_full_component_is_the_bottleneck_even_where_another_takes_longer() {
    // 10 000 a second, 8 outstanding: 800 µs. The CPU works 97 µs of them and lets 300 µs wait;
    // the rest is the network's latency.
    let uses = [
        component(ComponentKind::HostCpu, 10_000, (97_000.0, 300_000.0), 397.0 / 800.0),
        component(ComponentKind::Network, 10_000, (1000.0, 0.0), 403.0 / 800.0),
    ];
    let why = why(&[seen(&sample(10_000, 8.0), &uses)]).unwrap();
    assert!(why.is_saturated);
    assert_eq!(why.components[why.bottleneck].kind, ComponentKind::HostCpu);
    let [cpu, network] = why.parts.as_slice() else { panic!("{:?}", why.parts) };
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
    assert!(near(cpu.service_ns, 97_000.0) && near(cpu.queue_ns, 300_000.0), "{cpu:?}");
    assert!(near(network.latency_ns, 402_000.0) && network.queue_ns == 0.0, "{network:?}");
    // 1/97 µs; 8/500 µs; 500 µs/97 µs.
    let bound = why.bounds.saturation.unwrap();
    assert!(near(bound.per_s, 1e9 / 97_000.0) && near(why.bounds.unqueued_per_s, 16_000.0));
    assert!(near(bound.outstanding, 500.0 / 97.0) && bound.component == 0);
    assert!(why.room_in.is_none() && why.in_background.is_empty());
}

#[test]
fn where_nothing_is_full_the_longest_part_is_the_bottleneck() {
    let uses = [
        component(ComponentKind::HostCpu, 1000, (100_000.0, 0.0), 0.1),
        component(ComponentKind::Disks, 1000, (50_000.0, 10_000.0), 0.9),
    ];
    let why = why(&[seen(&sample(1000, 1.0), &uses)]).unwrap();
    assert!(!why.is_saturated);
    assert_eq!(why.components[why.bottleneck].kind, ComponentKind::Disks);
    assert_eq!(why.bounds.saturation.unwrap().component, 0);
    assert!((why.parts[1].latency_ns / 840_000.0 - 1.0).abs() < 1e-6, "{:?}", why.parts);
}

#[test]
fn work_in_the_background_is_no_part_of_the_response() {
    // The disks destage for 900 µs each; the write cache answered long before.
    let uses = [
        component(ComponentKind::Cache, 1000, (0.0, 1_000_000.0), 1.0),
        component(ComponentKind::Disks, 1000, (900_000.0, 50_000_000.0), 0.0),
    ];
    let why = why(&[seen(&sample(1000, 1.0), &uses)]).unwrap();
    assert!(why.is_saturated && why.parts[1] == ResponsePart::default());
    // The time at the cache is waiting for room, which the disks do not make.
    assert_eq!((why.bottleneck, why.room_in), (1, Some(0)));
    assert_eq!(why.parts[0].queue_ns, 1e6);
}

#[test]
fn disks_that_destage_for_a_cache_with_room_hold_nothing_back_and_bound_nothing() {
    let uses = [
        component(ComponentKind::HostCpu, 1000, (600_000.0, 0.0), 0.99),
        component(ComponentKind::Cache, 1000, (5000.0, 0.0), 0.005),
        component(ComponentKind::Disks, 1000, (950_000.0, 50_000_000.0), 0.0),
    ];
    let why = why(&[seen(&sample(1000, 1.0), &uses)]).unwrap();
    assert!(!why.is_saturated && why.bottleneck == 0 && why.room_in.is_none());
    assert_eq!(why.in_background, [2]);
    assert_eq!(why.bounds.saturation.unwrap().component, 0);
    let long_run = why.bounds.long_run.expect("the disks bound it when the cache is full");
    assert!(long_run.component == 2 && (long_run.per_s / (1000.0 / 0.95) - 1.0).abs() < 1e-6);
}

#[test]
fn writes_that_wait_for_room_are_found_however_busy_the_disks_are() {
    // 32 outstanding at 1000 a second, all of them waiting for room; the disks are 89 % busy, for a
    // sweep ends with some of them.
    let uses = [
        component(ComponentKind::HostCpu, 1000, (5_000.0, 0.0), 0.001),
        component(ComponentKind::Cache, 1000, (1_000_000.0, 31_968_000.0), 0.999),
        component(ComponentKind::Disks, 1000, (890_000.0, 15_000_000.0), 0.0),
    ];
    let why = why(&[seen(&sample(1000, 32.0), &uses)]).unwrap();
    assert_eq!((why.bottleneck, why.room_in, why.is_saturated), (2, Some(1), true));
    // The disks set the limit, not the CPU.
    let bound = why.bounds.saturation.unwrap();
    assert!(bound.component == 2 && (bound.per_s / 1000.0 - 1.0).abs() < 1e-6, "{bound:?}");
}

#[test]
fn disks_that_only_destage_bound_the_long_run_before_they_are_full() {
    let uses = [
        component(ComponentKind::HostCpu, 200, (6_000.0, 0.0), 1.0),
        component(ComponentKind::Cache, 200, (2_500_000.0, 0.0), 0.0),
        component(ComponentKind::Disks, 200, (2_500_000.0, 0.0), 0.0),
    ];
    let calm = why(&[seen(&sample(200, 0.0012), &uses)]).unwrap();
    let long_run = calm.bounds.long_run.unwrap();
    assert!(long_run.component == 2 && (long_run.per_s / 400.0 - 1.0).abs() < 1e-6);
    // A memory that is filling takes 59 times as much as its disks: these let pass what they have written, and not
    // what came.
    let of = sample(200, 0.0012);
    let filling = Seen { drained: 1.0 / 59.0, ..seen(&of, &uses) };
    let long_run = why(&[filling]).unwrap().bounds.long_run.unwrap();
    assert!((long_run.per_s / (400.0 / 59.0) - 1.0).abs() < 1e-6, "{long_run:?}");
    // Of nothing that has left, no rate follows.
    let nothing = Seen { drained: 0.0, ..seen(&of, &uses) };
    assert_eq!(why(&[nothing]).unwrap().bounds.long_run, None);
    // The disks' own caches are emptied at any load.
    let own = why(&[seen(&sample(200, 0.0012), &[uses[0].clone(), uses[2].clone()])]).unwrap();
    assert_eq!(own.bounds.long_run, None);
}

#[test]
fn disks_that_empty_their_caches_are_not_full_because_requests_hardly_wait() {
    // 5 outstanding: 0.35 of them at the disks, which never rest. At most a third of the disks' work is
    // for requests that wait.
    let uses = [
        component(ComponentKind::HostPort, 1000, (700_000.0, 3_950_000.0), 0.93),
        component(ComponentKind::Disks, 1000, (1_000_000.0, 9_000_000.0), 0.07),
    ];
    let busy = why(&[seen(&sample(1000, 5.0), &uses)]).unwrap();
    assert!(!busy.is_saturated && busy.bottleneck == 0, "{busy:?}");
    assert_eq!((busy.in_background.as_slice(), busy.bounds.long_run), ([1].as_slice(), None));
    assert_eq!(busy.bounds.saturation.unwrap().component, 0);
    // Where as many wait as the disks serve, they are full, though it is a small part of 64.
    let uses = [
        component(ComponentKind::HostPort, 1000, (700_000.0, 58_500_000.0), 0.93),
        component(ComponentKind::Disks, 1000, (1_000_000.0, 3_480_000.0), 0.07),
    ];
    let full = why(&[seen(&sample(1000, 64.0), &uses)]).unwrap();
    assert!(full.is_saturated && full.bottleneck == 1, "{full:?}");
}

#[test]
fn a_cache_that_is_full_is_no_bottleneck_by_itself() {
    // Completely full, and no request waits: the disks make room in time.
    let mut uses = [
        component(ComponentKind::HostCpu, 1000, (400_000.0, 0.0), 0.9),
        component(ComponentKind::Cache, 1000, (990_000.0, 0.0), 0.1),
        component(ComponentKind::Disks, 1000, (500_000.0, 0.0), 0.0),
    ];
    let calm = why(&[seen(&sample(1000, 1.0), &uses)]).unwrap();
    assert!(!calm.is_saturated && calm.bottleneck == 0, "{calm:?}");
    assert_eq!(calm.bounds.saturation.unwrap().component, 0);
    uses[1] = component(ComponentKind::Cache, 1000, (990_000.0, 100_000.0), 0.1);
    uses[2] = component(ComponentKind::Disks, 1000, (950_000.0, 0.0), 0.0);
    let late = why(&[seen(&sample(1000, 1.0), &uses)]).unwrap();
    assert_eq!((late.bottleneck, late.room_in, late.is_saturated), (2, Some(1), true));
}

#[test]
fn busy_without_being_waited_for_is_not_full_and_of_two_alike_the_longer_counts() {
    let uses = [
        component(ComponentKind::HostCpu, 1000, (950_000.0, 0.0), 0.02),
        component(ComponentKind::Network, 1000, (1000.0, 0.0), 0.98),
    ];
    let busy = why(&[seen(&sample(1000, 64.0), &uses)]).unwrap();
    assert!(!busy.is_saturated && busy.bottleneck == 1, "{busy:?}");
    // Both ends of a wire; requests queue at the second.
    let uses = [
        component(ComponentKind::HostPort, 1000, (992_000.0, 0.0), 0.1),
        component(ComponentKind::ControllerPort, 1000, (990_000.0, 5_000_000.0), 0.9),
    ];
    let wire = why(&[seen(&sample(1000, 8.0), &uses)]).unwrap();
    assert!(wire.is_saturated && wire.bottleneck == 1, "{wire:?}");
}

#[test]
fn nothing_is_said_of_a_measured_trial() {
    assert_eq!(why(&[seen(&sample(1000, 1.0), &[])]), None);
    assert_eq!(why(&[]), None);
}
