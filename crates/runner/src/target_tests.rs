//! Real servers, real processes: children of the test that hold a listening socket.

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;

/// Ends with the test, whatever its outcome.
struct Server(Child);

impl Server {
    /// Listens on its stdin and runs a shell command. A limit ends it if nothing else does.
    fn new(listener: &TcpListener, words: &str) -> Self {
        Self::by("sh".as_ref(), listener, words)
    }

    /// Run by a shell of that name.
    fn by(shell: &Path, listener: &TcpListener, words: &str) -> Self {
        let socket = OwnedFd::from(listener.try_clone().unwrap());
        let child = Command::new(shell)
            .args(["-c", &format!("ulimit -t 60; {words}")])
            .stdin(Stdio::from(socket))
            .spawn()
            .unwrap();
        Self(child)
    }

    fn pid(&self) -> i32 {
        self.0.id() as i32
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const BURN: &str = "while :; do :; done";
/// Waits to be killed, without CPU time.
const WAIT: &str = "exec sleep 60";
/// A wait fails after this many polls, each of some microseconds.
pub(crate) const TRIES: u32 = 1_000_000;
/// The CPU time that a test waits for.
pub(crate) const SPENT_NS: u64 = 50_000_000;

/// A server that burns CPU time for as long as the value lives.
pub(crate) fn busy_server() -> (impl Drop, SocketAddr) {
    let (mut servers, address) = servers("127.0.0.1:0", &[BURN]);
    (servers.remove(0), address)
}

/// Servers with these commands on one socket, and its address; the test itself does not hold the socket.
fn servers(address: &str, words: &[&str]) -> (Vec<Server>, SocketAddr) {
    let listener = TcpListener::bind(address).unwrap();
    let servers = words.iter().map(|words| Server::new(&listener, words)).collect();
    (servers, listener.local_addr().unwrap())
}

fn pids(target: &Target) -> Vec<i32> {
    target.processes.iter().map(|process| process.pid).collect()
}

/// Waits until the target has used that much CPU time; fails after a number of polls.
fn wait_for(opened: &Opened<'_>, spent_ns: u64) {
    for _ in 0..TRIES {
        if opened.spent_ns().unwrap() >= spent_ns {
            return;
        }
        std::thread::yield_now();
    }
    panic!("the target spent no {spent_ns} ns");
}

/// A process that another test starts holds this one's sockets between its fork and its exec, so only one test starts
/// processes at a time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static STARTING: Mutex<()> = Mutex::new(());
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_server_is_found_by_its_socket_and_its_time_is_its_own() {
    let _alone = alone();
    let (servers, address) = servers("127.0.0.1:0", &[BURN]);
    let target = Target::at(&[address]).unwrap();
    assert_eq!(pids(&target), [servers[0].pid()]);
    wait_for(&target.open().unwrap(), SPENT_NS);
}

#[test]
fn one_that_waits_spends_next_to_nothing_while_another_works() {
    let _alone = alone();
    let (_idle, at_rest) = servers("127.0.0.1:0", &[WAIT]);
    let (_busy, at_work) = servers("127.0.0.1:0", &[BURN]);
    let (idle, busy) = (Target::at(&[at_rest]).unwrap(), Target::at(&[at_work]).unwrap());
    // Until the program that waits is loaded, which takes CPU time.
    wait_for(&busy.open().unwrap(), SPENT_NS);
    let idle = idle.open().unwrap();
    wait_for(&busy.open().unwrap(), 2 * SPENT_NS);
    let spent_ns = idle.spent_ns().unwrap();
    assert!(spent_ns < SPENT_NS, "{spent_ns}");
}

#[test]
fn ipv6_and_all_addresses_are_found_too() {
    let _alone = alone();
    for (bound, ip) in [("[::1]:0", "::1"), ("0.0.0.0:0", "127.0.0.1"), ("[::]:0", "127.0.0.1")] {
        let (servers, address) = servers(bound, &[WAIT]);
        let address = SocketAddr::new(ip.parse().unwrap(), address.port());
        let target = Target::at(&[address]).unwrap();
        assert_eq!(pids(&target), [servers[0].pid()], "{bound}");
    }
}

#[test]
fn processes_that_share_the_socket_are_summed_and_counted_once() {
    let _alone = alone();
    let (servers, address) = servers("127.0.0.1:0", &[BURN, BURN]);
    let mut expected: Vec<i32> = servers.iter().map(Server::pid).collect();
    expected.sort_unstable();
    let target = Target::at(&[address, address]).unwrap();
    assert_eq!(pids(&target), expected);
    let opened = target.open().unwrap();
    wait_for(&opened, SPENT_NS);
    let each = || opened.0.iter().map(|(process, then)| process.cpu_ns().unwrap() - then);
    let before: u64 = each().sum();
    let spent_ns = opened.spent_ns().unwrap();
    let after: u64 = each().sum();
    assert!(before <= spent_ns && spent_ns <= after, "{before} {spent_ns} {after}");
}

/// Holds a socket and waits; it is that program as soon as it is there.
fn sleeper(socket: OwnedFd) -> Server {
    Server(Command::new("sleep").arg("60").stdin(Stdio::from(socket)).spawn().unwrap())
}

#[test]
fn who_was_handed_the_connection_is_the_target_and_who_only_listens_is_not() {
    let _alone = alone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Another program that listens, as systemd does for a service.
    let front = Server::new(&listener, BURN);
    assert_eq!(
        pids(&Target::at(&[address]).unwrap()),
        [front.pid()],
        "no other process listens yet"
    );
    let _client = TcpStream::connect(address).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    let worker = sleeper(accepted.into());
    assert_eq!(pids(&Target::at(&[address]).unwrap()), [worker.pid()]);
    // A second process of the server.
    let second = sleeper(listener.try_clone().unwrap().into());
    let mut expected = vec![worker.pid(), second.pid()];
    expected.sort_unstable();
    assert_eq!(pids(&Target::at(&[address]).unwrap()), expected);
}

#[test]
fn the_time_of_a_proxy_is_not_the_targets() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let shell = directory.path().join("docker-proxy");
    std::os::unix::fs::symlink("/bin/sh", &shell).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _proxy = Server::by(&shell, &listener, BURN);
    let unknown = TargetUnknown::Proxy(address.to_string(), "docker-proxy".into());
    assert!(unknown.is_worth_a_note(), "the report explains the dash");
    assert_eq!(Target::at(&[address]).unwrap_err(), unknown);
}

/// Waits until the process of that number is no more than an entry for its parent.
fn wait_until_ended(pid: i32) {
    let ended = (0..TRIES).any(|_| {
        std::thread::yield_now();
        started_ticks(pid).is_none()
    });
    assert!(ended, "{pid} did not end");
}

#[test]
fn a_server_that_ended_is_gone_and_its_successor_is_found() {
    let _alone = alone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut first = Server::new(&listener, WAIT);
    let target = Target::at(&[address]).unwrap();
    let opened = target.open().unwrap();
    let pid = first.pid();
    first.0.kill().unwrap();
    wait_until_ended(pid);
    // Neither before its end was collected, nor after.
    assert_eq!(opened.spent_ns(), Err(TargetUnknown::Gone(pid)));
    first.0.wait().unwrap();
    assert_eq!(opened.spent_ns(), Err(TargetUnknown::Gone(pid)));
    assert_eq!(target.open().err(), Some(TargetUnknown::Gone(pid)));
    let second = Server::new(&listener, WAIT);
    assert_eq!(pids(&Target::at(&[address]).unwrap()), [second.pid()]);
}

#[test]
fn one_that_ends_before_the_window_opens_takes_no_figure_away() {
    let _alone = alone();
    let (mut servers, address) = servers("127.0.0.1:0", &[BURN, WAIT]);
    let target = Target::at(&[address]).unwrap();
    let helper = &mut servers[1];
    helper.0.kill().unwrap();
    wait_until_ended(helper.pid());
    wait_for(&target.open().unwrap(), SPENT_NS);
}

#[test]
fn what_is_unknown_says_why() {
    let _alone = alone();
    let unknown = |peers: &[SocketAddr]| Target::at(peers).unwrap_err();
    assert_eq!(unknown(&[]), TargetUnknown::NoServer);
    // An address for documentation (RFC 5737, section 3).
    let far: SocketAddr = "192.0.2.1:3260".parse().unwrap();
    let (_servers, near) = servers("127.0.0.1:0", &[WAIT]);
    assert_eq!(unknown(&[far]), TargetUnknown::Elsewhere(far.to_string()));
    assert_eq!(unknown(&[near, far]), TargetUnknown::Elsewhere(far.to_string()));
    // A socket that no process but this one holds looks as the kernel's do.
    let own = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = own.local_addr().unwrap();
    assert!(matches!(unknown(&[at]), TargetUnknown::NoProcess(_) | TargetUnknown::Hidden(_)));
    drop(own);
    assert_eq!(unknown(&[at]), TargetUnknown::NoListener(at.to_string()));
}
