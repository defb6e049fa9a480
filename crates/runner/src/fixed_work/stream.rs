//! A socket with bounded waits: each ends with data, cancellation, or a timeout.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use stormeter_trial::Ended;

/// The longest wait for the socket before something else is polled.
const LOOK_UP: Duration = Duration::from_millis(50);

/// One end of a pair.
pub(super) struct Stream {
    socket: TcpStream,
    stall: Duration,
    is_gone: bool,
}

impl Stream {
    /// `stall_ns`: the longest time without progress.
    pub(super) fn new(socket: TcpStream, stall_ns: u64) -> io::Result<Self> {
        // An answer of one byte must be sent at once.
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(LOOK_UP))?;
        socket.set_write_timeout(Some(LOOK_UP))?;
        Ok(Self { socket, stall: Duration::from_nanos(stall_ns), is_gone: false })
    }

    /// Whether the other end was found closed: it knows the reason.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Sends all bytes. `look` is called after each part, and returns whether to stop.
    pub(super) fn send(
        &mut self,
        bytes: &[u8],
        look: &mut dyn FnMut() -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        let mut sent = 0;
        self.repeat("sending", look, |socket| {
            sent += socket.write(&bytes[sent..]).and_then(some)?;
            Ok(sent == bytes.len())
        })
    }

    /// Receives until the buffer is full.
    pub(super) fn receive(
        &mut self,
        bytes: &mut [u8],
        look: &mut dyn FnMut() -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        let mut received = 0;
        self.repeat("receiving", look, |socket| {
            received += socket.read(&mut bytes[received..]).and_then(some)?;
            Ok(received == bytes.len())
        })
    }

    fn repeat(
        &mut self,
        action: &str,
        look: &mut dyn FnMut() -> Result<(), Ended>,
        mut part: impl FnMut(&mut TcpStream) -> io::Result<bool>,
    ) -> Result<(), Ended> {
        let mut idle_since: Option<Instant> = None;
        loop {
            match part(&mut self.socket) {
                Ok(true) => return Ok(()),
                Ok(false) => idle_since = None,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    let since = *idle_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= self.stall {
                        return Err(Ended::Stalled { outstanding: 1 });
                    }
                }
                Err(error) => {
                    self.is_gone = true;
                    let reason = format!("{action} of a message failed: {error}");
                    return Err(Ended::QueueBroken { reason });
                }
            }
            look()?;
        }
    }
}

/// Zero bytes mean an unexpected end.
fn some(bytes: usize) -> io::Result<usize> {
    match bytes {
        0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the other end is gone")),
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed_work::pair::connected;

    fn ends(stall_ns: u64) -> (Stream, Stream) {
        let (one, other) = connected().unwrap();
        (Stream::new(one, stall_ns).unwrap(), Stream::new(other, stall_ns).unwrap())
    }

    #[test]
    fn all_bytes_arrive_however_many_they_are() {
        let (mut one, mut other) = ends(u64::MAX);
        let sent: Vec<u8> = (0..3_000_000_u32).map(|at| (at / 3) as u8).collect();
        let mut received = vec![0; sent.len()];
        std::thread::scope(|scope| {
            scope.spawn(|| one.send(&sent, &mut || Ok(())).unwrap());
            other.receive(&mut received, &mut || Ok(())).unwrap();
        });
        assert!(sent == received);
    }

    #[test]
    fn every_wait_has_an_end() {
        let (mut one, other) = ends(1);
        let stalled = one.receive(&mut [0], &mut || Ok(()));
        assert_eq!(stalled, Err(Ended::Stalled { outstanding: 1 }));
        // The other end does not read: the kernel's buffers fill up.
        let stalled = one.send(&vec![0; 64 << 20], &mut || Ok(()));
        assert_eq!(stalled, Err(Ended::Stalled { outstanding: 1 }));
        drop(other);

        let (mut one, other) = ends(u64::MAX);
        let mut looks = 0;
        let stopped = one.receive(&mut [0], &mut || {
            looks += 1;
            if looks == 3 { Err(Ended::Cancelled) } else { Ok(()) }
        });
        assert_eq!(stopped, Err(Ended::Cancelled));
        drop(other);
        let Err(Ended::QueueBroken { reason }) = one.receive(&mut [0], &mut || Ok(())) else {
            panic!("an end that is gone sends nothing");
        };
        assert!(reason.contains("gone") && one.is_gone(), "{reason}");
    }
}
