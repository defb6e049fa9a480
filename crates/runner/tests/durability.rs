//! Storage that cannot do what the workloads ask for is refused once, before the first trial.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stormeter_datastore::{DatastoreError, DiskSpec, Durability, RealClock};
use stormeter_results::{Phase, ResultsFile};
use stormeter_runner::{
    Executor, FillSpec, LocalExecutor, OpenOrder, PrepareOrder, Request, RunError, Silent,
};
use stormeter_server::{NullIscsi, Running};
use stormeter_study::WorkloadKind;
use stormeter_trial::{Content, FlushEvery};

/// A LUN that reports a volatile cache and refuses to flush it, by its URL.
fn stubborn() -> (Running, String) {
    let server = NullIscsi::bind(0).unwrap().never_flushed();
    let url = format!("iscsi://127.0.0.1:{}/{}/0", server.port(), server.target());
    (server.spawn().unwrap(), url)
}

fn order(urls: &[&str], durability: Durability) -> OpenOrder {
    OpenOrder {
        run_id: "00000000000000ff".into(),
        urls: urls.iter().map(|url| (*url).to_owned()).collect(),
        disks: DiskSpec { count: 2, size_bytes: 1 << 20, granularity_bytes: 4096 },
        templates: 0,
        destroy_data: vec![],
        secrets: vec![],
        first_number: 0,
        verification: None,
        needs_target: false,
        durability,
        clones: false,
        services: Vec::new(),
        drivers: vec![],
    }
}

/// Opens the datastores and writes their disks, one after another or all together.
fn prepare(order: &OpenOrder, together: bool) -> Result<(), RunError> {
    let cancel = AtomicBool::new(false);
    let mut executor = LocalExecutor::new(RealClock::new(), Duration::ZERO);
    executor.open(order, &cancel, &mut Silent)?;
    let filling =
        FillSpec { disks: order.disks, content: Content::default(), seed: 7, zero: false };
    let orders: Vec<PrepareOrder> = (0..order.urls.len())
        .map(|store| PrepareOrder { store, filling, templates: 0, reset: None })
        .collect();
    if together {
        executor.prepare_all(&orders, 1, &cancel, &mut Silent)?;
    } else {
        for order in &orders {
            executor.prepare(order, &cancel, &mut Silent)?;
        }
    }
    Ok(())
}

const FLUSHES: Durability = Durability { flushes: true, durable_writes: false };
const ALL: Durability = Durability { flushes: true, durable_writes: true };

#[test]
fn storage_of_this_host_can_do_both() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().display().to_string();
    for url in [directory.clone(), format!("{directory}?direct=0&engine=positional")] {
        for together in [true, false] {
            prepare(&order(&[&url, "null:"], ALL), together).unwrap();
        }
    }
}

#[test]
fn what_refuses_flushes_is_refused_if_they_are_asked_for() {
    let (_running, url) = stubborn();
    for together in [true, false] {
        prepare(&order(&["null:", &url], Durability::default()), together).unwrap();
        let error = prepare(&order(&["null:", &url], FLUSHES), together).unwrap_err();
        let RunError::Datastore { source, .. } = &error else { panic!("{error}") };
        assert!(matches!(source, DatastoreError::FlushUnsupported { .. }), "{error}");
        let said = error.to_string();
        assert!(said.starts_with(&format!("{url} refuses a flush (")), "{said}");
    }
}

fn study(place: &Path, url: &str, change: impl Fn(&mut stormeter_trial::Workload)) -> Request {
    let text = format!(
        "datastores: {{memory: 'null:', nas: '{url}'}}\nworkloads: vm-4k\ndisk: {{size: 1MiB}}\n\
         measure: {{ramp: 10ms, duration: 100ms, interval: 10ms}}\n\
         design: {{blocks: 2}}\n"
    );
    let mut request = request::request(place, &text);
    for workload in &mut request.plan.workloads {
        let WorkloadKind::Io(io) = &mut workload.kind else { panic!("no load") };
        change(io);
    }
    request
}

#[test]
fn a_run_ends_before_its_first_trial() {
    let place = tempfile::tempdir().unwrap();
    let (_running, url) = stubborn();
    let request = study(place.path(), &url, |io| io.flush = Some(FlushEvery::Writes { writes: 8 }));
    let never = AtomicBool::new(false);
    let error = stormeter_runner::run(&request, &RealClock::new(), &never, &mut Silent)
        .unwrap_err()
        .to_string();
    assert!(error.contains("refuses a flush") && error.matches(&url).count() == 1, "{error}");
    // The load generator's own ceiling touches no datastore.
    let trials = ResultsFile::open(&request.output).unwrap().trials().unwrap();
    assert!(trials.iter().all(|trial| trial.phase == Phase::Ceiling), "{trials:?}");
}
