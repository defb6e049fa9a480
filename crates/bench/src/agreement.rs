//! Checks the accuracy of measurements: compared with fio on a disk with programmed service times,
//! where both do the same; and with exact theory, where fio is not a reference.
//!
//! In an open loop fio sleeps between polls of its queue and therefore sends requests in groups, which
//! wait for one another; its latencies start when a request is issued. There the reference is the
//! theory of open queues, with the help of a twin of the disk in virtual time that gets the same
//! requests at the same moments: the twin removes chance from the comparison, and a test checks the
//! twin against the theory.

use crate::arguments::Arguments;
use crate::cpus::cpus;
use crate::drive::Drive;
use crate::failure::Failure;
use crate::fio::{Engine, Fio, Stop};
use crate::line::{Bound, Line, rate};
use crate::ours::{self, Latency};
use crate::pairs::interleave;
use crate::queue::{ConstantService, ExponentialService, ResponseTimes};
use crate::timed_disk::schedule::{Service, Spread};
use crate::timed_disk::{TimedDisk, expected};

/// The default number of interleaved pairs.
const PAIRS: usize = 20;
const DISK_BYTES: u64 = 96 << 20;
const RUN_BYTES: u64 = 64 << 20;
const RAMP_MS: u64 = 500;

/// In the closed loop: a device that serves four at a time, far slower than both generators and the
/// path.
const CLOSED: Service =
    Service { servers: 4, mean_ns: 2_000_000, spread: Spread::Uniform, flush_ns: 0 };
const CLOSED_MS: u64 = 4000;
const DEPTHS: [u32; 3] = [1, 4, 16];

/// In the open loop: as slow as hard disks, so that the path is a small part.
const CONSTANT: Service =
    Service { servers: 1, mean_ns: 4_000_000, spread: Spread::Constant, flush_ns: 0 };
const EXPONENTIAL: Service =
    Service { servers: 4, mean_ns: 4_000_000, spread: Spread::Exponential, flush_ns: 0 };
const LOADS: [f64; 2] = [0.5, 0.7];
const OPEN_MS: u64 = 60_000;

pub(crate) fn measure(arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    let mut lines = compared_with_fio(arguments)?;
    for (name, service) in [("M/D/1", CONSTANT), ("M/M/4", EXPONENTIAL)] {
        lines.extend(compared_with_theory(name, service)?);
    }
    Ok(lines)
}

/// A prepared disk, and what drives it; the disk's process uses the last CPU, the generators the
/// first.
pub(crate) fn disk(service: Service) -> Result<(TimedDisk, Drive), Failure> {
    let disk = TimedDisk::attach(service, DISK_BYTES, &cpus().last)?;
    let url = Some(disk.device().display().to_string());
    let drive = Drive { url, disk_bytes: RUN_BYTES, ramp_ms: RAMP_MS, ..Drive::default() };
    ours::prepare(&drive)?;
    Ok((disk, drive))
}

fn compared_with_fio(arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    let (disk, drive) = disk(CLOSED)?;
    let mut lines = Vec::new();
    for outstanding in DEPTHS {
        let drive = Drive { outstanding, duration_ms: CLOSED_MS, ..drive.clone() };
        // Each run has different places: their service times average out over the pairs.
        let mut own_seeds = 1..;
        let mut ours = || {
            let drive = Drive { seed: own_seeds.next().unwrap_or(0), ..drive.clone() };
            ours::run(&drive, &[])
        };
        let mut fios_seeds = 1001..;
        let mut fio = || fio_on(&disk, &drive, fios_seeds.next().unwrap_or(0)).run(&[]);
        let figures = |iops, latency: Latency| {
            let Latency { mean_ns, p50_ns, p95_ns, p99_ns } = latency;
            Ok([iops, mean_ns, p50_ns, p95_ns, p99_ns])
        };
        let [iops, times @ ..] = interleave(
            arguments.pairs_or(PAIRS),
            || ours().and_then(|(run, _)| figures(run.iops, run.latency)),
            || fio().and_then(|(run, _)| figures(run.iops, run.latency)),
        )?;
        let what = |figure: &str| format!("agreement, closed loop, {outstanding}: {figure}");
        lines.push(Line::paired(what("IOPS"), &iops, Bound::Within(0.01), rate));
        for (name, time) in ["mean", "p50", "p95", "p99"].into_iter().zip(&times) {
            lines.push(Line::paired(what(name), time, Bound::Within(0.02), microseconds));
        }
    }
    Ok(lines)
}

/// fio on the same places: after the owner's mark.
pub(crate) fn fio_on(disk: &TimedDisk, drive: &Drive, seed: u64) -> Fio {
    Fio {
        engine: Engine::Uring { files: vec![disk.device().into()], bytes: drive.disk_bytes },
        outstanding: drive.outstanding,
        read_percent: drive.read_percent,
        is_log: drive.is_log,
        ramp_ms: drive.ramp_ms,
        stop: Stop::Milliseconds(drive.duration_ms),
        extra: vec![
            "--offset=1m".into(),
            format!("--randseed={seed}"),
            format!("--cpus_allowed={}", cpus().first),
        ],
    }
}

fn compared_with_theory(name: &str, service: Service) -> Result<Vec<Line>, Failure> {
    let (_disk, drive) = disk(service)?;
    let path_ns = path_ns(&drive, service)?;
    let mut lines = Vec::new();
    for load in LOADS {
        let rate_per_s = load * f64::from(service.servers) * 1e9 / service.mean_ns as f64;
        let drive = Drive {
            rate_per_s: Some(rate_per_s as u64),
            is_poisson: true,
            read_percent: 100,
            duration_ms: OPEN_MS,
            ..drive.clone()
        };
        let measured = ours::run(&drive, &[])?.0.latency;
        let twin = expected(&drive, service)?.total();
        let percentile = |share| twin.histogram.percentile_ns(share).unwrap_or(f64::NAN);
        let theory = theory(service, rate_per_s);
        let figures = [
            ("mean", measured.mean_ns, twin.latency_mean_ns().unwrap_or(f64::NAN), theory.mean_s()),
            ("p95", measured.p95_ns, percentile(0.95), theory.percentile_s(0.95)),
            ("p99", measured.p99_ns, percentile(0.99), theory.percentile_s(0.99)),
        ];
        for (figure, measured_ns, twin_ns, theory_s) in figures {
            // The random effect of this run's arrivals, which the twin had as well, is removed.
            let (theory_ns, chance) = (theory_s * 1e9, twin_ns / (theory_s * 1e9));
            let own_ns = (measured_ns - path_ns) / chance;
            let what = format!("agreement, open loop, {name} at {load}: {figure}");
            let bound = Bound::Within(0.02);
            let line = Line::single(what, (own_ns, theory_ns), bound, microseconds);
            lines.push(line.reference("theory"));
        }
    }
    Ok(lines)
}

fn theory(service: Service, rate_per_s: f64) -> Box<dyn ResponseTimes> {
    let service_s = service.mean_ns as f64 / 1e9;
    match service.spread {
        Spread::Constant => Box::new(ConstantService { rate_per_s, service_s }),
        _ => Box::new(ExponentialService { rate_per_s, service_s, servers: service.servers }),
    }
}

/// The time of the path to the disk and back: the mean response time without queueing minus that of
/// the twin.
fn path_ns(drive: &Drive, service: Service) -> Result<f64, Failure> {
    let alone =
        Drive { outstanding: 1, read_percent: 100, duration_ms: CLOSED_MS, ..drive.clone() };
    let measured = ours::run(&alone, &[])?.0.latency.mean_ns;
    let twin = expected(&alone, service)?.total().latency_mean_ns();
    Ok(measured - twin.unwrap_or(f64::NAN))
}

pub(crate) fn microseconds(ns: f64) -> String {
    format!("{:.1} µs", ns / 1e3)
}
