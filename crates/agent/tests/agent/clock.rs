//! A host whose clock leaps while it gets ready for a trial, as that of an emulated guest does.

use std::fs::File;
use std::io::{Read, Write, pipe};
use std::path::Path;
use std::process::Command as Process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use stormeter_agent::{
    Command, Fleet, FleetOptions, Report, Stop, Timeouts, read_frame, serve, write_frame,
};
use stormeter_runner::{Executor, Silent};
use stormeter_study::{Reach, StudyHost};

use crate::session::{open, prepare, trial};

const VERSION: &str = "1.2.3";
/// Beyond the longest lead time of an announcement.
const LEAP_NS: u64 = 10_000_000_000;

#[test]
fn a_clock_that_leaps_while_a_host_gets_ready_delays_no_start() {
    let place = tempfile::tempdir().unwrap();
    let (down, up) = (place.path().join("down"), place.path().join("up"));
    assert!(Process::new("mkfifo").args([&down, &up]).status().unwrap().success());
    let host = StudyHost {
        name: "leaping".into(),
        reached_by: Reach::Command(format!(
            "cd {}; exec 3<&0; cat <&3 > down & exec cat up",
            place.path().display()
        )),
        address: None,
    };
    let agent = thread::spawn(move || leaping_agent(&down, &up));

    let options = FleetOptions {
        guests: vec![],
        program: "/bin/false".into(),
        agent_binary: None,
        version: VERSION.into(),
        patience: Timeouts::default(),
    };
    let never = AtomicBool::new(false);
    let mut fleet = Fleet::new(&[host], options).unwrap();
    let Command::Open(order) = open("null:") else { unreachable!() };
    fleet.open(&order, &never, &mut Silent).unwrap();
    let Command::Prepare(order) = prepare() else { unreachable!() };
    fleet.prepare(&order, &never, &mut Silent).unwrap();
    let Command::Trial(order) = trial(Some(0), 50) else { unreachable!() };
    let end = fleet.trial(&order, &never, &mut Silent).unwrap();
    assert!(end.notes.is_empty(), "no start was repeated: {:?}", end.notes);
    drop(fleet);
    agent.join().unwrap();
}

/// Serves an agent at these named pipes. Its clock is ahead by another [`LEAP_NS`] each time it is ready.
fn leaping_agent(down: &Path, up: &Path) {
    let (mut from_controller, to_controller) =
        (File::open(down).unwrap(), File::options().write(true).open(up).unwrap());
    let ((input, to_agent), (from_agent, output)) = (pipe().unwrap(), pipe().unwrap());
    let leapt_ns = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| serve(input, output, VERSION, Stop::default()));
        scope.spawn(|| reports(from_agent, to_controller, &leapt_ns));
        let mut to_agent = to_agent;
        while let Ok(command) = read_frame::<Command>(&mut from_controller) {
            let command = match command {
                Command::Start { at_ns } => {
                    Command::Start { at_ns: at_ns.saturating_sub(leapt_ns.load(Ordering::SeqCst)) }
                }
                other => other,
            };
            if write_frame(&mut to_agent, &command).is_err() {
                break;
            }
        }
    });
}

fn reports(mut from_agent: impl Read, mut to_controller: impl Write, leapt_ns: &AtomicU64) {
    while let Ok(report) = read_frame::<Report>(&mut from_agent) {
        let report = match report {
            Report::Pong { sent_ns, now_ns, unix_ns } => {
                let now_ns = now_ns + leapt_ns.load(Ordering::SeqCst);
                Report::Pong { sent_ns, now_ns, unix_ns }
            }
            Report::Ready => {
                leapt_ns.fetch_add(LEAP_NS, Ordering::SeqCst);
                Report::Ready
            }
            other => other,
        };
        if write_frame(&mut to_controller, &report).is_err() {
            break;
        }
    }
}
