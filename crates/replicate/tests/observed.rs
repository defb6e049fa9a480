//! Results compared with findings, and the JSON checked against its schema.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use stormeter_replicate::{
    AnswerSource, ObservedOutcome, Published, ReplicateTable, STUDIES, SourceAnswer,
    derived_schema, embedded, overview, replicate, terminal,
};
use stormeter_statistics::Reply;
use stormeter_testkit::{assert_golden, undescribed, violations};

/// Answers by question; one that is not listed cannot be asked.
struct Oracle(BTreeMap<&'static str, Reply>);

impl AnswerSource for Oracle {
    fn answer(&self, question: &str) -> Result<SourceAnswer, String> {
        let reply = *self.0.get(question).ok_or("there is no such workload in these results")?;
        Ok(SourceAnswer { reply, sentence: "So it was measured.".to_owned() })
    }
}

fn table(name: &str, oracle: &Oracle) -> ReplicateTable {
    let study = Published::read(embedded(name).unwrap()).unwrap();
    replicate(&study, Some(oracle), None).unwrap()
}

fn outcome(table: &ReplicateTable, id: &str) -> ObservedOutcome {
    let row = table.findings.iter().find(|row| row.id == id).unwrap();
    row.measured.as_ref().unwrap().outcome
}

#[test]
fn each_reply_has_its_outcome() {
    let ask = "virtual is faster than physical in iops on seq-write-4k";
    for (reply, expected) in [
        (Reply::Yes, ObservedOutcome::Agree),
        (Reply::No, ObservedOutcome::Disagree),
        (Reply::Inconclusive, ObservedOutcome::Inconclusive),
        (Reply::NotAnswered, ObservedOutcome::NotTestable),
    ] {
        let table = table("virtual-physical", &Oracle(BTreeMap::from([(ask, reply)])));
        assert_eq!(outcome(&table, "vp-4k-dir"), expected);
        // Its question is not listed, and the other finding has no question.
        assert_eq!(outcome(&table, "vp-32k-dir"), ObservedOutcome::NotTestable);
        assert_eq!(outcome(&table, "vp-rec-wb"), ObservedOutcome::NotTestable);
        assert!(table.findings.iter().all(|row| row.predicted.is_none()));
        let text = terminal(&table, 100);
        let words = [
            "agree 1, disagree 0",
            "agree 0, disagree 1",
            "disagree 0, inconclusive 1",
            "not testable 50",
        ];
        assert!(text.contains(words[expected as usize]), "{text}");
        assert!(!text.contains("predicted: "));
    }
}

#[test]
fn a_finding_of_several_questions_agrees_only_as_a_whole() {
    let [nfs, iscsi, paths] = [
        "nfs is within 9% of local in iops everywhere",
        "iscsi is within 9% of local in iops everywhere",
        "iscsi-2-paths is within 9% of local in iops everywhere",
    ];
    let outcome = |replies: [Reply; 3]| {
        let oracle =
            Oracle(BTreeMap::from([(nfs, replies[0]), (iscsi, replies[1]), (paths, replies[2])]));
        outcome(&table("tr3808", &oracle), "tr3808-2.2-a")
    };
    use Reply::{Inconclusive, No, NotAnswered, Yes};
    assert_eq!(outcome([Yes, Yes, Yes]), ObservedOutcome::Agree);
    assert_eq!(outcome([Yes, Inconclusive, Yes]), ObservedOutcome::Inconclusive);
    assert_eq!(outcome([NotAnswered, Inconclusive, Yes]), ObservedOutcome::NotTestable);
    assert_eq!(outcome([NotAnswered, No, Yes]), ObservedOutcome::Disagree);
}

#[test]
fn results_of_the_full_scale_are_asked_by_their_own_names() {
    let [low, high] = [
        "iscsi-1g has at least 5% lower host cpu than nfs-1g everywhere",
        "iscsi-1g has at most 6% lower host cpu than nfs-1g everywhere",
    ];
    let small = "iscsi costs less cpu per io than nfs";
    let outcome = |replies: &[(&'static str, Reply)]| {
        let table = table("tr3808", &Oracle(replies.iter().copied().collect()));
        outcome(&table, "tr3808-2.1-e")
    };
    let (yes, no) = (Reply::Yes, Reply::No);
    assert_eq!(outcome(&[(low, no), (high, yes)]), ObservedOutcome::Disagree);
    assert_eq!(outcome(&[(low, yes), (high, yes)]), ObservedOutcome::Agree);
    // Results that can answer all questions of the full scale are not asked by the names of the
    // small scale.
    assert_eq!(outcome(&[(low, yes), (high, yes), (small, no)]), ObservedOutcome::Agree);
    // Results that can answer only a part are asked the small-scale questions if they have those
    // names.
    assert_eq!(outcome(&[(low, no), (small, yes)]), ObservedOutcome::Agree);
    assert_eq!(outcome(&[(low, no)]), ObservedOutcome::Disagree);
    assert_eq!(outcome(&[(low, yes)]), ObservedOutcome::NotTestable);
    assert_eq!(outcome(&[(small, Reply::NotAnswered)]), ObservedOutcome::NotTestable);
    assert_eq!(outcome(&[]), ObservedOutcome::NotTestable);
    // The small scale has nothing about the older generation.
    let ask = "fc-fixed is within 5% of esx35-fc-fixed in iops on vm-4k everywhere";
    let found = table("tr3808", &Oracle(BTreeMap::from([(ask, Reply::Yes)])));
    let row = found.findings.iter().find(|row| row.id == "tr3808-3.1-a").unwrap();
    assert_eq!(row.measured.as_ref().unwrap().outcome, ObservedOutcome::Agree);
}

/// A model that was fitted to some findings.
struct Fitted(Oracle, Vec<String>);

impl AnswerSource for Fitted {
    fn answer(&self, question: &str) -> Result<SourceAnswer, String> {
        self.0.answer(question)
    }

    fn calibrated_on(&self) -> &[String] {
        &self.1
    }
}

#[test]
fn what_a_model_was_fitted_to_is_no_prediction() {
    let study = Published::read(embedded("virtual-physical").unwrap()).unwrap();
    let (small, large) = (
        "virtual is faster than physical in iops on seq-write-4k",
        "virtual is slower than physical in iops on seq-write-32k",
    );
    let answers = Oracle(BTreeMap::from([(small, Reply::Yes), (large, Reply::No)]));
    // One that is asked, and one that has no question.
    let source = Fitted(answers, vec!["vp-4k-dir".to_owned(), "vp-t3-phys4-mean".to_owned()]);
    let table = replicate(&study, None, Some(&source)).unwrap();
    let fitted: Vec<&str> = table
        .findings
        .iter()
        .filter(|row| row.predicted.as_ref().unwrap().fitted)
        .map(|row| row.id.as_str())
        .collect();
    assert_eq!(fitted.len(), 2, "{fitted:?}");
    let lines = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = lines(terminal(&table, 160));
    assert!(text.contains(&format!("predicted: fitted; \"{small}\"")), "{text}");
    assert!(text.contains("predicted: fitted; it asks nothing"), "{text}");
    assert!(text.contains(&format!("predicted: DISAGREES; \"{large}\"")), "{text}");
    let summary = "predicted: 0 of 1 reproduced, 2 fitted: agree 0, disagree 1, inconclusive 0, \
                   not testable 47";
    assert!(text.contains(summary), "{text}");
    assert!(lines(overview(std::slice::from_ref(&table), 160)).contains(summary));
    let schema = serde_json::from_str(&derived_schema()).unwrap();
    let found = violations(&schema, &serde_json::to_value(table).unwrap());
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_direction_counts_where_the_figures_are_not_seen() {
    let [low, high, direction] = [
        "iscsi-1g has at least 35% lower host cpu than esx35-iscsi-1g everywhere",
        "iscsi-1g has at most 43% lower host cpu than esx35-iscsi-1g everywhere",
        "iscsi-1g has lower host cpu than esx35-iscsi-1g everywhere",
    ];
    let found = |replies: [Reply; 3]| {
        let answers = [(low, replies[0]), (high, replies[1]), (direction, replies[2])];
        let table = table("tr3808", &Oracle(BTreeMap::from(answers)));
        let row = table.findings.iter().find(|row| row.id == "tr3808-2.1-c").unwrap();
        let observed = row.measured.clone().unwrap();
        (observed.outcome, observed.answers.len(), terminal(&table, 100))
    };
    use Reply::{Inconclusive, No, NotAnswered, Yes};
    let (outcome, answers, text) = found([No, Yes, Yes]);
    assert_eq!((outcome, answers), (ObservedOutcome::Direction, 3));
    assert!(text.contains("agree in direction 1, disagree 0"), "{text}");
    assert!(text.contains("measured: agrees in direction; "), "{text}");
    assert_eq!(found([Inconclusive, Yes, Yes]).0, ObservedOutcome::Direction);
    assert_eq!(found([No, Yes, Inconclusive]).0, ObservedOutcome::Disagree);
    assert_eq!(found([Inconclusive, Yes, No]).0, ObservedOutcome::Inconclusive);
    assert_eq!(found([NotAnswered, Yes, Yes]).0, ObservedOutcome::NotTestable);
    // If the figures are confirmed, nothing more is asked.
    let (outcome, answers, text) = found([Yes, Yes, No]);
    assert_eq!((outcome, answers), (ObservedOutcome::Agree, 2));
    assert!(!text.contains("in direction"));
}

#[test]
fn the_committed_schema_is_the_derived_one_and_describes_every_key() {
    let path = "../../docs/schema/replicate.schema.json";
    assert_golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path), &derived_schema());
    let parsed = serde_json::from_str(&derived_schema()).unwrap();
    assert_eq!(undescribed(&parsed), Vec::<String>::new());
}

#[test]
fn the_json_follows_its_schema() {
    let schema = serde_json::from_str(&derived_schema()).unwrap();
    let ask = "virtual is faster than physical in iops on seq-write-4k";
    let oracle = Oracle(BTreeMap::from([(ask, Reply::NotAnswered)]));
    for (name, _) in STUDIES {
        let found = violations(&schema, &serde_json::to_value(table(name, &oracle)).unwrap());
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
    let mut bad = serde_json::to_value(table("vsan", &oracle)).unwrap();
    bad["findings"][0]["recomputed"]["agreement"] = "perhaps".into();
    assert!(!violations(&schema, &bad).is_empty());
}

#[test]
fn no_line_is_wider_than_asked_and_nothing_steers_the_terminal() {
    let ask = "virtual is faster than physical in iops on seq-write-4k";
    let oracle = Oracle(BTreeMap::from([(ask, Reply::Yes)]));
    for (name, _) in STUDIES {
        for width in [60, 80, 100, 120] {
            let text = terminal(&table(name, &oracle), width);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width, "{name}: {widest} columns of {width}");
        }
    }
    let mut table = table("vsan", &oracle);
    table.findings[0].statement = "a\x1b[2Jb".to_owned();
    assert!(!terminal(&table, 100).contains('\x1b'));
}
