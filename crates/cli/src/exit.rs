//! Exit codes, and the code of each failure.

use std::process::ExitCode;

use stormeter_ceph::CephError;
use stormeter_gate::{Difference, GateError};
use stormeter_lab::LabError;
use stormeter_predict::PredictError;
use stormeter_report::compact::Compact;
use stormeter_report::{Finding, Report, Severity};
use stormeter_results::{FinishReason, ResultsError};
use stormeter_runner::RunError;
use stormeter_statistics::{Reply, Verdict};

/// How the program ends, for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// It could not be done.
    Failed = 1,
    /// The command line is invalid.
    Usage = 2,
    /// A question that says `must` was answered no.
    NotAsWanted = 3,
    /// No verdict could be reached.
    Inconclusive = 4,
    /// A law is broken: the result is meaningless.
    Invalid = 5,
    /// Ended by a signal; finished work is kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// The exit code of a run: interrupted, or that of its result.
    pub(crate) fn of_run(report: &Report) -> Self {
        match report.status.reason {
            Some(FinishReason::Interrupted) => Exit::Interrupted,
            _ => Exit::of_report(report),
        }
    }

    /// The exit code of a report: by the verdicts of a comparison, otherwise by the answers.
    pub(crate) fn of_report(report: &Report) -> Self {
        match Compact::of(report) {
            Some(comparison) => Exit::of_verdicts(&comparison),
            None => Exit::of_answers(report),
        }
    }

    /// By the most severe verdict.
    fn of_verdicts(comparison: &Compact) -> Self {
        let verdicts = comparison.primaries().map(|primary| primary.comparison.verdict);
        let worst = verdicts.map(|verdict| match verdict {
            Verdict::Faster | Verdict::Slower | Verdict::Equivalent => Exit::Done,
            Verdict::Inconclusive => Exit::Inconclusive,
            Verdict::Invalid => Exit::Invalid,
        });
        let none =
            if is_invalid(&comparison.findings) { Exit::Invalid } else { Exit::Inconclusive };
        worst.max_by_key(|exit| *exit as u8).unwrap_or(none)
    }

    /// A clear no to a question that says `must` comes first: it is only given for sound cells. Then a broken law,
    /// then a `must` that is not settled. Other questions are for information.
    fn of_answers(report: &Report) -> Self {
        let answers = &report.analysis.answers;
        let must = |reply: fn(Reply) -> bool| {
            answers.iter().any(|answer| answer.must && reply(answer.reply))
        };
        if must(|reply| reply == Reply::No) {
            Exit::NotAsWanted
        } else if is_invalid(&report.findings) {
            Exit::Invalid
        } else if must(|reply| reply != Reply::Yes) {
            Exit::Inconclusive
        } else {
            Exit::Done
        }
    }
}

fn is_invalid(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Invalid)
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is invalid.
    Usage(String),
    /// The run failed.
    Run(RunError),
    /// The prediction failed.
    Predict(Box<PredictError>),
    /// The results file cannot be used.
    Results(ResultsError),
    /// The lab failed.
    Lab(Box<LabError>),
    /// A cluster of this machine failed.
    Ceph(Box<CephError>),
    /// A gate could not decide.
    Gate(GateError),
    /// A file could not be written or read.
    File(String),
}

impl Failure {
    pub(crate) fn code(&self) -> Exit {
        match self {
            Failure::Usage(_)
            | Failure::Run(
                RunError::Plan(_)
                | RunError::Url(_)
                | RunError::VerifyNull(_)
                | RunError::TimeLimit { .. }
                | RunError::NoTarget { .. }
                | RunError::OtherPlan { .. }
                | RunError::Measured { .. }
                | RunError::FixedWork(_)
                | RunError::Hosts(_)
                | RunError::Step { .. },
            ) => Exit::Usage,
            Failure::Predict(_) => Exit::Usage,
            Failure::Gate(GateError::Invalid { .. } | GateError::Unlike { .. }) => Exit::Invalid,
            Failure::Gate(GateError::NoHistory { .. } | GateError::NothingInCommon { .. }) => {
                Exit::Usage
            }
            Failure::Lab(error) => match error.as_ref() {
                LabError::Interrupted => Exit::Interrupted,
                LabError::NoProgram { .. }
                | LabError::NoLibrary { .. }
                | LabError::NoLab { .. }
                | LabError::NoGuest { .. }
                | LabError::NotOurs { .. } => Exit::Usage,
                _ => Exit::Failed,
            },
            Failure::Ceph(error) => match error.as_ref() {
                CephError::Interrupted => Exit::Interrupted,
                CephError::Missing { .. }
                | CephError::Path { .. }
                | CephError::InUse { .. }
                | CephError::NotOurs { .. }
                | CephError::Options { .. }
                | CephError::NoOsd { .. } => Exit::Usage,
                _ => Exit::Failed,
            },
            // A mistyped name.
            Failure::Results(ResultsError::Missing { .. })
            | Failure::Run(RunError::Results(ResultsError::Missing { .. })) => Exit::Usage,
            Failure::Run(RunError::Interrupted) => Exit::Interrupted,
            Failure::Run(RunError::KeepsFailing { .. }) => Exit::Invalid,
            Failure::Run(_) | Failure::Results(_) | Failure::File(_) => Exit::Failed,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Usage(text) | Failure::File(text) => f.write_str(text),
            Failure::Run(error) => error.fmt(f),
            Failure::Predict(error) => error.fmt(f),
            Failure::Lab(error) => error.fmt(f),
            Failure::Ceph(error) => error.fmt(f),
            Failure::Results(error) => error.fmt(f),
            Failure::Gate(error) => {
                error.fmt(f)?;
                if let GateError::Unlike { differences } = error {
                    for one in differences {
                        let name = one.aspect.name();
                        let Difference { earlier, new, .. } = one;
                        write!(f, "\n{name}: {earlier} earlier\n{name}: {new} now")?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Failure::Run(error)
    }
}

impl From<PredictError> for Failure {
    fn from(error: PredictError) -> Self {
        match error {
            PredictError::Run(error) => Failure::Run(error),
            error => Failure::Predict(Box::new(error)),
        }
    }
}

impl From<CephError> for Failure {
    fn from(error: CephError) -> Self {
        Failure::Ceph(Box::new(error))
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        Failure::Lab(Box::new(error))
    }
}

impl From<ResultsError> for Failure {
    fn from(error: ResultsError) -> Self {
        Failure::Results(error)
    }
}
