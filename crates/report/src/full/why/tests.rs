//! The words on cells with made-up components.

use super::*;
use stormeter_statistics::bottleneck::{Bounds, SATURATED, Saturation};

/// A cell with these components: name, kind, busiest unit, share of 1 ms, and the parts of the time.
fn why(parts: &[(&str, ComponentKind, f64, f64, ResponsePart)]) -> CellWhy {
    let component =
        |&(name, kind, busy, share, _): &(&str, ComponentKind, f64, f64, _)| ComponentUse {
            name: name.into(),
            kind,
            units: 2,
            utilisation: busy / 2.0,
            utilisation_most: busy,
            busy_ns: 1,
            queue_mean: 2.5,
            visits: 1,
            lost: 0,
            response_share: share,
            series: vec![],
        };
    let most = |key: &dyn Fn(usize) -> f64| {
        (0..parts.len()).max_by(|&a, &b| key(a).total_cmp(&key(b))).unwrap()
    };
    let busiest = most(&|index| parts[index].2);
    let is_saturated = parts[busiest].2 >= SATURATED;
    CellWhy {
        components: parts.iter().map(component).collect(),
        parts: parts.iter().map(|part| part.4).collect(),
        bottleneck: if is_saturated { busiest } else { most(&|index| parts[index].3) },
        is_saturated,
        rate_per_s: 8000.0,
        response_ns: 1e6,
        outstanding: 8.0,
        room_in: None,
        in_background: vec![],
        bounds: Bounds {
            unqueued_per_s: 9000.0,
            saturation: Some(Saturation {
                per_s: 8000.0 / parts[busiest].2,
                outstanding: 12.0,
                component: busiest,
            }),
            long_run: None,
        },
    }
}

fn part(service_ns: f64, queue_ns: f64, latency_ns: f64) -> ResponsePart {
    ResponsePart { service_ns, queue_ns, latency_ns }
}

#[test]
fn a_link_disks_or_a_cpu_that_is_full_is_named_with_what_it_costs() {
    for (name, kind) in [
        ("esx hba", ComponentKind::HostPort),
        ("aggregate", ComponentKind::Disks),
        ("filer cpu", ComponentKind::ControllerCpu),
    ] {
        let other = ("fabric", ComponentKind::Network, 0.1, 0.2, part(0.0, 0.0, 2e5));
        let queue = match kind {
            ComponentKind::Disks => {
                " at this queue depth (of a longer queue disks with moving heads do more)"
            }
            _ => "",
        };
        let full = (name, kind, 0.98, 0.8, part(1e5, 7e5, 0.0));
        assert_eq!(
            sentence(&why(&[other, full]), Each::Io),
            format!(
                "{name} is full (the busiest of 2 is 98 % busy, all together 49 %); 80 % of the \
                 response time, 800µs of each I/O, is spent there, most of it waiting. As it is \
                 it lets no more than 8 163 I/Os a second pass, which about 12 outstanding reach{queue}."
            )
        );
    }
}

#[test]
fn where_latency_is_it_no_part_is_blamed_for_being_slow() {
    let cpu = ("esx cpu", ComponentKind::HostCpu, 0.4, 0.1, part(1e5, 0.0, 0.0));
    let wan = ("wan", ComponentKind::Network, 0.2, 0.9, part(1e5, 0.0, 8e5));
    assert_eq!(
        sentence(&why(&[cpu, wan]), Each::Io),
        "No component is saturated: a queue depth of 8 keeps wan 10 % busy; 90 % of the \
         response time, 900µs of each I/O, is spent there, most of it latency that no higher rate \
         shortens. The busiest is esx cpu (40 %), which would be full at 20 000 I/Os a second with \
         about 12 outstanding or more."
    );
}

#[test]
fn waiting_for_room_names_the_disks_and_the_background_has_no_bound() {
    let cache = ("filer cache", ComponentKind::Cache, 0.99, 0.7, part(0.0, 7e5, 0.0));
    let disks = ("agg", ComponentKind::Disks, 0.95, 0.0, part(0.0, 0.0, 0.0));
    let cpu = ("esx cpu", ComponentKind::HostCpu, 0.4, 0.3, part(3e5, 0.0, 0.0));
    let mut why = why(&[cpu, cache, disks]);
    (why.bottleneck, why.room_in, why.bounds.saturation) = (2, Some(1), None);
    let text = sentence(&why, Each::Io);
    assert_eq!(
        text,
        "Writes wait for room in filer cache: its disks cannot take writes as fast as they come (agg: \
         the busiest of 2 is 95 % busy, all together 48 %); 70 % of the response time, 700µs of each \
         I/O, is spent waiting for room."
    );
    (why.bottleneck, why.room_in, why.in_background) = (0, None, vec![2]);
    why.is_saturated = false;
    let text = sentence(&why, Each::Io);
    assert!(text.ends_with("agg is 95 % busy with destaging, which no request waits for yet."));
    assert!(!text.contains("no more than") && !text.contains("would be full"), "{text}");
}

#[test]
fn what_works_in_the_background_bounds_the_long_run_and_its_bound_replaces_a_higher_one() {
    let cpu = ("filer cpu", ComponentKind::ControllerCpu, 0.001, 1.0, part(1e6, 0.0, 0.0));
    let cache = ("filer cache", ComponentKind::Cache, 0.5, 0.0, part(0.0, 0.0, 0.0));
    let disks = ("agg", ComponentKind::Disks, 0.5, 0.0, part(0.0, 0.0, 0.0));
    let mut why = why(&[cpu, cache, disks]);
    (why.bottleneck, why.outstanding) = (0, 0.004);
    why.bounds.saturation = Some(Saturation { per_s: 278_164.0, outstanding: 9.0, component: 0 });
    why.bounds.long_run = Some(Saturation { per_s: 400.0, outstanding: 1.0, component: 2 });
    assert_eq!(
        sentence(&why, Each::Io),
        "No component is saturated: a queue depth of less than 0.01 keeps filer cpu < 1 % busy; \
         100 % of the response time, 1.00ms of each I/O, is spent there, most of it work. In the long \
         run agg, which destages (the busiest of 2 is 50 % busy, all together 25 %), lets no more than \
         400 I/Os a second pass: with more, the cache before it fills until writes wait for room."
    );
}

#[test]
fn a_bound_of_disks_is_that_of_their_queue_and_emptying_their_caches_is_no_bound() {
    let wan = ("wan", ComponentKind::Network, 0.2, 0.93, part(1e5, 0.0, 8e5));
    let disks = ("plain", ComponentKind::Disks, 0.6, 0.07, part(7e4, 0.0, 0.0));
    let text = sentence(&why(&[wan, disks]), Each::Operation);
    assert!(
        text.ends_with(
            "or more at this queue depth (of a longer queue disks with moving heads do more)."
        ),
        "{text}"
    );
    let mut lazy = why(&[wan, disks]);
    (lazy.bounds.saturation, lazy.in_background) = (None, vec![1]);
    let text = sentence(&lazy, Each::Operation);
    assert!(text.contains(" plain is 60 % busy, most of it with emptying the caches"), "{text}");
    assert!(!text.contains("no more than"), "{text}");
}

#[test]
fn few_outstanding_are_written_as_few() {
    let shown = [0.0, 0.0004, 0.0234, 0.5, 4.96, 5.04, 7.8, 32.4].map(count);
    assert_eq!(shown, ["0", "less than 0.01", "0.02", "0.5", "5", "5", "7.8", "32"]);
}

#[test]
fn gains_are_listed_as_far_as_they_are_more_than_chance() {
    let of = |component: &str, ratio: f64| Elasticity {
        cell: 0,
        component: component.into(),
        kind: ComponentKind::Disks,
        factor: 1.1,
        metric: stormeter_study::Metric::LatencyMean,
        ratio,
    };
    assert_eq!(gains(&[]), None);
    assert_eq!(
        gains(&[of("disks", 0.92), of("cpu", 0.97), of("port", 0.985)]).unwrap(),
        "10 % more of disks: -8.0 % mean latency; of cpu: -3.0 % mean latency; of any other less \
         than 2 % (one run each)."
    );
    assert_eq!(
        gains(&[of("disks", 0.985)]).unwrap(),
        "10 % more of any one component would bring less than 2 % (one run each)."
    );
}
