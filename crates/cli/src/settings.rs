//! The names of settings on the command line, and the settings that help when a command fails.
//!
//! The layers below say what is wrong and what helps in words that suit all of their users; here the options and keys
//! of this user are added.

use stormeter_datastore::DatastoreError;
use stormeter_gate::GateError;
use stormeter_lab::{LabDirectory, LabError};
use stormeter_predict::PredictError;
use stormeter_report::{Setting, SettingNames, study_key};
use stormeter_results::{Header, ResultsError};
use stormeter_runner::{ResetError, RunError};
use stormeter_study::PlanError;
use stormeter_trial::WorkloadError;

use crate::arguments::Command;
use crate::exit::Failure;

/// The options of `compare`, and the other options for settings without a key in study files.
pub(crate) fn option(setting: Setting) -> &'static str {
    match setting {
        Setting::Duration => "--duration",
        Setting::Ramp => "--ramp",
        Setting::Threads => "--threads",
        Setting::Vms => "--vms",
        Setting::TimeLimit => "--time-limit",
        Setting::Blocks => "--max-blocks",
        Setting::EqualLoad => "--equal-load",
        Setting::AsPlanned => "--as-planned",
        Setting::DiskSize => "--size",
        Setting::RequestSize => "--request-size",
        Setting::Alignment => "--align",
        Setting::Dedupable => "--dedupable",
        Setting::ReadShare => "--read",
        Setting::Outstanding => "--outstanding",
        Setting::Durable => "--durable",
        Setting::Flush => "--flush",
        Setting::Verify => "--verify",
        Setting::Metric => "--metric",
        Setting::FlushEveryWrite => "--flush every-write",
    }
}

/// The keys of a study file, and the options of `predict`.
pub(crate) fn study_setting(setting: Setting) -> &'static str {
    match setting {
        Setting::AsPlanned => option(setting),
        setting => study_key(setting),
    }
}

/// The options of `measure-site`, whose loads are fixed; empty for what it has no option for.
fn measure_site_option(setting: Setting) -> &'static str {
    match setting {
        Setting::Blocks => "--blocks",
        Setting::DiskSize | Setting::Duration | Setting::Ramp | Setting::Threads => option(setting),
        _ => "",
    }
}

/// The names of settings for a reader of the report of this run.
pub(crate) fn of_header(header: &Header) -> SettingNames {
    match crate::repeat::name(&header.command_line) {
        Some("run" | "predict") => study_setting,
        _ => option,
    }
}

/// The names of settings for the user of a command.
pub(crate) fn names_of(command: &Command) -> SettingNames {
    match command {
        Command::Run(_) | Command::Predict(_) | Command::Calibrate(_) => study_setting,
        Command::MeasureSite(_) => measure_site_option,
        _ => option,
    }
}

/// The options and keys that help with a failure; empty if none does.
pub(crate) fn that_help(failure: &Failure, names: SettingNames) -> Vec<String> {
    match failure {
        Failure::Run(error) => against_run(error, names),
        Failure::Results(error) => against_results(error),
        Failure::Predict(error) => match error.as_ref() {
            PredictError::LateFault { .. } => named(names, &[Setting::AsPlanned]),
            _ => Vec::new(),
        },
        Failure::Lab(error) => match error.as_ref() {
            LabError::Running { .. }
            | LabError::NotOurs { .. }
            | LabError::NoSpace { of: LabDirectory::Lab, .. } => vec!["--dir".into()],
            LabError::NoSpace { of: LabDirectory::Cache, .. } => vec!["--cache".into()],
            LabError::NoKvm { .. } => vec!["--accelerator".into()],
            _ => Vec::new(),
        },
        Failure::Gate(GateError::Unlike { .. }) => vec!["--may-differ".into()],
        Failure::Gate(_) | Failure::Ceph(_) | Failure::Usage(_) | Failure::File(_) => Vec::new(),
    }
}

const OUTPUT: &str = "--output";

fn named(names: SettingNames, settings: &[Setting]) -> Vec<String> {
    let named = settings.iter().map(|setting| names(*setting).to_owned());
    named.filter(|name| !name.is_empty()).collect()
}

fn against_run(error: &RunError, names: SettingNames) -> Vec<String> {
    use Setting::{
        Blocks, DiskSize, Durable, Duration, Flush, Metric, Outstanding, RequestSize, TimeLimit,
        Verify, Vms,
    };
    let named = |settings: &[Setting]| named(names, settings);
    match error {
        RunError::Results(error) => against_results(error),
        RunError::Datastore { source, .. } => against_datastore(source, names),
        RunError::OtherPlan { .. } | RunError::Measured { .. } => {
            vec![OUTPUT.into()]
        }
        RunError::TimeLimit { .. } => named(&[TimeLimit, Duration]),
        RunError::Memory { .. } => named(&[Vms, Outstanding, RequestSize]),
        RunError::VerifyNull(_) => named(&[Verify]),
        RunError::VerifyMemory { .. } => named(&[Vms, DiskSize, Verify]),
        RunError::Reset(ResetError::NoSnapshot(_)) | RunError::Step { .. } => vec!["--lab".into()],
        RunError::Hosts(_) => vec!["--lab".into(), "--agent-binary".into()],
        RunError::Plan(PlanError::Blocks { .. }) => named(&[Blocks, TimeLimit]),
        RunError::Plan(PlanError::Duration(_)) => named(&[Duration]),
        RunError::Plan(PlanError::FixedByRate(_) | PlanError::ClosedLoop(_)) => named(&[Metric]),
        RunError::Plan(PlanError::NoFlushes(_)) => named(&[Flush, Metric]),
        RunError::Plan(PlanError::NoDurableWrites(_)) => named(&[Durable, Metric]),
        RunError::Plan(PlanError::Workload(error)) => against_workload(error, names),
        _ => Vec::new(),
    }
}

fn against_datastore(error: &DatastoreError, names: SettingNames) -> Vec<String> {
    use Setting::{DiskSize, Vms};
    let named = |settings: &[Setting]| named(names, settings);
    match error {
        DatastoreError::Space { .. }
        | DatastoreError::Full { .. }
        | DatastoreError::TooLarge { .. }
        | DatastoreError::DeviceTooSmall { .. } => named(&[DiskSize, Vms]),
        DatastoreError::Count { .. } | DatastoreError::Descriptors { .. } => named(&[Vms]),
        DatastoreError::SizeBelowBlock { .. } | DatastoreError::DiskSize { .. } => {
            named(&[DiskSize])
        }
        DatastoreError::HoldsData { path, .. }
        | DatastoreError::DeviceElsewhere { path, .. }
        | DatastoreError::AwaitsCheck { path, .. } => {
            vec![format!("--destroy-data {}", path.display())]
        }
        _ => Vec::new(),
    }
}

fn against_workload(error: &WorkloadError, names: SettingNames) -> Vec<String> {
    use Setting::{Alignment, Dedupable, DiskSize, Outstanding, ReadShare, RequestSize, Verify};
    let named = |settings: &[Setting]| named(names, settings);
    match error {
        WorkloadError::DiskTooSmall { .. } => named(&[DiskSize]),
        WorkloadError::VerifyGranularity(_) => named(&[RequestSize, Alignment]),
        WorkloadError::VerifyDuplicates => named(&[Dedupable, Verify]),
        WorkloadError::NothingWritten(_) => named(&[ReadShare]),
        WorkloadError::VerifyNoReads => named(&[ReadShare, Verify]),
        WorkloadError::VerifyRoom { .. } => named(&[DiskSize, Outstanding]),
        WorkloadError::VerifyNoContent => named(&[Verify]),
        _ => Vec::new(),
    }
}

fn against_results(error: &ResultsError) -> Vec<String> {
    match error {
        ResultsError::Exists { .. } => vec!["--resume".into(), OUTPUT.into()],
        ResultsError::NoSpace { .. } => vec!["--resume".into()],
        ResultsError::InUse { .. } | ResultsError::LockTaken { .. } | ResultsError::Io { .. } => {
            vec![OUTPUT.into()]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    fn has(command: &str, option: &str) -> bool {
        let all = Arguments::command();
        let options = all.find_subcommand(command).unwrap().get_arguments();
        options.filter_map(|it| it.get_long()).any(|long| option == format!("--{long}"))
    }

    #[test]
    fn every_option_that_a_remedy_names_is_one() {
        use Setting::*;
        for setting in [
            Alignment,
            Blocks,
            Dedupable,
            DiskSize,
            Durable,
            Duration,
            EqualLoad,
            Flush,
            Metric,
            Outstanding,
            Ramp,
            ReadShare,
            RequestSize,
            Threads,
            TimeLimit,
            Verify,
            Vms,
        ] {
            assert!(has("compare", option(setting)), "{}", option(setting));
        }
        assert!(has("predict", option(AsPlanned)));
        for setting in [Blocks, DiskSize, Duration, Ramp, Threads] {
            assert!(has("measure-site", measure_site_option(setting)), "{setting:?}");
        }
        assert_eq!(measure_site_option(Vms), "");
        for (command, option) in
            [("compare", OUTPUT), ("compare", "--resume"), ("run", OUTPUT), ("run", "--lab")]
        {
            assert!(has(command, option), "{command} {option}");
        }
    }

    #[test]
    fn a_failure_names_what_its_command_has() {
        let failure = || {
            Failure::Run(RunError::Memory {
                outstanding: 64,
                needed: "1GiB".into(),
                available: "1MiB".into(),
            })
        };
        assert_eq!(that_help(&failure(), option), ["--vms", "--outstanding", "--request-size"]);
        assert_eq!(
            that_help(&failure(), study_setting),
            ["load.vms", "load.outstanding", "request-size"]
        );
    }
}
