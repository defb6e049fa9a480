//! Every reply of every kind of question, and the facts that come with it.

use super::*;
use crate::study::remark::RankCheck;
use crate::study::test_used::TestedOver;
use crate::{Surroundings, analyse};
use stormeter_study::Cell;
use stormeter_trial::{FlushEvery, Workload};

fn study() -> StudyPlan {
    plan(&["a", "b"], &["w", "x"], &[1, 4])
}

/// The second datastore is faster by this, in log; `sd` is the noise of a trial.
fn reply(text: &str, by: f64, sd: f64) -> Reply {
    let plan = study();
    noisy(&plan, 6, sd, 11, |cell| if cell % 2 == 1 { by } else { 0.0 }).ask(&plan, text).reply
}

#[test]
fn comparisons_are_answered_yes_no_and_not_settled() {
    use Reply::{Inconclusive, No, Yes};
    let quiet = 0.005;
    for (text, by, expected) in [
        ("b is faster than a", 0.1, Yes),
        ("b is faster than a", -0.1, No),
        ("b is slower than a", -0.1, Yes),
        ("b is slower than a in latency", 0.1, No),
        ("b is faster than a in p99 latency", 0.1, Yes),
        ("b has lower mean latency than a", 0.1, Yes),
        ("b has higher iops than a", -0.1, No),
        ("b is at least 10% faster than a", 0.2, Yes),
        ("b is at least 10% faster than a", 0.05, No),
        ("b is at most 10% slower than a", -0.05, Yes),
        ("b is at most 10% slower than a", -0.2, No),
        ("b has at most 10% higher latency than a", -0.2, No),
        ("b is within 10% of a", 0.05, Yes),
        ("b is within 10% of a", 0.2, No),
        ("b is equal to a", 0.0, Yes),
        ("b is equal to a", 0.1, No),
        ("b differs from a", 0.1, Yes),
        ("b differs from a", 0.0, No),
        ("b is faster than a everywhere", 0.1, Yes),
        ("b is faster than a everywhere", -0.1, No),
        ("iops depends on datastore", 0.1, Yes),
        ("iops depends on datastore", 0.0, No),
        ("iops does not depend on datastore", 0.0, Yes),
        ("iops does not depend on datastore", 0.1, No),
    ] {
        assert_eq!(reply(text, by, quiet), expected, "{text} with {by}");
        assert_eq!(reply(text, 0.01, 0.5), Inconclusive, "{text}");
    }
}

#[test]
fn trends_are_answered_both_ways() {
    let plan = study();
    for (slope, grows, falls) in [(0.1, Reply::Yes, Reply::No), (-0.1, Reply::No, Reply::Yes)] {
        let trials = noisy(&plan, 6, 0.005, 3, |cell| slope * (cell / 2 % 2) as f64);
        assert_eq!(trials.ask(&plan, "iops of a grows with vms").reply, grows);
        assert_eq!(trials.ask(&plan, "iops of a falls with vms everywhere").reply, falls);
    }
    let flat = noisy(&plan, 6, 0.2, 3, |_| 0.0);
    assert_eq!(flat.ask(&plan, "iops of a grows with vms").reply, Reply::Inconclusive);
}

#[test]
fn what_could_not_be_asked_says_why() {
    let plan = study();
    let why = |trials: &Trials, text: &str| unanswered(&trials.ask(&plan, text)).clone();
    let one = noisy(&plan, 1, 0.01, 1, |_| 0.0);
    for text in ["b is faster than a", "iops of a grows with vms", "iops of a is at least 5"] {
        assert_eq!(why(&one, text), Unanswered::FewBlocks { blocks: 1 }, "{text}");
    }
    let few = Unanswered::FewCompleteBlocks { blocks: 1, metric: Metric::Iops };
    assert_eq!(why(&one, "iops depends on datastore"), few);
    let two = noisy(&plan, 2, 0.01, 1, |_| 0.0);
    let no_value = |metric| Unanswered::NoValue { cell: loaded("b", "w", 1), metric };
    let elapsed = why(&two, "b is faster than a in elapsed");
    assert_eq!(elapsed, no_value(Metric::Elapsed));
    let target = why(&two, "b costs less target cpu per io than a");
    assert_eq!(target, no_value(Metric::TargetCpuPerIo));
    // The study's metric refuses this when it is read; without knowing the metric it is refused here.
    let unknown = Vocabulary { metric: None, ..Vocabulary::of(&plan) };
    let text = "b is at least 100% slower than a";
    let question = parse(text, &unknown).unwrap();
    assert!(parse(text, &Vocabulary::of(&plan)).is_err());
    let answer = answer_of(&Measured::new(&plan, &two.views()), &question, text.into());
    let impossible = Unanswered::NoSuchReduction { metric: Metric::Iops, percent: 100.0 };
    assert_eq!(unanswered(&answer), &impossible);
    let other = super::plan(&["a", "b", "c"], &["w", "x"], &[1, 4, 16]);
    for (text, why) in [
        ("c is faster than a", Unanswered::NoSuchDatastore("c".into())),
        ("b is faster than a at 16 vms", Unanswered::NoLoad),
        ("iops depends on datastore at 16 vms", Unanswered::OneLevel(Factor::Datastore)),
    ] {
        let question = parse(text, &Vocabulary::of(&other)).unwrap();
        let answer = answer_of(&Measured::new(&plan, &two.views()), &question, text.into());
        assert_eq!(unanswered(&answer), &why, "{text}");
    }
    let gone = two.without(|_, cell| cell == 1);
    let no_trial = Unanswered::NoTrial(loaded("b", "w", 1));
    for text in [
        "b is faster than a on w at 1 vms",
        "b is faster than a everywhere",
        "iops depends on datastore",
    ] {
        assert_eq!(why(&gone, text), no_trial, "{text}");
    }
}

/// A claim about durable writes is not answered from others, and where a study has both, from its own.
#[test]
fn durably_counts_only_loads_whose_writes_are_durable_or_flushed() {
    let mut plan = study();
    let trials = noisy(&plan, 6, 0.005, 5, |cell| match plan.cells()[cell] {
        // The workload x is the other way round.
        Cell { datastore: 1, workload, .. } => {
            if workload == 0 {
                0.1
            } else {
                -0.1
            }
        }
        _ => 0.0,
    });
    let durably = ["b is faster than a, durably", "b is slower than a on w or x, durably"];
    for text in durably.into_iter().chain(["iops depends on datastore, durably"]) {
        let of = vec!["w".into(), "x".into()];
        assert_eq!(unanswered(&trials.ask(&plan, text)), &Unanswered::NotDurable(of), "{text}");
    }
    let on_x = trials.ask(&plan, "b is faster than a on x, durably");
    assert_eq!(unanswered(&on_x), &Unanswered::NotDurable(vec!["x".into()]));
    let changes: [fn(&mut Workload); 2] =
        [|io| io.durable = true, |io| io.flush = Some(FlushEvery::Writes { writes: 1 })];
    for change in changes {
        let WorkloadKind::Io(io) = &mut plan.workloads[1].kind else { panic!() };
        (io.durable, io.flush) = (false, None);
        change(io);
        let [yes, no] = durably.map(|text| trials.ask(&plan, text));
        assert_eq!((yes.reply, no.reply), (Reply::No, Reply::Yes));
        assert_eq!(yes.parts.len(), 2, "x at two loads");
        assert_eq!(trials.ask(&plan, "b is faster than a on w").reply, Reply::Yes);
        let w = trials.ask(&plan, "b is faster than a on w, durably");
        assert_eq!(unanswered(&w), &Unanswered::NotDurable(vec!["w".into()]));
    }
}

#[test]
fn a_load_that_failed_is_left_out_of_a_mean_with_a_remark() {
    let plan = study();
    let trials = noisy(&plan, 6, 0.005, 5, |cell| if cell % 2 == 1 { 0.1 } else { 0.0 });
    let answer = trials.without(|_, cell| cell == 1).ask(&plan, "b is faster than a");
    assert_eq!((answer.reply, answer.parts.len()), (Reply::Yes, 3));
    assert_eq!(number(&answer).loads, TestedLoads::Mean(3));
    let why = Unanswered::NoTrial(loaded("b", "w", 1));
    assert!(answer.remarks.contains(&AnswerRemark::LoadsLeftOut { count: 1, why }), "{answer:?}");
}

#[test]
fn blocks_with_a_failed_trial_do_not_count() {
    let plan = study();
    let gone = |block, cell| [(2, 1), (4, 0)].contains(&(block, cell));
    let trials = noisy(&plan, 6, 0.005, 5, |_| 0.0).without(gone);
    let own = trials.ask(&plan, "b is within 5% of a on w at 1 vms");
    assert_eq!(number(&own).observations, Observations::Blocks(4));
    let other = trials.ask(&plan, "b is within 5% of a on x at 1 vms");
    assert_eq!(number(&other).observations, Observations::Blocks(6));
    let anova = trials.ask(&plan, "iops depends on datastore");
    assert_eq!(variance_test(&anova).observations, Observations::Blocks(4));
}

#[test]
fn an_open_question_says_how_many_blocks_would_settle_it() {
    let plan = study();
    let trials = noisy(&plan, 6, 0.09, 8, |cell| if cell % 2 == 1 { 0.03 } else { 0.0 });
    for text in [
        "b is at least 3% faster than a on w at 1 vms",
        "b is at least 3% faster than a everywhere",
        "iops does not depend on datastore",
    ] {
        let answer = trials.ask(&plan, text);
        assert_eq!(answer.reply, Reply::Inconclusive, "{answer:?}");
        let outlook = match &answer.grounds {
            Grounds::Number(grounds) => grounds.outlook,
            Grounds::Factors(grounds) => grounds.outlook,
            Grounds::Unanswered(_) => None,
        };
        assert!(matches!(outlook, Some(Outlook::Blocks(7..) | Outlook::Unlikely)), "{answer:?}");
    }
}

/// The list once counted each load at the full error and the reply at the shared one.
#[test]
fn the_answer_everywhere_and_its_list_agree() {
    let plan = study();
    let mut open = 0;
    for seed in 0..200 {
        // Near the edge: with the full error some loads would show the contrary, with the shared not.
        let trials = noisy(&plan, 6, 0.1, seed, |cell| if cell % 2 == 1 { -0.08 } else { 0.0 });
        let answer = trials.ask(&plan, "b is faster than a everywhere");
        let contrary = answer.parts.iter().any(|part| part.reply == Reply::No);
        assert_eq!(answer.reply == Reply::No, contrary, "seed {seed}: {answer:?}");
        open += u32::from(answer.reply == Reply::Inconclusive);
    }
    assert!((20..180).contains(&open), "{open} of 200 are open: not near the edge");
}

#[test]
fn everywhere_is_more_than_on_average() {
    let plan = study();
    // Faster at three loads, slower at the last.
    let effect = |cell: usize| match cell {
        7 => -0.1,
        cell if cell % 2 == 1 => 0.2,
        _ => 0.0,
    };
    let trials = noisy(&plan, 6, 0.005, 4, effect);
    let average = trials.ask(&plan, "b is faster than a");
    assert_eq!((average.reply, average.parts.len()), (Reply::Yes, 4));
    assert_eq!(average.parts[3].reply, Reply::No);
    assert_eq!(average.parts[3].load, load("x", 4));
    let everywhere = trials.ask(&plan, "b is faster than a everywhere");
    assert_eq!(everywhere.reply, Reply::No);
    let TestedLoads::Each { of: 4, yes: 3, no: 1, .. } = number(&everywhere).loads else {
        panic!("{everywhere:?}");
    };
    assert_eq!(t_test(&everywhere).over, TestedOver::Each(4));
}

#[test]
fn a_no_everywhere_shows_a_load_that_says_no() {
    let plan = plan(&["a", "b"], &["w"], &[1, 4]);
    // Much noise at 1 VM, which shows neither; hardly any at 4 VMs. The noise alternates, so that
    // the means are exact.
    let ask = |text: &str, noisy: f64, quiet: f64| {
        let trials = Trials::of(&plan, 6, |block, cell| {
            let sign = if block % 2 == 0 { 1.0 } else { -1.0 };
            let log = match cell {
                1 => noisy + 0.2 * sign,
                3 => quiet + 0.002 * sign,
                _ => 0.0,
            };
            (9.0f64 + log).exp()
        });
        trials.ask(&plan, text)
    };
    for (text, noisy, quiet) in [
        // Surely different, and not surely by less than the margin.
        ("b is equal to a everywhere", 0.07, 0.048),
        // Surely the same within the margin, and not surely different.
        ("b differs from a everywhere", 0.0, 0.001),
        ("b is within 10% of a everywhere", 0.15, 0.2),
    ] {
        let answer = ask(text, noisy, quiet);
        assert_eq!(answer.reply, Reply::No, "{answer:?}");
        let part = |vms| answer.parts.iter().find(|part| part.load == load("w", vms)).unwrap();
        assert_ne!(part(1).reply, Reply::No, "{answer:?}");
        assert_eq!(part(4).reply, Reply::No, "{answer:?}");
        let value = answer.estimate.as_ref().unwrap().value;
        assert!((value.ln() - quiet).abs() < 1e-3, "{answer:?}");
        let TestedLoads::Each { of: 2, no: 1, worst, .. } = &number(&answer).loads else {
            panic!("{answer:?}");
        };
        assert_eq!(*worst, load("w", 4));
        let alone = ask(&text.replace("everywhere", "at 4 vms"), noisy, quiet);
        assert_eq!(answer.p_value, alone.p_value, "{answer:?}");
    }
}

#[test]
fn values_without_any_spread_leave_no_doubt() {
    let plan = study();
    let trials = Trials::of(&plan, 3, |_, cell| if cell % 2 == 1 { 200.0 } else { 100.0 });
    let answer = trials.ask(&plan, "b is faster than a");
    assert_eq!((answer.reply, answer.p_value), (Reply::Yes, Some(0.0)));
    assert_eq!(trials.ask(&plan, "b is faster than a everywhere").reply, Reply::Yes);
    assert_eq!(trials.ask(&plan, "a is faster than b").reply, Reply::No);
    let same = Trials::of(&plan, 3, |_, _| 100.0);
    assert_eq!(same.ask(&plan, "b is equal to a").reply, Reply::Yes);
    assert_eq!(same.ask(&plan, "b differs from a").reply, Reply::No);
    let anova = same.ask(&plan, "iops depends on datastore");
    assert!(matches!(unanswered(&anova), Unanswered::Variance(_)), "{anova:?}");
}

#[test]
fn an_outlier_adds_the_rank_test() {
    let plan = plan(&["a", "b"], &["w"], &[1]);
    let mut noise = Noise::new(2);
    let trials = Trials::of(&plan, 12, |block, cell| {
        let jump = if block == 7 && cell == 1 { 3.0 } else { 0.0 };
        (9.0 + 0.02 * cell as f64 + noise.normal(0.003) + jump).exp()
    });
    let answer = trials.ask(&plan, "b is faster than a");
    let rank = answer.remarks.iter().find_map(|remark| match remark {
        AnswerRemark::NotNormal { rank, .. } => *rank,
        _ => None,
    });
    let Some(RankCheck { p, says_yes: true }) = rank else { panic!("{answer:?}") };
    assert!((p - 0.0002).abs() < 0.00005, "{p}");
}

#[test]
fn a_fixed_order_is_remarked() {
    let mut plan = study();
    plan.design.order = Order::AsWritten;
    let answer = noisy(&plan, 6, 0.01, 1, |_| 0.0).ask(&plan, "b is faster than a");
    assert!(answer.remarks.contains(&AnswerRemark::FixedOrder { of_factors: false }));
}

#[test]
fn a_text_is_answered_as_it_was_written() {
    let mut plan = study();
    let trials = noisy(&plan, 6, 0.005, 1, |cell| if cell % 2 == 1 { 0.1 } else { 0.0 });
    plan.questions = vec!["b MUST be slower than a?".into(), "b is nice".into()];
    let answers = analyse(&plan, &trials.views(), &Surroundings::default()).answers;
    let answer = &answers[0];
    assert_eq!(answer.question, "b MUST be slower than a?");
    assert_eq!((answer.must, answer.reply), (true, Reply::No));
    assert!(matches!(unanswered(&answers[1]), Unanswered::NotUnderstood(_)));
}
