//! What datastores promise about acknowledged writes reaches the conclusions, at the end of a run and from its file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::sync::atomic::AtomicBool;

use stormeter_conclude::{Conclusion, conclude};
use stormeter_datastore::RealClock;
use stormeter_results::{Acknowledged, ResultsFile};
use stormeter_runner::Silent;
use stormeter_server::DirectoryServer;
use stormeter_statistics::Fact;

/// Who promises what, where the datastores differ in it.
fn promised(conclusion: &Conclusion) -> Option<Vec<(String, Acknowledged)>> {
    let facts = conclusion.analysis.findings.iter().map(|(_, finding)| &finding.fact);
    let mut promises = facts.filter_map(|fact| match fact {
        Fact::UnlikePromises { promised, .. } => Some(promised),
        _ => None,
    });
    let named = promises.next()?.iter().map(|it| (it.name.clone(), it.promise.acknowledged));
    Some(named.collect())
}

/// The conclusion of a run of two blocks, which the file repeats.
fn concluded(write: &str) -> Conclusion {
    let place = tempfile::tempdir().unwrap();
    let local = place.path().join("local");
    let export = place.path().join("export");
    for directory in [&local, &export] {
        std::fs::create_dir(directory).unwrap();
    }
    let server = DirectoryServer::bind(&export, 0).unwrap();
    let path = server.export();
    let running = server.spawn().unwrap();
    let port = running.port();
    let text = format!(
        "datastores: {{local: '{}?direct=0', nas: 'nfs://127.0.0.1:{port}{path}?mountport={port}'}}\n\
         workloads: {{name: w, profile: vm-4k{write}}}\ndisk: {{size: 1MiB}}\n\
         measure: {{ramp: 10ms, duration: 100ms, interval: 10ms}}\ndesign: {{blocks: 2}}\n",
        local.display()
    );
    let request = request::request(place.path(), &text);
    let never = AtomicBool::new(false);
    let conclusion =
        stormeter_runner::run(&request, &RealClock::new(), &never, &mut Silent).unwrap();
    let again = conclude(&ResultsFile::open(&request.output).unwrap()).unwrap();
    assert_eq!(promised(&again), promised(&conclusion));
    conclusion
}

#[test]
fn the_page_cache_promises_less_than_an_nfs_server() {
    let promises = [("local", Acknowledged::Memory), ("nas", Acknowledged::Stable)];
    let promises = promises.map(|(name, promise)| (name.to_owned(), promise));
    assert_eq!(promised(&concluded("")), Some(promises.to_vec()));
    for asks in [", durable: true", ", flush: every 4 writes"] {
        assert_eq!(promised(&concluded(asks)), None, "{asks}");
    }
}
