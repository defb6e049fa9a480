//! The system's TCP sockets and socket addresses.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A socket address in the kernel's format.
pub(super) struct Address {
    storage: libc::sockaddr_storage,
    length: libc::socklen_t,
}

impl Address {
    pub(super) fn new(address: SocketAddr) -> Self {
        // SAFETY: all members are integers, for which zero is a value.
        let mut storage: libc::sockaddr_storage = unsafe { zeroed() };
        let place = &raw mut storage;
        let length = match address {
            SocketAddr::V4(address) => {
                let short = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: address.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
                    sin_zero: [0; 8],
                };
                // SAFETY: the storage is larger than any socket address and aligned for all.
                unsafe { place.cast::<libc::sockaddr_in>().write(short) };
                size_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(address) => {
                let long = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: address.port().to_be(),
                    sin6_flowinfo: address.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
                    sin6_scope_id: address.scope_id(),
                };
                // SAFETY: as above.
                unsafe { place.cast::<libc::sockaddr_in6>().write(long) };
                size_of::<libc::sockaddr_in6>()
            }
        };
        Self { storage, length: length as libc::socklen_t }
    }

    /// Its address and length.
    pub(super) fn as_raw(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        ((&raw const self.storage).cast(), self.length)
    }

    fn family(&self) -> libc::c_int {
        libc::c_int::from(self.storage.ss_family)
    }
}

/// Creates a TCP socket that sends small requests at once; `flags` are those of `socket(2)`.
pub(super) fn open(
    address: &Address,
    flags: libc::c_int,
    send_buffer_bytes: Option<u32>,
) -> Result<OwnedFd, i32> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | flags;
    // SAFETY: no memory is involved.
    let descriptor = unsafe { libc::socket(address.family(), kind, libc::IPPROTO_TCP) };
    if descriptor < 0 {
        return Err(errno());
    }
    // SAFETY: the descriptor is new and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
    set(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
    if let Some(bytes) = send_buffer_bytes {
        set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, bytes as libc::c_int)?;
    }
    Ok(socket)
}

fn set(
    socket: &OwnedFd,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> Result<(), i32> {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let descriptor = socket.as_raw_fd();
    // SAFETY: the option's value is one int that lives through the call.
    let outcome =
        unsafe { libc::setsockopt(descriptor, level, name, (&raw const value).cast(), length) };
    if outcome == 0 { Ok(()) } else { Err(errno()) }
}

/// Returns and clears the pending error of a socket; zero if there is none.
pub(super) fn take_error(socket: &OwnedFd) -> i32 {
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the option's value is one int; it and its length live through the call.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ERROR,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    if outcome == 0 { value } else { errno() }
}

/// Ends both directions: the peer notices now, and so does whatever waits on the socket. It may be
/// disconnected already.
pub(super) fn shut_down(socket: RawFd) {
    // SAFETY: no memory is involved.
    unsafe { libc::shutdown(socket, libc::SHUT_RDWR) };
}

/// The errno of the last system call.
pub(super) fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::{Address, open};

    #[test]
    fn addresses_are_those_of_the_kernel() {
        let address: SocketAddr = "127.2.3.4:258".parse().unwrap();
        let raw = Address::new(address);
        // SAFETY: the address is at least these bytes long and initialised.
        let bytes = unsafe { std::slice::from_raw_parts(raw.as_raw().0.cast::<u8>(), 16) };
        assert_eq!(raw.as_raw().1, 16);
        assert_eq!(bytes[2..8], [1, 2, 127, 2, 3, 4]);

        let address: SocketAddr = "[102:304::506]:258".parse().unwrap();
        let raw = Address::new(address);
        // SAFETY: as above.
        let bytes = unsafe { std::slice::from_raw_parts(raw.as_raw().0.cast::<u8>(), 28) };
        assert_eq!(raw.as_raw().1, 28);
        assert_eq!(bytes[2..4], [1, 2]);
        assert_eq!(bytes[8..24], [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 6]);
    }

    #[test]
    fn sockets_send_at_once() {
        let address = Address::new("127.0.0.1:1".parse().unwrap());
        let stream = std::net::TcpStream::from(open(&address, 0, None).unwrap());
        assert!(stream.nodelay().unwrap());
    }
}
