//! Ctrl-C and its like: the first asks the run to end and keep what is finished, the second ends
//! the process at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Exit;

/// A flag that the first signal sets.
pub(crate) fn cancel_on_signals() -> Arc<AtomicBool> {
    let cancel = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Registered first, so that it sees the flag as the signal before left it. Where a signal
        // cannot be caught, it ends the process as it always did.
        let code = Exit::Interrupted as i32;
        let _ = signal_hook::flag::register_conditional_shutdown(signal, code, cancel.clone());
        let _ = signal_hook::flag::register(signal, cancel.clone());
    }
    cancel
}
