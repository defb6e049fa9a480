//! The generator's own ceiling: the workload on a datastore that completes everything at once.
//!
//! That is `null:` for the generator alone, or a null server for the generator and an initiator together.

use std::sync::atomic::AtomicBool;

use stormeter_datastore::{Datastore, DatastoreUrl, DiskSpec, OpenOptions, Preparation, RealClock};
use stormeter_driver::Seal;
use stormeter_trial::{Arrivals, Workload};

use crate::error::RunError;
use crate::progress::{Progress, TrialStart};
use crate::threads::{Start, TrialRun, run_trial_from};
use crate::trial_end::TrialEnd;
use crate::verify::rehearsal;
use crate::workers::at_once;

/// Runs the trial on `url`, which answers at once and stores nothing (`null:`, a null server). An open loop is run as a
/// closed one, with 16 outstanding I/Os per disk: otherwise its own rate would be measured. Pauses between bursts are
/// left out for the same reason. With `seal`, blocks are sealed and checked as in verified trials: the ceiling includes
/// this cost.
///
/// # Errors
/// As [`crate::run_trial`].
pub fn measure_ceiling(
    url: &DatastoreUrl,
    run: &TrialRun<'_>,
    seal: Option<Seal>,
    clock: &RealClock,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    let start = Start { first_cpu: 0, starter: &mut at_once };
    measure_ceiling_from(url, run, seal, (clock, cancel), start, progress)
}

/// As [`measure_ceiling`], with a given start.
pub(crate) fn measure_ceiling_from(
    url: &DatastoreUrl,
    run: &TrialRun<'_>,
    seal: Option<Seal>,
    clock: (&RealClock, &AtomicBool),
    start: Start<'_>,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    let name = url.to_string();
    let failed = |source| RunError::Datastore { url: name.clone(), source };
    let most_outstanding = match seal {
        Some(_) => run.workload.most_outstanding_verified(run.disk_bytes),
        None => u32::MAX,
    };
    let workload = closed(run.workload, most_outstanding);
    let options = OpenOptions { run_id: "0".repeat(16), ..OpenOptions::default() };
    let mut null = Datastore::open(url, options).map_err(failed)?;
    null.prepare(Preparation {
        disks: DiskSpec {
            count: run.vms,
            size_bytes: run.disk_bytes,
            granularity_bytes: granularity(&workload),
        },
        content_id: 0,
        fill: &|_, _, _| {},
        progress: &mut |_, _| {},
        cancelled: &|| false,
    })
    .map_err(failed)?;
    let timing = run.timing;
    progress.trial(&TrialStart {
        datastore: &name,
        block: None,
        purpose: "ceiling",
        cell: None,
        length_ns: Some(timing.ramp_ns + timing.duration_ns),
        place: None,
    });
    let run = TrialRun { workload: &workload, ..run.clone() };
    let mut expectations = seal.map(|seal| rehearsal(seal, run.vms, run.disk_bytes));
    run_trial_from(&run, &null, expectations.as_mut(), clock, start, progress)
}

/// The outstanding I/Os of such a load, all VMs together: the ceiling is measured with the highest load.
pub(crate) fn load_of(workload: &Workload, vms: u32) -> u64 {
    let outstanding = match closed(workload, u32::MAX).arrivals {
        Arrivals::Closed { outstanding } => outstanding,
        _ => 1,
    };
    u64::from(vms) * u64::from(outstanding)
}

/// The largest number of attempts at a ceiling; the best counts. An attempt is short, and an instant in which the
/// generator did not run would cast doubt on everything that is measured later.
const ATTEMPTS: u32 = 3;

/// Measures until a trial is sound, but at most [`ATTEMPTS`] times. `measure` receives the number of the attempt,
/// stores the outcome and returns whether it was sound.
pub(crate) fn until_sound(
    mut measure: impl FnMut(u32) -> Result<bool, RunError>,
) -> Result<(), RunError> {
    for attempt in 0..ATTEMPTS {
        if measure(attempt)? {
            break;
        }
    }
    Ok(())
}

/// Whether I/O completed, and the generator had its CPUs.
pub(crate) fn is_sound(end: &TrialEnd) -> bool {
    end.sample.operations() > 0 && !stormeter_statistics::is_starved(&end.cpu, end.sample.window_ns)
}

/// As [`is_sound`], for a ceiling through a server on this machine: with few CPUs the server always takes those of the
/// generator, so only one more attempt can help.
pub(crate) fn is_sound_through_server(end: &TrialEnd, attempt: u32) -> bool {
    is_sound(end) || attempt > 0 && end.sample.operations() > 0
}

pub(crate) fn granularity(workload: &Workload) -> u32 {
    workload.granularity_bytes().min(1 << 30) as u32
}

/// The workload as a closed loop without pauses; unchanged if it is one.
pub(crate) fn closed(workload: &Workload, most_outstanding: u32) -> Workload {
    let arrivals = match workload.arrivals {
        closed @ Arrivals::Closed { .. } => closed,
        _ => Arrivals::Closed { outstanding: most_outstanding.min(16) },
    };
    Workload { arrivals, burst: None, ..workload.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_that_is_no_good_is_measured_again_but_not_for_ever() {
        let attempts = |sound_from: u32| {
            let mut made = 0;
            let measure = |attempt| {
                made += 1;
                Ok(attempt >= sound_from)
            };
            until_sound(measure).unwrap();
            made
        };
        assert_eq!([0, 1, 2, 9].map(attempts), [1, 2, 3, 3]);
        let failed: Result<(), RunError> = until_sound(|_| Err(RunError::Interrupted));
        assert!(matches!(failed, Err(RunError::Interrupted)));
    }
}
