//! Sets the address of the guest's network, if the kernel's command line has one.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use super::netlink::{Netlink, add_address, link_up};

/// The kernel parameter with the address, as in `10.0.2.15/24`.
pub(crate) const WANTED: &str = "stormeter.address=";
/// The only network card, besides the loopback device that every kernel has.
const DEVICE: &str = "eth0";
const LOOPBACK: &str = "lo";

const LOOK: Duration = Duration::from_millis(10);
const LOOKS: u32 = 3000;

pub(super) fn set() -> Result<(), String> {
    let line = fs::read_to_string("/proc/cmdline").unwrap_or_default();
    let Some((address, prefix)) = wanted(&line)? else { return Ok(()) };
    let netlink = Netlink::open()?;
    let failed = |device: &str| {
        let device = device.to_owned();
        move |error| format!("the network {device} cannot be set up: {error}")
    };
    netlink.ask(&link_up(index(LOOPBACK)?)).map_err(failed(LOOPBACK))?;
    let card = index(DEVICE)?;
    netlink.ask(&add_address(card, address, prefix)).map_err(failed(DEVICE))?;
    netlink.ask(&link_up(card)).map_err(failed(DEVICE))
}

fn wanted(line: &str) -> Result<Option<(Ipv4Addr, u8)>, String> {
    let Some(text) = line.split_whitespace().find_map(|word| word.strip_prefix(WANTED)) else {
        return Ok(None);
    };
    let read = || {
        let (address, prefix) = text.split_once('/')?;
        Some((address.parse().ok()?, prefix.parse().ok().filter(|prefix| *prefix <= 32)?))
    };
    read().map(Some).ok_or_else(|| format!("{text} is not an address with a prefix"))
}

/// The kernel's index of a device, once it exists.
fn index(device: &str) -> Result<u32, String> {
    let path = Path::new("/sys/class/net").join(device).join("ifindex");
    for _ in 0..LOOKS {
        if let Some(index) = fs::read_to_string(&path).ok().and_then(|it| it.trim().parse().ok()) {
            return Ok(index);
        }
        std::thread::sleep(LOOK);
    }
    Err(format!("there is no network card {device}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_says_the_address() {
        let found = wanted("quiet stormeter.address=10.0.2.15/24 panic=-1").unwrap();
        assert_eq!(found, Some((Ipv4Addr::new(10, 0, 2, 15), 24)));
        assert_eq!(wanted("quiet").unwrap(), None);
        for bad in ["10.0.2.15", "10.0.2/24", "10.0.2.15/33", "10.0.2.15/x", "/"] {
            assert!(wanted(&format!("{WANTED}{bad}")).unwrap_err().contains(bad));
        }
    }

    #[test]
    fn this_machine_has_a_loopback_device() {
        assert!(index(LOOPBACK).unwrap() > 0);
    }
}
