//! `stormeter agent`: runs trials on a host of a study, over standard input and output or a guest's port.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use stormeter_agent::{Stop, serve, serve_port};
use stormeter_lab::guest::wait_for_port;

use crate::arguments::AgentOptions;
use crate::exit::{Exit, Failure};

pub(crate) fn run(options: &AgentOptions) -> Result<Exit, Failure> {
    if let Some(name) = &options.port {
        let path = wait_for_port(name).map_err(Failure::File)?;
        serve_port(&path, env!("CARGO_PKG_VERSION"), &mut |what| eprintln!("{what}"))
            .map_err(|error| Failure::File(format!("{}: {error}", path.display())))?;
        return Ok(Exit::Done);
    }
    let stop = Stop::default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Both: first the work in progress ends, then the agent, which removes its disks. A signal that cannot be
        // caught ends the process as usual.
        for flag in [&stop.cancel, &stop.leave] {
            let _ = signal_hook::flag::register(signal, Arc::<AtomicBool>::clone(flag));
        }
    }
    // The streams themselves and not the standard library's: those are buffered, and locked while a
    // thread waits for input.
    let streams = || -> std::io::Result<_> {
        use std::os::fd::AsFd;
        let input = std::io::stdin().as_fd().try_clone_to_owned()?;
        let output = std::io::stdout().as_fd().try_clone_to_owned()?;
        Ok((std::fs::File::from(input), std::fs::File::from(output)))
    };
    let (input, output) = streams().map_err(|error| {
        Failure::File(format!("standard input and output cannot be used: {error}"))
    })?;
    serve(input, output, env!("CARGO_PKG_VERSION"), stop)
        .map_err(|error| Failure::File(error.to_string()))?;
    Ok(Exit::Done)
}
