//! Waits for a write buffer.
//!
//! A server may answer a write before the kernel reports that it no longer needs the bytes: they were sent in
//! one call with those of other requests, which takes until the last of them is sent. The buffer of a
//! completed write may therefore be in use for a moment, and although there are more buffers than slots, all
//! of them may be. Only moving I/O frees them, so that is done here; what completes meanwhile is timed when
//! it is seen, and kept for the loop's next turn.

use std::collections::VecDeque;

use stormeter_disk::{Clock, Completion, Disks, DisksError, Wait};

/// Polling the disks takes no longer than this if nothing happens.
const LOOK_NS: u64 = 20_000;
/// After this many polls without progress of the clock it is considered stopped.
const STILL_LOOKS: u32 = 2_000_000;

/// Completions that arrived while a loop waited for a buffer.
#[derive(Debug, Default)]
pub(crate) struct HeldBuffers {
    /// With the time at which each was seen.
    early: VecDeque<(Completion, u64)>,
    reaped: Vec<Completion>,
    wait: Option<WaitUnderWay>,
}

#[derive(Debug, Clone, Copy)]
struct WaitUnderWay {
    begun_ns: u64,
    last_ns: u64,
    /// Number of polls since the clock last advanced.
    looks: u32,
}

impl HeldBuffers {
    /// Moves outstanding I/O for a moment.
    ///
    /// # Errors
    /// Those of the disks, and that no buffer became free for `limit_ns`.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait(
        &mut self,
        disks: &mut impl Disks,
        clock: &mut impl Clock,
        limit_ns: u64,
    ) -> Result<(), DisksError> {
        disks.reap(Wait::AtMost(LOOK_NS), &mut self.reaped)?;
        let now_ns = clock.now_ns();
        self.early.extend(self.reaped.drain(..).map(|completion| (completion, now_ns)));
        let first = WaitUnderWay { begun_ns: now_ns, last_ns: now_ns, looks: 0 };
        let wait = self.wait.get_or_insert(first);
        wait.looks = if now_ns == wait.last_ns { wait.looks + 1 } else { 0 };
        wait.last_ns = now_ns;
        if now_ns - wait.begun_ns > limit_ns || wait.looks > STILL_LOOKS {
            return Err(DisksError {
                action: "waiting for a buffer to write from",
                reason: "the disks hold all of them, of writes that have completed, too".into(),
            });
        }
        Ok(())
    }

    /// A buffer was found; returns whether there was a wait.
    #[inline(always)]
    pub(crate) fn found(&mut self) -> bool {
        self.wait.take().is_some()
    }

    /// What completed meanwhile, in order, with the time at which it was seen.
    #[inline(always)]
    pub(crate) fn next_early(&mut self) -> Option<(Completion, u64)> {
        self.early.pop_front()
    }
}
