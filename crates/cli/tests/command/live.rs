//! The live page, in a browser: opened, watched to the end, which is the report.

use std::path::Path;

use serde_json::Value;
use stormeter_peers::{Chromium, Look, PeerError};

use crate::place::{Place, Running, not_run, until};

/// Where pictures are kept, if they are to be looked at.
const PICTURES: &str = "STORMETER_PICTURES";
const WIDE: Look = Look { width: 1100, height: 2400, is_dark: false };

/// The address of the page.
fn address(place: &Place, running: &mut Running) -> String {
    running.until("an address of the live page", || {
        let outputs = std::fs::read_dir(place.root()).unwrap();
        let errors = outputs.map(|entry| entry.unwrap().path().join("stderr"));
        let text: String = errors.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        let rest = text.split_once("live: ")?.1;
        Some(rest.split_once('\n')?.0.to_owned())
    })
}

fn browser() -> Option<Chromium> {
    match Chromium::start() {
        Ok(browser) => Some(browser),
        Err(error @ PeerError::Missing { .. }) => {
            not_run(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The names of the hosts, as the table has them.
const HOSTS: &str =
    "[...document.querySelectorAll('#hosts tbody tr')].map(row => row.cells[0].textContent).join()";

/// Waits until this expression is true in the page.
fn sees(browser: &mut Chromium, running: &mut Running, expression: &str) {
    running.until(expression, || {
        (browser.value(expression).unwrap() == Value::Bool(true)).then_some(())
    });
}

fn picture(browser: &mut Chromium, name: &str, look: Look) {
    if let Some(directory) = std::env::var_os(PICTURES) {
        browser.picture(look, &Path::new(&directory).join(name)).unwrap();
    }
}

/// How much of a map is drawn: its points that are not empty.
const DRAWN: &str = "(() => { const canvas = document.querySelector('#maps canvas'); if (!canvas) return 0; \
                     const data = canvas.getContext('2d').getImageData(60, 0, canvas.width - 62, canvas.height - 20).data; \
                     let drawn = 0; for (let i = 3; i < data.length; i += 4) drawn += data[i] > 0; return drawn; })()";

/// A study with a fleet of three agents on three datastores, watched to its end.
#[test]
fn a_study_with_three_agents_is_watched_to_the_end() {
    let Some(mut browser) = browser() else { return };
    let place = Place::new();
    place.make("c");
    let program = env!("CARGO_BIN_EXE_stormeter");
    let mut study = String::from(
        "study: Three hosts\ndatastores: {nas: a, san: b, local: c}\nquestions: [nas is faster than local in IOPS]\nhosts:\n",
    );
    for host in ["esx1", "esx2", "esx3"] {
        study += &format!("  {host}: \"command: exec {program} agent\"\n");
    }
    study += "workloads: [{name: vm-4k, profile: vm-4k, rate: 300}]\nload: {vms: 3}\ndisk: {size: 4MiB}\n\
              measure: {ramp: 50ms, duration: 1s, interval: 100ms}\ndesign: {blocks: 4, metric: latency-mean}\n";
    std::fs::write(place.path("s.yaml"), study).unwrap();
    let mut running = place.start("run s.yaml --live --live-linger 60s --output s.db");
    let url = address(&place, &mut running);
    browser.open(&url).unwrap();
    sees(&mut browser, &mut running, "document.querySelector('h1')?.textContent === 'Three hosts'");
    sees(&mut browser, &mut running, &format!("{HOSTS} === 'esx1,esx2,esx3'"));
    let busy = "[...document.querySelectorAll('#hosts tbody tr')].every(row => row.cells[1].textContent !== '–')";
    sees(&mut browser, &mut running, busy);
    sees(&mut browser, &mut running, "document.querySelector('#values tr.running') !== null");
    sees(&mut browser, &mut running, &format!("{DRAWN} > 0"));
    sees(&mut browser, &mut running, "document.querySelector('#verdict .said') !== null");
    // All of it again after a reload.
    browser.open(&url).unwrap();
    sees(&mut browser, &mut running, &format!("{DRAWN} > 0"));
    sees(
        &mut browser,
        &mut running,
        "document.querySelector('#narrowing, #verdict .said') !== null",
    );
    picture(&mut browser, "live.png", WIDE);
    picture(&mut browser, "live-dark.png", Look { is_dark: true, ..WIDE });
    picture(&mut browser, "live-narrow.png", Look { width: 400, ..WIDE });
    if let Some(directory) = std::env::var_os(PICTURES) {
        browser.print(&Path::new(&directory).join("live.pdf")).unwrap();
    }
    // What is finished can be opened meanwhile.
    let finished = format!(
        "fetch('{url}report').then(page => page.text()).then(text => {{ window.finished = text; }}); true"
    );
    browser.value(&finished).unwrap();
    sees(&mut browser, &mut running, "(window.finished || '').includes('Three hosts')");
    // The end is the report.
    until("the report", || {
        let title = browser.value(
            "location.pathname.endsWith('/report') && document.querySelector('.answer') !== null",
        );
        // A page that is just being replaced cannot be asked.
        (title.unwrap_or_default() == Value::Bool(true)).then_some(())
    });
    picture(&mut browser, "live-end.png", WIDE);
    running.wait().expect(&[0, 4]);
}

#[test]
fn a_page_for_other_machines_needs_a_token() {
    let place = Place::new();
    let refused = place.run("compare a b --live=0.0.0.0:0").expect(&[2]);
    assert!(refused.stderr.contains("--live-token-file"), "{}", refused.stderr);
    std::fs::write(place.path("token"), "short").unwrap();
    let refused = place.run("compare a b --live --live-token-file token").expect(&[2]);
    assert!(refused.stderr.contains("16 to 256"), "{}", refused.stderr);
}
