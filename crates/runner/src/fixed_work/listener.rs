//! The listener through which the clients of a transfer connect to servers on another host.
//!
//! It is open from the request for a trial until the last client has connected, and accepts only clients with the token
//! of that trial, which the host received through its agent. Other connections are dropped and block no client: all that
//! wait are polled in turn, and every wait is bounded.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::password::Password;

/// The longest wait for the first client, and after each for the next.
const CLIENT_WITHIN: Duration = Duration::from_secs(30);
/// The longest wait for a token: clients send it at once.
const TOKEN_WITHIN: Duration = Duration::from_secs(5);
/// The most connections that wait; beyond it the oldest, which is not a client, is dropped.
const MOST_WAITING: usize = 64;
/// How often connections are polled.
const LOOK: Duration = Duration::from_millis(1);
/// The longest waits for a connection to a host, and for its answer.
const REACHED_WITHIN: Duration = Duration::from_secs(5);
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// The answer to the right token.
const WELCOME: u8 = 1;
/// Characters of a token; the number of the client's VM follows: four bytes, big-endian.
const TOKEN_BYTES: usize = 32;
const HELLO_BYTES: usize = TOKEN_BYTES + 4;

/// Where the clients of a trial connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListenOrder {
    /// They connect from other machines; otherwise over the loopback address.
    pub everywhere: bool,
    /// The port to listen on; 0: any.
    pub port: u16,
    /// The secret that they send: 32 characters.
    pub token: Password,
}

/// An open listener.
pub(crate) struct TransferListener<'a> {
    listener: TcpListener,
    order: &'a ListenOrder,
}

impl<'a> TransferListener<'a> {
    pub(crate) fn open(order: &'a ListenOrder) -> Result<Self, RunError> {
        let bind = |address: IpAddr| TcpListener::bind((address, order.port));
        let bound = if order.token.0.len() != TOKEN_BYTES {
            Err(io::Error::new(ErrorKind::InvalidInput, "its token does not have 32 characters"))
        } else if order.everywhere {
            // Both versions of IP, if the kernel has both.
            bind(Ipv6Addr::UNSPECIFIED.into()).or_else(|_| bind(Ipv4Addr::UNSPECIFIED.into()))
        } else {
            bind(Ipv4Addr::LOCALHOST.into())
        };
        let opened = bound.and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(Self { listener, order })
        });
        opened.map_err(|error| {
            let port = order.port;
            RunError::TransferListener(format!(
                "cannot listen on port {port}: {error}; is it in use?"
            ))
        })
    }

    pub(crate) fn port(&self) -> Result<u16, RunError> {
        let address = self.listener.local_addr();
        address.map(|it| it.port()).map_err(|error| RunError::TransferListener(error.to_string()))
    }

    /// Accepts a client for each VM and closes. Returns their connections, in the order of the VMs.
    pub(crate) fn admit(self, vms: u32, cancel: &AtomicBool) -> Result<Vec<TcpStream>, RunError> {
        let mut inside: Vec<Option<TcpStream>> = (0..vms).map(|_| None).collect();
        let mut waiting: Vec<Visitor> = Vec::new();
        let mut latest = Instant::now();
        while inside.iter().any(Option::is_none) {
            if cancel.load(Ordering::Relaxed) {
                return Err(RunError::Interrupted);
            }
            if latest.elapsed() > CLIENT_WITHIN {
                let missing = inside.iter().filter(|socket| socket.is_none()).count();
                return Err(RunError::TransferListener(format!(
                    "{missing} of {vms} clients did not connect within {} s of the one before; can they \
                     reach this host's port?",
                    CLIENT_WITHIN.as_secs()
                )));
            }
            while let Ok((socket, _)) = self.listener.accept() {
                if waiting.len() == MOST_WAITING {
                    waiting.remove(0);
                }
                if let Ok(visitor) = Visitor::new(socket) {
                    waiting.push(visitor);
                }
            }
            let mut still = Vec::new();
            for mut visitor in waiting {
                match visitor.hear(&self.order.token) {
                    Heard::Nothing => still.push(visitor),
                    Heard::Stranger => {}
                    Heard::Client(number) => {
                        // Each VM has one client.
                        if let Some(place @ None) = inside.get_mut(number as usize)
                            && let Ok(socket) = visitor.welcome()
                        {
                            *place = Some(socket);
                            latest = Instant::now();
                        }
                    }
                }
            }
            waiting = still;
            std::thread::sleep(LOOK);
        }
        Ok(inside.into_iter().flatten().collect())
    }
}

/// A connection that has not proved to be a client.
struct Visitor {
    socket: TcpStream,
    said: Vec<u8>,
    since: Instant,
}

enum Heard {
    Nothing,
    Stranger,
    /// The client of the VM with this number.
    Client(u32),
}

impl Visitor {
    fn new(socket: TcpStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket, said: Vec::with_capacity(HELLO_BYTES), since: Instant::now() })
    }

    fn hear(&mut self, token: &Password) -> Heard {
        let mut bytes = [0; HELLO_BYTES];
        let room = HELLO_BYTES - self.said.len();
        match self.socket.read(&mut bytes[..room]) {
            Ok(0) => return Heard::Stranger,
            Ok(count) => self.said.extend(&bytes[..count]),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => return Heard::Stranger,
        }
        if self.said.len() < HELLO_BYTES {
            let is_late = self.since.elapsed() > TOKEN_WITHIN;
            return if is_late { Heard::Stranger } else { Heard::Nothing };
        }
        let (said, number) = self.said.split_at(TOKEN_BYTES);
        // All characters are compared, so that the time does not reveal how many were right.
        let differ = said.iter().zip(token.0.as_bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        match <[u8; 4]>::try_from(number) {
            Ok(number) if differ == 0 => Heard::Client(u32::from_be_bytes(number)),
            _ => Heard::Stranger,
        }
    }

    fn welcome(mut self) -> io::Result<TcpStream> {
        self.socket.set_nonblocking(false)?;
        self.socket.set_write_timeout(Some(TOKEN_WITHIN))?;
        self.socket.write_all(&[WELCOME])?;
        Ok(self.socket)
    }
}

/// Connects the clients of a trial to a listener, one for each VM.
#[derive(Debug, Clone, Copy)]
pub struct TransferClient<'a> {
    /// The addresses of the listener; the first that answers is used.
    pub addresses: &'a [SocketAddr],
    /// The token of the trial.
    pub token: &'a Password,
}

impl TransferClient<'_> {
    /// Connects the client of a VM. Returns its connection, once the server has answered.
    ///
    /// # Errors
    /// There is no listener, it refuses the client, or it does not answer within a bounded time.
    pub fn connect(&self, vm: u32) -> io::Result<TcpStream> {
        let mut failed = io::Error::new(ErrorKind::NotFound, "it has no address");
        for address in self.addresses {
            match TcpStream::connect_timeout(address, REACHED_WITHIN)
                .and_then(|socket| self.say(socket, vm))
            {
                Ok(socket) => return Ok(socket),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn say(&self, mut socket: TcpStream, vm: u32) -> io::Result<TcpStream> {
        let hello = [self.token.0.as_bytes(), &vm.to_be_bytes()].concat();
        socket.set_nodelay(true)?;
        socket.set_write_timeout(Some(ANSWERED_WITHIN))?;
        socket.set_read_timeout(Some(ANSWERED_WITHIN))?;
        socket.write_all(&hello)?;
        let mut answer = [0];
        let heard = socket.read_exact(&mut answer);
        match heard {
            Ok(()) if answer == [WELCOME] => Ok(socket),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Err(io::Error::new(ErrorKind::TimedOut, "the port does not answer"))
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(io::Error::new(
                ErrorKind::ConnectionRefused,
                "the listener closed the connection",
            )),
            Err(error) => Err(error),
            Ok(()) => Err(io::Error::new(ErrorKind::InvalidData, "something else answers there")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn order() -> ListenOrder {
        ListenOrder { everywhere: false, port: 0, token: Password(TOKEN.into()) }
    }

    /// The outcome of an open listener for `vms` VMs, while `act` runs outside of it.
    fn with_listener<T: Send>(
        vms: u32,
        cancel: &AtomicBool,
        act: impl FnOnce(SocketAddr) -> T + Send,
    ) -> (Result<Vec<TcpStream>, RunError>, T) {
        let order = order();
        let listener = TransferListener::open(&order).unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, listener.port().unwrap()));
        thread::scope(|scope| {
            let acted = scope.spawn(move || act(address));
            (listener.admit(vms, cancel), acted.join().unwrap())
        })
    }

    #[test]
    fn clients_come_in_and_strangers_do_not() {
        let token = Password(TOKEN.into());
        let (inside, mut clients) = with_listener(2, &AtomicBool::new(false), |address| {
            let addresses = [address];
            let caller = TransferClient { addresses: &addresses, token: &token };
            // A connection that sends nothing, one that sends a part, one that is closed at once.
            let silent = TcpStream::connect(address).unwrap();
            let mut half = TcpStream::connect(address).unwrap();
            half.write_all(&TOKEN.as_bytes()[..7]).unwrap();
            drop(TcpStream::connect(address).unwrap());
            let wrong = Password(TOKEN.replace('0', "1"));
            let refused =
                TransferClient { addresses: &addresses, token: &wrong }.connect(0).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused, "{refused}");
            let second = caller.connect(1).unwrap();
            assert!(caller.connect(1).is_err(), "its place is taken");
            assert!(caller.connect(9).is_err(), "there is no such VM");
            let first = caller.connect(0).unwrap();
            assert!(TcpStream::connect(address).is_err() || caller.connect(0).is_err());
            drop((silent, half));
            [first, second]
        });
        let inside = inside.unwrap();
        for (client, server) in clients.iter_mut().zip(&inside) {
            assert_eq!(client.local_addr().unwrap(), server.peer_addr().unwrap());
            client.write_all(&[7]).unwrap();
            let mut byte = [0];
            (&*server).read_exact(&mut byte).unwrap();
            assert_eq!(byte, [7]);
        }
    }

    #[test]
    fn a_door_without_a_client_closes_when_it_is_cancelled() {
        let cancel = AtomicBool::new(false);
        let (inside, ()) = with_listener(1, &cancel, |_| cancel.store(true, Ordering::Relaxed));
        assert!(matches!(inside, Err(RunError::Interrupted)), "{inside:?}");
    }

    #[test]
    fn what_answers_otherwise_is_no_server_of_a_transfer() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let addresses = [listener.local_addr().unwrap()];
        let token = Password(TOKEN.into());
        let error = thread::scope(|scope| {
            scope.spawn(|| {
                let (mut socket, _) = listener.accept().unwrap();
                socket.write_all(b"SSH-2.0").unwrap();
                let _ = socket.read(&mut [0; 64]);
            });
            TransferClient { addresses: &addresses, token: &token }.connect(0).unwrap_err()
        });
        assert!(error.to_string().contains("something else"), "{error}");
        drop(listener);
        let error = TransferClient { addresses: &addresses, token: &token }.connect(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert!(TransferClient { addresses: &[], token: &token }.connect(0).is_err());
    }

    #[test]
    fn a_port_that_is_taken_and_an_unknown_word_are_reported() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let error =
            TransferListener::open(&ListenOrder { port, ..order() }).err().unwrap().to_string();
        assert!(error.contains(&port.to_string()) && error.contains("in use"), "{error}");
        let token = Password("short".into());
        assert!(TransferListener::open(&ListenOrder { token, ..order() }).is_err());
    }
}
