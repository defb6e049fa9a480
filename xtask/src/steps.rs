//! Runs steps one after another; each is announced, timed and counted.
//!
//! A failure does not end the run: one push to CI shows everything that is wrong.

use std::time::{Duration, Instant};

use crate::repository::Repository;

/// What a step found, in a few words for the summary; empty if there is nothing to report.
pub(crate) type Finding = Result<String, String>;

/// One check.
pub(crate) struct Step {
    /// Its name for `--only`.
    pub(crate) name: &'static str,
    /// What it does, in one line.
    pub(crate) what: &'static str,
    /// The programs that it requires.
    pub(crate) needs: &'static [&'static str],
    pub(crate) run: fn(&Repository) -> Finding,
}

/// How a step ended.
#[derive(Debug, PartialEq)]
enum Outcome {
    Passed(String),
    Failed(String),
    NotRun(String),
}

/// What may be missing on this machine.
pub(crate) struct Conditions<'a> {
    /// Returns which of the programs are missing.
    pub(crate) missing: &'a dyn Fn(&[&'static str]) -> Vec<&'static str>,
    /// Whether a step that cannot be run is a failure.
    pub(crate) strict: bool,
}

/// Runs the steps and reports how they ended; the last line is `N passed, M failed`.
///
/// # Errors
/// A step failed.
pub(crate) fn run(
    repository: &Repository,
    steps: &[Step],
    conditions: &Conditions<'_>,
) -> Result<(), String> {
    let mut ended = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        println!("\n=== [{}/{}] {}: {}", index + 1, steps.len(), step.name, step.what);
        let started = Instant::now();
        let outcome = carry_out(repository, step, conditions);
        let took = started.elapsed();
        println!("=== {}", line(step.name, &outcome, took));
        ended.push((step.name, outcome, took));
    }
    println!("\nSummary");
    for (name, outcome, took) in &ended {
        println!("  {}", line(name, outcome, *took));
    }
    let (passed, failed) = count(ended.iter().map(|(_, outcome, _)| outcome));
    println!("{passed} passed, {failed} failed");
    if failed == 0 { Ok(()) } else { Err("a check failed; see above".into()) }
}

fn carry_out(repository: &Repository, step: &Step, conditions: &Conditions<'_>) -> Outcome {
    let missing = (conditions.missing)(step.needs);
    if !missing.is_empty() {
        let why = format!("{} missing; see cargo xtask peers", missing.join(", "));
        return if conditions.strict { Outcome::Failed(why) } else { Outcome::NotRun(why) };
    }
    match (step.run)(repository) {
        Ok(note) => Outcome::Passed(note),
        Err(why) => {
            eprintln!("{why}");
            Outcome::Failed(why.lines().next().unwrap_or_default().to_owned())
        }
    }
}

fn line(name: &str, outcome: &Outcome, took: Duration) -> String {
    let (word, note) = match outcome {
        Outcome::Passed(note) => ("passed", note),
        Outcome::Failed(why) => ("FAILED", why),
        Outcome::NotRun(why) => ("NOT RUN", why),
    };
    let line = format!("{name:<8} {word:<8} {:>6.1} s  {note}", took.as_secs_f64());
    line.trim_end().to_owned()
}

fn count<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> (usize, usize) {
    outcomes.fold((0, 0), |(passed, failed), outcome| match outcome {
        Outcome::Passed(_) => (passed + 1, failed),
        Outcome::Failed(_) => (passed, failed + 1),
        Outcome::NotRun(_) => (passed, failed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> Repository {
        Repository { root: ".".into(), target: "target".into() }
    }

    fn step(needs: &'static [&'static str], run: fn(&Repository) -> Finding) -> Step {
        Step { name: "x", what: "a step", needs, run }
    }

    fn none(_: &[&'static str]) -> Vec<&'static str> {
        Vec::new()
    }

    #[test]
    fn one_failure_fails_the_run_and_the_later_steps_still_run() {
        static RAN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        fn good(_: &Repository) -> Finding {
            RAN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(String::new())
        }
        let steps = [step(&[], good), step(&[], |_| Err("broken".into())), step(&[], good)];
        let conditions = Conditions { missing: &none, strict: false };
        assert!(run(&repository(), &steps, &conditions).is_err());
        assert_eq!(RAN.load(std::sync::atomic::Ordering::Relaxed), 2);
        assert!(run(&repository(), &steps[..1], &conditions).is_ok());
    }

    #[test]
    fn a_missing_peer_keeps_a_step_from_running_and_fails_it_in_ci() {
        let missing = |_: &[&'static str]| vec!["fio"];
        let needy = step(&["fio"], |_| Ok(String::new()));
        for strict in [false, true] {
            let outcome =
                carry_out(&repository(), &needy, &Conditions { missing: &missing, strict });
            let why = String::from("fio missing; see cargo xtask peers");
            let expected = if strict { Outcome::Failed(why) } else { Outcome::NotRun(why) };
            assert_eq!(outcome, expected);
        }
    }

    #[test]
    fn what_was_not_run_counts_as_neither() {
        let outcomes = [
            Outcome::Passed(String::new()),
            Outcome::NotRun(String::new()),
            Outcome::Failed(String::new()),
            Outcome::Passed(String::new()),
        ];
        assert_eq!(count(outcomes.iter()), (2, 1));
    }
}
