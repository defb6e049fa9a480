//! Runs other projects' programs against the servers: independent implementations find the mistakes
//! that a client and a server by the same author would share.

#![allow(clippy::unwrap_used)]

use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Longer than any of these programs takes.
const BOUND: Duration = Duration::from_secs(60);

/// Runs a program and returns its output, however it ends.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => panic!("{program} cannot be run ({error}); install it: cargo xtask peers"),
    };
    finish(program, child)
}

/// Runs a program that must succeed and returns its output.
pub(crate) fn succeed(program: &str, arguments: &[&str]) -> String {
    let output = run(program, arguments);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}{errors}");
    said
}

/// Kills a program that hangs, so that the test fails instead of hanging with it.
fn finish(program: &str, child: Child) -> Output {
    let id = child.id().to_string();
    let (done, wait) = mpsc::channel();
    let waiter = thread::spawn(move || {
        let output = child.wait_with_output();
        // The receiver is gone only after the time limit.
        let _ = done.send(());
        output
    });
    let in_time = wait.recv_timeout(BOUND).is_ok();
    if !in_time {
        let _ = Command::new("kill").args(["-KILL", &id]).status();
    }
    let output = waiter.join().unwrap().unwrap();
    assert!(in_time, "{program} hung: {}", String::from_utf8_lossy(&output.stderr));
    output
}
