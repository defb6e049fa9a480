//! The serial path of one VM's requests.

mod common;

use common::device::device;
use common::single::{closed, latency_ns, machine};
use stormeter_disk::Kind;
use stormeter_site::Site;
use stormeter_trial::ComponentKind;

const SECOND_NS: u64 = 1_000_000_000;

/// A device that serves all requests concurrently in 100 us, behind a path that takes this long per
/// request.
fn site(path_ns: f64) -> Site {
    let mut site = common::one_device(device(1000, 100_000.0, 0.0));
    let host = &mut site.hosts[0];
    host.vm_path_cycles = path_ns * host.clock_hz / 1e9;
    site
}

#[test]
fn a_lone_request_takes_its_path_longer_whatever_its_size_and_kind() {
    for (kind, bytes) in [(Kind::Read, 4096), (Kind::Write, 1 << 20)] {
        let more = latency_ns(&site(50_000.0), kind, bytes) - latency_ns(&site(0.0), kind, bytes);
        assert_eq!(more, 50_000, "{kind:?}");
    }
}

#[test]
fn a_path_caps_each_vm_by_itself() {
    for vms in [1, 3] {
        let mut machine = machine(&site(50_000.0), vms);
        let per_s = closed(&mut machine, (vms, 16), Kind::Read, 4096, SECOND_NS);
        let expected = 20_000.0 * f64::from(vms);
        assert!((per_s / expected - 1.0).abs() < 0.001, "{vms}: {per_s}");
        let uses = machine.usage();
        let path = uses.iter().find(|usage| usage.kind == ComponentKind::VmPath).expect("a path");
        assert_eq!((path.name.as_str(), path.units), ("host vm path", vms));
        assert!((path.utilisation - 1.0).abs() < 0.001, "{path:?}");
        // 16 outstanding, of which two are at the device.
        assert!((path.response_share - 14.0 / 16.0).abs() < 0.01, "{path:?}");
    }
}

#[test]
fn a_quicker_core_has_a_quicker_path() {
    let mut site = site(50_000.0);
    site.hosts[0].clock_hz *= 2.0;
    let mut machine = machine(&site, 1);
    let per_s = closed(&mut machine, (1, 16), Kind::Read, 4096, SECOND_NS);
    assert!((per_s / 40_000.0 - 1.0).abs() < 0.001, "{per_s}");
}

#[test]
fn hosts_without_a_path_have_no_such_component() {
    let mut machine = machine(&site(0.0), 1);
    closed(&mut machine, (1, 1), Kind::Read, 4096, SECOND_NS);
    assert!(machine.usage().iter().all(|usage| usage.kind != ComponentKind::VmPath));
}
