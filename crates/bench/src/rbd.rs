//! Images on a Ceph cluster of this machine, 4 KiB, compared with fio's rbd engine on the same cluster.
//!
//! Both sides use the same librbd. fio has librbd's cache on unless the configuration says otherwise, and then acknowledges
//! writes from its memory: it gets a configuration with the cache off, as our datastore has it by default.

use std::fs;
use std::path::Path;
use std::time::Duration;

use stormeter_ceph::{ClusterOptions, GuardedCluster};
use stormeter_rbd::{Cluster, ClusterSettings, ImageOptions, Library};
use tempfile::TempDir;

use crate::arguments::Arguments;
use crate::drive::Drive;
use crate::failure::Failure;
use crate::fio::{Engine, Fio, Stop};
use crate::instructions::slope;
use crate::line::{Bound, Line, rate};
use crate::ours;
use crate::pairs::interleave;
use crate::process;

const BYTES: u64 = 256 << 20;
/// fio's image. Ours are the datastore's.
const IMAGE: &str = "fio";
const DEPTHS: [u32; 3] = [1, 16, 32];
const RAMP_MS: u64 = 500;
/// One timed run, and one that only starts up.
const TIMED_MS: u64 = 3000;
const START_MS: u64 = 100;

pub(crate) fn measure(arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    let scratch = TempDir::with_prefix("stormeter-bench").map_err(|error| error.to_string())?;
    let cluster = GuardedCluster::up(&scratch.path().join("cluster"), &ClusterOptions::default())
        .map_err(|error| error.to_string())?;
    let conf = scratch.path().join("fio.conf");
    let fio = FioSide::new(&cluster.conf(), &conf)?;
    let ours = Drive {
        url: Some(format!("rbd:rbd/ours?conf={}", cluster.conf().display())),
        disk_bytes: BYTES,
        threads: 1,
        ramp_ms: RAMP_MS,
        ..Drive::default()
    };
    // It writes its image in full; later runs find it written.
    ours::prepare(&Drive { duration_ms: 0, ..ours.clone() })?;
    let mut lines = Vec::new();
    for (read_percent, what) in [(100, "reads"), (0, "writes")] {
        for outstanding in DEPTHS {
            let drive = Drive { read_percent, outstanding, ..ours.clone() };
            let what = format!("Ceph RBD, {outstanding} random {what} outstanding");
            lines.extend(timed(arguments, &what, &drive, &fio)?);
        }
    }
    Ok(lines)
}

/// IOPS, and CPU time of the whole process per I/O, without start-up.
fn timed(
    arguments: &Arguments,
    what: &str,
    drive: &Drive,
    fio: &FioSide,
) -> Result<[Line; 2], Failure> {
    let our_run = |duration_ms| {
        let (report, ended) = ours::run(&Drive { duration_ms, ..drive.clone() }, &[])?;
        Ok::<_, Failure>((report.iops, (ended.cpu_ns, report.operations)))
    };
    let fio_run = |ms| fio.run(drive, ms);
    let (our_start, fio_start) = (our_run(START_MS)?.1, fio_run(START_MS)?.1);
    let figures = |(iops, run), start| Ok([iops, slope(start, run)?]);
    let [iops, cpu] = interleave(
        arguments.pairs(),
        || figures(our_run(TIMED_MS)?, our_start),
        || figures(fio_run(TIMED_MS)?, fio_start),
    )?;
    let microseconds = |ns: f64| format!("{:.2} µs", ns / 1e3);
    Ok([
        Line::paired(format!("{what}: IOPS"), &iops, Bound::Least(0.95), rate),
        Line::paired(format!("{what}: CPU time per I/O"), &cpu, Bound::Most(1.0), microseconds),
    ])
}

/// fio with its image, which is written in full.
struct FioSide {
    /// `env CEPH_CONF=…`
    before: [String; 2],
}

impl FioSide {
    fn new(cluster_conf: &Path, conf: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| format!("{}: {error}", conf.display());
        let text = fs::read_to_string(cluster_conf).map_err(failed)?;
        fs::write(conf, format!("{text}\n[client]\nrbd_cache = false\n")).map_err(failed)?;
        create(cluster_conf)?;
        let side = Self { before: ["env".into(), format!("CEPH_CONF={}", conf.display())] };
        let fill = "fio --ioengine=rbd --clientname=admin --pool=rbd --rw=write --bs=1m --iodepth=8 --name=fill";
        let mut words = side.before.to_vec();
        words.extend(fill.split(' ').map(str::to_owned));
        words.extend([format!("--rbdname={IMAGE}"), format!("--size={BYTES}")]);
        process::run(&words)?;
        Ok(side)
    }

    /// IOPS; and CPU time and I/Os.
    fn run(&self, drive: &Drive, ms: u64) -> Result<(f64, (u64, u64)), Failure> {
        let fio = Fio {
            engine: Engine::Rbd { image: IMAGE.into(), bytes: BYTES },
            outstanding: drive.outstanding,
            read_percent: drive.read_percent,
            is_log: false,
            ramp_ms: drive.ramp_ms,
            stop: Stop::Milliseconds(ms),
            extra: Vec::new(),
        };
        let (report, ended) = fio.run(&self.before)?;
        Ok((report.iops, (ended.cpu_ns, report.operations)))
    }
}

/// Makes fio's image as the datastore makes its own.
fn create(conf: &Path) -> Result<(), Failure> {
    let settings = ClusterSettings {
        conf: Some(conf.to_owned()),
        id: "admin".into(),
        pool: "rbd".into(),
        namespace: None,
        timeout: Duration::from_secs(20),
        cache: false,
    };
    let library = Library::load().map_err(|error| error.to_string())?;
    let cluster = Cluster::connect(&library, &settings).map_err(|error| error.to_string())?;
    cluster.create(IMAGE, BYTES, ImageOptions::default()).map_err(|error| error.to_string())
}
