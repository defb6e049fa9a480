//! Inside a worker guest: this program is init, and nothing else runs.
//!
//! It mounts the kernel's file systems, loads the modules listed on the kernel's command line, names the disks, sets
//! the network address, and is the agent on the virtio-serial port whose other end the host holds. If init ended, the
//! kernel would panic, so errors are reported on the console and the guest is powered off.

mod address;
mod disks;
mod modules;
mod netlink;
mod port;

use std::time::Duration;

use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use stormeter_agent::serve_port;

pub(crate) use address::WANTED as ADDRESS_WANTED;
pub use port::wait_for as wait_for_port;

/// The name of the agent's port, given by the host.
pub const AGENT_PORT: &str = "stormeter.agent";

/// Whether this process is a worker guest's init: the first process, started under its name in the
/// image.
pub fn is_init() -> bool {
    std::process::id() == 1 && std::env::args_os().next().is_some_and(|name| name == "/init")
}

/// Runs the guest. Returns if that is impossible, after reporting the reason on the console.
pub fn run() {
    println!("worker guest: stormeter {}", env!("CARGO_PKG_VERSION"));
    if let Err(why) = serve() {
        println!("worker guest: {why}");
    }
    // Gives the console time to show the message.
    std::thread::sleep(Duration::from_millis(100));
    let _ = reboot(RebootMode::RB_POWER_OFF);
}

fn serve() -> Result<(), String> {
    for (what, place) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        mount(Some(what), place, Some(what), MsFlags::empty(), None::<&str>)
            .map_err(|errno| format!("{place} cannot be mounted: {errno}"))?;
    }
    modules::load()?;
    disks::link()?;
    address::set()?;
    let path = port::wait_for(AGENT_PORT)?;
    println!("worker guest: up, an agent on {}", path.display());
    let mut say = |what: &str| println!("worker guest: {what}");
    serve_port(&path, env!("CARGO_PKG_VERSION"), &mut say)
        .map_err(|error| format!("{}: {error}", path.display()))
}
