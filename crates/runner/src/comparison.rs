//! A comparison: what is checked of its plan, and its run, which is that of a study of one workload at one load.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stormeter_datastore::{RealClock, Secret};
use stormeter_results::FinishReason;
use stormeter_study::{ComparisonPlan, StudyPlan, Timing};
use stormeter_units::format_duration_ns;

use crate::conclusion::{Conclusion, conclude};
use crate::environment::environment;
use crate::error::RunError;
use crate::idle::IDLE_READING;
use crate::local_executor::LocalExecutor;
use crate::machine::raise_open_files;
use crate::progress::Progress;
use crate::resume::{begun, over};
use crate::study::{By, Rules, StudyRequest, StudyRun, carry_out};
use crate::threads::trial_length;
use crate::ways::NullServers;

/// A comparison to be carried out.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is compared, and how.
    pub plan: ComparisonPlan,
    /// The results file.
    pub output: PathBuf,
    /// Go on with what the file holds. The plan's seed is then taken from the file.
    pub resume: bool,
    /// Devices and LUNs whose data may be destroyed, as `--destroy-data` names them.
    pub destroy_data: Vec<PathBuf>,
    /// Passwords by the datastores' names; the plan, which is stored, has none.
    pub secrets: Vec<(String, Secret)>,
    /// For the record: how to repeat it.
    pub command_line: Vec<String>,
    /// For the record.
    pub version: String,
}

/// Carries out a comparison; `cancel` ends it at the next opportunity, keeping what is finished.
///
/// # Errors
/// Whatever keeps it from starting or going on. Trials that were finished before are in the
/// results file all the same.
pub fn run_comparison(
    request: &Request,
    clock: &RealClock,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<Conclusion, RunError> {
    run_comparison_with(None, request, clock, cancel, progress)
}

/// As [`run_comparison`], with servers for the ceilings of the ways to storage in the network.
///
/// # Errors
/// As there.
pub fn run_comparison_with<'a>(
    null_servers: Option<&'a mut dyn NullServers>,
    request: &Request,
    clock: &'a RealClock,
    cancel: &'a AtomicBool,
    progress: &mut dyn Progress,
) -> Result<Conclusion, RunError> {
    request.plan.check()?;
    check_time_limit(&request.plan)?;
    raise_open_files();
    let mut plan = request.plan.clone();
    let mut begun = begun(request, &mut plan)?;
    if let Some(file) = &mut begun
        && let Some(finished) = over(&plan, file)?
    {
        if finished.reason == FinishReason::TimeLimit {
            progress.note("the time limit is used up; a longer one goes on from here");
        }
        // Opened to go on, it has a log beside it; finishing leaves one file again.
        file.finish(&finished)?;
        return Ok(conclude(file)?);
    }
    let study = StudyRequest {
        plan: StudyPlan::from(&plan),
        output: request.output.clone(),
        destroy_data: request.destroy_data.clone(),
        passwords: Vec::new(),
        addresses: Vec::new(),
        redo_invalid: false,
        command_line: request.command_line.clone(),
        version: request.version.clone(),
    };
    let idle_reading = IDLE_READING.min(Duration::from_nanos(plan.timing.duration_ns));
    let mut local = LocalExecutor::new(clock.clone(), idle_reading);
    local.know_secrets(request.secrets.clone());
    let null_servers = null_servers.map(|it| it as &mut dyn NullServers);
    let by = By { executor: &mut local, rack_control: None, null_servers };
    let rules = Rules::Comparison(Box::new(plan));
    let here = environment(clock);
    let run = StudyRun::open(&study, rules, begun, by, (here, cancel), progress)?;
    Ok(conclude(&carry_out(run, progress)?)?)
}

fn check_time_limit(plan: &ComparisonPlan) -> Result<(), RunError> {
    let trial_ns = trial_length(plan.timing).as_nanos() as u64;
    let trials = plan.datastores.len();
    if plan.time_limit_ns >= 2 * trials as u64 * trial_ns {
        return Ok(());
    }
    let Timing { ramp_ns, duration_ns, .. } = plan.timing;
    Err(RunError::TimeLimit {
        limit: format_duration_ns(plan.time_limit_ns as f64),
        trials,
        trial: format_duration_ns((ramp_ns + duration_ns) as f64),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A sound plan for the tests of this crate.
    pub(crate) fn plan() -> ComparisonPlan {
        let workload = stormeter_study::profile("vm-4k").expect("a built-in profile").workload;
        ComparisonPlan {
            datastores: vec!["/a".into(), "/b".into()],
            baseline: 0,
            workload,
            vms: 1,
            disk_bytes: 1 << 20,
            threads: 0,
            timing: Timing {
                ramp_ns: 10_000_000,
                duration_ns: 100_000_000,
                interval_ns: 10_000_000,
            },
            metric: stormeter_study::Metric::Iops,
            precision: 0.02,
            margin: 0.05,
            level: 0.95,
            min_blocks: 5,
            max_blocks: 10,
            time_limit_ns: 10_000_000_000,
            equal_load: None,
            seed: 1,
            verify: false,
        }
    }

    #[test]
    fn a_time_limit_below_two_blocks_is_refused_with_the_sum() {
        let mut plan = plan();
        assert!(check_time_limit(&plan).is_ok());
        plan.time_limit_ns = 300_000_000;
        let message = check_time_limit(&plan).unwrap_err().to_string();
        assert!(message.contains("two blocks of 2 trials"), "{message}");
    }
}
