//! A disk with programmed service times, so that a load generator's measurements on it can be compared
//! with another generator's, and with theory: a file in memory, served over FUSE by a separate
//! process, behind a loop device with direct I/O, which has a queue like real disks.
//!
//! A request's completion time is determined when it arrives ([`schedule`]). The overhead of the path (FUSE, the loop
//! device, wake-ups) is accounted for separately.

mod attached;
pub(crate) mod schedule;
mod twin;

use std::io::{Read, Write, sink};
use std::path::Path;
use std::time::Duration;

use stormeter_timed_disk::{Content, DISK as FILE, ServeOptions};

pub(crate) use attached::TimedDisk;
pub(crate) use twin::expected;

use crate::failure::Failure;
use schedule::{Schedule, Service};

/// A timer wakes a sleeper tens of microseconds late: this long before an answer is due the server
/// stays awake.
const AWAKE: Duration = Duration::from_micros(150);

/// Serves a disk of this size in `directory`, reports readiness on `ready`, and ends when `until`
/// does.
pub(crate) fn serve(
    service: Service,
    bytes: u64,
    directory: &Path,
    mut until: impl Read,
    mut ready: impl Write,
) -> Result<(), Failure> {
    let options = ServeOptions { awake: AWAKE, always_direct: true };
    let ready = || writeln!(ready, "ready");
    // A broken input counts as ended.
    let until = |()| drop(std::io::copy(&mut until, &mut sink()));
    let (schedule, content) = (Schedule::new(service), Content::memory(bytes));
    stormeter_timed_disk::serve(schedule, content, directory, options, ready, until)
        .map_err(|error| format!("the timed disk: {error}"))
}
