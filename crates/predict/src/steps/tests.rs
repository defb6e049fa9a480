//! What steps and faults become, without a machine.

use stormeter_simulator::example::fibre_channel;

use super::*;

const SECOND: u64 = 1_000_000_000;

fn step(at_s: u64, fault: &str) -> Step {
    Step { at_ns: at_s * SECOND, what: StepAction::Fault(fault.parse().unwrap()) }
}

fn planned(steps: &[Step], faults: &[&str]) -> Result<Vec<Planned>, RefusedFault> {
    let faults: Vec<ScheduledFault> = faults.iter().map(|text| text.parse().unwrap()).collect();
    Disturbances { steps, faults: &faults }.planned(&fibre_channel(), 0)
}

/// The times of all that fails.
fn times(steps: &[Step], faults: &[&str]) -> Vec<(u64, Option<u64>)> {
    let planned = planned(steps, faults).unwrap_or_else(|why| panic!("{why}"));
    let all = planned.iter().flat_map(|one| &one.faults);
    all.map(|fault| (fault.at_ns / SECOND, fault.for_ns.map(|ns| ns / SECOND))).collect()
}

#[test]
fn the_step_that_ends_a_fault_gives_its_length() {
    let steps = [
        step(1, "link-down filer"),
        step(2, "path-down host.hba 1"),
        step(3, "link-up filer"),
        step(4, "path-down host.hba 0"),
        step(9, "path-up host.hba 1"),
        step(10, "link-flap fabric 2s"),
    ];
    let expected = [(1, Some(2)), (2, Some(7)), (4, None), (10, Some(2))];
    assert_eq!(times(&steps, &[]), expected);
}

#[test]
fn a_disk_is_lost_for_good_and_a_new_one_is_something_of_its_own() {
    let steps = [step(1, "disk-fail filer.disk 3"), step(5, "disk-replace filer.disk 3")];
    assert_eq!(times(&steps, &[]), [(1, None), (5, None)]);
    let planned = planned(&steps, &[]).unwrap();
    let broken: Vec<Broken> = planned.iter().map(|one| one.faults[0].broken).collect();
    assert_eq!(
        broken,
        [Broken::DiskLost { group: 0, disk: 3 }, Broken::DiskReplaced { group: 0, disk: 3 }]
    );
}

#[test]
fn faults_of_a_prediction_say_the_same_as_steps_and_come_to_them() {
    let pair = ["link-up fabric at 4s", "link-down fabric at 1s"];
    assert_eq!(times(&[], &pair), [(1, Some(3))]);
    assert_eq!(times(&[], &["link-down fabric at 1s for 3s"]), [(1, Some(3))]);
    let steps = [step(1, "link-down fabric")];
    let both = times(&steps, &["link-up fabric at 4s", "disk-slow disk 0 10x at 2s for 1s"]);
    assert_eq!(both, [(1, Some(3)), (2, Some(1))]);
}

#[test]
fn what_a_site_cannot_have_is_refused_by_its_step() {
    let refused = |step: Step| planned(&[step], &[]).err().map(|why| why.to_string()).unwrap();
    for (fault, said) in [
        ("link-loss filer 5%", "link-loss filer 5% at 3.00s: a site has no model of link-loss"),
        ("pause filer", "a site has no model of pause; what can be done there is disk-fail"),
        ("kill filer", "no group of hosts \"filer\"; it has host"),
        ("kill host", "\"host\" are no nodes"),
        ("link-down nas", "no network or controller \"nas\"; it has fabric, filer"),
        ("disk-fail filer.data 0", "no disk group \"filer.data\"; it has filer.disk"),
        ("path-down host.vm 0", "no adapter \"vm\"; it has hba"),
        ("link-up filer", "it undoes nothing: no link-down of the same place comes before it"),
        ("disk-replace disk 0", "no disk-fail of the same place"),
    ] {
        let message = refused(step(3, fault));
        assert!(message.contains(said) && message.starts_with(fault), "{fault}: {message}");
    }
    let steps = [step(1, "link-down fabric"), step(2, "link-up filer")];
    let why = planned(&steps, &[]).err().unwrap().why;
    assert_eq!(
        *why,
        RefusalReason::EndsNothing(FaultKind::LinkDown),
        "another name is another place"
    );
    let command = StepAction::Command { run: "ip link set eth1 down".into(), undo: None };
    let message = refused(Step { at_ns: SECOND, what: command });
    assert!(message.starts_with("`ip link set eth1 down` at 1.00s: it is a command"), "{message}");
}

#[test]
fn a_range_that_a_machine_does_not_have_is_reported_with_its_step() {
    use stormeter_simulator::{Load, Window};
    let site = fibre_channel();
    let load = Load {
        vms: 1,
        disk_bytes: 1 << 30,
        working_set_bytes: 1 << 30,
        random: 1.0,
        zipf: None,
        flushes: false,
    };
    let window = Window { from_ns: 0, interval_ns: SECOND };
    let mut machine = Machine::new(&site, 0, load, window, 1).unwrap();
    for (fault, said) in [
        ("disk-fail disk 900", "disk-fail disk 900 at 3.00s: there is no disk 900"),
        ("path-down host.hba 2", "there is no port 2: there are 2"),
        ("disk-slow disk 0 0.5x", "1 to 1000 times"),
    ] {
        let planned = planned(&[step(3, fault)], &[]).unwrap();
        let message = planned[0].schedule(&mut machine).unwrap_err().to_string();
        assert!(message.contains(said), "{message}");
        assert_eq!(planned[0].concerns(&machine).unwrap_err().to_string(), message);
    }
}

#[test]
fn steps_are_described_as_a_lab_describes_them() {
    let steps = [step(1, "link-flap fabric 2s"), step(6, "disk-fail disk 0")];
    let taken = Disturbances { steps: &steps, faults: &[] }.taken(2 * SECOND, 5 * SECOND);
    let flap = Disturbance {
        what: "link-flap fabric 2s".into(),
        planned_ns: -(SECOND as i64),
        begun_ns: -(SECOND as i64),
        took_ns: 2 * SECOND,
        failure: None,
    };
    assert_eq!(taken[0], flap);
    assert_eq!(taken[1].failure.as_deref(), Some("the trial ended before it"));
}
