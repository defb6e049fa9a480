//! What fails, and how soon that is reported.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use stormeter_disk::{Completion, DeviceError, Disks, Kind};

use crate::fixture::*;
use crate::images::MEMORY;
use crate::{Bench, url};

/// ETIMEDOUT.
const TIMED_OUT: DeviceError = DeviceError(110);

/// A copy of the configuration with one change.
fn changed(bench: &Bench, name: &str, change: impl Fn(&str) -> String) -> PathBuf {
    let text = fs::read_to_string(bench.cluster.conf()).unwrap();
    let path = bench.directory.path().join(name);
    fs::write(&path, change(&text)).unwrap();
    path
}

fn refusal(url: &str) -> String {
    match open(url) {
        Ok(_) => panic!("{url} was opened"),
        Err(error) => error.to_string(),
    }
}

pub(crate) fn refusals(bench: &Bench) {
    let conf = bench.cluster.conf();
    let text = refusal(&format!("rbd:none/test?conf={}", conf.display()));
    assert!(text.contains("opens no session") && text.contains("has no pool none"), "{text}");
    let text = refusal(&bench.url("id=nobody"));
    assert!(text.contains("opens no session"), "{text}");
    let text = refusal("rbd:rbd/test?conf=/none/ceph.conf");
    assert!(text.contains("give ?conf=FILE"), "{text}");
    // A key that the cluster does not know.
    let keyring = fs::read_to_string(bench.cluster.keyring()).unwrap();
    let wrong = bench.directory.path().join("wrong.keyring");
    let key = "key = AQDZkJRmAAAAABAAcHJvYmFibHkgbm90IGFueSBrZXk=";
    let line = keyring.lines().find(|line| line.trim_start().starts_with("key")).unwrap();
    fs::write(&wrong, keyring.replace(line, key)).unwrap();
    let own = bench.cluster.keyring().display().to_string();
    let conf =
        changed(bench, "wrong.conf", |text| text.replace(&own, &wrong.display().to_string()));
    let text = refusal(&url(&conf, ""));
    assert!(text.contains("does not accept this user's key"), "{text}");
    // Monitors where there are none.
    let conf = changed(bench, "away.conf", |text| {
        let lines = text.lines().map(|line| match line.trim_start().starts_with("mon_host") {
            true => "mon_host = v2:127.0.0.1:1",
            false => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    let since = Instant::now();
    let text = refusal(&url(&conf, "timeout=1s"));
    assert!(text.contains("cannot be reached"), "{text}");
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());
}

pub(crate) fn silence(bench: &Bench) {
    let datastore = prepared(&bench.url("timeout=2s"), 1, 4 * MIB);
    let mut set = disks(&datastore, 1, MEMORY);
    // With the first write the image has its exclusive lock, as in the middle of a trial.
    let write = operation(Kind::Write, 0, 0, 0, 4096);
    assert_eq!(drive(&mut set, &[write]), [Completion::moved(0, 4096)]);
    for osd in 0..2 {
        bench.cluster.freeze_osd(osd).unwrap();
    }
    let operations = [
        operation(Kind::Write, 0, 0, 0, 4096),
        operation(Kind::Read, 0, 1, MIB, 4096),
        operation(Kind::Flush, 0, 2, 0, 0),
    ];
    let mut done = drive(&mut set, &operations);
    done.sort_by_key(|completion| completion.slot);
    assert_eq!(done[..2], [0, 1].map(|slot| Completion::failed(slot, TIMED_OUT)));
    // Dropped in the middle of an operation, in bounded time; its memory outlives it.
    set.submit(&[operation(Kind::Write, 0, 3, MIB, 4096)]).unwrap();
    drop(set);
    for osd in 0..2 {
        bench.cluster.thaw_osd(osd).unwrap();
    }
    bench.cluster.wait_clean(Duration::from_secs(120)).unwrap();
    let mut set = disks(&datastore, 1, MEMORY);
    let read = operation(Kind::Read, 0, 1, MIB, 4096);
    assert_eq!(drive(&mut set, &[read]), [Completion::moved(1, 4096)]);
    finish(set);
    assert_eq!(datastore.remove(), None);
}
