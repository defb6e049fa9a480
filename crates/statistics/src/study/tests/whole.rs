//! The whole analysis: cells, laws, intervals as the unit, several questions.

use stormeter_trial::{Memory, MemoryPlace, TrialFailure};

use super::*;
use crate::ceiling_kind::CeilingKind;
use crate::finding::FailedTrials;
use crate::finding::{Fact, LawFinding, Severity};
use crate::study::test_used::TestedNumber;
use crate::study::{Analysis, MeasuredCeiling, Surroundings, analyse};
use crate::two_sample::Method;
use crate::verdict::Verdict;

fn study() -> StudyPlan {
    let mut plan = plan(&["a", "b"], &["w", "x"], &[1]);
    plan.questions = vec!["b must be faster than a on w".into(), "b is within 5% of a on x".into()];
    plan
}

fn analysed(plan: &StudyPlan, trials: &Trials, around: &Surroundings) -> Analysis {
    analyse(plan, &trials.views(), around)
}

fn faster(plan: &StudyPlan) -> Trials {
    noisy(plan, 6, 0.005, 9, |cell| if cell == 1 { 0.2 } else { 0.0 })
}

#[test]
fn cells_are_described_and_compared_with_the_baseline() {
    let plan = study();
    let analysis = analysed(&plan, &faster(&plan), &Surroundings::default());
    assert_eq!((analysis.complete_blocks, analysis.cells.len()), (6, 4));
    let [base, candidate, ..] = analysis.cells.as_slice() else { panic!("four cells") };
    assert!(base.relative.is_empty());
    assert_eq!((base.trials, base.operations, base.latencies.count()), (6, 1200, 1200));
    assert_eq!(base.cpu.process_ns, 6 * CPU_NS);
    assert_eq!((base.observations.len(), base.spread.unwrap().n), (6, 6));
    let relative = |metric| candidate.relative.iter().find(|own| own.metric == metric).unwrap();
    let iops = relative(Metric::Iops);
    assert_eq!(candidate.relative[0].metric, Metric::Iops, "the study's metric is first");
    assert!((iops.ratio / 0.2f64.exp() - 1.0).abs() < 0.02);
    let comparison = iops.comparison.as_ref().unwrap();
    assert_eq!(comparison.verdict, Verdict::Faster);
    assert_eq!((comparison.baseline.as_str(), comparison.candidate.as_str()), ("a", "b"));
    // One request size: throughput is the same comparison.
    let throughput = relative(Metric::Throughput).comparison.as_ref().unwrap();
    assert_eq!(throughput.p_value, comparison.p_value);
    assert!(candidate.dependence.is_some(), "of the intervals, for information");
    assert_eq!(analysis.findings, []);
}

#[test]
fn answers_stand_at_their_level_and_have_the_adjusted_p() {
    let plan = study();
    let analysis = analysed(&plan, &faster(&plan), &Surroundings::default());
    let [first, second] = analysis.answers.as_slice() else { panic!("two answers") };
    assert_eq!((first.must, first.reply), (true, Reply::Yes));
    assert_eq!((second.must, second.reply), (false, Reply::Yes));
    for answer in [first, second] {
        let (p, adjusted) = (answer.p_value.unwrap(), answer.p_value_adjusted.unwrap());
        assert!(p <= adjusted && adjusted <= 2.0 * p, "{p} {adjusted}");
    }
    let power = analysis.power.unwrap();
    assert_eq!(power.blocks, 6);
    assert!((power.log_ratio_sd / (0.005 * 2f64.sqrt()) - 1.0).abs() < 0.5, "{power:?}");
    assert!(power.detectable > 0.005 && power.detectable < 0.02, "{power:?}");
    assert_eq!(power.blocks_for_margin, Some(2).max(power.blocks_for_margin));
}

#[test]
fn a_broken_law_invalidates_the_questions_about_its_cell_only() {
    let plan = study();
    let mut trials = faster(&plan);
    trials.at(3, 1).0.reads.errors = 2;
    let analysis = analysed(&plan, &trials, &Surroundings::default());
    let (cell, finding) = &analysis.findings[0];
    assert_eq!((*cell, finding.severity), (Some(1), Severity::Invalid));
    assert!(matches!(finding.fact, Fact::IoErrors { count: 2, .. }), "{finding:?}");
    let answer = &analysis.answers[0];
    let load = Load { workload: "w".into(), vms: None, outstanding: None };
    let cell = LoadedDatastore { datastore: "b".into(), load };
    let by = Box::new(finding.clone());
    assert_eq!(unanswered(answer), &Unanswered::Invalid { cell, by });
    assert_eq!(answer.invalid_by(), Some(finding));
    assert_eq!(analysis.answers[1].reply, Reply::Yes);
    let verdict =
        |cell: usize| analysis.cells[cell].relative[0].comparison.as_ref().unwrap().verdict;
    assert_eq!(verdict(1), Verdict::Invalid);
    assert_ne!(verdict(3), Verdict::Invalid);
}

#[test]
fn a_low_ceiling_of_a_path_is_found_and_leaves_answers_standing() {
    let plan = study();
    let found = |iops| {
        let ceiling =
            MeasuredCeiling { kind: CeilingKind::NamedWay, datastore: Some(1), workload: 0, iops };
        let around = Surroundings { ceilings: vec![ceiling], ..Surroundings::default() };
        let analysis = analysed(&plan, &faster(&plan), &around);
        assert!(analysis.answers.iter().all(|answer| answer.reply == Reply::Yes));
        let of = |(cell, it): &(Option<usize>, LawFinding)| (*cell, it.fact.law(), it.severity);
        analysis.findings.iter().map(of).collect::<Vec<_>>()
    };
    let trials = faster(&plan);
    let of_cell = trials.views().into_iter().filter(|trial| trial.cell == 1);
    let most = of_cell.map(|trial| trial.sample.iops()).fold(0.0, f64::max);
    assert_eq!(
        found(2.9 * most),
        [(Some(1), Some(8), Severity::Warning)],
        "of its own datastore alone"
    );
    assert_eq!(found(3.1 * most), []);
    // Reports gather cells that share a path, which requires the same facts.
    let of = |datastore| MeasuredCeiling {
        kind: CeilingKind::NamedWay,
        datastore: Some(datastore),
        workload: 0,
        iops: most,
    };
    let around = Surroundings { ceilings: vec![of(0), of(1)], ..Surroundings::default() };
    let analysis = analysed(&plan, &trials, &around);
    let facts: Vec<&Fact> = analysis.findings.iter().map(|(_, it)| &it.fact).collect();
    assert!(facts.len() == 2 && facts[0] == facts[1], "{facts:?}");
}

/// The generator's ceiling is far above, and that of the path to b is not: b is compared with its own path.
#[test]
fn where_the_path_is_measured_the_generator_s_ceiling_does_not_count() {
    let plan = study();
    let found = |kind| {
        let of = |kind, datastore, iops| MeasuredCeiling { kind, datastore, workload: 0, iops };
        let ceilings = vec![of(CeilingKind::Generator, None, 9000.0), of(kind, Some(1), 1e9)];
        let around = Surroundings { ceilings, ..Surroundings::default() };
        let analysis = analysed(&plan, &faster(&plan), &around);
        analysis.findings.iter().map(|(cell, it)| (*cell, it.fact.law())).collect::<Vec<_>>()
    };
    assert_eq!(found(CeilingKind::NullServer), [(Some(0), Some(8))]);
    assert_eq!(found(CeilingKind::NamedWay), [(Some(0), Some(8)), (Some(1), Some(8))]);
}

#[test]
fn failing_cells_and_low_ceilings_are_found() {
    let plan = study();
    let first = TrialFailure::Datastore { said: "an I/O error".into() };
    let failed = FailedTrials { count: 2, first, by_storage: true };
    let around = Surroundings {
        is_predicted: false,
        failed: vec![None, None, None, Some(failed.clone())],
        ceilings: vec![MeasuredCeiling {
            kind: CeilingKind::Generator,
            datastore: None,
            workload: 0,
            iops: 9000.0,
        }],
        ..Surroundings::default()
    };
    let analysis = analysed(&plan, &faster(&plan), &around);
    let laws: Vec<_> =
        analysis.findings.iter().map(|(cell, finding)| (*cell, finding.fact.law())).collect();
    assert_eq!(laws, [(Some(0), Some(8)), (Some(1), Some(8)), (Some(3), Some(10))]);
    assert_eq!(analysis.cells[3].failed, Some(failed));
    assert!(analysis.answers.iter().all(|answer| answer.reply == Reply::NotAnswered));
}

#[test]
fn the_design_is_judged_too() {
    let mut plan = study();
    plan.prepare = Prepare::Zero;
    plan.design.order = Order::AsWritten;
    let trials = noisy(&plan, 3, 0.005, 9, |_| 0.0);
    let analysis = analysed(&plan, &trials, &Surroundings::default());
    let found: Vec<_> = analysis.findings.into_iter().map(|(cell, it)| (cell, it.fact)).collect();
    let expected = [Fact::ReadsOfZeros, Fact::FixedOrder, Fact::FewBlocks(3)];
    assert_eq!(found, expected.map(|fact| (None, fact)));
}

#[test]
fn a_question_that_is_not_understood_leaves_the_rest_alone() {
    let mut plan = study();
    plan.questions = vec!["b is nicer than a".into()];
    let analysis = analysed(&plan, &faster(&plan), &Surroundings::default());
    let why = unanswered(&analysis.answers[0]);
    let Unanswered::NotUnderstood(error) = why else { panic!("{why:?}") };
    assert!(error.what.contains("nicer"), "{error:?}");
}

/// One run of each, 400 intervals with lag-1 autocorrelation 0.6 and a difference of 1 %.
fn one_run(plan: &StudyPlan, correlation: f64) -> Trials {
    let mut noise = Noise::new(21);
    let mut trials = Trials::of(plan, 1, |_, _| 1000.0);
    for cell in 0..plan.cells().len() {
        let mut state = 0.0;
        let rows = (0..400u64).map(|row| {
            state = correlation * state + noise.normal((1.0 - correlation * correlation).sqrt());
            let mean = if cell % 2 == 1 { 1010.0 } else { 1000.0 };
            interval(row * 1_000_000_000, 1_000_000_000, (mean + 50.0 * state) as u64)
        });
        let rows: Vec<_> = rows.collect();
        let (sample, _) = trials.at(0, cell);
        sample.interval_ns = 1_000_000_000;
        sample.window_ns = 400_000_000_000;
        sample.intervals = rows;
    }
    trials
}

#[test]
fn intervals_as_the_unit_come_with_what_they_are_worth() {
    let mut plan = plan(&["a", "b"], &["w"], &[1]);
    plan.design.unit = Unit::Interval;
    let trials = one_run(&plan, 0.6);
    let answer = trials.ask(&plan, "b is faster than a");
    assert_eq!(answer.reply, Reply::Yes, "as if independent: {answer:?}");
    let test = t_test(&answer);
    assert_eq!(
        (test.of, test.observations),
        (TestedNumber::LogRatio, Observations::Intervals(800))
    );
    let [
        AnswerRemark::CorrelatedIntervals(correlated),
        AnswerRemark::OneRun,
        AnswerRemark::RatioRule(rule),
    ] = answer.remarks.as_slice()
    else {
        panic!("{:?}", answer.remarks)
    };
    let lag1 = |cell: usize| correlated.cells[cell].dependence.lag1;
    assert!((0.55..0.65).contains(&lag1(0)) && (0.55..0.65).contains(&lag1(1)), "{correlated:?}");
    let (own, sound) = (answer.estimate.unwrap(), correlated.sound);
    let (own, sound) = (own.interval.unwrap(), sound.interval.unwrap());
    assert!(sound.low < own.low && sound.high > own.high, "{sound:?} {own:?}");
    assert_eq!((rule.ruled.method, rule.ruled.df), (Method::Pooled, 798.0));
    // Metrics that intervals do not have come from trials, of which there is one.
    let p99 = trials.ask(&plan, "b is faster than a in p99 latency");
    assert_eq!(p99.reply, Reply::NotAnswered);
    let analysis = analysed(&plan, &trials, &Surroundings::default());
    let dependence = analysis.cells[0].dependence.unwrap();
    assert_eq!((dependence.n, analysis.cells[0].observations.len()), (400, 400));
    assert!(dependence.effective_n < 150.0 && dependence.lag1 > 0.5, "{dependence:?}");
    assert_eq!(analysis.cells[1].relative[0].comparison, None);
    assert!(analysis.cells[1].relative[0].ratio > 0.0);
}

#[test]
fn factors_of_intervals_are_analysed_as_in_published_studies() {
    let mut plan = plan(&["a", "b"], &["w", "x"], &[1]);
    plan.design.unit = Unit::Interval;
    let trials = one_run(&plan, 0.0);
    let answer = trials.ask(&plan, "iops depends on datastore");
    assert_eq!(answer.reply, Reply::Yes, "{answer:?}");
    assert_eq!(variance_test(&answer).observations, Observations::Intervals(1600));
    let both = trials.ask(&plan, "iops depends on datastore, workload and their interaction");
    assert_eq!(both.table.unwrap().rows.len(), 4);
    let small = trials.ask(&plan, "iops does not depend on workload");
    assert_eq!(small.reply, Reply::Yes, "{small:?}");
}

/// Burst credit that the first trial of one cell used up, and disks in a server's memory.
#[test]
fn bursts_and_memories_on_the_path_are_found_in_their_cells() {
    let plan = study();
    let mut trials = noisy(&plan, 8, 0.01, 9, |_| 0.0);
    for (block, cell, iops) in [(0, 3, 4 * 8000), (1, 3, 8000)] {
        let (sample, _) = trials.at(block, cell);
        *sample = super::sample(f64::from(iops));
    }
    let of = |around: &Surroundings, trials: &Trials, is_one: fn(&Fact) -> bool| {
        let analysis = analysed(&plan, trials, around);
        let own = analysis.findings.iter().filter(|(_, finding)| is_one(&finding.fact));
        own.map(|(cell, finding)| (*cell, finding.severity)).collect::<Vec<_>>()
    };
    let around = Surroundings::default();
    assert_eq!(of(&around, &trials, is_of_course), [(Some(3), Severity::Warning)]);
    let predicted = Surroundings { is_predicted: true, ..Surroundings::default() };
    assert_eq!(of(&predicted, &trials, is_of_course), []);
    let memory =
        Memory { place: MemoryPlace::ServerHere, name: "::1".into(), bytes: Some(24 << 30) };
    let around = Surroundings { memories: vec![vec![], vec![memory]], ..Surroundings::default() };
    assert_eq!(of(&around, &trials, is_of_cache), [], "of what trials touched nothing is known");
    for (block, cell) in (0..8).flat_map(|block| (0..4).map(move |cell| (block, cell))) {
        trials.at(block, cell).0.touched_bytes = Some(1 << 20);
    }
    let b = [(Some(1), Severity::Warning), (Some(3), Severity::Warning)];
    assert_eq!(of(&around, &trials, is_of_cache), b);
}

fn is_of_course(fact: &Fact) -> bool {
    matches!(fact, Fact::UnlikeFirstBlocks { .. } | Fact::Trend { .. })
}

fn is_of_cache(fact: &Fact) -> bool {
    fact.law() == Some(9)
}
