//! Faults of iSCSI targets and of the ways to them: tgt behind a proxy that breaks what is planned.

mod login;
mod lun;
mod paths;
mod target;
mod wire;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use stormeter_peers::{Fault, Framing, Proxy, Tgt, TgtOptions};

use crate::fixture::{Load, Moment, Outcome, compare};

/// Size of the edges of a LUN that are looked at before it is used.
const EDGE_BYTES: usize = 1 << 20;
/// What is awaited comes long before.
const PATIENCE: Duration = Duration::from_secs(30);
const ALWAYS: u64 = u64::MAX;

/// A target with one disk, and a proxy before it.
struct Bench {
    tgt: Tgt,
    proxy: Proxy,
    url: String,
}

impl Bench {
    fn new(parameters: &[(&str, &str)], url_options: &str) -> Self {
        let parameters =
            parameters.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let options = TgtOptions { parameters: parameters.collect(), ..TgtOptions::default() };
        let tgt = Tgt::start(&options).unwrap();
        let proxy = Proxy::start(tgt.address(), Framing::Iscsi, 1).unwrap();
        let url = through(&proxy, &tgt, url_options);
        Self { tgt, proxy, url }
    }

    /// Compares; `act` happens in the first trial when I/Os have ended in two intervals.
    #[track_caller]
    fn compare_with(&self, act: impl FnOnce(&Self)) -> Outcome {
        let mut act = Some(act);
        compare(&self.url, Load::default(), |moment| {
            if moment == Moment::Row(0, 1)
                && let Some(act) = act.take()
            {
                act(self);
            }
        })
    }

    /// Nothing of ours is left on the LUN.
    #[track_caller]
    fn assert_removed(&self) {
        let mut head = vec![1; EDGE_BYTES];
        File::open(self.tgt.unit_file(1)).unwrap().read_exact_at(&mut head, 0).unwrap();
        assert!(head.iter().all(|byte| *byte == 0), "the header is still there");
    }
}

/// The first LUN's URL by way of a proxy, with the patience that makes giving up quick.
fn through(proxy: &Proxy, tgt: &Tgt, options: &str) -> String {
    format!("iscsi://{}/{}/1?timeout=2s{options}", proxy.address(), tgt.target_name())
}

/// Bytes that went through a proxy, of each connection up to what it keeps.
fn carried_bytes(proxy: &Proxy) -> usize {
    let connections = proxy.recordings();
    connections.iter().map(|one| one.from_client.len() + one.to_client.len()).sum()
}

/// Looks until it is so; waiting in vain fails.
#[track_caller]
fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// One fault in each trial: each happens, is overcome and reported.
#[track_caller]
fn assert_each_recovered(bench: &Bench, load: Load, faults: &[(Fault, &str)]) {
    let load = Load { blocks: faults.len() as u32, ..load };
    let outcome = compare(&bench.url, load, |moment| match moment {
        Moment::Row(trial, 1) => bench.proxy.plan(faults[trial as usize].0).unwrap(),
        Moment::End(trial) => {
            let fired = bench.proxy.fired();
            assert_eq!(fired, u64::from(trial) + 1, "{:?}", faults[trial as usize]);
        }
        _ => {}
    });
    for (trial, (_, reported)) in faults.iter().enumerate() {
        outcome.assert_recovered(trial, &[reported]);
    }
    outcome.assert_valid();
    bench.assert_removed();
}
