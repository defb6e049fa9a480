//! `stormeter serve-nfs`: a directory of this machine as an NFS export on its loopback address.

use std::io::Read;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use stormeter_server::{DirectoryServer, Stopper};

use crate::arguments::ServeNfsOptions;
use crate::exit::{Exit, Failure};
use crate::output::print;
use crate::signals::cancel_on_signals;

pub(crate) fn run(options: &ServeNfsOptions) -> Result<Exit, Failure> {
    let server = DirectoryServer::bind(&options.directory, options.port)
        .map_err(|error| Failure::File(error.to_string()))?;
    let port = server.port();
    // First of all: the reader of the URL may end this process at once.
    stop_on_signal(server.stopper());
    let url = format!("nfs://127.0.0.1:{port}{}?mountport={port}", server.export());
    // Before anything is served, so that the parent process can read the line and connect.
    print(&format!("{url}\n"))?;
    if !options.print_url {
        eprintln!(
            "Serving {} to this machine only, until Ctrl-C. Compare with it:\n  \
             stormeter compare {} '{url}'",
            options.directory.display(),
            options.directory.display()
        );
    }
    if options.until_stdin_ends {
        stop_at_end_of_stdin(server.stopper());
    }
    server.serve();
    Ok(Exit::Done)
}

pub(super) fn stop_on_signal(stopper: Stopper) {
    const CHECK: Duration = Duration::from_millis(50);
    let cancel = cancel_on_signals();
    thread::spawn(move || {
        while !cancel.load(Ordering::Relaxed) {
            thread::sleep(CHECK);
        }
        stopper.stop();
    });
}

/// A child learns from the end of a pipe that its parent is gone, however it ended.
pub(super) fn stop_at_end_of_stdin(stopper: Stopper) {
    thread::spawn(move || {
        let mut bytes = [0; 64];
        while matches!(std::io::stdin().read(&mut bytes), Ok(count) if count > 0) {}
        stopper.stop();
    });
}
