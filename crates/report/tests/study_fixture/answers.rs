//! Answers of every kind, as questions of the made-up study would get them.

use stormeter_statistics::{
    Answer, AnswerEstimate, AnswerPart, AnswerRemark, AnswerRow, AnswerTable, FTest, FactorGrounds,
    FailedTrials, Grounds, Interval, LevelDifference, LevelPair, Load, LoadedDatastore,
    NumberClaim, NumberGrounds, Observations, Outlook, RankCheck, Reply, RowTerm, TTest,
    TermResult, TestSides, TestUsed, TestedLoads, TestedNumber, TestedOver, Unanswered,
    VarianceTest,
};
use stormeter_study::Metric;
use stormeter_study::question::{Bound, Change, Factor, Relation};
use stormeter_trial::TrialFailure;

/// The t tests of nine blocks.
fn t_test(sides: TestSides, of: TestedNumber, over: TestedOver) -> Option<TestUsed> {
    let observations = Observations::Blocks(9);
    Some(TestUsed::T(TTest { sides, of, over, df: 8.0, observations, is_corrected: false }))
}

/// The grounds of a claim about nine blocks.
fn number(claim: NumberClaim, loads: TestedLoads, outlook: Option<Outlook>) -> Grounds {
    Grounds::Number(NumberGrounds {
        claim,
        loads,
        observations: Observations::Blocks(9),
        is_negligible: false,
        outlook,
    })
}

fn compared(subject: &str, object: &str, relation: Relation) -> NumberClaim {
    let (subject, object) = (subject.into(), object.into());
    NumberClaim::Compared { subject, object, relation, metric: Metric::Iops }
}

/// A load of the workload `vm-4k`.
fn load(vms: u32) -> Load {
    Load { workload: "vm-4k".into(), vms: Some(vms), outstanding: Some(4) }
}

/// Answers of every kind.
pub(crate) fn answers() -> Vec<Answer> {
    let interval = |low, high| Some(Interval { low, high, level: 0.95 });
    let estimate = |value, low, high| {
        Some(AnswerEstimate { value, interval: interval(low, high), level: 0.95 })
    };
    let part = |vms, value, low, high, reply| AnswerPart {
        load: load(vms),
        value,
        interval: interval(low, high),
        reply,
    };
    let answer = |question: &str, reply, grounds| Answer {
        question: question.into(),
        must: false,
        reply,
        grounds,
        test: None,
        estimate: None,
        p_value: None,
        p_value_adjusted: None,
        table: None,
        parts: vec![],
        remarks: vec![],
    };
    vec![
        Answer {
            test: t_test(TestSides::OneEach, TestedNumber::LogRatio, TestedOver::Mean),
            estimate: estimate(0.584, 0.561, 0.608),
            p_value: Some(1.0),
            p_value_adjusted: Some(1.0),
            parts: vec![
                part(1, 0.566, 0.559, 0.573, Reply::No),
                part(4, 0.580, 0.571, 0.589, Reply::No),
                part(16, 0.611, 0.605, 0.617, Reply::No),
            ],
            must: true,
            remarks: vec![AnswerRemark::BlocksAlike { lag1: 0.71 }],
            ..answer(
                "nas must be within 10% of local in iops on vm-4k",
                Reply::No,
                number(
                    compared("nas", "local", Relation::Within { percent: 10.0 }),
                    TestedLoads::Mean(3),
                    None,
                ),
            )
        },
        Answer {
            test: t_test(TestSides::One, TestedNumber::LogRatio, TestedOver::Mean),
            estimate: estimate(1.56, 1.53, 1.6),
            p_value: Some(3.1e-9),
            p_value_adjusted: Some(9.3e-9),
            ..answer(
                "san is faster than nas in iops",
                Reply::Yes,
                number(
                    compared(
                        "san",
                        "nas",
                        Relation::AtLeast { change: Change::Faster, percent: 0.0 },
                    ),
                    TestedLoads::Mean(6),
                    None,
                ),
            )
        },
        Answer {
            test: t_test(TestSides::One, TestedNumber::LogValue, TestedOver::Mean),
            estimate: estimate(313_000.0, 296_000.0, 331_000.0),
            p_value: Some(0.063),
            p_value_adjusted: Some(0.126),
            remarks: vec![AnswerRemark::NotNormal {
                w: 0.81,
                p: 0.004,
                rank: Some(RankCheck { p: 0.04, says_yes: true }),
            }],
            ..answer(
                "latency-mean of san is at most 320us on vm-4k",
                Reply::Inconclusive,
                number(
                    NumberClaim::Bounded {
                        metric: Metric::LatencyMean,
                        datastore: "san".into(),
                        bound: Bound::AtMost,
                        limit: 320_000.0,
                    },
                    TestedLoads::Mean(3),
                    Some(Outlook::Blocks(31)),
                ),
            )
        },
        factors_matter(answer(
            "iops depends on datastore, workload and their interaction",
            Reply::Yes,
            Grounds::Unanswered(Unanswered::NoLoad),
        )),
        answer(
            "san costs less target-cpu-per-io than nas",
            Reply::NotAnswered,
            Grounds::Unanswered(Unanswered::NoValue {
                cell: LoadedDatastore { datastore: "san".into(), load: load(1) },
                metric: Metric::TargetCpuPerIo,
            }),
        ),
    ]
}

/// The answer to a question about two factors and their interaction.
fn factors_matter(answer: Answer) -> Answer {
    const ERROR: f64 = 2.2e5;
    const RESIDUAL_DF: f64 = 162.0;
    let row = |term: RowTerm, ss: f64, df: f64, p: Option<f64>| AnswerRow {
        term,
        sum_of_squares: ss,
        df,
        mean_square: ss / df,
        f: p.map(|_| ss / df / ERROR),
        p,
        partial_eta_squared: p.map(|_| ss / (ss + ERROR * RESIDUAL_DF)),
    };
    let factors = vec![Factor::Datastore, Factor::Workload];
    let term = |at: &[Factor], ss: f64, df: f64, p: f64| TermResult {
        factors: at.to_vec(),
        test: Some(FTest { f: ss / df / ERROR, df, residual_df: RESIDUAL_DF, p }),
        is_within_margin: false,
        largest: None,
    };
    let of = |at: &[Factor]| RowTerm::Factors(at.to_vec());
    let (datastore, workload) = (&factors[..1], &factors[1..]);
    let grounds = FactorGrounds {
        metric: Metric::Iops,
        depends: true,
        factors: factors.clone(),
        interaction: true,
        margin: 0.05,
        terms: vec![
            term(datastore, 9.4e9, 2.0, 1e-40),
            term(workload, 7.7e9, 1.0, 1e-38),
            term(&factors, 4.4e8, 2.0, 2.1e-5),
        ],
        outlook: None,
    };
    Answer {
        grounds: Grounds::Factors(grounds),
        test: Some(TestUsed::Variance(VarianceTest {
            metric: Metric::Iops,
            factors: factors.clone(),
            residual_df: RESIDUAL_DF,
            observations: Observations::Blocks(9),
            is_corrected: false,
            has_equivalence_tests: false,
        })),
        table: Some(AnswerTable {
            rows: vec![
                row(RowTerm::Block, 3.1e6, 8.0, Some(0.087)),
                row(of(datastore), 9.4e9, 2.0, Some(1e-40)),
                row(of(workload), 7.7e9, 1.0, Some(1e-38)),
                row(of(&factors), 4.4e8, 2.0, Some(2.1e-5)),
                row(RowTerm::Residual, ERROR * RESIDUAL_DF, RESIDUAL_DF, None),
            ],
            factors,
        }),
        ..answer
    }
}

/// Puts a text wherever an answer has one from outside.
pub(crate) fn attack(answer: &mut Answer, text: &str) {
    answer.question = text.into();
    let at = || Load { workload: text.into(), vms: Some(1), outstanding: None };
    let cell = || LoadedDatastore { datastore: text.into(), load: at() };
    let (subject, object) = (text.to_string(), text.to_string());
    let claim =
        NumberClaim::Compared { subject, object, relation: Relation::Equal, metric: Metric::Iops };
    answer.grounds = match &answer.grounds {
        Grounds::Number(_) => {
            number(claim, TestedLoads::Each { of: 2, yes: 0, no: 0, worst: at() }, None)
        }
        Grounds::Factors(grounds) => {
            let mut grounds = grounds.clone();
            let pair = LevelPair { level: text.into(), base: text.into() };
            let largest = LevelDifference { between: vec![pair], ratio: 1.1, interval: None };
            for term in &mut grounds.terms {
                term.largest = Some(largest.clone());
            }
            Grounds::Factors(grounds)
        }
        Grounds::Unanswered(_) => Grounds::Unanswered(Unanswered::NoSuchDatastore(text.into())),
    };
    for part in &mut answer.parts {
        part.load = at();
    }
    answer.remarks =
        vec![AnswerRemark::LoadsLeftOut { count: 1, why: Unanswered::NoTrial(cell()) }];
}

pub(crate) fn failed_trials(count: u32, said: &str) -> FailedTrials {
    let first = TrialFailure::Datastore { said: said.into() };
    FailedTrials { count, first, by_storage: true }
}
