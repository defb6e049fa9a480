//! OSDs that are killed, each at a random moment, under a trial that verifies and while records are written and flushed:
//! what is read is what was written, nothing that was acknowledged is lost, and the kill is reported.
//!
//! A moment is a number of acknowledged records, or on a slow machine half of the trial. Both run on the same pool and see
//! the same kills. Small objects spread each disk over all placement groups, so the OSD that is killed is the primary of
//! about half of what is being written.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use stormeter_datastore::{Datastore, DiskSpec, OpenDisks, Preparation, RealClock};
use stormeter_disk::{Clock, ClusterTrouble, StorageEvent};
use stormeter_driver::{ContentSource, Expectations, PriorContent, Seal};
use stormeter_durable::{
    Acknowledged, Moment, Outcome, Ring, RunId, Speed, Verdict, judge, read_back, write,
};
use stormeter_trial::{Trial, Verified, Workload};

use crate::Bench;
use crate::fixture::*;
use crate::trial::{run, trial};

/// A kill in the short form of the test; `STORMETER_CEPH_KILLS` asks for more.
const KILLS: u32 = 2;
/// The moments differ in each kill, and are the same in each run of the test.
const SEED: u64 = 20;
const DISK: u64 = 2 * MIB;
/// A kill comes after a number of groups of records that is smaller than this.
const KILL_WITHIN: u64 = 30;
/// Long enough to see how it recovers from a kill: until peers have noticed it, nothing is served.
const TRIAL_MS: u64 = 3000;
const PATIENCE: Duration = Duration::from_secs(120);
const PATIENCE_NS: u64 = PATIENCE.as_nanos() as u64;

/// A number that depends on the seed and nothing else (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// How many kills are asked for, if that is all that is asked for.
pub(crate) fn asked() -> Option<u32> {
    let text = std::env::var("STORMETER_CEPH_KILLS").ok()?;
    Some(text.parse().expect("STORMETER_CEPH_KILLS is a number of kills"))
}

/// Disks whose blocks carry a seal, as verification needs it.
fn sealed(url: &str, trial: &Trial, seal: Seal) -> Datastore {
    let mut datastore = open(url).unwrap();
    let source = ContentSource::new(trial.workload.content, trial.content_seed).sealed(seal);
    let prepared = datastore.prepare(Preparation {
        disks: DiskSpec { count: 1, size_bytes: trial.disk_bytes, granularity_bytes: 4096 },
        content_id: 8,
        fill: &|disk, offset, bytes| source.fill(disk, offset, bytes),
        progress: &mut |_, _| {},
        cancelled: &|| false,
    });
    prepared.unwrap();
    datastore
}

pub(crate) fn killed_osds(bench: &Bench) {
    let kills = asked().unwrap_or(KILLS);
    let mut verified = Verifying::new(bench);
    let owned = Durable::new(bench);
    let durable = &owned;
    let (mut blocks, mut records) = (0, 0);
    for kill in 0..kills {
        let random = random(SEED + u64::from(kill));
        let osd = (random % 2) as u32;
        let after_groups = (random >> 8) % KILL_WITHIN;
        let (tell, acknowledged) = channel();
        let (found, (ring, lines)) = std::thread::scope(|scope| {
            let written = scope.spawn(move || durable.write(u64::from(kill) + 1, tell));
            let found = verified.run(u64::from(kill) + 1, move || {
                await_groups(&acknowledged, after_groups);
                bench.cluster.kill_osd(osd).unwrap();
            });
            (found, written.join().unwrap())
        });
        let at = format!("kill {kill}: osd.{osd} after {after_groups} flushes");
        assert_good(&found, &at);
        assert!(!lines.is_empty(), "{at}: nothing was acknowledged");
        let verdict = durable.check(&ring, &lines);
        assert_eq!(verdict.outcome, Outcome::Kept, "{at}: {verdict:?}");
        let began = Instant::now();
        bench.cluster.start_osd(osd).unwrap();
        bench.cluster.wait_clean(PATIENCE).unwrap();
        let clean_s = began.elapsed().as_secs_f64();
        // Half of it is served by the OSD that was away, from what it has got since.
        let again = verified.read();
        assert_good(&again, &at);
        let verdict_again = durable.check(&ring, &lines);
        assert_eq!(verdict_again.outcome, Outcome::Kept, "{at}: {verdict_again:?}");
        blocks += found.blocks + again.blocks;
        records += verdict.judged;
        let Verdict { judged, acknowledged, .. } = verdict;
        println!(
            "{at}: {} blocks verified, and {} after it was back; {judged} of {acknowledged} records judged, \
             twice; clean after {clean_s:.1} s",
            found.blocks, again.blocks
        );
    }
    println!(
        "{kills} kills: {blocks} blocks verified, none wrong; {records} records judged, none lost"
    );
    assert_eq!((verified.datastore.remove(), owned.datastore.remove()), (None, None));
}

/// Returns when this number of groups is acknowledged; not too late for the trial to see what follows.
fn await_groups(acknowledged: &Receiver<u64>, groups: u64) {
    let latest = Instant::now() + Duration::from_millis(TRIAL_MS / 2);
    for _ in 0..groups {
        let left = latest.saturating_duration_since(Instant::now());
        if acknowledged.recv_timeout(left).is_err() {
            break;
        }
    }
}

fn assert_good(found: &Verified, at: &str) {
    assert_eq!(found.corruptions, [], "{at}");
    assert_eq!((found.wrong_blocks, found.unknown_blocks), (0, 0), "{at}");
    assert!(found.blocks > 0, "{at}");
}

struct Verifying {
    datastore: Datastore,
    trial: Trial,
    expectations: Expectations,
}

impl Verifying {
    fn new(bench: &Bench) -> Self {
        let trial = Trial { verify: true, ..trial(50.0, DISK, TRIAL_MS) };
        let unit_bytes = trial.workload.verify_unit_bytes().unwrap();
        let seal = Seal { owner: 0x0d15_ea5e, unit_bytes };
        let datastore = sealed(&bench.url("timeout=1m&object-size=64KiB"), &trial, seal);
        let expectations = Expectations::new(seal, PriorContent::Prepared, 0, 1, DISK);
        Self { datastore, trial, expectations }
    }

    /// A trial under a kill, whose findings include every block that an earlier kill may have harmed.
    fn run(&mut self, seed: u64, kill: impl FnOnce() + Send) -> Verified {
        // The content seed of the preparation is taken.
        let trial = Trial { seed, content_seed: seed + 1, ..self.trial.clone() };
        let ran = run(&self.datastore, &trial, Some(&mut self.expectations), kill).unwrap();
        ran.assert_good();
        let down =
            StorageEvent::Cluster { trouble: ClusterTrouble::DaemonsDown { down: 1, of: 2 } };
        assert!(ran.incidents.iter().any(|incident| incident.event == down), "{ran:?}");
        ran.sample.verified.unwrap()
    }

    /// A trial that reads the disk in order.
    fn read(&mut self) -> Verified {
        let mut trial = self.trial.clone();
        trial.workload = Workload { read_percent: 100.0, random_percent: 0.0, ..trial.workload };
        trial.duration_ns /= 4;
        let ran = run(&self.datastore, &trial, Some(&mut self.expectations), || {}).unwrap();
        ran.assert_good();
        ran.sample.verified.unwrap()
    }
}

/// Numbered records on a disk of their own.
struct Durable {
    datastore: Datastore,
}

impl Durable {
    const SPEED: Speed = Speed { outstanding: 8, durable: false, patience_ns: PATIENCE_NS };

    fn new(bench: &Bench) -> Self {
        let url = bench.url("timeout=1m&object-size=64KiB").replace("rbd/test", "rbd/records");
        Self { datastore: prepared(&url, 1, DISK) }
    }

    fn disks(&self) -> stormeter_datastore::DiskSet {
        disks(&self.datastore, 1, OpenDisks { buffers: 8, buffer_bytes: 4096, in_flight: 9 })
    }

    /// Writes records for as long as a trial and passes each acknowledged number on; what was acknowledged.
    fn write(&self, run: u64, tell: Sender<u64>) -> (Ring, Vec<Acknowledged>) {
        let ring = Ring { run: RunId(run), disk_bytes: DISK, block_bytes: 4096, group: 8 };
        ring.check().unwrap();
        let (mut set, mut clock, mut lines) = (self.disks(), RealClock::new(), Vec::new());
        let mut own = clock.clone();
        // Only now: opening the disks may take as long as a trial while an OSD is away.
        let stop = Instant::now() + Duration::from_millis(TRIAL_MS);
        let ended = write(
            &mut set,
            &mut clock,
            &ring,
            Self::SPEED,
            &mut |_| Instant::now() >= stop,
            &mut |_, up_to| {
                let now_ns = own.now_ns();
                let at = Moment { unix_ms: now_ns / 1_000_000, monotonic_ns: now_ns };
                lines.push(Acknowledged { up_to, at });
                // Nobody listens after the kill.
                let _ = tell.send(up_to);
                Ok::<(), String>(())
            },
        );
        assert!(ended.is_ok(), "{ended:?}");
        finish(set);
        (ring, lines)
    }

    fn check(&self, ring: &Ring, lines: &[Acknowledged]) -> Verdict {
        let (mut set, mut clock) = (self.disks(), RealClock::new());
        let places = read_back(&mut set, &mut clock, ring, 8, PATIENCE_NS, &|| false).unwrap();
        finish(set);
        judge(ring, lines, &places).unwrap()
    }
}
