//! The kernel's interface for configuring links and addresses (rtnetlink(7), netlink(7); RFC 3549): a
//! worker guest has no `ip`. A message is a header, a body specific to its type, and attributes, each
//! padded to four bytes and in native byte order.
//!
//! Our own encoder: the crates for netlink bring types for everything that it can express, and only
//! two types of message are sent.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send,
    setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};

/// Message types (linux/rtnetlink.h, linux/netlink.h).
const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const NLMSG_ERROR: u16 = 2;
/// Flags: a request, to be acknowledged, creating what is missing.
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_CREATE: u16 = 0x400;
/// The flag of a link that is up (linux/if.h).
const IFF_UP: u32 = 1;
/// Attributes of an address (linux/if_addr.h).
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// IPv4 (linux/socket.h).
const AF_INET: u8 = 2;

const HEADER_BYTES: usize = 16;
/// The kernel answers within the system call.
const ANSWER_SECONDS: i64 = 5;

/// A netlink socket.
pub(super) struct Netlink(OwnedFd);

impl Netlink {
    pub(super) fn open() -> Result<Self, String> {
        let open = || -> nix::Result<OwnedFd> {
            let (family, protocol) = (AddressFamily::Netlink, SockProtocol::NetlinkRoute);
            let fd = socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
            setsockopt(&fd, sockopt::ReceiveTimeout, &TimeVal::seconds(ANSWER_SECONDS))?;
            // The kernel chooses the port; no groups.
            bind(fd.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
            Ok(fd)
        };
        open().map(Self).map_err(|errno| format!("the kernel has no rtnetlink: {errno}"))
    }

    /// Sends a message and waits for its answer.
    pub(super) fn ask(&self, message: &[u8]) -> io::Result<()> {
        let fd = self.0.as_raw_fd();
        send(fd, message, MsgFlags::empty())?;
        let mut bytes = [0; 4096];
        let length = recv(fd, &mut bytes, MsgFlags::empty())?;
        answered(&bytes[..length])
    }
}

/// Reads an answer: success, or the reason for the failure. An answer is a message of type error, with a
/// negative error number, or 0.
fn answered(bytes: &[u8]) -> io::Result<()> {
    let number = |at: usize| Some(i32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let kind = bytes.get(4..6).map(|kind| [kind[0], kind[1]]);
    match (kind.map(u16::from_ne_bytes), number(HEADER_BYTES)) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(error)) => {
            Err(io::Error::from_raw_os_error(error.saturating_neg()))
        }
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the kernel answered something else")),
    }
}

/// Brings up the link with this index.
pub(super) fn link_up(index: u32) -> Vec<u8> {
    // struct ifinfomsg: family and a byte of padding, type, index, flags, mask of the flags to
    // change.
    let mut body = vec![0; 4];
    for part in [index, IFF_UP, IFF_UP] {
        body.extend(part.to_ne_bytes());
    }
    message(RTM_NEWLINK, 0, &body)
}

/// Gives the link with this index an address.
pub(super) fn add_address(index: u32, address: Ipv4Addr, prefix: u8) -> Vec<u8> {
    // struct ifaddrmsg: family, prefix, flags, scope (0: everywhere), index.
    let mut body = vec![AF_INET, prefix, 0, 0];
    body.extend(index.to_ne_bytes());
    for kind in [IFA_LOCAL, IFA_ADDRESS] {
        // struct rtattr: its length including this header, its type.
        body.extend(8_u16.to_ne_bytes());
        body.extend(kind.to_ne_bytes());
        body.extend(address.octets());
    }
    message(RTM_NEWADDR, NLM_F_CREATE, &body)
}

fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    // struct nlmsghdr: total length, type, flags, sequence number, the sender's port.
    let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
    bytes.extend(((HEADER_BYTES + body.len()) as u32).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend((NLM_F_REQUEST | NLM_F_ACK | flags).to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(body);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_laid_out_as_the_kernel_reads_them() {
        // Written out by hand from rtnetlink(7), for little-endian machines: guests are always
        // little-endian.
        let up = [
            [32, 0, 0, 0, 16, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0].as_slice(),
            &[0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0],
        ];
        assert_eq!(link_up(2), up.concat());
        let address = [
            [40, 0, 0, 0, 20, 0, 5, 4, 0, 0, 0, 0, 0, 0, 0, 0].as_slice(),
            &[2, 24, 0, 0, 2, 0, 0, 0],
            &[8, 0, 2, 0, 10, 0, 2, 15],
            &[8, 0, 1, 0, 10, 0, 2, 15],
        ];
        assert_eq!(add_address(2, Ipv4Addr::new(10, 0, 2, 15), 24), address.concat());
    }

    #[test]
    fn answers_are_told_apart() {
        let answer = |kind: u16, error: i32| {
            let mut bytes = message(kind, 0, &error.to_ne_bytes());
            bytes.extend([0; 16]);
            bytes
        };
        answered(&answer(NLMSG_ERROR, 0)).unwrap();
        let error = answered(&answer(NLMSG_ERROR, -17)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(17));
        for other in [answer(RTM_NEWLINK, 0), vec![], vec![0; 17]] {
            assert_eq!(answered(&other).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }

    /// The kernel understands the messages: it looks for the device before it checks the privilege, or
    /// the other way round.
    #[test]
    fn the_kernel_of_this_machine_reads_them() {
        let netlink = Netlink::open().unwrap();
        for message in
            [link_up(0x7fff_fff0), add_address(0x7fff_fff0, Ipv4Addr::new(192, 0, 2, 1), 32)]
        {
            let errno = netlink.ask(&message).unwrap_err().raw_os_error().unwrap();
            let known = [nix::errno::Errno::ENODEV as i32, nix::errno::Errno::EPERM as i32];
            assert!(known.contains(&errno), "errno {errno}");
        }
    }
}
