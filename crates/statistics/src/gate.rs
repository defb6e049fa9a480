//! Whether something got slower, judged by whole runs.
//!
//! The unit is the run: a machine that was booted again, a file system that was filled again and a neighbour that
//! came or went change all trials of a run together, so trials within a run say nothing of the next one. Each run is
//! one value, the logarithms of the runs' values are compared by Student's t with the pooled spread of the runs, and
//! with one run on each side nothing can be said.
//!
//! Regression is reported if a slowdown of the limit or less is rejected, one-sided; "no regression" if a slowdown of
//! the limit or more is. So a slowdown that is just allowed is reported at most at the error level, and none at all
//! much less often. A history may have changed on its way (a firmware, a kernel): where a split of it explains that
//! better than chance (Bonferroni over the splits), only what came after counts.

use serde::{Deserialize, Serialize};

use crate::quantile::{student_t_quantile, student_t_two_sided_p, student_t_upper};
use crate::runs::{Pooled, logarithms, mean};
use crate::verdict::Direction;

/// What is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct GateInput<'a> {
    /// A value of each earlier run, the oldest first; above 0.
    pub history: &'a [f64],
    /// A value of each new run; above 0.
    pub new: &'a [f64],
    /// Which values are better.
    pub direction: Direction,
    /// The slowdown that is allowed: 0.03 for 3 % more time an operation.
    pub max_slowdown: f64,
    /// One-sided error level, such as 0.05.
    pub alpha: f64,
}

/// What the runs say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateVerdict {
    /// Slower than allowed.
    Regression,
    /// Not slower than allowed.
    Fine,
    /// Neither is certain.
    Inconclusive,
}

/// A judgement, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// What the runs say.
    pub verdict: GateVerdict,
    /// By how much more time an operation takes: 0.05 for 5 % more, negative for less.
    pub slowdown: f64,
    /// Bounds of it, each one-sided at the error level; `None` without a spread between runs.
    pub bounds: Option<(f64, f64)>,
    /// The p-value of "the slowdown is at most the limit"; `None` without a spread.
    pub p: Option<f64>,
    /// The SD between runs, as a share; `None` where it is not known.
    pub between_runs: Option<f64>,
    /// Earlier runs that were used.
    pub history: usize,
    /// The smallest slowdown that would have been found in four of five cases.
    pub smallest_found: Option<f64>,
    /// How many more new runs would probably decide; `None` if more than [`MOST_RUNS`], or if it is decided.
    pub more_runs: Option<usize>,
    /// A change of the history: how many of its runs came before it, and the slowdown it brought.
    pub change: Option<(usize, f64)>,
}

/// More runs than are worth a wait.
pub const MOST_RUNS: usize = 50;
/// A part of a history has at least this many runs.
const LEAST_PART: usize = 3;
/// A change of the history is one with this error level.
const CHANGE_ALPHA: f64 = 0.01;
/// The power with which the smallest slowdown is found.
const POWER: f64 = 0.8;

/// Judges new runs by earlier ones; `None` without a run on each side, or with a value that is not above 0.
pub fn judge(input: &GateInput<'_>) -> Option<Judgement> {
    let sign = match input.direction {
        Direction::HigherIsBetter => -1.0,
        Direction::LowerIsBetter => 1.0,
    };
    let times = |values: &[f64]| -> Option<Vec<f64>> {
        Some(logarithms(values)?.into_iter().map(|value| sign * value).collect())
    };
    let (history, new) = (times(input.history)?, times(input.new)?);
    let change = last_change(&history);
    let used = &history[change.map_or(0, |(before, _)| before)..];
    let difference = mean(&new) - mean(used);
    let slowdown = difference.exp_m1();
    let change = change.map(|(before, step)| (before, step.exp_m1()));
    let Some(Pooled { spread, df }) = Pooled::of(used, &new) else {
        return Some(Judgement {
            verdict: GateVerdict::Inconclusive,
            slowdown,
            bounds: None,
            p: None,
            between_runs: None,
            history: used.len(),
            smallest_found: None,
            more_runs: None,
            change,
        });
    };
    let error = |new_runs: usize| spread * (1.0 / used.len() as f64 + 1.0 / new_runs as f64).sqrt();
    let critical = student_t_quantile(1.0 - input.alpha, df);
    let limit = input.max_slowdown.ln_1p();
    let se = error(new.len());
    let verdict = match (difference - limit) / se {
        t if t > critical => GateVerdict::Regression,
        t if t < -critical => GateVerdict::Fine,
        _ => GateVerdict::Inconclusive,
    };
    let is_enough = |more: usize| {
        let runs = new.len() + more;
        let critical = student_t_quantile(1.0 - input.alpha, df + more as f64);
        (difference - limit).abs() > critical * error(runs)
    };
    let power = student_t_quantile(POWER, df);
    Some(Judgement {
        verdict,
        slowdown,
        bounds: Some((
            (difference - critical * se).exp_m1(),
            (difference + critical * se).exp_m1(),
        )),
        p: Some(student_t_upper((difference - limit) / se, df)),
        between_runs: Some(spread),
        history: used.len(),
        smallest_found: Some((limit + (critical + power) * se).exp_m1()),
        more_runs: match verdict {
            GateVerdict::Inconclusive => fewest(is_enough),
            _ => None,
        },
        change,
    })
}

/// The least number of further runs that is enough. More than enough is enough, so halving finds it.
fn fewest(is_enough: impl Fn(usize) -> bool) -> Option<usize> {
    if !is_enough(MOST_RUNS) {
        return None;
    }
    let (mut low, mut high) = (1, MOST_RUNS);
    while low < high {
        let middle = low.midpoint(high);
        if is_enough(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

/// The last change of the level of a history: how many values come before it, and the step.
fn last_change(history: &[f64]) -> Option<(usize, f64)> {
    let (before, step) = change_in(history)?;
    // What came after may have changed again.
    match last_change(&history[before..]) {
        Some((further, step)) => Some((before + further, step)),
        None => Some((before, step)),
    }
}

/// The split of a history that explains most, if it explains more than chance does.
fn change_in(history: &[f64]) -> Option<(usize, f64)> {
    let splits = (history.len() + 1).checked_sub(2 * LEAST_PART)?;
    let mut best: Option<(usize, f64, f64)> = None;
    for before in LEAST_PART..LEAST_PART + splits {
        let (early, late) = history.split_at(before);
        let Pooled { spread, .. } = Pooled::of(early, late)?;
        let error = spread * (1.0 / early.len() as f64 + 1.0 / late.len() as f64).sqrt();
        let step = mean(late) - mean(early);
        let t = (step / error).abs();
        if best.is_none_or(|(.., most)| t > most) {
            best = Some((before, step, t));
        }
    }
    let (before, step, t) = best?;
    let df = (history.len() - 2) as f64;
    let p = student_t_two_sided_p(t, df) * splits as f64;
    (p < CHANGE_ALPHA).then_some((before, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(history: &[f64], new: &[f64]) -> Judgement {
        judge(&GateInput {
            history,
            new,
            direction: Direction::HigherIsBetter,
            max_slowdown: 0.03,
            alpha: 0.05,
        })
        .unwrap()
    }

    #[test]
    fn one_run_each_says_nothing() {
        let found = of(&[1000.0], &[500.0]);
        assert_eq!((found.verdict, found.bounds), (GateVerdict::Inconclusive, None));
        assert!((found.slowdown - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_quiet_history_lets_small_slowdowns_be_seen() {
        let history = [1000.0, 1002.0, 998.0, 1001.0, 999.0];
        assert_eq!(of(&history, &[1001.0]).verdict, GateVerdict::Fine);
        let found = of(&history, &[940.0]);
        assert_eq!(found.verdict, GateVerdict::Regression);
        assert!(found.p.unwrap() < 0.01 && found.smallest_found.unwrap() < 0.04, "{found:?}");
        // Less time is no regression.
        assert_eq!(of(&history, &[1100.0]).verdict, GateVerdict::Fine);
    }

    #[test]
    fn a_noisy_history_asks_for_more_runs() {
        let history = [1000.0, 1010.0, 990.0, 1008.0, 992.0, 1004.0];
        let found = of(&history, &[978.0]);
        assert_eq!(found.verdict, GateVerdict::Inconclusive);
        assert!(found.more_runs.is_some_and(|more| more > 1), "{found:?}");
    }

    #[test]
    fn a_history_that_changed_counts_from_its_change() {
        let history = [1000.0, 1001.0, 999.0, 1000.5, 900.0, 901.0, 899.0, 900.5];
        let found = of(&history, &[900.0]);
        assert_eq!((found.verdict, found.history), (GateVerdict::Fine, 4));
        let (before, step) = found.change.unwrap();
        assert_eq!(before, 4);
        assert!((step - 0.111).abs() < 0.002, "{step}");
        assert_eq!(of(&[1000.0; 8], &[1000.0]).change, None);
    }

    #[test]
    fn latencies_get_worse_upwards() {
        let latencies = |new: f64| {
            judge(&GateInput {
                history: &[1.0, 1.002, 0.998, 1.001],
                new: &[new],
                direction: Direction::LowerIsBetter,
                max_slowdown: 0.03,
                alpha: 0.05,
            })
        };
        assert_eq!(latencies(1.08).unwrap().verdict, GateVerdict::Regression);
        assert_eq!(latencies(0.9).unwrap().verdict, GateVerdict::Fine);
        assert_eq!(latencies(0.0), None);
    }
}
