//! How connections of the ring end, singly or all at once, and when their memory is free again.

use std::os::fd::AsRawFd;
use std::sync::Arc;

use io_uring::opcode;
use io_uring::types::{CancelBuilder, Timespec};

use super::SocketEvent;
use super::line::{Phase, Work};
use super::ring::RingSockets;
use super::socket;
use crate::submission::Submission;

/// Milliseconds of one wait of the drop.
const DROP_WAIT_MS: u32 = 100;

impl RingSockets {
    /// The connection is gone; its place still shows what was received before.
    pub(super) fn fail(&mut self, index: u32, place: u32, errno: i32, out: &mut Vec<SocketEvent>) {
        self.end(index);
        out.push(SocketEvent::Closed { place, errno });
    }

    /// Ends a connection and makes the kernel end its operations, of which nothing will be
    /// reported.
    pub(super) fn end(&mut self, index: u32) {
        let line = &mut self.lines[index as usize];
        let phase = std::mem::replace(&mut line.phase, Phase::Ended);
        if phase == Phase::Ended {
            return;
        }
        if let Some(socket) = &line.socket {
            socket::shut_down(socket.as_raw_fd());
        }
        let under_way = [
            (Work::Connect, phase == Phase::Connecting),
            (Work::Send, line.outgoing.is_active()),
            (Work::Receive, line.incoming.is_armed()),
        ];
        for (work, _) in under_way.into_iter().filter(|(_, is_under_way)| *is_under_way) {
            // The shutdown alone ends sends and receives, and in time a connect.
            if self.make_room().is_ok() {
                let code = opcode::AsyncCancel::CODE;
                let address = work.user_data(index);
                self.push(Work::Cancel, index, Submission { code, address, ..Submission::ZERO });
            }
        }
    }

    /// Closes the socket of a connection that has ended once the kernel has no more operations on
    /// it, and frees the line once its place has released it.
    #[inline]
    pub(super) fn tidy(&mut self, index: u32) {
        let line = &mut self.lines[index as usize];
        if line.phase == Phase::Ended && line.operations == 0 {
            line.socket = None;
            if line.place.is_none() {
                self.free.push(index);
            }
        }
    }

    /// Ends everything in flight; returns whether it succeeded.
    fn quiesce(&mut self) -> bool {
        // The kernel has never seen what was not submitted, and no submission follows.
        self.in_flight -= self.pending;
        self.pending = 0;
        if self.in_flight == 0 {
            return true;
        }
        for socket in self.lines.iter().filter_map(|line| line.socket.as_ref()) {
            socket::shut_down(socket.as_raw_fd());
        }
        // Only an acceleration (Linux 6.0), except for a connect, which nothing else ends.
        let _ =
            self.ring.submitter().register_sync_cancel(Some(Timespec::new()), CancelBuilder::any());
        let mut waited_ms = 0;
        while self.in_flight > 0 && waited_ms < self.options.knobs.patience_ms {
            // Only fruitless waits are counted, so no clock is needed.
            let _ = self.entrance.wait(0, u64::from(DROP_WAIT_MS) * 1_000_000);
            let before = self.in_flight;
            while self.ring.completion().next().is_some() {
                self.in_flight -= 1;
            }
            if self.in_flight == before {
                waited_ms += DROP_WAIT_MS;
            }
        }
        self.in_flight == 0
    }
}

impl Drop for RingSockets {
    fn drop(&mut self) {
        if !self.quiesce() {
            std::mem::forget(Arc::clone(self.pool.mapping()));
            std::mem::forget(std::mem::take(&mut self.lines));
        }
        self.entrance.close();
    }
}
