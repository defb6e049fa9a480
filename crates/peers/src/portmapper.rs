//! A portmapper on the loopback device, for servers that require one to start.
//!
//! rpcbind itself cannot be restricted to that device: whatever its option -h says, its TCP socket
//! listens on every address of the machine (and with -h 127.0.0.1 version 1.2.6 aborts). So servers
//! under test register here: RFC 1833, versions 2 to 4 over TCP, as far as NFS servers and clients
//! use it. There is one port 111 per machine: a portmapper that is already running is used instead.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::PeerError;
use crate::rpc::{self, Procedure, framed, put_string, read_record, take_string, word, words};

const PORT: u16 = 111;
const TCP: u32 = 6;

/// This process's portmapper, shared by all servers because the port is.
static SHARED: Mutex<Weak<Portmapper>> = Mutex::new(Weak::new());

/// The registrations: program, version, port; all over TCP.
type Table = Vec<(u32, u32, u16)>;

/// A running portmapper; ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Portmapper {
    addresses: Vec<SocketAddr>,
    is_closing: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Makes sure that there is a portmapper; `None` if another process already runs one.
pub(crate) fn ensure() -> Result<Option<Arc<Portmapper>>, PeerError> {
    let mut shared = lock(&SHARED);
    if let Some(running) = shared.upgrade() {
        return Ok(Some(running));
    }
    if answers() {
        return Ok(None);
    }
    match Portmapper::start(PORT) {
        Ok(started) => {
            let started = Arc::new(started);
            *shared = Arc::downgrade(&started);
            Ok(Some(started))
        }
        // Another process was faster.
        Err(_) if answers() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a portmapper answers on this machine.
pub(crate) fn answers() -> bool {
    let null = Procedure { program: rpc::PORTMAP, version: 2, number: 0 };
    rpc::call(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)), null, &[]).is_ok()
}

impl Portmapper {
    /// Listens on both loopback addresses: a server uses IPv6's if the machine has it.
    fn start(port: u16) -> Result<Self, PeerError> {
        let table = Arc::new(Mutex::new(Table::new()));
        let is_closing = Arc::new(AtomicBool::new(false));
        let mut portmapper = Self { addresses: Vec::new(), is_closing, threads: Vec::new() };
        for ip in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
            let port = portmapper.addresses.first().map_or(port, SocketAddr::port);
            let socket = match TcpListener::bind((ip, port)) {
                Ok(socket) => socket,
                Err(error) if ip.is_ipv6() && error.raw_os_error() == Some(ADDRESS_MISSING) => {
                    continue;
                }
                Err(source) => return Err(PeerError::Portmapper { address: ip, source }),
            };
            let failed = |source| PeerError::Portmapper { address: ip, source };
            portmapper.addresses.push(socket.local_addr().map_err(failed)?);
            let (table, is_closing) = (Arc::clone(&table), Arc::clone(&portmapper.is_closing));
            portmapper
                .threads
                .push(std::thread::spawn(move || accept(&socket, &table, &is_closing)));
        }
        Ok(portmapper)
    }
}

/// EADDRNOTAVAIL: there is no IPv6.
const ADDRESS_MISSING: i32 = 99;

impl Drop for Portmapper {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::SeqCst);
        for address in &self.addresses {
            // Wakes the accepting thread.
            let _ = TcpStream::connect_timeout(address, Duration::from_secs(1));
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Serves one connection after the other: connections are short, and a silent one is closed.
fn accept(socket: &TcpListener, table: &Mutex<Table>, is_closing: &AtomicBool) {
    const SILENCE: Duration = Duration::from_secs(2);
    for stream in socket.incoming() {
        if is_closing.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut stream) = stream else { continue };
        if stream.set_read_timeout(Some(SILENCE)).is_err() {
            continue;
        }
        while let Some(call) = read_record(&mut stream) {
            let Some(reply) = answer(&call, &mut lock(table)) else { break };
            if stream.write_all(&framed(&reply)).is_err() {
                break;
            }
        }
    }
}

/// The reply to a call; `None` for anything else.
fn answer(call: &[u8], table: &mut Table) -> Option<Vec<u8>> {
    const SUCCESS: u32 = 0;
    const PROGRAM_UNAVAILABLE: u32 = 1;
    const PROCEDURE_UNAVAILABLE: u32 = 3;
    let xid = word(call, 0)?;
    if (word(call, 4)?, word(call, 8)?) != (0, 2) {
        return None;
    }
    let (program, version, number) = (word(call, 12)?, word(call, 16)?, word(call, 20)?);
    let reply = |status: u32, results: &[u8]| {
        Some([words(&[xid, 1, 0, 0, 0, status]), results.to_vec()].concat())
    };
    if program != rpc::PORTMAP {
        return reply(PROGRAM_UNAVAILABLE, &[]);
    }
    let arguments = arguments(call)?;
    let results = match (version, number) {
        (_, 0) => Some(Vec::new()),
        (2, 1..=3) => version_2(number, arguments, table),
        (3 | 4, 1..=3) => version_4(number, arguments, table),
        _ => None,
    };
    match results {
        Some(results) => reply(SUCCESS, &results),
        None => reply(PROCEDURE_UNAVAILABLE, &[]),
    }
}

/// The arguments after credentials and verifier.
fn arguments(call: &[u8]) -> Option<&[u8]> {
    let mut at = 24_usize;
    for _ in 0..2 {
        let length = usize::try_from(word(call, at + 4)?).ok()?.checked_next_multiple_of(4)?;
        at = at.checked_add(8)?.checked_add(length)?;
    }
    call.get(at..)
}

/// SET, UNSET and GETPORT with `mapping` (RFC 1833 section 3).
fn version_2(number: u32, arguments: &[u8], table: &mut Table) -> Option<Vec<u8>> {
    let (program, version) = (word(arguments, 0)?, word(arguments, 4)?);
    let protocol = word(arguments, 8)?;
    let port = u16::try_from(word(arguments, 12)?).ok()?;
    Some(match number {
        1 => {
            if protocol == TCP {
                set(table, program, version, port);
            }
            words(&[u32::from(protocol == TCP)])
        }
        2 => {
            unset(table, program, version);
            words(&[1])
        }
        _ if protocol == TCP => words(&[get(table, program, version).map_or(0, u32::from)]),
        _ => words(&[0]),
    })
}

/// SET, UNSET and GETADDR with `rpcb` and universal addresses (RFC 1833 section 2).
fn version_4(number: u32, arguments: &[u8], table: &mut Table) -> Option<Vec<u8>> {
    let (program, version) = (word(arguments, 0)?, word(arguments, 4)?);
    let mut rest = arguments.get(8..)?;
    let network = take_string(&mut rest)?;
    let address = take_string(&mut rest)?;
    Some(match number {
        1 => {
            let port = port_of(address).filter(|_| network.starts_with("tcp"));
            if let Some(port) = port {
                set(table, program, version, port);
            }
            words(&[u32::from(port.is_some())])
        }
        2 => {
            unset(table, program, version);
            words(&[1])
        }
        _ => {
            let mut results = Vec::new();
            let found = get(table, program, version).map(|p| universal(Ipv4Addr::LOCALHOST, p));
            put_string(&mut results, &found.unwrap_or_default());
            results
        }
    })
}

fn get(table: &Table, program: u32, version: u32) -> Option<u16> {
    table.iter().find(|entry| (entry.0, entry.1) == (program, version)).map(|entry| entry.2)
}

/// The latest registration wins: a killed server could not remove its own.
fn set(table: &mut Table, program: u32, version: u32, port: u16) {
    unset(table, program, version);
    table.push((program, version, port));
}

fn unset(table: &mut Table, program: u32, version: u32) {
    table.retain(|entry| (entry.0, entry.1) != (program, version));
}

/// RFC 5665 section 5.2.3.3: the port's two bytes are the last two numbers.
fn universal(ip: Ipv4Addr, port: u16) -> String {
    format!("{ip}.{}.{}", port >> 8, port & 0xff)
}

fn port_of(address: &str) -> Option<u16> {
    let mut numbers = address.rsplit('.');
    let (low, high) = (numbers.next()?.parse::<u8>().ok()?, numbers.next()?.parse::<u8>().ok()?);
    Some(u16::from_be_bytes([high, low]))
}

/// What another thread left when it panicked is still a valid table.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(portmapper: &Portmapper, version: u32, number: u32, arguments: &[u8]) -> Vec<u8> {
        let procedure = Procedure { program: rpc::PORTMAP, version, number };
        rpc::call(portmapper.addresses[0], procedure, arguments).unwrap()
    }

    fn rpcb(program: u32, version: u32, address: &str) -> Vec<u8> {
        let mut bytes = words(&[program, version]);
        for text in ["tcp", address, "superuser"] {
            put_string(&mut bytes, text);
        }
        bytes
    }

    #[test]
    fn what_either_version_registers_the_other_finds_until_it_is_taken_out() {
        let portmapper = Portmapper::start(0).unwrap();
        let mapping = |port| words(&[rpc::NFS, 3, TCP, port]);
        assert_eq!(ask(&portmapper, 2, 3, &mapping(0)), words(&[0]));
        assert_eq!(ask(&portmapper, 4, 1, &rpcb(rpc::NFS, 3, "127.0.0.1.8.1")), words(&[1]));
        assert_eq!(ask(&portmapper, 2, 3, &mapping(0)), words(&[2049]));
        assert_eq!(ask(&portmapper, 2, 1, &mapping(20_049)), words(&[1]));
        let mut expected = Vec::new();
        put_string(&mut expected, "127.0.0.1.78.81");
        assert_eq!(ask(&portmapper, 3, 3, &rpcb(rpc::NFS, 3, "")), expected);
        assert_eq!(ask(&portmapper, 4, 2, &rpcb(rpc::NFS, 3, "")), words(&[1]));
        assert_eq!(ask(&portmapper, 2, 3, &mapping(0)), words(&[0]));
    }

    #[test]
    fn it_listens_on_loopback_only_and_is_gone_when_dropped() {
        let portmapper = Portmapper::start(0).unwrap();
        let address = portmapper.addresses[0];
        let on_port = || {
            let all = crate::listeners().unwrap();
            all.into_iter().filter(|a| a.port() == address.port()).collect::<Vec<_>>()
        };
        assert!(on_port().contains(&address));
        assert!(on_port().iter().all(|address| address.ip().is_loopback()));
        drop(portmapper);
        assert!(!on_port().contains(&address));
    }

    #[test]
    fn what_is_unknown_or_no_call_is_refused() {
        let portmapper = Portmapper::start(0).unwrap();
        for (program, number) in [(rpc::NFS, 0), (rpc::PORTMAP, 99)] {
            let procedure = Procedure { program, version: 2, number };
            assert!(rpc::call(portmapper.addresses[0], procedure, &[]).is_err());
        }
        let mut table = Table::new();
        for length in 0..44 {
            let mut call = words(&[7, 0, 2, rpc::PORTMAP, 2, 3, 0, u32::MAX, 0, 0, 0]);
            call.truncate(length);
            assert_eq!(answer(&call, &mut table), None);
        }
    }
}
