//! What datastores promise about acknowledged writes, and flushes that were never seen.

use stormeter_disk::{Acknowledged, Promise, PromiseEvidence};
use stormeter_trial::{FlushEvery, Workload};

use super::*;
use crate::finding::{Fact, LawFinding, Promised, Severity};
use crate::study::{Surroundings, analyse};
use crate::verdict::Verdict;

fn promise(acknowledged: Acknowledged) -> Promise {
    Promise::new(acknowledged, PromiseEvidence::Direct)
}

fn around(promises: &[Option<Acknowledged>]) -> Surroundings {
    let promises = promises.iter().map(|it| it.map(promise)).collect();
    Surroundings { promises, ..Surroundings::default() }
}

fn change(plan: &mut StudyPlan, workload: usize, change: impl FnOnce(&mut Workload)) {
    match &mut plan.workloads[workload].kind {
        WorkloadKind::Io(io) => change(io),
        other => panic!("{other:?}"),
    }
}

/// What is found in six blocks of a plan.
fn found(plan: &StudyPlan, around: &Surroundings) -> Vec<(Option<usize>, LawFinding)> {
    let trials = noisy(plan, 6, 0.005, 3, |_| 0.0);
    analyse(plan, &trials.views(), around).findings
}

fn of(names: &[(usize, &str, Acknowledged)]) -> Vec<Promised> {
    let one = |&(datastore, name, acknowledged): &(usize, &str, Acknowledged)| Promised {
        datastore,
        name: name.into(),
        promise: promise(acknowledged),
    };
    names.iter().map(one).collect()
}

fn unlike(promised: Vec<Promised>, workloads: &[&str]) -> Vec<(Option<usize>, LawFinding)> {
    let workloads = workloads.iter().map(ToString::to_string).collect();
    vec![(None, LawFinding::warning(Fact::UnlikePromises { promised, workloads }))]
}

#[test]
fn datastores_that_promise_different_things_are_named_with_their_promises() {
    use Acknowledged::{Memory, Stable, Unknown, VolatileCache};
    let plan = plan(&["nas", "san"], &["w"], &[1]);
    for other in [VolatileCache, Memory, Unknown] {
        let promised = of(&[(0, "nas", Stable), (1, "san", other)]);
        assert_eq!(found(&plan, &around(&[Some(Stable), Some(other)])), unlike(promised, &[]));
    }
    for same in [Stable, VolatileCache, Memory, Unknown] {
        assert_eq!(found(&plan, &around(&[Some(same), Some(same)])), []);
    }
}

#[test]
fn the_verdict_stays() {
    use Acknowledged::{Stable, VolatileCache};
    let plan = plan(&["nas", "san"], &["w"], &[1]);
    let trials = noisy(&plan, 6, 0.005, 3, |cell| 0.2 * cell as f64);
    let around = around(&[Some(Stable), Some(VolatileCache)]);
    let analysis = analyse(&plan, &trials.views(), &around);
    assert_eq!(analysis.findings[0].1.severity, Severity::Warning);
    let comparison = analysis.cells[1].relative[0].comparison.as_ref().unwrap();
    assert_eq!(comparison.verdict, Verdict::Faster);
}

#[test]
fn a_promise_that_is_not_known_is_compared_with_none() {
    use Acknowledged::{Stable, VolatileCache};
    let plan = plan(&["nas", "san", "old"], &["w"], &[1]);
    assert_eq!(found(&plan, &Surroundings::default()), [], "from before promises were found out");
    assert_eq!(found(&plan, &around(&[Some(Stable), None, None])), []);
    let promised = of(&[(0, "nas", Stable), (2, "old", VolatileCache)]);
    let known = around(&[Some(Stable), None, Some(VolatileCache)]);
    assert_eq!(found(&plan, &known), unlike(promised.clone(), &[]));
    // A prediction says it of the sites that say what they promise.
    let predicted = Surroundings { is_predicted: true, ..known.clone() };
    assert_eq!(found(&plan, &predicted), unlike(promised, &[]));
    // What stores nothing is there to measure the generator.
    let of_null = Surroundings { is_null: vec![false, false, true], ..known };
    assert_eq!(found(&plan, &of_null), []);
}

#[test]
fn a_workload_that_asks_for_durability_or_writes_nothing_relies_on_no_promise() {
    use Acknowledged::{Stable, VolatileCache};
    let around = around(&[Some(Stable), Some(VolatileCache)]);
    let asks: [fn(&mut Workload); 3] = [
        |io| io.durable = true,
        |io| io.flush = Some(FlushEvery::Writes { writes: 8 }),
        |io| io.read_percent = 100.0,
    ];
    for ask in asks {
        let mut plan = plan(&["nas", "san"], &["w", "x"], &[1]);
        change(&mut plan, 0, ask);
        let promised = of(&[(0, "nas", Stable), (1, "san", VolatileCache)]);
        let found_with = |plan: &StudyPlan| {
            let mut found = found(plan, &around);
            found.retain(|(_, it)| matches!(it.fact, Fact::UnlikePromises { .. }));
            found
        };
        assert_eq!(found_with(&plan), unlike(promised, &["x"]), "the other workload relies on it");
        change(&mut plan, 1, ask);
        assert_eq!(found_with(&plan), []);
    }
}

#[test]
fn flushes_that_no_window_saw_are_a_note() {
    let every = FlushEvery::Interval { ns: 5_000_000_000 };
    let mut plan = plan(&["a"], &["w"], &[1]);
    change(&mut plan, 0, |io| io.flush = Some(every));
    assert_eq!(
        found(&plan, &Surroundings::default()),
        [(Some(0), LawFinding::note(Fact::NoFlush(every)))]
    );
    // One in one trial is enough, and so is one that failed.
    let seen: [fn(&mut Sample); 2] = [|it| it.flushes.operations = 1, |it| it.flushes.errors = 1];
    for see in seen {
        let mut trials = noisy(&plan, 6, 0.005, 3, |_| 0.0);
        see(trials.at(2, 0).0);
        let findings = analyse(&plan, &trials.views(), &Surroundings::default()).findings;
        let is_note = |fact: &Fact| matches!(fact, Fact::NoFlush(_));
        assert!(!findings.iter().any(|(_, it)| is_note(&it.fact)), "{findings:?}");
    }
}
