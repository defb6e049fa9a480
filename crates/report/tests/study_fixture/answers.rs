//! Answers of every kind, as questions of the made-up study would get them.

use stormeter_statistics::{Answer, AnswerEstimate, AnswerPart, Interval, Reply};
use stormeter_statistics::{AnswerRow, AnswerTable, FailedTrials};
use stormeter_study::Metric;
use stormeter_study::question::Factor;
use stormeter_trial::TrialFailure;

/// Answers of every kind.
pub(crate) fn answers() -> Vec<Answer> {
    let interval = |low, high| Some(Interval { low, high, level: 0.95 });
    let ratio = |of: &str, value, low, high| {
        let (of, interval) = (of.to_string(), interval(low, high));
        Some(AnswerEstimate { of, value, interval, level: 0.95, metric: None })
    };
    let part = |load: &str, value, low, high, reply| {
        let (load, interval) = (load.to_string(), interval(low, high));
        AnswerPart { load, value, interval, reply }
    };
    let answer = |question: &str, reply, sentence: &str, test: &str| Answer {
        question: question.into(),
        must: false,
        reply,
        sentence: sentence.into(),
        invalid_by: None,
        test: test.into(),
        estimate: None,
        p_value: None,
        p_value_adjusted: None,
        table: None,
        parts: vec![],
        remarks: vec![],
    };
    let row = |term: &str, ss: f64, df: f64, error: Option<(f64, f64)>| AnswerRow {
        term: term.into(),
        sum_of_squares: ss,
        df,
        mean_square: ss / df,
        f: error.map(|(error, _)| ss / df / error),
        p: error.map(|(_, p)| p),
        partial_eta_squared: error.map(|(error, _)| ss / (ss + error * 162.0)),
    };
    vec![
        Answer {
            estimate: ratio("nas / local, IOPS", 0.584, 0.561, 0.608),
            p_value: Some(1.0),
            p_value_adjusted: Some(1.0),
            parts: vec![
                part("vm-4k, 1 VM × 4", 0.566, 0.559, 0.573, Reply::No),
                part("vm-4k, 4 VMs × 4", 0.580, 0.571, 0.589, Reply::No),
                part("vm-4k, 16 VMs × 4", 0.611, 0.605, 0.617, Reply::No),
            ],
            must: true,
            remarks: vec!["the ratio differs between the loads: read the parts".into()],
            ..answer(
                "nas must be within 10% of local in iops on vm-4k",
                Reply::No,
                "nas is not within 10 % of local in IOPS on vm-4k: it has 58.4 % of it (95 % CI 56.1 to 60.8 %).",
                "equivalence by two one-sided t tests on log-ratios, df 8, 9 blocks at each of 3 loads",
            )
        },
        Answer {
            estimate: ratio("san / nas, IOPS", 1.56, 1.53, 1.6),
            p_value: Some(3.1e-9),
            p_value_adjusted: Some(9.3e-9),
            ..answer(
                "san is faster than nas in iops",
                Reply::Yes,
                "san is 56.0 % faster than nas in IOPS (95 % CI 53.0 to 60.0 % faster).",
                "one-sided t test on log-ratios, df 8, 9 blocks",
            )
        },
        Answer {
            estimate: Some(AnswerEstimate {
                of: "mean latency of san".into(),
                value: 313_000.0,
                interval: interval(296_000.0, 331_000.0),
                level: 0.95,
                metric: Some(Metric::LatencyMean),
            }),
            p_value: Some(0.063),
            p_value_adjusted: Some(0.126),
            remarks: vec!["the rank test (Wilcoxon signed-rank, p = 0.04) says otherwise".into()],
            ..answer(
                "latency-mean of san is below 320us on vm-4k",
                Reply::Inconclusive,
                "It is inconclusive whether the mean latency of san is below 320µs: it is 313µs (95 % CI 296 to 331µs).",
                "one-sided t test on logarithms, df 8, 9 blocks",
            )
        },
        Answer {
            table: Some(AnswerTable {
                factors: vec![Factor::Datastore, Factor::Workload],
                rows: vec![
                    row("block", 3.1e6, 8.0, Some((2.2e5, 0.087))),
                    row("datastore", 9.4e9, 2.0, Some((2.2e5, 1e-40))),
                    row("workload", 7.7e9, 1.0, Some((2.2e5, 1e-38))),
                    row("datastore × workload", 4.4e8, 2.0, Some((2.2e5, 2.1e-5))),
                    row("residual", 2.2e5 * 162.0, 162.0, None),
                ],
            }),
            ..answer(
                "iops depends on datastore, workload and their interaction",
                Reply::Yes,
                "IOPS depends on the datastore, on the workload, and on which meets which.",
                "two-way analysis of variance with blocks, type II, 180 observations",
            )
        },
        answer(
            "san costs less target-cpu-per-io than nas",
            Reply::NotAnswered,
            "It cannot be said: the target's CPU time of san is not known.",
            "",
        ),
    ]
}

pub(crate) fn failed_trials(count: u32, said: &str) -> FailedTrials {
    let first = TrialFailure::Datastore { said: said.into() };
    FailedTrials { count, first, by_storage: true }
}
