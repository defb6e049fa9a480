//! A private network for this process: a loopback device that nothing else on the machine uses.
//!
//! QEMU has no option for the port of an NFS server, so the server has to be where every NFS client
//! looks for one: behind port 111. On the machine's own loopback device another portmapper may use
//! that port, and other clients would find ours.

use nix::sched::{CloneFlags, unshare};

use crate::failure::Failure;
use crate::process;

/// An address that no host has (RFC 5737). Name lookups omit all of IPv4 on a machine that has only
/// loopback addresses (getaddrinfo(3), AI_ADDRCONFIG), and servers fail unexpectedly.
const UNASSIGNED: &str = "192.0.2.1/32";

/// Enters a new network. Everything that this thread starts from now on is in it as well.
pub(crate) fn enter() -> Result<(), Failure> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| {
        format!("a network of our own cannot be had ({errno}); run as root (CAP_SYS_ADMIN)")
    })?;
    for words in [&["link", "set", "lo", "up"][..], &["address", "add", UNASSIGNED, "dev", "lo"]] {
        let words = ["ip"].iter().chain(words).map(|&word| word.to_owned()).collect::<Vec<_>>();
        process::run(&words).map_err(|reason| {
            format!("{reason}\nrun cargo xtask peers, or apt-get install iproute2")
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_port_of_portmappers_is_ours_and_unseen_from_outside() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let outside = taken.local_addr().unwrap();
        std::thread::spawn(move || {
            enter().unwrap();
            let ours = TcpListener::bind((Ipv4Addr::LOCALHOST, 111)).unwrap();
            assert!(TcpStream::connect(ours.local_addr().unwrap()).is_ok());
            assert!(TcpStream::connect(outside).is_err());
        })
        .join()
        .unwrap();
        assert!(TcpStream::connect(outside).is_ok());
    }
}
