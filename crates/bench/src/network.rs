//! Our protocols compared with another project's library on the same server: the code that all of
//! them share.
//!
//! The client has one CPU and the server another, for both sides: on one CPU the figure would be
//! that of both together, and left to the scheduler it would be arbitrary.

use crate::cpus::cpus;
use crate::drive::Drive;
use crate::failure::Failure;
use crate::fio::Stop;
use crate::instructions::{callgrind, collected, measure, slope};
use crate::library::ReferenceTool;
use crate::line::{Bound, Line, rate};
use crate::null::our_instructions;
use crate::pairs::{Paired, interleave};
use crate::{ours, process};

/// Small enough to be written in a moment, because for servers that store nothing it is written
/// again for each run.
pub(crate) const DISK_BYTES: u64 = 64 << 20;
/// Short and long runs under callgrind: the library's in I/Os, ours in milliseconds.
const THEIR_OPERATIONS: [u64; 2] = [2_000, 8_000];
const OUR_MS: [u64; 2] = [300, 1200];
/// One timed run, and one that only starts up.
const TIMED_MS: u64 = 2000;
const START_MS: u64 = 100;

/// Pairs for a gate: the number of answers per poll depends on the machine, so one is not enough.
pub(crate) const GATE_PAIRS: usize = 3;

/// The same load by both.
pub(crate) struct Sides {
    /// The start of the resulting lines.
    pub(crate) what: String,
    pub(crate) drive: Drive,
    pub(crate) reference: ReferenceTool,
}

impl Sides {
    /// User instructions per I/O: a gate, if there is a limit.
    pub(crate) fn instructions(&self, pairs: usize, bound: Bound) -> Result<Line, Failure> {
        let [paired] = interleave(
            pairs,
            || our_instructions(&self.drive, OUR_MS).map(|count| [count]),
            || self.their_instructions().map(|count| [count]),
        )?;
        let show = |count: f64| format!("{count:.0}");
        let line = self.line("user instructions per I/O", &paired, bound, show);
        Ok(if bound == Bound::Shown { line } else { line.gate() })
    }

    fn their_instructions(&self) -> Result<f64, Failure> {
        measure(THEIR_OPERATIONS, |operations| {
            let (report, ended) = self.reference.run(&callgrind(), Stop::Operations(operations))?;
            Ok((collected(&ended)?, report.operations))
        })
    }

    /// IOPS alone.
    pub(crate) fn iops(&self, pairs: usize, bound: Bound) -> Result<Line, Failure> {
        let [paired] = interleave(
            pairs,
            || Ok([self.our_run(TIMED_MS)?.iops]),
            || Ok([self.their_run(TIMED_MS)?.iops]),
        )?;
        Ok(self.line("IOPS", &paired, bound, rate))
    }

    /// IOPS, and the CPU time of the whole client process per I/O, without start-up.
    pub(crate) fn iops_and_cpu(
        &self,
        pairs: usize,
        [iops_bound, cpu_bound]: [Bound; 2],
    ) -> Result<[Line; 2], Failure> {
        let our_start = self.our_run(START_MS)?.cost;
        let their_start = self.their_run(START_MS)?.cost;
        let figures = |run: Run, start| Ok([run.iops, slope(start, run.cost)?]);
        let [iops, cpu] = interleave(
            pairs,
            || figures(self.our_run(TIMED_MS)?, our_start),
            || figures(self.their_run(TIMED_MS)?, their_start),
        )?;
        let microseconds = |ns: f64| format!("{:.2} µs", ns / 1e3);
        Ok([
            self.line("IOPS", &iops, iops_bound, rate),
            self.line("client CPU time per I/O", &cpu, cpu_bound, microseconds),
        ])
    }

    fn line(
        &self,
        figure: &str,
        paired: &Paired,
        bound: Bound,
        show: impl Fn(f64) -> String,
    ) -> Line {
        let what = format!("{}: {figure}", self.what);
        Line::paired(what, paired, bound, show).reference(&self.reference.name)
    }

    fn our_run(&self, duration_ms: u64) -> Result<Run, Failure> {
        let drive = Drive { duration_ms, ..self.drive.clone() };
        let (report, ended) = ours::run(&drive, &client_cpu())?;
        Ok(Run { iops: report.iops, cost: (ended.cpu_ns, report.operations) })
    }

    fn their_run(&self, ms: u64) -> Result<Run, Failure> {
        let (report, ended) = self.reference.run(&client_cpu(), Stop::Milliseconds(ms))?;
        Ok(Run { iops: report.iops, cost: (ended.cpu_ns, report.operations) })
    }
}

/// The result of a timed run.
struct Run {
    iops: f64,
    /// CPU time in ns, and I/Os.
    cost: (u64, u64),
}

/// Pins a client to its CPU: the first, to which I/O threads pin themselves too.
fn client_cpu() -> [String; 3] {
    ["taskset".into(), "-c".into(), cpus().first]
}

/// The CPU for servers.
pub(crate) fn server_cpu() -> String {
    cpus().last
}

/// Pins a running server, with all its threads, to the CPU for servers.
pub(crate) fn pin_server(pid: u32) -> Result<(), Failure> {
    let words = ["taskset", "-a", "-c", "-p", &server_cpu(), &pid.to_string()].map(str::to_owned);
    process::run(&words).map(drop)
}
