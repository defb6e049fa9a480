//! The cost of the load generator itself, compared with fio, and of its network protocols, compared
//! with libnfs and libiscsi; and the speed of the simulator, compared with SimPy: the figures in
//! docs/performance.md.
//!
//! Wall-clock rates on a shared machine vary by tens of per cent, so the gates are counts: user
//! instructions per I/O, as the slope between a short and a long run of the same command under
//! callgrind, which excludes start-up. Rates, CPU times and latencies are medians of interleaved
//! pairs with their spread, for a person to judge.
//!
//! Each measured run of either side is a separate process, so that both are started, pinned and
//! accounted for in the same way. Ours is this program again, with the hidden command `drive`; the
//! libraries' are small C programs, compiled when needed.

mod agent;
mod agreement;
mod arguments;
mod cpus;
mod document;
mod drive;
mod failure;
mod file;
mod fio;
mod flush;
mod instructions;
mod iscsi;
mod library;
mod line;
mod live;
mod loopback;
mod machine;
mod network;
mod nfs;
mod null;
mod null_server;
mod number;
mod ours;
mod pairs;
mod plan;
mod process;
mod queue;
mod rbd;
mod scale;
mod simulate;
mod simulator;
mod timed_disk;

use std::process::ExitCode;

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;
use crate::line::Line;
use crate::ours::Store;

fn main() -> ExitCode {
    let outcome = match arguments::parse(std::env::args().skip(1)) {
        Ok(Command::Drive(drive)) if drive.agent => agent::run(&drive).map(|()| true),
        Ok(Command::Drive(drive)) => drive::run(&drive).map(|()| true),
        Ok(Command::Agent) => agent::serve().map(|()| true),
        Ok(Command::Simulate(simulate)) => simulate::run(&simulate).map(|()| true),
        Ok(Command::Serve(protocol, port)) => {
            let (until, output) = (std::io::stdin(), std::io::stdout());
            null_server::serve((protocol, port), until, output).map(|()| true)
        }
        Ok(Command::ServeDisk { service, bytes, directory }) => {
            let (until, ready) = (std::io::stdin(), std::io::stdout());
            timed_disk::serve(service, bytes, &directory, until, ready).map(|()| true)
        }
        Ok(Command::Gates) => {
            println!("{}", GATES.join("\n"));
            Ok(true)
        }
        Ok(Command::Bench(bench)) => run(&bench),
        Err(reason) => Err(reason),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("stormeter-bench: {reason}");
            ExitCode::from(2)
        }
    }
}

/// Sections that are measured together and share a table.
const GROUPS: [(&str, &[&str]); 9] = [
    ("generator", &["null", "file", "scale"]),
    ("agreement", &["agreement"]),
    ("flush", &["flush"]),
    ("agents", &["agent"]),
    ("live", &["live"]),
    ("rbd", &["rbd"]),
    ("nfs", &["nfs"]),
    ("iscsi", &["iscsi"]),
    ("simulator", &["simulator"]),
];

/// Measures, prints and optionally writes the tables. Returns whether every gate holds.
fn run(arguments: &Arguments) -> Result<bool, Failure> {
    let machine = machine::describe()?;
    let store = Store::new(&arguments.directory)?;
    let wanted = |name: &str| arguments.only.as_deref().is_none_or(|only| only == name);
    let mut all_hold = true;
    let mut has_own_loopback = false;
    for (group, sections) in GROUPS {
        let mut lines = Vec::new();
        for section in sections.iter().filter(|section| wanted(section) || wanted(group)) {
            // Permanently: the sections after these see no other network either.
            if matches!(*section, "nfs" | "iscsi") && !has_own_loopback {
                loopback::enter()?;
                has_own_loopback = true;
            }
            lines.extend(measure(section, arguments, &store)?);
        }
        if lines.is_empty() {
            continue;
        }
        let table = document::section(&machine, &arguments.spelled(), &lines);
        println!("{table}");
        if let Some(path) = &arguments.write {
            document::write(path, group, &table)?;
        }
        for line in lines.iter().filter(|line| line.gate && !line.holds) {
            all_hold = false;
            let Line { what, measure, bound, .. } = line;
            eprintln!("stormeter-bench: gate broken: {what} ({measure} {bound})");
        }
    }
    Ok(all_hold)
}

/// The sections with instruction gates, which are all of a short run. Each can run in a process of its own, at the same
/// time as the others; those that take longest are the first.
const GATES: [&str; 4] = ["nfs", "iscsi", "file", "null"];

fn measure(section: &str, arguments: &Arguments, store: &Store) -> Result<Vec<Line>, Failure> {
    match section {
        _ if arguments.short && !GATES.contains(&section) => Ok(Vec::new()),
        "null" => null::measure(arguments),
        "agent" => agent::lines(arguments),
        "live" => live::lines(arguments),
        "file" => file::measure(arguments, store),
        "agreement" => agreement::measure(arguments),
        "flush" => flush::measure(arguments),
        "scale" => scale::measure(arguments, store),
        "rbd" => rbd::measure(arguments),
        "nfs" => nfs::measure(arguments),
        "iscsi" => iscsi::measure(arguments),
        "simulator" => simulator::measure(arguments),
        _ => Ok(Vec::new()),
    }
}
