//! The proxy's threads: one that accepts, and one per direction of each connection.
//!
//! A direction reads, assembles messages, applies the faults on messages ([`Messages`]), and writes
//! with the faults on bytes.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use super::fault::{Direction, Fault};
use super::link::{Link, is_passing};
use super::messages::Messages;
use super::shared::Shared;

const CONNECT: Duration = Duration::from_secs(5);
const CHUNK_BYTES: usize = 64 << 10;
/// How long a reply is held back for the next one.
const HOLD: Duration = Duration::from_millis(200);

/// Accepts connections until the proxy ends.
pub(crate) fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.is_listening_over() {
            return;
        }
        if let Ok(client) = client {
            // A connection that cannot be set up is closed, as by a server that has run out of
            // descriptors.
            let _ = connect(client, shared);
        }
    }
}

fn connect(client: TcpStream, shared: &Arc<Shared>) -> std::io::Result<()> {
    let _quiet = shared.quiet();
    let number = shared.number();
    let fault = shared.take(|fault| matches!(fault, Fault::Refuse | Fault::AcceptOnly));
    if fault == Some(Fault::Refuse) {
        Link::new(number, client, None)?.reset();
        return Ok(());
    }
    let server = if fault == Some(Fault::AcceptOnly) {
        None
    } else {
        match TcpStream::connect_timeout(&shared.server(), CONNECT) {
            Ok(server) => Some(server),
            Err(_) => {
                // The client notices a missing server just as it would without the proxy.
                Link::new(number, client, None)?.reset();
                return Ok(());
            }
        }
    };
    let directions: &[Direction] = if server.is_some() {
        &[Direction::ToServer, Direction::ToClient]
    } else {
        &[Direction::ToServer]
    };
    let link = Arc::new(Link::new(number, client, server)?);
    // Registered before its threads run: a reset of all must not miss it.
    shared.add(&link);
    let threads: Vec<_> = directions
        .iter()
        .map(|direction| {
            let (link, shared, direction) = (Arc::clone(&link), Arc::clone(shared), *direction);
            std::thread::spawn(move || Pump::new(&link, &shared, direction).run())
        })
        .collect();
    shared.keep(threads);
    Ok(())
}

/// The result of a write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// Continue.
    On,
    /// Keep reading but pass nothing on.
    Silent,
    /// The connection has ended.
    Over,
}

/// One direction of a connection.
struct Pump<'a> {
    link: &'a Link,
    shared: &'a Shared,
    direction: Direction,
    messages: Messages,
}

impl<'a> Pump<'a> {
    fn new(link: &'a Link, shared: &'a Shared, direction: Direction) -> Self {
        Self { link, shared, direction, messages: Messages::new(shared.framing, direction) }
    }

    fn run(mut self) {
        let Some(mut source) = self.link.source(self.direction) else { return };
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut flow = Flow::On;
        while flow != Flow::Over {
            let hold = self.messages.is_holding().then_some(HOLD);
            if source.set_read_timeout(hold).is_err() {
                break;
            }
            let read = match source.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if is_passing(error.kind()) => {
                    if let Some(held) = self.messages.let_go() {
                        flow = self.write(held);
                    }
                    continue;
                }
                Err(error) => {
                    // RST from one side becomes RST to the other.
                    if error.kind() == std::io::ErrorKind::ConnectionReset {
                        self.link.reset();
                    }
                    break;
                }
            };
            let bytes = chunk.get(..read).unwrap_or_default();
            if self.direction == Direction::ToServer {
                self.link.record_request(bytes);
            }
            if flow == Flow::On {
                flow = self.pass(bytes);
            }
        }
        if flow == Flow::On && !self.link.is_reset() {
            let rest = self.messages.rest();
            if self.write(rest) == Flow::On {
                self.link.finish(self.direction);
            }
        }
    }

    fn pass(&mut self, bytes: &[u8]) -> Flow {
        self.messages.feed(bytes);
        while let Some(message) = self.messages.next(self.link, self.shared) {
            match self.write(message) {
                Flow::On => {}
                stopped => return stopped,
            }
        }
        Flow::On
    }

    /// Writes with the faults on bytes.
    fn write(&mut self, mut bytes: Vec<u8>) -> Flow {
        let direction = self.direction;
        let is_delay = |fault| matches!(fault, Fault::Delay { direction: d, .. } if d == direction);
        if bytes.is_empty() {
            return Flow::On;
        }
        if let Some(Fault::Delay { delay, .. }) = self.shared.take(is_delay) {
            self.shared.pause(delay);
        }
        while let Some((fault, before)) = self.shared.strike(self.link, direction, bytes.len()) {
            if matches!(fault, Fault::FlipBit { .. }) {
                if let Some(byte) = bytes.get_mut(before) {
                    *byte ^= 1 << (self.shared.random() % 8);
                }
                continue;
            }
            bytes.truncate(before);
            if !self.link.write(direction, &bytes) {
                return Flow::Over;
            }
            return match fault {
                Fault::Reset { .. } => {
                    self.link.reset();
                    Flow::Over
                }
                Fault::Truncate { .. } => {
                    self.link.finish(direction);
                    Flow::Silent
                }
                _ => Flow::Silent,
            };
        }
        if self.link.write(direction, &bytes) { Flow::On } else { Flow::Over }
    }
}
