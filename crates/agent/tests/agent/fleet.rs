//! Fleets whose hosts are commands that misbehave: each is reported with its reason within a bounded time,
//! and no process is left.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use stormeter_agent::{
    Fleet, FleetOptions, Guest, HostFacts, PROTOCOL, Report, Timeouts, write_frame,
};
use stormeter_datastore::DiskSpec;
use stormeter_runner::{Executor, OpenOrder, Silent};
use stormeter_study::{Reach, StudyHost};

use crate::session::RUN;

const OURS: &str = "1.2.3";
/// Far longer than any of this takes; a hang would take forever.
const BOUND: Duration = Duration::from_secs(60);

/// Tries to open a fleet of these commands, which can read `hello`, and returns the error.
fn failure(commands: &[&str], place: &Path) -> String {
    let reports =
        [("hello", OURS, PROTOCOL), ("older", "0.0.1", PROTOCOL), ("foreign", "9.0.0", 0)];
    for (name, version, protocol) in reports {
        let mut bytes = Vec::new();
        let hello = Report::Hello {
            protocol,
            version: version.into(),
            capabilities: vec![],
            facts: Box::new(HostFacts::default()),
        };
        write_frame(&mut bytes, &hello).unwrap();
        std::fs::write(place.join(name), bytes).unwrap();
    }
    let hosts: Vec<StudyHost> = (0..commands.len())
        .map(|number| StudyHost {
            name: format!("host-{number}"),
            reached_by: Reach::Command(format!(
                "cd {}; echo $$ > pid-{number}; {}",
                place.display(),
                commands[number]
            )),
            address: None,
        })
        .collect();
    let options = FleetOptions {
        guests: vec![],
        program: "/bin/false".into(),
        agent_binary: None,
        version: OURS.into(),
        patience: Timeouts {
            connect: Duration::from_secs(3),
            silence: Duration::from_secs(2),
            work: Duration::from_secs(4),
            stop: Duration::from_secs(2),
        },
    };
    let began = Instant::now();
    let mut fleet = Fleet::new(&hosts, options).unwrap();
    let order = OpenOrder {
        run_id: RUN.into(),
        urls: vec!["null:".into()],
        disks: DiskSpec { count: 2, size_bytes: 1 << 20, granularity_bytes: 4096 },
        templates: 0,
        destroy_data: vec![],
        secrets: vec![],
        first_number: 0,
        verification: None,
        needs_target: false,
        durability: Default::default(),
        clones: false,
        services: Vec::new(),
        drivers: vec![],
    };
    let error = fleet.open(&order, &AtomicBool::new(false), &mut Silent).unwrap_err().to_string();
    drop(fleet);
    assert!(began.elapsed() < BOUND, "{error}: {:?}", began.elapsed());
    for number in 0..commands.len() {
        let pid = std::fs::read_to_string(place.join(format!("pid-{number}"))).unwrap();
        let place = format!("/proc/{}", pid.trim());
        assert!(!Path::new(&place).exists(), "{place} is left after: {error}");
    }
    error
}

fn failure_of(command: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    let error = failure(&[command], place.path());
    assert!(error.starts_with("the agent on host host-0 "), "{error}");
    error
}

#[test]
fn a_host_that_ends_at_once_is_reported_in_its_words() {
    let error = failure_of("echo no route >&2; exit 3");
    assert!(error.contains("no route") && error.contains("exit status 3"), "{error}");
    let error = failure_of("kill -9 $$");
    assert!(error.contains("SIGKILL"), "{error}");
}

#[test]
fn what_is_no_agent_is_shown() {
    let error = failure_of("echo Welcome to this machine; sleep 1000");
    assert!(error.contains("Welcome to this machine"), "{error}");
    // A truncated frame, then the end.
    let error = failure_of("head -c 20 hello");
    assert!(error.contains("middle of a message"), "{error}");
}

#[test]
fn another_version_is_refused_with_both_numbers() {
    let error = failure_of("cat older; sleep 1000");
    assert!(error.contains("0.0.1") && error.contains(OURS), "{error}");
    assert!(error.contains("{agent}"), "how it could be sent: {error}");
    let error = failure_of("cat foreign; sleep 1000");
    assert!(error.contains("9.0.0") && error.contains("protocol"), "{error}");
}

#[test]
fn a_host_that_hangs_is_given_up() {
    let error = failure_of("sleep 1000");
    assert!(error.contains("say hello"), "{error}");
    // Ignores requests to end, and has child processes.
    let error = failure_of("trap '' TERM; sleep 1000 & cat hello; while :; do sleep 1; done");
    assert!(error.contains("has not answered"), "{error}");
}

#[test]
fn the_others_leave_when_one_host_fails() {
    let place = tempfile::tempdir().unwrap();
    let commands = ["cat hello; cat > said-0", "sleep 0.3; exit 7", "cat hello; cat > said-2"];
    let error = failure(&commands, place.path());
    assert!(error.starts_with("the agent on host host-1 "), "{error}");
    for name in ["said-0", "said-2"] {
        let said = std::fs::read(place.path().join(name)).unwrap();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("goodbye"), "{name}: {said}");
    }
}

#[test]
fn hosts_that_no_client_of_a_transfer_can_reach_are_reported_beforehand() {
    let check = |reached_by: &str, address: Option<&str>| {
        let host = StudyHost {
            name: "h".into(),
            reached_by: reached_by.parse().unwrap(),
            address: address.map(str::to_owned),
        };
        let guest = |name: &str, address: Option<&str>| Guest {
            name: name.into(),
            socket: "/lab/agent".into(),
            accelerator: "tcg".into(),
            address: address.map(|address| address.parse().unwrap()),
        };
        let options = FleetOptions {
            guests: vec![guest("mute", None), guest("vm", Some("127.64.0.1:7878"))],
            program: "/bin/false".into(),
            agent_binary: None,
            version: OURS.into(),
            patience: Timeouts::default(),
        };
        let checked = Fleet::new(&[host], options).unwrap().check_transfers();
        checked.map_err(|error| error.to_string())
    };
    check("local", None).unwrap();
    check("ssh:root@esx1", None).unwrap();
    check("lab:vm", None).unwrap();
    check("command: x", Some("10.0.0.5")).unwrap();
    let error = check("lab:mute", None).unwrap_err();
    assert!(error.contains("lab:mute") && error.contains("network: user"), "{error}");
    let error = check("command: x", None).unwrap_err();
    assert!(error.contains("address:"), "{error}");
}
