//! The grammar as a whole: what it accepts, what it refuses, and its messages.

use super::*;
use crate::plan::Metric;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

fn vocabulary() -> Vocabulary {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
    Vocabulary {
        datastores: names(&["local", "nas", "san", "build farm"]),
        workloads: names(&["vm-4k", "vm-8k", "oltp"]),
        vms: vec![1, 4, 16],
        outstanding: vec![4, 8],
        metric: Some(Metric::Iops),
    }
}

fn read(text: &str) -> Question {
    parse(text, &vocabulary()).unwrap_or_else(|error| panic!("{error}"))
}

fn printed(text: &str) -> String {
    read(text).to_string()
}

#[test]
fn the_questions_of_the_example_study_parse_as_they_stand() {
    let within = read("nas is within 10% of local in iops on vm-4k");
    let expected = Claim::Compared {
        subject: "nas".into(),
        object: "local".into(),
        relation: Relation::Within { percent: 10.0 },
        metric: Some(Metric::Iops),
    };
    assert_eq!(within.claim, expected);
    assert_eq!((within.must, within.scope.workloads), (false, vec!["vm-4k".to_string()]));

    let faster = read("san is faster than nas in iops");
    let relation = Relation::AtLeast { change: Change::Faster, percent: 0.0 };
    assert!(matches!(faster.claim, Claim::Compared { relation: r, .. } if r == relation));
    assert_eq!(faster.scope, Scope::default());

    let cheaper = read("san costs less cpu per io than nas");
    let relation = Relation::AtLeast { change: Change::Lower, percent: 0.0 };
    let expected = Claim::Compared {
        subject: "san".into(),
        object: "nas".into(),
        relation,
        metric: Some(Metric::CpuPerIo),
    };
    assert_eq!(cheaper.claim, expected);

    let depends = read("iops depends on datastore, workload and their interaction");
    let expected = Claim::Depends {
        metric: Metric::Iops,
        depends: true,
        factors: vec![Factor::Datastore, Factor::Workload],
        interaction: true,
    };
    assert_eq!(depends.claim, expected);
}

#[test]
fn a_name_that_a_datastore_and_a_workload_have_is_the_datastore_s() {
    let mut both = vocabulary();
    both.workloads.push("nas".into());
    let question = parse("nas is faster than local on oltp", &both).unwrap();
    assert_eq!(question.scope.workloads, ["oltp"]);
    let workloads = read("oltp is faster than vm-4k on nas");
    assert_eq!(
        (workloads.scope.datastores, workloads.scope.workloads),
        (vec!["nas".into()], vec![])
    );
}

#[test]
fn every_form_is_read_and_printed_in_its_plain_words() {
    let same = [
        "nas is faster than local",
        "nas must be at least 12.5% faster than local in throughput",
        "nas is at most 10% slower than local in p99 latency on vm-4k or oltp",
        "nas must be at most 10% slower than local",
        "nas is within 5% of \"build farm\" at 1, 4 or 16 vms",
        "nas is equal to local in mean latency",
        "nas must be equal to local",
        "nas differs from local with 4 outstanding",
        "nas must differ from local in host cpu",
        "nas has lower maximum latency than local everywhere",
        "nas must have higher throughput than local on oltp at 4 vms with 8 outstanding everywhere",
        "nas has at least 20% lower host cpu per io than local",
        "nas must have at most 20% higher elapsed than local",
        "iops does not depend on datastore on vm-4k or vm-8k",
        "p99.9 latency must not depend on datastore, vms, outstanding and their interaction",
        "p99 latency must depend on vms",
        "iops of nas grows with vms on vm-4k",
        "iops of nas must fall with outstanding everywhere",
        "p99 latency of nas must be at most 5ms on vm-4k",
        "throughput of nas is at least 200MB/s",
        "host cpu of nas is at most 50%",
        "oltp is at least 10% slower than vm-4k in p99 latency",
        "oltp has higher cpu per io than vm-4k on nas or \"build farm\" at 4 vms everywhere",
    ];
    for text in same {
        assert_eq!(printed(text), text);
    }
    let otherwise = [
        ("NAS IS Faster THAN Local?", "nas is faster than local"),
        ("nas is better than local", "nas is faster than local"),
        ("nas is worse than local on vm-4k, oltp", "nas is slower than local on vm-4k or oltp"),
        ("'nas' is within 10 % of local", "nas is within 10% of local"),
        ("nas is within 10 percent of local", "nas is within 10% of local"),
        ("nas is different from local", "nas differs from local"),
        ("nas must cost more cpu per i/o than local", "nas must have higher cpu per io than local"),
        (
            "nas is faster than local at 4 vms in latency-p99",
            "nas is faster than local in p99 latency at 4 vms",
        ),
        ("latency of nas rises with vms", "mean latency of nas grows with vms"),
        ("latency of nas decreases with vms", "mean latency of nas falls with vms"),
        (
            "latency-p99 of nas must be at most 5 ms on vm-4k",
            "p99 latency of nas must be at most 5ms on vm-4k",
        ),
        ("iops depends on vms and datastore", "iops depends on vms and datastore"),
        ("time of nas is at most 90s", "elapsed of nas is at most 90s"),
    ];
    for (text, plain) in otherwise {
        assert_eq!(printed(text), plain);
    }
}

/// One question per line, in the order of `bad_questions.txt`; the messages are the golden file.
const BAD: [&str; 52] = [
    "",
    "   ",
    "is nas fast",
    "nsa is faster than local",
    "nas",
    "nas is",
    "nas is fatser than local",
    "nas is quicker than local",
    "nas is faster local",
    "nas is faster than",
    "nas is faster than locl",
    "nas is faster than nas",
    "nas is 20% faster than local",
    "nas is at least fast than local",
    "nas is at least 20 faster than local",
    "nas is at least 5000% faster than local",
    "nas is within 0% of local",
    "nas is within ten% of local",
    "nas is within 10% from local",
    "nas is not slower than local",
    "nas must faster than local",
    "nas must be faster than local in iosp",
    "nas is faster than local in cpu",
    "nas is faster than local on vm-16k",
    "nas is faster than local on vm-4k on oltp",
    "nas is faster than local on vm-4k, vm-4k",
    "nas is faster than local at 3 vms",
    "nas is faster than local at four vms",
    "nas is faster than local at 4 disks",
    "nas is faster than local with 16 outstanding",
    "nas is faster than local everywhere everywhere",
    "nas is faster than local in iops in throughput",
    "nas is faster than local please",
    "build farm is faster than local",
    "\"build farm is faster than local",
    "nas costs less than local",
    "nas costs at least 100% less cpu per io than local",
    "nas must be at most 150% slower than local",
    "nas is at least 100% faster than local on oltp in p99 latency",
    "nas costs less cpu per io local",
    "iops is faster than local",
    "iops depends on colour",
    "iops depends on datastore and datastore",
    "iops depends on datastore and their interaction",
    "iops depends on workload on vm-4k",
    "iops of nas grows with time",
    "p99 latency of nas must be at most 5",
    "throughput of nas is at least fast",
    "nas is faster than Build farm in iops",
    "oltp is faster than nas",
    "oltp is faster than oltp",
    "oltp is faster than vm-4k on vm-8k",
];

#[test]
fn what_cannot_be_asked_is_refused_in_words_that_help() {
    let mut text = String::new();
    for question in BAD {
        let error = parse(question, &vocabulary()).expect_err(question);
        let shown = error.to_string();
        let first: Vec<&str> = shown.lines().take(3).collect();
        text.push_str(&format!("{}\n\n", first.join("\n")));
        assert!(shown.contains("what can be asked:"), "{shown}");
        assert!(error.column >= 1 && error.column <= question.chars().count() + 1, "{error:?}");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/question/bad_questions.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    assert!(golden == text, "UPDATE_GOLDEN=1 rewrites the file. Now:\n{text}");
}

#[test]
fn a_name_with_spaces_that_lacks_its_quotes_is_quoted_whole() {
    let names = ["nas", "nas nic=10GbE", "nas nic=10GbE mtu=9000", "local nic=10GbE"];
    let datastores = names.map(str::to_owned).to_vec();
    let vocabulary = Vocabulary { datastores, ..vocabulary() };
    for (text, column, meant) in [
        ("nas nic=10GbE is faster than nas", 5, Some("nas nic=10GbE")),
        ("nas is slower than nas nic=10gbe in iops", 20, Some("nas nic=10GbE")),
        ("nas nic=10GbE mtu=9000 is faster than nas", 5, Some("nas nic=10GbE mtu=9000")),
        ("local nic=10GbE is faster than nas", 1, Some("local nic=10GbE")),
        // Only if all of it is there.
        ("nas mtu=9000 is faster than nas", 5, None),
    ] {
        let error = parse(text, &vocabulary).unwrap_err();
        assert_eq!(error.column, column, "{error}");
        assert_eq!(error.nearest, meant.map(|name| format!("\"{name}\"")), "{error}");
    }
}

#[test]
fn factors_with_one_level_are_refused() {
    let one = Vocabulary {
        datastores: vec!["a".into()],
        workloads: vec!["w".into()],
        vms: vec![1],
        outstanding: vec![],
        metric: None,
    };
    for (text, part) in [
        ("iops depends on datastore", "one datastore only"),
        ("iops depends on workload", "one workload only"),
        ("iops of a grows with vms", "one level of vms only"),
        ("iops depends on outstanding", "sets no levels of outstanding"),
        ("iops of a is at least 5 with 4 outstanding", "sets no levels of outstanding"),
    ] {
        let error = parse(text, &one).unwrap_err();
        assert!(error.what.contains(part), "{text}: {error}");
    }
}

#[test]
fn durably_follows_with_or_without_a_comma() {
    for text in [
        "nas is faster than local in iops, durably",
        "nas is faster than local durably in iops",
        "nas is faster than local, durably, in iops",
    ] {
        match parse(text, &vocabulary()) {
            Ok(question) => {
                assert!(question.scope.durably, "{text}");
                assert_eq!(question.to_string(), "nas is faster than local in iops, durably");
            }
            // Only what comes last follows a comma.
            Err(error) => assert!(text.contains(", in"), "{error}"),
        }
    }
    let question = read("nas is faster than local on vm-4k, durably");
    assert_eq!((question.scope.workloads.len(), question.scope.durably), (1, true));
    assert!(read("iops depends on datastore, workload, durably").scope.durably);
    assert!(!read("nas is faster than local").scope.durably);
}

#[test]
fn a_change_by_all_of_a_value_is_refused_by_the_metric() {
    let slower = "nas is at most 150% slower than local";
    let faster = "nas is at least 150% faster than local";
    for (study, text, refused) in [
        (Some(Metric::Iops), slower, true),
        (Some(Metric::LatencyP99), slower, false),
        (Some(Metric::Iops), faster, false),
        (Some(Metric::LatencyP99), faster, true),
        (None, slower, false),
        // The question's own metric takes precedence over the study's.
        (Some(Metric::Iops), "nas is at most 150% slower than local in p99 latency", false),
        (Some(Metric::LatencyP99), "nas is at most 150% slower than local in iops", true),
        (None, "nas has at most 150% lower iops than local", true),
        (None, "nas has at most 150% higher iops than local", false),
        (Some(Metric::Iops), "nas is at most 99% slower than local", false),
        (Some(Metric::Iops), "nas is within 150% of local", false),
    ] {
        let vocabulary = Vocabulary { metric: study, ..vocabulary() };
        match parse(text, &vocabulary) {
            Ok(_) => assert!(!refused, "{text} passes for {study:?}"),
            Err(error) => {
                assert!(refused, "{text} for {study:?}: {error}");
                assert!(text[error.column - 1..].starts_with("150%"), "{error}");
            }
        }
    }
}

/// A random source for generating questions.
struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        (self.0.next_u64() % most as u64) as usize
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    fn name(&mut self) -> String {
        const PIECES: [&str; 17] = [
            "durably", "nas", "on", "\"", "'", " ", ",", "at", "iops", "p99", "latency", "%", "?",
            "with", "É", "-", "must",
        ];
        (0..1 + self.below(4)).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }

    fn metric(&mut self) -> Metric {
        Metric::ALL[self.below(Metric::ALL.len())]
    }

    fn percent(&mut self) -> f64 {
        (1 + self.below(9999)) as f64 / 100.0
    }

    fn change(&mut self) -> Change {
        [Change::Faster, Change::Slower, Change::Lower, Change::Higher][self.below(4)]
    }

    /// Some of these, each at most once, in any order; at least `least` of them.
    fn some<T: Clone>(&mut self, from: &[T], least: usize) -> Vec<T> {
        let mut left = from.to_vec();
        let count = least + self.below(from.len() + 1 - least);
        (0..count).map(|_| left.swap_remove(self.below(left.len()))).collect()
    }

    fn vocabulary(&mut self) -> Vocabulary {
        let mut names = |count: usize| {
            let mut names: Vec<String> = Vec::new();
            while names.len() < count {
                let name = self.name();
                if !names.iter().any(|known| known.to_lowercase() == name.to_lowercase()) {
                    names.push(name);
                }
            }
            names
        };
        Vocabulary {
            datastores: names(3),
            workloads: names(4),
            vms: vec![1, 4, 16],
            outstanding: vec![2, 8, 32],
            metric: Some(self.metric()),
        }
    }

    fn claim(&mut self, vocabulary: &Vocabulary) -> Claim {
        let stores = self.some(&vocabulary.datastores, 2);
        let (subject, object) = (stores[0].clone(), stores[1].clone());
        let metric = self.metric();
        match self.below(5) {
            0 | 1 => {
                let (change, percent) = (self.change(), self.percent());
                let relation = match self.below(6) {
                    0 => Relation::Differs,
                    1 => Relation::Equal,
                    2 => Relation::Within { percent },
                    3 => Relation::AtLeast { change, percent: 0.0 },
                    4 => Relation::AtLeast { change, percent },
                    _ => Relation::AtMost { change, percent },
                };
                let needs_metric = matches!(
                    relation,
                    Relation::AtLeast { change: Change::Lower | Change::Higher, .. }
                        | Relation::AtMost { change: Change::Lower | Change::Higher, .. }
                );
                let metric = (needs_metric || self.flip()).then_some(metric);
                Claim::Compared { subject, object, relation, metric }
            }
            2 => {
                let factors = self.some(&Factor::ALL, 1);
                let interaction = factors.len() > 1 && self.flip();
                Claim::Depends { metric, depends: self.flip(), factors, interaction }
            }
            3 => {
                let along = if self.flip() { LoadFactor::Vms } else { LoadFactor::Outstanding };
                Claim::Trend { metric, datastore: subject, grows: self.flip(), along }
            }
            _ => {
                let bound = if self.flip() { Bound::AtLeast } else { Bound::AtMost };
                let whole = (1 + self.below(100_000_000)) as f64;
                let limit = if metric == Metric::HostCpu { self.percent() / 100.0 } else { whole };
                Claim::Bounded { metric, datastore: subject, bound, limit }
            }
        }
    }

    fn question(&mut self, vocabulary: &Vocabulary) -> Question {
        let claim = self.claim(vocabulary);
        let mut scope = Scope {
            datastores: Vec::new(),
            workloads: self.some(&vocabulary.workloads, 0),
            vms: self.some(&vocabulary.vms, 0),
            outstanding: self.some(&vocabulary.outstanding, 0),
            everywhere: self.flip(),
            durably: self.flip(),
        };
        // A scope with one level of a factor in the claim is refused, and so is `everywhere` with
        // factors.
        scope.workloads.truncate(if scope.workloads.len() == 1 { 0 } else { 4 });
        scope.vms.truncate(if scope.vms.len() == 1 { 0 } else { 3 });
        scope.outstanding.truncate(if scope.outstanding.len() == 1 { 0 } else { 3 });
        scope.everywhere &= !matches!(claim, Claim::Depends { .. });
        Question { must: self.flip(), claim, scope }
    }
}

#[test]
fn a_printed_question_is_read_as_the_same_question() {
    let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(6));
    for _ in 0..20_000 {
        let vocabulary = dice.vocabulary();
        let question = dice.question(&vocabulary);
        let text = question.to_string();
        match parse(&text, &vocabulary) {
            Ok(again) => assert_eq!(again, question, "{text}"),
            Err(error) => panic!("{question:?}\n{error}"),
        }
    }
}

#[test]
fn no_text_makes_the_parser_panic() {
    let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(7));
    for _ in 0..20_000 {
        let vocabulary = dice.vocabulary();
        let mut letters: Vec<char> = dice.question(&vocabulary).to_string().chars().collect();
        for _ in 0..1 + dice.below(4) {
            let at = dice.below(letters.len());
            match dice.below(3) {
                0 => drop(letters.remove(at)),
                1 => letters.insert(at, [' ', '"', '%', 'é', '\t', '9'][dice.below(6)]),
                _ => letters.truncate(at),
            }
            if letters.is_empty() {
                break;
            }
        }
        let text: String = letters.into_iter().collect();
        if let Err(error) = parse(&text, &vocabulary) {
            assert!(error.column >= 1 && error.column <= text.chars().count() + 1);
            assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn a_question_survives_json() {
    let question = read("p99 latency of nas must be at most 5ms on vm-4k everywhere");
    let json = serde_json::to_string(&question).unwrap();
    assert_eq!(serde_json::from_str::<Question>(&json).unwrap(), question);
}
