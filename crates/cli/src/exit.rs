//! Exit codes, and which failure has which.

use std::process::ExitCode;

use stormeter_lab::LabError;
use stormeter_predict::PredictError;
use stormeter_report::Report;
use stormeter_results::{FinishReason, ResultsError};
use stormeter_runner::{RunError, StudyConclusion};
use stormeter_statistics::{Reply, Severity, Verdict};

/// How the program ends, for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// It could not be done.
    Failed = 1,
    /// The command makes no sense as given.
    Usage = 2,
    /// A question that says `must` was answered no.
    NotAsWanted = 3,
    /// No verdict could be reached.
    Inconclusive = 4,
    /// A law is broken: the result says nothing.
    Invalid = 5,
    /// Ended by a signal; what was finished is kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// How a run ended: interrupted, or with its verdicts.
    pub(crate) fn of_run(report: &Report) -> Self {
        match report.status.reason {
            Some(FinishReason::Interrupted) => Exit::Interrupted,
            _ => Exit::of_verdicts(report),
        }
    }

    /// What a report's verdicts amount to: the gravest counts.
    pub(crate) fn of_verdicts(report: &Report) -> Self {
        let mut primaries = report.primaries().map(|primary| primary.comparison.verdict).peekable();
        if primaries.peek().is_none() {
            let invalid =
                report.findings.iter().any(|f| f.severity == stormeter_report::Severity::Invalid);
            return if invalid { Exit::Invalid } else { Exit::Inconclusive };
        }
        let worst = primaries.map(|verdict| match verdict {
            Verdict::Faster | Verdict::Slower | Verdict::Equivalent => Exit::Done,
            Verdict::Inconclusive => Exit::Inconclusive,
            Verdict::Invalid => Exit::Invalid,
        });
        worst.max_by_key(|exit| *exit as u8).unwrap_or(Exit::Inconclusive)
    }
}

impl Exit {
    /// How a study's run ended: interrupted, or with its answers.
    pub(crate) fn of_study_run(conclusion: &StudyConclusion) -> Self {
        match conclusion.finished.as_ref().map(|finished| &finished.reason) {
            Some(FinishReason::Interrupted) => Exit::Interrupted,
            _ => Exit::of_answers(conclusion),
        }
    }

    /// What a study's answers amount to. A clear no to what must be so goes first: it is given of sound
    /// cells only. Then a broken law, then what must be so and is not settled. Other questions are
    /// asked to be told.
    pub(crate) fn of_answers(conclusion: &StudyConclusion) -> Self {
        let analysis = &conclusion.analysis;
        let must = |reply: fn(Reply) -> bool| {
            analysis.answers.iter().any(|answer| answer.must && reply(answer.reply))
        };
        let is_invalid =
            analysis.findings.iter().any(|(_, finding)| finding.severity == Severity::Invalid);
        if must(|reply| reply == Reply::No) {
            Exit::NotAsWanted
        } else if is_invalid {
            Exit::Invalid
        } else if must(|reply| reply != Reply::Yes) {
            Exit::Inconclusive
        } else {
            Exit::Done
        }
    }
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command makes no sense as given.
    Usage(String),
    /// The comparison.
    Run(RunError),
    /// What cannot be predicted.
    Predict(Box<PredictError>),
    /// The results file.
    Results(ResultsError),
    /// The lab.
    Lab(Box<LabError>),
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
                | RunError::OtherStudy { .. }
                | RunError::Measured { .. }
                | RunError::Question(_)
                | RunError::FixedWork(_)
                | RunError::Hosts(_)
                | RunError::Step { .. },
            ) => Exit::Usage,
            Failure::Predict(_) => Exit::Usage,
            Failure::Lab(error) => match error.as_ref() {
                LabError::Interrupted => Exit::Interrupted,
                LabError::NoProgram { .. }
                | LabError::NoLibrary { .. }
                | LabError::NoLab { .. }
                | LabError::NoGuest { .. }
                | LabError::NotOurs { .. } => Exit::Usage,
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
            Failure::Results(error) => error.fmt(f),
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
