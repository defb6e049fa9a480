//! What a desktop does inside its machine: it reads as a boot does, writes as a configuration does, and works as its user
//! does, on its own disk. The code is that of desktops without machines ([`DiskDesktops`]), with a copy that is done.
//!
//! Its first line of input is a [`DesktopWork`], the others are [`DesktopOrder`]s; each line of its output is a list of
//! [`DesktopChange`]s. All are JSON.

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use stormeter_datastore::{FileDisks, OpenDisks, RealClock};
use stormeter_disk::{DesktopChange, DesktopEvent, Desktops, Wait};
use stormeter_driver::DiskDesktops;
use stormeter_trial::DesktopTrial;

/// How often orders are looked for.
const LOOK_NS: u64 = 10_000_000;
/// The user's work is reported no more often than this; everything else at once.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// What a desktop does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesktopWork {
    /// A trial of one desktop, of which nothing is copied.
    pub trial: DesktopTrial,
    /// Size of its disk.
    pub disk_bytes: u64,
    /// The seed of what it writes.
    pub content_seed: u64,
}

/// An order to a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DesktopOrder {
    /// A user logs on, and then works.
    LogOn {
        /// Determines the operations.
        user: u32,
    },
    /// The user stops working.
    FallIdle,
    /// The user logs out: what was asked for is finished, which [`DesktopChange::TornDown`] reports.
    LogOut,
}

/// Why a desktop ended.
#[derive(Debug, thiserror::Error)]
pub enum DesktopError {
    /// Its input or output.
    #[error("it lost what made it: {0}")]
    Line(#[from] std::io::Error),
    /// A line that is none of these.
    #[error("it does not understand what made it: {0}")]
    Json(#[from] serde_json::Error),
    /// Its disk.
    #[error("its disk cannot be used: {0}")]
    Disk(String),
}

/// Boots on the disk `device`, and works until the input ends.
///
/// # Errors
/// The disk cannot be opened, or the input is from something else.
pub fn desktop(
    device: &Path,
    mut input: impl BufRead + Send + 'static,
    output: &mut impl Write,
) -> Result<(), DesktopError> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let DesktopWork { trial, disk_bytes, content_seed } = serde_json::from_str(&line)?;
    let needs = trial.buffer_needs();
    let open =
        OpenDisks { buffers: needs.count, buffer_bytes: needs.bytes, in_flight: needs.in_flight };
    let disk = |error: &dyn std::fmt::Display| DesktopError::Disk(error.to_string());
    let mut disks = FileDisks::of_device(device, disk_bytes, open).map_err(|error| disk(&error))?;
    let clock = RealClock::new();
    let mut desktop = DiskDesktops::new(&trial, disk_bytes, content_seed, &mut disks, clock);
    let orders = orders(input);
    desktop.deploy(0).map_err(|error| disk(&error))?;
    let (mut events, mut changes) = (Vec::new(), Vec::new());
    let mut told = Instant::now();
    loop {
        desktop.wait(Wait::AtMost(LOOK_NS), &mut events).map_err(|error| disk(&error))?;
        changes.extend(events.drain(..).map(|DesktopEvent { what, .. }| what));
        let is_work = |change: &DesktopChange| {
            matches!(change, DesktopChange::Moved { .. } | DesktopChange::Worked { .. })
        };
        if !changes.is_empty() && (!changes.iter().all(is_work) || told.elapsed() >= TELL_EVERY) {
            told = Instant::now();
            serde_json::to_writer(&mut *output, &summed(std::mem::take(&mut changes)))?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
        match orders.try_recv() {
            Ok(order) => match order? {
                DesktopOrder::LogOn { user } => desktop.log_on(0, user),
                DesktopOrder::FallIdle => desktop.fall_idle(0),
                DesktopOrder::LogOut => desktop.tear_down(0),
            }
            .map_err(|error| disk(&error))?,
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
    }
}

/// Bytes that moved one after another as one change: a boot has thousands of reads.
fn summed(changes: Vec<DesktopChange>) -> Vec<DesktopChange> {
    let mut summed: Vec<DesktopChange> = Vec::with_capacity(changes.len());
    for change in changes {
        match (summed.last_mut(), change) {
            (Some(DesktopChange::Moved { bytes: all }), DesktopChange::Moved { bytes }) => {
                *all += bytes;
            }
            (_, change) => summed.push(change),
        }
    }
    summed
}

/// The orders, as they come.
fn orders(input: impl BufRead + Send + 'static) -> Receiver<Result<DesktopOrder, DesktopError>> {
    let (orders_in, orders) = mpsc::channel();
    thread::spawn(move || {
        for line in input.lines() {
            let order = line
                .map_err(DesktopError::from)
                .and_then(|line| serde_json::from_str(&line).map_err(DesktopError::from));
            if orders_in.send(order).is_err() {
                return;
            }
        }
    });
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_summed_and_nothing_else_is() {
        let moved = |bytes| DesktopChange::Moved { bytes };
        let all = vec![moved(1), moved(2), DesktopChange::Usable, moved(4), moved(8)];
        assert_eq!(summed(all), [moved(3), DesktopChange::Usable, moved(12)]);
    }
}
