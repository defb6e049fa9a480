//! Waits for completions of the ring, and applies each to its connection.

use io_uring::cqueue;

use super::SocketEvent;
use super::line::{Phase, Work};
use super::ring::RingSockets;
use crate::ReapError;

impl RingSockets {
    /// The part of `wait` that enters the kernel.
    pub(super) fn enter(
        &mut self,
        wait_ns: u64,
        out: &mut Vec<SocketEvent>,
    ) -> Result<(), ReapError> {
        let entered = if wait_ns == 0 || !self.ring.completion().is_empty() {
            if self.in_flight == 0 {
                return Ok(());
            }
            self.entrance.peek(self.pending)
        } else {
            self.entrance.wait(self.pending, wait_ns)
        };
        let outcome = match entered {
            Ok(submitted) => {
                self.pending -= submitted;
                Ok(())
            }
            // An error means that nothing was submitted; these are harmless or temporary.
            Err(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(()),
            Err(errno) => Err(ReapError { errno }),
        };
        self.take(out);
        outcome
    }

    /// Takes the contents of the completion queue; returns whether that produced an event.
    #[inline]
    pub(super) fn take(&mut self, out: &mut Vec<SocketEvent>) -> bool {
        let before = out.len();
        loop {
            // Each borrows the queue separately: handling a completion needs the whole.
            let Some(completion) = self.ring.completion().next() else {
                return out.len() > before;
            };
            self.settle(&completion, out);
        }
    }

    /// Handles one completion.
    #[inline]
    fn settle(&mut self, completion: &cqueue::Entry, out: &mut Vec<SocketEvent>) {
        let (work, index) = Work::of(completion.user_data());
        let result = completion.result();
        self.in_flight -= 1;
        self.lines[index as usize].operations -= 1;
        match work {
            Work::Receive => self.settle_receive(index, result, completion.flags(), out),
            Work::Send => self.settle_send(index, result, out),
            Work::Connect => self.settle_connect(index, result, out),
            Work::Cancel => {}
        }
        self.tidy(index);
    }

    #[inline]
    fn settle_receive(&mut self, index: u32, result: i32, flags: u32, out: &mut Vec<SocketEvent>) {
        let line = &mut self.lines[index as usize];
        let Some(place) = line.lively_place() else {
            line.incoming.complete(0, &mut self.pool);
            return;
        };
        if is_passing(result) && self.make_room().is_ok() {
            self.push_receive(index);
            return;
        }
        let line = &mut self.lines[index as usize];
        let direct = line.incoming.complete(result.max(0) as usize, &mut self.pool);
        if result <= 0 {
            self.fail(index, place, -result, out);
        } else {
            line.has_more = cqueue::sock_nonempty(flags);
            out.push(SocketEvent::Received { place, direct });
        }
    }

    fn settle_send(&mut self, index: u32, result: i32, out: &mut Vec<SocketEvent>) {
        let line = &mut self.lines[index as usize];
        let Some(place) = line.lively_place() else {
            line.outgoing.end(&mut self.pool);
            return;
        };
        let is_done = result > 0 && line.outgoing.advance(result as usize);
        if !is_done && (result > 0 || is_passing(result)) && self.make_room().is_ok() {
            self.push_send(index);
            return;
        }
        let line = &mut self.lines[index as usize];
        line.outgoing.end(&mut self.pool);
        if is_done {
            out.push(SocketEvent::Sent { place });
        } else {
            // Sending nothing without a reason is not known to happen.
            self.fail(index, place, if result < 0 { -result } else { libc::EPIPE }, out);
        }
    }

    fn settle_connect(&mut self, index: u32, result: i32, out: &mut Vec<SocketEvent>) {
        let line = &mut self.lines[index as usize];
        let Some(place) = line.lively_place() else { return };
        if result < 0 {
            self.fail(index, place, -result, out);
        } else {
            line.phase = Phase::Connected;
            out.push(SocketEvent::Connected { place });
        }
    }
}

/// Whether a transfer was only interrupted and must be retried.
#[inline]
fn is_passing(result: i32) -> bool {
    matches!(-result, libc::EINTR | libc::EAGAIN)
}
