//! A trial on one thread, as the runner carries it out, in miniature.

use std::time::{Duration, Instant};

use stormeter_datastore::{Datastore, DatastoreError, OpenDisks, RealClock};
use stormeter_disk::{Clock, DeviceError, Incident};
use stormeter_driver::{Expectations, drive, drive_verified};
use stormeter_trial::{
    Arrivals, Ended, IoFailureOutcome, Limits, Sample, Start, Trial, Workload, WorkloadError,
};

use crate::fixture::finish;

const MS: u64 = 1_000_000;

/// A closed loop of 4 KiB at random places of one disk, which counts from the first I/O on.
pub(crate) fn trial(read_percent: f64, disk_bytes: u64, duration_ms: u64) -> Trial {
    let closed = Arrivals::Closed { outstanding: 8 };
    Trial {
        workload: Workload { read_percent, ..stormeter_testkit::workload(closed) },
        first_disk: 0,
        disks: 1,
        disk_bytes,
        seed: 1,
        start: Start::default(),
        content_seed: 1,
        ramp_ns: 0,
        duration_ns: duration_ms * MS,
        interval_ns: 100 * MS,
        limits: Limits::default(),
        verify: false,
    }
}

/// What a trial came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) sample: Sample,
    pub(crate) incidents: Vec<Incident>,
    /// With opening and closing the disks.
    pub(crate) took: Duration,
}

impl Ran {
    /// The error of the first I/O that failed.
    pub(crate) fn first_error(&self) -> Option<DeviceError> {
        match self.sample.io_failures.first()?.outcome {
            IoFailureOutcome::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// Every I/O was served.
    pub(crate) fn assert_good(&self) {
        assert_eq!(self.sample.ended, Ended::Completed, "{self:?}");
        assert_eq!(self.sample.failed_operations(), 0, "{self:?}");
        assert!(self.sample.operations() > 0, "{self:?}");
    }
}

/// Carries it out on disk 0, and verifies it if there are expectations. `meanwhile` runs next to it.
pub(crate) fn run(
    datastore: &Datastore,
    trial: &Trial,
    expectations: Option<&mut Expectations>,
    meanwhile: impl FnOnce() + Send,
) -> Result<Ran, DatastoreError> {
    let since = Instant::now();
    let needs = trial.buffer_needs();
    let open =
        OpenDisks { buffers: needs.count, buffer_bytes: needs.bytes, in_flight: needs.in_flight };
    let mut disks = datastore.disks(0..1, open)?;
    let mut clock = RealClock::new();
    let now_ns = clock.now_ns();
    let start = || Some(now_ns);
    let sample: Result<Sample, WorkloadError> = std::thread::scope(|scope| {
        scope.spawn(meanwhile);
        match expectations {
            None => drive(trial, start, &mut disks, &mut clock, &mut ()),
            Some(all) => {
                let lent = all.lend();
                drive_verified(trial, start, &mut disks, &mut clock, &mut (), lent)
            }
        }
    });
    let sample = sample.expect("the workload can be driven");
    let incidents = finish(disks);
    Ok(Ran { sample, incidents, took: since.elapsed() })
}
