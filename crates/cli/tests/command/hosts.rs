//! A study carried out by agents on hosts: whole, and with agents and controllers that are killed, stopped
//! and interrupted.

use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stormeter_testkit::violations;

use crate::place::{Place, Running, until};
use crate::results::{one, rows, trials};

/// A study on the directory `a` and on nothing, by hosts that are commands of their own. Each writes its
/// process id down.
fn write(place: &Place, hosts: usize, measure: &str) {
    let program = env!("CARGO_BIN_EXE_stormeter");
    let mut text = String::from("study: Hosts\ndatastores: {a: a, nothing: \"null:\"}\nhosts:\n");
    for host in 0..hosts {
        text += &format!(
            "  h{host}: \"command: echo $$ > {}/pid-{host}; exec {program} agent\"\n",
            place.root().display()
        );
    }
    text += &format!(
        "workloads: [{{name: vm-4k, profile: vm-4k, rate: 200}}]\nload: {{vms: [1, 3]}}\n\
         disk: {{size: 4MiB}}\n{measure}\n"
    );
    std::fs::write(place.path("s.yaml"), text).unwrap();
}

const SHORT: &str = "measure: {ramp: 20ms, duration: 200ms, interval: 50ms}\n\
                     design: {blocks: 2, metric: latency-mean}";
/// Long enough to do something to it meanwhile.
const LONG: &str = "measure: {ramp: 20ms, duration: 2s, interval: 100ms}\n\
                    design: {blocks: 2, metric: latency-mean}";

/// The process of a host's agent, once it has one that lives.
fn agent(place: &Place, running: &mut Running, host: usize) -> Pid {
    let path = place.path(&format!("pid-{host}"));
    running.until("an agent", || {
        let pid = std::fs::read_to_string(&path).ok()?.trim().parse().ok()?;
        lives(pid).then(|| Pid::from_raw(pid))
    })
}

fn lives(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Nothing of ours is in the datastore, and no agent that was ever started lives.
fn nothing_is_left(place: &Place, agents: &[Pid]) {
    let folders = || place.folders("a").is_empty().then_some(());
    until("the disks to be removed", folders);
    for agent in agents {
        until("the agent to be gone", || (!lives(agent.as_raw())).then_some(()));
    }
}

/// Waits until a trial runs: the first is over then, and its agents drive the next one.
fn in_a_trial(place: &Place, running: &mut Running) {
    running.until("a trial", || (!trials(&place.path("s.db")).is_empty()).then_some(()));
}

#[test]
fn a_study_on_two_hosts_deals_its_vms_and_tells_each_hosts_share() {
    let place = Place::new();
    write(&place, 2, SHORT);
    let planned = place.run("run s.yaml --plan").expect(&[0]).stdout;
    assert!(planned.contains("h1") && planned.contains("Hosts"), "{planned}");
    let json = place.run("run s.yaml --output s.db --json").expect(&[0, 4, 5]).json();
    let schema = include_str!("../../../../docs/schema/report.schema.json");
    let violations = violations(&serde_json::from_str(schema).unwrap(), &json);
    assert!(violations.is_empty(), "{violations:#?}");
    let hosts = json["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 2, "{json:#}");
    for (host, vms) in [(0, [1, 2].as_slice()), (1, &[1])] {
        assert_eq!(hosts[host]["name"], format!("h{host}"));
        assert!(hosts[host]["clock_error_ns"].as_u64().unwrap() > 0);
        let mut driven: Vec<u64> = hosts[host]["cells"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell["vms"].as_u64().unwrap())
            .collect();
        driven.sort_unstable();
        driven.dedup();
        assert_eq!(driven, vms, "{json:#}");
    }
    assert_eq!(json["environment"]["hosts"].as_array().unwrap().len(), 2);
    let path = place.path("s.db");
    // All hosts together are the trial, and each VM has its own number.
    let sums = "SELECT count(*) FROM trial JOIN (SELECT trial_id, sum(operations) AS operations FROM \
                host_share GROUP BY trial_id) AS hosts ON hosts.trial_id = trial.id WHERE \
                hosts.operations = trial.operations";
    assert_eq!(one::<i64>(&path, sums), one::<i64>(&path, "SELECT count(*) FROM trial"));
    let disks = "SELECT DISTINCT disk FROM disk JOIN trial ON trial.id = disk.trial_id JOIN cell ON \
                 cell.id = trial.cell WHERE phase = 'main' AND vms = 3 ORDER BY disk";
    assert_eq!(rows(&path, disks, |row| row.get::<_, i64>(0)), [0, 1, 2]);
    nothing_is_left(&place, &[]);
    let shown = place.run("report s.db").expect(&[0, 4, 5]).stdout;
    assert!(shown.contains("Hosts") && shown.contains('±'), "{shown}");
}

/// Two hosts are compared as two datastores: each trial is of one host, with all of its VMs.
#[test]
fn a_datastore_is_driven_by_the_hosts_that_it_names() {
    let place = Place::new();
    write(&place, 3, SHORT);
    let study = std::fs::read_to_string(place.path("s.yaml")).unwrap();
    let named = "{old: {url: a, hosts: [h0]}, new: {url: a, hosts: [h1]}, both: {url: \"null:\", hosts: [h2, h1]}}";
    let study = study.replace("{a: a, nothing: \"null:\"}", named);
    std::fs::write(place.path("s.yaml"), &study).unwrap();
    let planned = place.run("run s.yaml --plan").expect(&[0]).stdout;
    assert!(!planned.contains("A/A"), "{planned}");
    let json = place.run("run s.yaml --output s.db --json").expect(&[0, 4, 5]).json();
    let path = place.path("s.db");
    let driven = "SELECT DISTINCT datastore_name || ' ' || cell.vms || ' ' || host_share.name || ' ' || \
                  host_share.vms FROM host_share JOIN trial ON trial.id = trial_id JOIN cell ON cell.id = \
                  trial.cell WHERE phase = 'main' ORDER BY 1";
    assert_eq!(
        rows(&path, driven, |row| row.get::<_, String>(0)),
        [
            "both 1 h1 1",
            "both 3 h1 2",
            "both 3 h2 1",
            "new 1 h1 1",
            "new 3 h1 3",
            "old 1 h0 1",
            "old 3 h0 3",
        ],
        "{json:#}"
    );
    nothing_is_left(&place, &[]);
    let shown = place.run("report s.db").expect(&[0, 4, 5]).stdout;
    assert!(shown.contains("Hosts"), "{shown}");
    // A host that nothing is left for is refused before anything is started.
    let idle = study.replace("[h0]", "[h1]");
    std::fs::write(place.path("s.yaml"), idle).unwrap();
    let refused = place.run("run s.yaml --output t.db").expect(&[2]);
    assert!(refused.stderr.contains("host h0 drives none of the datastores"), "{refused:?}");
}

/// Each host knows what it wrote: no block is wrong, and none is unknown.
#[test]
fn hosts_verify_what_they_read() {
    let place = Place::new();
    write(&place, 2, SHORT);
    let study = std::fs::read_to_string(place.path("s.yaml")).unwrap();
    let study =
        study.replace(", nothing: \"null:\"", "").replace("measure: {", "measure: {verify: true, ");
    std::fs::write(place.path("s.yaml"), study).unwrap();
    let json = place.run("run s.yaml --output s.db --json").expect(&[0, 4, 5]).json();
    let cells = json["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2, "{json:#}");
    for cell in cells {
        let verified = &cell["verified"];
        assert!(verified["blocks"].as_u64().unwrap() > 0, "{json:#}");
        assert_eq!(
            (&verified["wrong_blocks"], &verified["unknown_blocks"]),
            (&0.into(), &0.into())
        );
    }
    nothing_is_left(&place, &[]);
}

/// Agents that are frozen again and again, as on machines with too much to do, hear of common starts when they
/// are over. Their study comes to its end, with every trial.
#[test]
fn a_start_that_a_host_hears_of_too_late_is_named_again() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_stormeter");
    // Most of the time, each in its own rhythm: while one gets ready, the other is frozen. The shortest round
    // trips tell nothing of it.
    let frozen = |seconds: f64| {
        format!(
            "\"command: (for i in $(seq 150); do kill -STOP $$ || exit; sleep {seconds}; kill -CONT $$; \
             sleep 0.02; done) >/dev/null 2>&1 & exec {program} agent\""
        )
    };
    let text = format!(
        "datastores: {{a: \"null:\"}}\nhosts: {{one: {}, other: {}}}\n\
         workloads: [{{name: w, profile: vm-4k, rate: 200}}]\nload: {{vms: [2, 3, 4, 5]}}\n{SHORT}\n",
        frozen(0.15),
        frozen(0.11)
    );
    std::fs::write(place.path("s.yaml"), text).unwrap();
    let outcome = place.run("run s.yaml --output s.db").expect(&[0, 4, 5]);
    let all = trials(&place.path("s.db"));
    assert!(all.iter().all(|trial| trial.outcome == "measured"), "{all:?} {outcome:?}");
}

#[test]
fn an_agent_that_is_killed_fails_its_trial_and_is_reached_again() {
    let place = Place::new();
    write(&place, 2, LONG);
    let mut running = place.start("run s.yaml --output s.db");
    in_a_trial(&place, &mut running);
    let victim = agent(&place, &mut running, 1);
    kill(victim, Signal::SIGKILL).unwrap();
    running.until("another agent", || {
        let pid = std::fs::read_to_string(place.path("pid-1")).unwrap();
        let pid = pid.trim().parse::<i32>().ok()?;
        (pid != victim.as_raw()).then_some(())
    });
    let other = agent(&place, &mut running, 0);
    let outcome = running.wait().expect(&[0, 4, 5]);
    let failed: Vec<String> =
        rows(&place.path("s.db"), "SELECT reason FROM trial WHERE outcome = 'failed'", |row| {
            row.get(0)
        });
    assert!(!failed.is_empty() && failed[0].contains("h1 is gone"), "{failed:?} {outcome:?}");
    assert!(failed[0].contains("SIGKILL"), "{failed:?}");
    let measured = trials(&place.path("s.db"));
    assert_eq!(measured.last().unwrap().outcome, "measured", "{measured:?}");
    nothing_is_left(&place, &[victim, other]);
}

#[test]
fn an_agent_that_is_stopped_is_given_up_in_time() {
    let place = Place::new();
    write(&place, 2, LONG);
    let mut running = place.start("run s.yaml --output s.db");
    in_a_trial(&place, &mut running);
    let (victim, other) = (agent(&place, &mut running, 1), agent(&place, &mut running, 0));
    kill(victim, Signal::SIGSTOP).unwrap();
    running.wait().expect(&[0, 4, 5]);
    let failed: Vec<String> =
        rows(&place.path("s.db"), "SELECT reason FROM trial WHERE outcome = 'failed'", |row| {
            row.get(0)
        });
    assert!(failed.iter().any(|reason| reason.contains("has not answered")), "{failed:?}");
    nothing_is_left(&place, &[victim, other]);
}

#[test]
fn an_interrupted_controller_leaves_no_process_and_no_file() {
    let place = Place::new();
    write(&place, 3, LONG);
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let _ = std::fs::remove_file(place.path("s.db"));
        let mut running = place.start("run s.yaml --output s.db");
        in_a_trial(&place, &mut running);
        let agents = [0, 1, 2].map(|host| agent(&place, &mut running, host));
        running.signal(signal);
        running.wait().expect(&[130]);
        // By then, not some time later.
        assert!(place.folders("a").is_empty());
        assert!(agents.iter().all(|agent| !lives(agent.as_raw())));
    }
}

#[test]
fn agents_of_a_killed_controller_clean_up_by_themselves() {
    let place = Place::new();
    write(&place, 2, LONG);
    let mut running = place.start("run s.yaml --output s.db");
    in_a_trial(&place, &mut running);
    let agents = [0, 1].map(|host| agent(&place, &mut running, host));
    running.kill();
    nothing_is_left(&place, &agents);
    // And the study resumes from what was kept.
    let kept = trials(&place.path("s.db"));
    write(&place, 2, LONG);
    place.run("run s.yaml --output s.db").expect(&[0, 4, 5]);
    assert!(trials(&place.path("s.db")).starts_with(&kept));
    nothing_is_left(&place, &[]);
}

#[test]
fn a_hundred_agents_are_led_in_one_trial() {
    let place = Place::new();
    let mut text = String::from("datastores: {a: a}\nhosts:\n");
    for host in 0..100 {
        text += &format!("  h{host}: local\n");
    }
    text += "workloads: [{name: w, profile: vm-4k, rate: 20}]\nload: {vms: [100]}\n\
             disk: {size: 64KiB}\nmeasure: {ramp: 100ms, duration: 1s, interval: 500ms, threads: 1}\n\
             design: {blocks: 1, metric: latency-mean}\n";
    std::fs::write(place.path("s.yaml"), text).unwrap();
    let outcome = place.run("run s.yaml --output s.db").expect(&[0, 4, 5]);
    let path = place.path("s.db");
    let measured = "SELECT count(*) FROM trial WHERE phase = 'main' AND outcome = 'measured'";
    assert_eq!(one::<i64>(&path, measured), 1, "{outcome:?}");
    let hosts = "SELECT count(*) FROM host_share JOIN trial ON trial.id = host_share.trial_id \
                 WHERE phase = 'main' AND host_share.operations > 0";
    assert_eq!(one::<i64>(&path, hosts), 100);
    assert!(place.folders("a").is_empty());
}

#[test]
fn hosts_deploy_from_templates_of_their_own() {
    let place = Place::new();
    let text = "datastores: {a: a}\nhosts: {one: local, two: local}\n\
                workloads: [{name: d, deploy: {copy: 64KiB, customise: 5, boot: 5}}]\n\
                load: {vms: [1, 3]}\ndisk: {size: 1MiB}\ndesign: {blocks: 1}\n";
    std::fs::write(place.path("s.yaml"), text).unwrap();
    let outcome = place.run("run s.yaml --output s.db").expect(&[0, 4, 5]);
    let path = place.path("s.db");
    let shares = "SELECT host_share.vms, host_share.operations FROM host_share \
                  JOIN trial ON trial.id = host_share.trial_id \
                  JOIN cell ON cell.id = trial.cell WHERE cell.vms = 3 ORDER BY host_share.number";
    let deployed = rows(&path, shares, |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(deployed, [(2i64, 2i64), (1, 1)], "{outcome:?}");
    let copies = "SELECT max(times) FROM step WHERE name = 'copy'";
    assert_eq!(one::<i64>(&path, copies), 3);
    assert!(place.folders("a").is_empty());
}

#[test]
fn what_hosts_do_not_do_is_refused_before_anything_is_started() {
    let place = Place::new();
    let refused = |hosts: &str, rest: &str, words: &str| {
        let text = format!("datastores: {{a: a}}\nhosts: {hosts}\n{rest}\n");
        std::fs::write(place.path("s.yaml"), text).unwrap();
        let outcome = place.run("run s.yaml --output s.db").expect(&[2]);
        assert!(outcome.stderr.contains(words), "{hosts} {rest}: {outcome:?}");
        assert!(!place.path("s.db").exists());
    };
    refused("{vm3: \"lab:vm3\"}", "", "lab up");
    refused("{x: \"http://x\"}", "", "cannot be reached by");
    let portal = "workloads: [{name: d, desktops: {class: {users: 1}}}]";
    refused("{here: local}", portal, "one broker");
    std::fs::write(
        place.path("s.yaml"),
        "datastores: {a: \"embedded:nfs\"}\nhosts: {h: \"ssh:h\"}\n",
    )
    .unwrap();
    let outcome = place.run("run s.yaml").expect(&[2]);
    assert!(outcome.stderr.contains("started on this machine"), "{outcome:?}");
    // A refusal of a host is reported with its name.
    std::fs::write(place.path("s.yaml"), "datastores: {a: /no/such/place}\nhosts: {here: local}\n")
        .unwrap();
    let outcome = place.run("run s.yaml").expect(&[1]);
    assert!(outcome.stderr.contains("on host here"), "{outcome:?}");
}

#[test]
fn a_person_who_types_to_an_agent_reads_what_it_is() {
    let place = Place::new();
    let mut command = place.command("");
    command.args(["agent"]);
    std::fs::write(place.path("typed"), "hello?\n").unwrap();
    command.stdin(std::fs::File::open(place.path("typed")).unwrap());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("hello?") && said.contains("stormeter run"), "{said}");
    assert!(output.stdout.is_empty());
}

/// A study of messages into memory and onto the directory `a`, by two hosts.
fn write_transfers(place: &Place, hosts: &str) {
    let text = format!(
        "datastores: {{a: a}}\nhosts: {{{hosts}}}\nworkloads:\n  \
         - {{name: up, transfer: {{size: 100KB, direction: write, sink: disk, messages: 20}}}}\n  \
         - {{name: down, transfer: {{size: 100KB, direction: read, sink: memory, messages: 20}}}}\n  \
         - {{name: file, file-test: write, record: 64KiB}}\n\
         load: {{vms: [3]}}\ndisk: {{size: 1MiB}}\n\
         measure: {{interval: 50ms}}\ndesign: {{blocks: 2, metric: latency-mean}}\n"
    );
    std::fs::write(place.path("s.yaml"), text).unwrap();
}

#[test]
fn transfers_and_file_tests_are_done_on_hosts() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_stormeter");
    // One over the loopback address, one that listens for other machines.
    let other = format!("h1: {{command: \"{program} agent\", address: 127.0.0.2}}");
    write_transfers(&place, &format!("h0: local, {other}"));
    let json = place.run("run s.yaml --output s.db --json").expect(&[0, 4, 5]).json();
    assert_eq!(json["hosts"].as_array().unwrap().len(), 2, "{json:#}");
    let path = place.path("s.db");
    let trials = "SELECT operations, vms, outcome, coalesce(reason, '') FROM trial JOIN cell ON cell.id = \
                  trial.cell WHERE phase = 'main' AND workload IN ('up', 'down')";
    let found = rows(&path, trials, |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
    });
    assert_eq!(found.len(), 4, "{found:?}");
    for (operations, outcome, reason) in found {
        assert_eq!((operations, outcome.as_str()), (60, "measured"), "{reason}");
    }
    let disks = "SELECT DISTINCT disk FROM disk ORDER BY disk";
    assert_eq!(rows(&path, disks, |row| row.get::<_, i64>(0)), [0, 1, 2]);
    nothing_is_left(&place, &[]);
}

#[test]
fn a_server_that_cannot_be_reached_fails_its_trials_with_the_address() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_stormeter");
    // An address that no host has (RFC 5737), although the agent listens.
    write_transfers(&place, &format!("h: {{command: \"{program} agent\", address: 192.0.2.1}}"));
    place.run("run s.yaml --output s.db");
    let reasons = "SELECT reason FROM trial JOIN cell ON cell.id = trial.cell WHERE workload IN ('up', 'down')";
    let reasons: Vec<Option<String>> = rows(&place.path("s.db"), reasons, |row| row.get(0));
    assert!(!reasons.is_empty());
    for reason in reasons {
        let reason = reason.unwrap_or_default();
        assert!(reason.contains("192.0.2.1") && reason.contains("firewall"), "{reason}");
    }
    nothing_is_left(&place, &[]);
}
