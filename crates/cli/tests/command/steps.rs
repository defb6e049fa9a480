//! Steps of trials as users write them: a server that is stopped for a while, and continues.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::place::Place;
use crate::results::one;

/// A server of `b` over NFS. Dropping it continues and ends the server, whatever was done to it.
struct Server {
    child: std::process::Child,
    url: String,
}

impl Server {
    fn start(place: &Place) -> Self {
        let mut command = place.command("serve-nfs b --print-url --until-stdin-ends");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().into() }
    }

    /// Its state, as proc(5) has it: `T` when it is stopped.
    fn state(&self) -> String {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().next().unwrap().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.child.id() as i32), Signal::SIGCONT);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn study(place: &Place, server: &Server, blocks: u32, more: &str) {
    let (pid, url) = (server.child.id(), &server.url);
    let text = format!(
        "datastores: {{nas: \"{url}&timeout=60s\"}}\n\
         workloads: [{{name: load, profile: vm-4k, rate: 400}}]\n\
         disk: {{size: 4MiB}}\n\
         measure: {{ramp: 200ms, duration: 4s, interval: 100ms}}\n\
         design: {{blocks: {blocks}, metric: latency-mean}}\n\
         steps:\n\
         - {{at: 1200ms, do: {{command: 'kill -STOP {pid}', undo: 'kill -CONT {pid}'}}}}\n{more}"
    );
    std::fs::write(place.path("s.yaml"), text).unwrap();
}

#[test]
fn a_server_that_stood_still_is_reported_with_its_outage_and_its_recovery() {
    let place = Place::new();
    let server = Server::start(&place);
    let pid = server.child.id();
    study(&place, &server, 1, &format!("- {{at: 2s, do: {{command: 'kill -CONT {pid}'}}}}\n"));
    let plan = place.run("run s.yaml --plan").expect(&[0]).stdout;
    assert!(plan.contains(&format!("1.20s  kill -STOP {pid}")), "{plan}");
    assert!(plan.contains(&format!("after the trial: kill -CONT {pid}")), "{plan}");
    let outcome = place.run("run s.yaml --output s.db --json --html s.html").expect(&[0, 4, 5]);
    let json = outcome.json();
    let of_nas = &json["steps"][0];
    let step = |number: usize, key: &str| of_nas["steps"][number][key].as_i64().unwrap();
    let stopped_ns = step(1, "at_ns") - (step(0, "at_ns") + step(0, "took_ns"));
    assert!(step(0, "at_ns") >= 1_200_000_000 && step(1, "at_ns") >= 2_000_000_000, "{of_nas}");
    // Nothing completes on a server that is stopped; what is measured is right to an interval.
    let outage_ns = of_nas["outage_ns"].as_i64().unwrap();
    assert!(outage_ns >= stopped_ns - 100_000_000, "{outage_ns} of {stopped_ns}");
    assert_eq!(of_nas["dip_share"], 0.0, "{of_nas}");
    let recovered =
        |step: &Value| !step["recovery_ns"].is_null() || !step["not_recovered_ns"].is_null();
    assert!(recovered(&of_nas["steps"][1]), "{of_nas}");
    let count: i64 = one(&place.path("s.db"), "SELECT count(*) FROM disturbance");
    assert_eq!(count, 2);
    let page = std::fs::read_to_string(place.path("s.html")).unwrap();
    assert!(page.contains(&format!("<title>1: kill -STOP {pid}</title>")), "no mark");
    let text = place.run("report s.db").expect(&[0, 4, 5]).stdout;
    assert!(text.contains("Steps") && text.contains("back after"), "{text}");
}

#[test]
fn whoever_interrupts_it_leaves_no_server_stopped() {
    let place = Place::new();
    let server = Server::start(&place);
    study(&place, &server, 3, "");
    let mut running = place.start("run s.yaml --output s.db");
    running.until("a stopped server", || (server.state() == "T").then_some(()));
    running.signal(Signal::SIGINT);
    running.wait().expect(&[130]);
    assert_ne!(server.state(), "T");
    assert!(place.folders("b").is_empty());
}

#[test]
fn a_verb_of_a_lab_without_a_lab_is_refused_with_advice() {
    let place = Place::new();
    let text = "datastores: {a: a}\nsteps: [{at: 3s, do: link-down nas}]\n";
    std::fs::write(place.path("s.yaml"), text).unwrap();
    let outcome = place.run("run s.yaml --output s.db").expect(&[2]);
    assert!(outcome.stderr.contains("stormeter lab up"), "{outcome:?}");
    assert!(!place.path("s.db").exists() && place.folders("a").is_empty());
}

#[test]
fn a_step_that_a_site_has_no_model_of_is_refused_before_anything_is_predicted() {
    let place = Place::new();
    std::fs::write(place.path("site.yaml"), include_str!("../../../../examples/faults/site.yaml"))
        .unwrap();
    let study = include_str!("../../../../examples/faults/study.yaml");
    assert!(study.contains("link-down nas"), "{study}");
    std::fs::write(place.path("s.yaml"), study.replace("link-down nas", "pause nas")).unwrap();
    let outcome = place.run("predict s.yaml --output s.db").expect(&[2]);
    assert!(outcome.stderr.contains("a site has no model of pause"), "{outcome:?}");
    assert!(!place.path("s.db").exists());
}
