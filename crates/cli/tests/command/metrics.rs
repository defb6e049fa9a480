//! The metrics of a run while it runs, scraped by Prometheus, and compared with what is exported from the results file.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use serde_json::Value;
use stormeter_peers::{PeerError, Prometheus, promtool_check};

use crate::place::{Place, Running, SHORT, SURE, not_run, until};

const TOKEN: &str = "a-token-of-this-test_0123456789";

/// Where a run serves its metrics.
fn address(place: &Place, running: &mut Running) -> SocketAddr {
    let find = || {
        let outputs = std::fs::read_dir(place.root()).unwrap();
        let errors = outputs.map(|entry| entry.unwrap().path().join("stderr"));
        let text: String = errors.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        let rest = text.split_once("metrics: http://")?.1;
        rest.split_once("/metrics\n")?.0.parse().ok()
    };
    running.until("an address of metrics", find)
}

/// The answer to a request with these headers: status and body.
fn get(address: SocketAddr, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// A Prometheus that scrapes this address; `None` where there is none.
fn prometheus(address: SocketAddr, token: Option<&Path>) -> Option<Prometheus> {
    match Prometheus::start(address, token) {
        Ok(prometheus) => Some(prometheus),
        Err(error @ PeerError::Missing { .. }) => {
            not_run(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The newest sample of each series whose name begins like this: by name and labels.
fn newest(prometheus: &Prometheus, prefix: &str) -> BTreeMap<String, f64> {
    // Samples of the last hour: those of a target that is gone count as well.
    let query = format!("last_over_time(%7B__name__%3D~%22{prefix}.%2B%22%7D%5B1h%5D)");
    let text = prometheus.get(&format!("/api/v1/query?query={query}"));
    let json: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
    let results = json["data"]["result"].as_array().cloned().unwrap_or_default();
    let read = |series: &Value| {
        let labels = series["metric"].as_object()?.iter();
        let labels =
            labels.filter(|(name, _)| !["__name__", "instance", "job"].contains(&&***name));
        let mut labels: Vec<String> = labels
            .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or("")))
            .collect();
        labels.sort();
        let value = series["value"][1].as_str()?.parse().ok()?;
        Some((format!("{}|{}", series["metric"]["__name__"].as_str()?, labels.join("|")), value))
    };
    results.iter().filter_map(read).collect()
}

/// The samples of a text without its comments, in the same form. The values of labels have no comma here.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let labels = labels.trim_end_matches('}').split(',').map(|label| label.replace('"', ""));
        let mut labels: Vec<String> = labels.collect();
        labels.sort();
        (format!("{name}|{}", labels.join("|")), value.parse().unwrap())
    };
    lines.map(read).collect()
}

#[test]
fn prometheus_scrapes_a_run_and_has_what_its_results_file_says() {
    let place = Place::new();
    let mut running = place.start(&format!(
        "compare a b {SHORT} {SURE} --max-blocks 6 --output r.db --metrics 127.0.0.1:0 \
         --metrics-linger 100s"
    ));
    let address = address(&place, &mut running);
    let Some(prometheus) = prometheus(address, None) else { return };
    // While the run lasts, in both forms.
    let (status, text) = get(address, "Accept: text/plain;version=0.0.4\r\n");
    assert_eq!(status, 200, "{text}");
    promtool_check(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    // It ends when Prometheus has scraped its end.
    running.wait().expect(&[0, 4, 5]);
    let exported = samples(&place.run("export r.db --to openmetrics").expect(&[0]).stdout);
    assert!(exported.keys().any(|key| key.starts_with("stormeter_latency_p99_seconds|")));
    let scraped = until("the last samples", || {
        let scraped = newest(&prometheus, "stormeter_");
        scraped
            .get("stormeter_stage|stage=ended")
            .is_some_and(|value| *value == 1.0)
            .then_some(scraped)
    });
    for (series, value) in &exported {
        assert_eq!(scraped.get(series), Some(value), "{series}: {scraped:#?}");
    }
    let one = |series: &str| scraped.get(series).copied();
    assert!(one("stormeter_trials_total|outcome=measured") >= Some(10.0), "{scraped:#?}");
    assert!(one("stormeter_blocks|") >= Some(5.0), "{scraped:#?}");
    assert!(scraped.keys().any(|key| key.starts_with("stormeter_run_info|kind=comparison|run=")));
}

#[test]
fn with_a_token_prometheus_needs_it_and_so_does_any_other_client() {
    let place = Place::new();
    std::fs::write(place.path("token"), format!("{TOKEN}\n")).unwrap();
    std::fs::write(
        place.path("s.yaml"),
        "study: Two loads\ndatastores: {one: \"null:\", two: \"null:\"}\n\
         workloads: [{profile: vm-4k}, {profile: vm-8k}]\ndisk: {size: 8MiB}\n\
         measure: {ramp: 10ms, duration: 100ms}\ndesign: {blocks: 2}\n",
    )
    .unwrap();
    let mut running = place.start(
        "run s.yaml --output r.db --metrics [::1]:0 --metrics-token-file token \
         --metrics-linger 100s --quiet",
    );
    let address = address(&place, &mut running);
    for headers in ["", "Authorization: Bearer a-token-of-this-test_0123456788\r\n"] {
        let (status, text) = get(address, headers);
        assert_eq!((status, text.contains("stormeter_")), (401, false), "{text}");
    }
    let Some(prometheus) = prometheus(address, Some(&place.path("token"))) else { return };
    // It would wait for another scrape if this one were refused.
    running.wait().expect(&[0, 4, 5]);
    let (run, _) = until("a sample", || newest(&prometheus, "stormeter_run").pop_first());
    assert!(run.contains("|kind=study|") && run.contains("|study=Two loads"), "{run}");
}

#[test]
fn a_prediction_is_served_too_and_ends_without_a_scrape() {
    let place = Place::new();
    let site = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/tr3808/site.yaml");
    std::fs::write(
        place.path("s.yaml"),
        "datastores: {nfs: \"nfs://x/y\", iscsi: \"iscsi://x/iqn.x/1\"}\nworkloads: [{profile: vm-4k}]\n\
         measure: {ramp: 10ms, duration: 100ms}\ndesign: {blocks: 2}\n",
    )
    .unwrap();
    let outcome = place.run(&format!(
        "predict s.yaml --site {site} --no-elasticity --output p.db --metrics 127.0.0.1:0"
    ));
    let outcome = outcome.expect(&[0]);
    assert!(outcome.stderr.contains("metrics: http://127.0.0.1:"), "{outcome:?}");
}

#[test]
fn addresses_of_other_machines_need_a_token() {
    let place = Place::new();
    let refused = |options: &str, part: &str| {
        let outcome = place.run(&format!("compare a b --output r.db {options}")).expect(&[2]);
        assert!(outcome.stderr.contains(part), "{options}: {}", outcome.stderr);
        assert!(!place.path("r.db").exists() && place.folders("a").is_empty());
    };
    refused("--metrics 0.0.0.0:0", "--metrics-token-file");
    refused("--metrics 9400", "127.0.0.1:9400");
    refused("--metrics-token-file token", "--metrics <ADDRESS>");
    std::fs::write(place.path("token"), "short\n").unwrap();
    refused("--metrics 0.0.0.0:0 --metrics-token-file token", "openssl rand -hex 32");
    refused("--metrics 127.0.0.1:0 --metrics-token-file none", "token file none");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    refused(&format!("--metrics {address}"), &format!("{address} cannot be listened on"));
}
