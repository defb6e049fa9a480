//! The commands that serve and those that talk to them: `serve-nfs`, `ceiling --through`, `net`, and
//! what a comparison over the network shows, leaves and removes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::{Place, SHORT, SURE};

/// `serve-nfs` on a directory of a place, until it is dropped.
struct Serving {
    child: Child,
    url: String,
}

fn serve(place: &Place, arguments: &str) -> Serving {
    let mut command: Command = place.command(&format!("serve-nfs {arguments}"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    Serving { child, url: line.trim().into() }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_directory_is_compared_with_itself_over_nfs() {
    let place = Place::new();
    let serving = serve(&place, "b --print-url");
    assert!(serving.url.starts_with("nfs://127.0.0.1:"), "{}", serving.url);
    let outcome = place
        .run_until(&[0, 4], &format!("compare a {} {SHORT} {SURE} --verify --json", serving.url));
    let json = outcome.json();
    let [local, nas] = [0, 1].map(|index| &json["datastores"][index]);
    assert_eq!(nas["kind"], "nfs");
    assert_eq!(nas["protocol"][1]["value"], "FILE_SYNC", "{nas}");
    let [of_local, of_nas] = [0, 1].map(|index| &json["cells"][index]);
    assert_eq!((&of_nas["datastore"], &local["kind"]), (&nas["name"], &"directory".into()));
    assert!(of_nas["verified"]["blocks"].as_u64().is_some_and(|blocks| blocks > 0), "{of_nas}");
    let has_target = |cell: &serde_json::Value| {
        let values = cell["metrics"].as_array().unwrap();
        values.iter().any(|value| value["metric"] == "target-cpu-per-io")
    };
    assert!(has_target(of_nas) && !has_target(of_local), "{json}");
    // The one over NFS has the ceiling of its client with a server that answers from nothing.
    let ceilings = json["ceilings"].as_array().unwrap();
    let of = |kind: &str| ceilings.iter().filter(|it| it["kind"] == kind).collect::<Vec<_>>();
    let (generator, ways) = (of("generator"), of("null-server"));
    assert_eq!(ways.iter().map(|way| &way["datastore"]).collect::<Vec<_>>(), [&nas["name"]]);
    let iops = |ceiling: &serde_json::Value| ceiling["iops"].as_f64().unwrap();
    assert!(iops(ways[0]) < iops(generator[0]), "{ceilings:?}");
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
}

#[test]
fn serving_ends_with_a_signal_and_with_its_parent() {
    let place = Place::new();
    let mut serving = serve(&place, "a");
    kill(Pid::from_raw(serving.child.id() as i32), Signal::SIGINT).unwrap();
    assert!(serving.child.wait().unwrap().success());

    let mut serving = serve(&place, "a --print-url --until-stdin-ends");
    drop(serving.child.stdin.take());
    assert!(serving.child.wait().unwrap().success());
    let outcome = place.run(&format!("doctor {}", serving.url)).expect(&[1]);
    assert!(outcome.stdout.contains("cannot be reached"), "{outcome:?}");
}

#[test]
fn only_directories_are_served() {
    let place = Place::new();
    let outcome = place.run("serve-nfs missing").expect(&[1]);
    assert!(outcome.stderr.contains("missing"), "{outcome:?}");
}

#[test]
fn the_doctor_looks_at_an_export_and_lists_what_there_is() {
    let place = Place::new();
    let serving = serve(&place, "a --print-url");
    let outcome = place.run(&format!("doctor {}", serving.url)).expect(&[0]);
    assert!(outcome.stdout.contains("nfs"), "{outcome:?}");
    let other = serving.url.replace("/export?", "/another?");
    let outcome = place.run(&format!("doctor {other}")).expect(&[1]);
    assert!(outcome.stdout.contains("it exports /export"), "{outcome:?}");
    assert!(place.folders("a").is_empty());
}

#[test]
fn the_doctor_measures_the_way_to_a_server_and_what_a_run_would_take() {
    let place = Place::new();
    let serving = serve(&place, "b --print-url");
    let text = place.run(&format!("doctor a {}", serving.url)).expect(&[0]).stdout;
    for words in [
        "round trip  ",
        "median of 32 NULL calls",
        "rtmax",
        "by lo, MTU ",
        "default run  writes 1GiB",
    ] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    let json = place.run(&format!("doctor {} --json", serving.url)).expect(&[0]).json();
    let all = json.as_array().unwrap();
    let way = &all.iter().find(|advice| advice["subject"] == serving.url.as_str()).unwrap()["way"];
    assert_eq!(way["round_trips"]["count"], 32, "{way}");
    assert_eq!(way["links"][0]["interface"], "lo");
    assert_eq!(way["run"]["prepared_bytes"], 1 << 30);
    // Two datastores of five trials, each of 4 s after 1 s.
    assert_eq!(way["run"]["least_ns"], 50_000_000_000_u64);
    assert_eq!(way["run"]["most_ns"], 600_000_000_000_u64);
    // Three are measured in turn.
    let three = place.run(&format!("doctor a b {} --json", serving.url)).expect(&[0]).json();
    let of_a = three.as_array().unwrap().iter().find(|advice| advice["subject"] == "a").unwrap();
    assert_eq!(of_a["way"]["run"]["least_ns"], 75_000_000_000_u64, "{of_a}");
    assert!(of_a["way"]["links"].as_array().unwrap().is_empty(), "{of_a}");
}

#[test]
fn the_ceiling_through_a_protocol_is_measured() {
    let place = Place::new();
    for protocol in ["nfs", "iscsi"] {
        let options = format!("ceiling --through {protocol} --duration 200ms --json");
        let json = place.run(&options).expect(&[0]).json();
        assert_eq!(json["through"], protocol);
        assert!(json["iops"].as_f64().unwrap() > 0.0, "{json}");
    }
}

#[test]
fn net_makes_keys_and_wants_one() {
    let place = Place::new();
    let keys = [0, 1].map(|_| place.run("net --new-key").expect(&[0]).stdout);
    assert!(keys[0].trim().len() >= 32 && keys[0] != keys[1], "{keys:?}");
    let outcome = place.run("net 127.0.0.1:9 rtt").expect(&[2]);
    assert!(outcome.stderr.contains("--new-key"), "{outcome:?}");
    place.run("net").expect(&[2]);
}

/// Where every datastore has a way of its own, the generator's ceiling is the flattering figure that says nothing.
#[test]
fn the_ceiling_of_datastores_in_the_network_is_not_that_of_null() {
    let place = Place::new();
    let serving = serve(&place, "b --print-url");
    let url = &serving.url;
    let arguments = format!("compare {url} {url}&connections=2 {SHORT} {SURE}");
    let outcome = place.run_until(&[0, 4], &arguments);
    let said = outcome.said();
    assert_eq!(said.matches("a server that answers from nothing").count(), 2, "{said}");
    assert!(!said.contains("The load generator alone"), "{said}");
}
