//! Inside a worker guest: this program is init, and there is nothing else.
//!
//! It mounts what the kernel offers, loads the modules that the kernel's command line asks for, and
//! answers on the virtio-serial port that the host holds the other end of. When init ends the kernel
//! panics, so it does not: what goes wrong is told on the console, and the guest is powered off.

mod answer;
mod modules;
mod port;

use std::fs::OpenOptions;
use std::time::Duration;

use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};

/// The name that the host gives the port.
pub(crate) const PORT: &str = "stormeter.control";

/// Whether this process is a worker guest's init: the first process, started by the name that it has
/// in the image.
pub fn is_init() -> bool {
    std::process::id() == 1 && std::env::args_os().next().is_some_and(|name| name == "/init")
}

/// Runs the guest. Returns when that is impossible, after telling why on the console.
pub fn run() {
    println!("worker guest: stormeter {}", env!("CARGO_PKG_VERSION"));
    if let Err(why) = serve() {
        println!("worker guest: {why}");
    }
    // Seen on the console before it is gone.
    std::thread::sleep(Duration::from_millis(100));
    let _ = reboot(RebootMode::RB_POWER_OFF);
}

fn serve() -> Result<(), String> {
    for (what, place) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        mount(Some(what), place, Some(what), MsFlags::empty(), None::<&str>)
            .map_err(|errno| format!("{place} cannot be mounted: {errno}"))?;
    }
    modules::load()?;
    let path = port::wait_for(PORT)?;
    let mut port = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .map_err(|error| format!("{} cannot be opened: {error}", path.display()))?;
    println!("worker guest: up, answers on {}", path.display());
    answer::answer(&mut port)
}
