//! Answers of every kind in words, computed from trials with a known truth.
//!
//! They are in `tests/golden/answers.txt`, to be read as a whole; `UPDATE_GOLDEN=1` rewrites it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asked;
mod study_fixture;

use std::fmt::Write;
use std::path::Path;

use asked::{Noise, Trials, plan};
use serde_json::Value;
use stormeter_report::json;
use stormeter_statistics::{Answer, Grounds, Unanswered};
use stormeter_study::question::Factor;
use stormeter_study::{Blocks, Metric, Order, StudyPlan, Unit};
use study_fixture::{Shape, made, usual};

/// Answers under a title.
type Titled = (&'static str, Vec<Answer>);

fn two_by_two() -> StudyPlan {
    plan(&["a", "b"], &["w", "x"], &[1, 4])
}

/// The logarithm of the second datastore's IOPS is larger by this.
fn second(by: f64) -> impl Fn(usize) -> f64 {
    move |cell| if cell % 2 == 1 { by } else { 0.0 }
}

const COMPARED: [&str; 14] = [
    "b is faster than a",
    "b is slower than a in latency",
    "b has lower mean latency than a on w at 1 vms",
    "b has higher throughput than a",
    "b costs less cpu per io than a",
    "b is at least 10% faster than a",
    "b is at most 10% slower than a",
    "b has at most 10% higher p99 latency than a",
    "b is within 10% of a",
    "b is equal to a",
    "b differs from a",
    "b is faster than a everywhere",
    "b is within 10% of a everywhere",
    "b must be faster than a at 4 vms",
];

const FACTORS: [&str; 5] = [
    "iops depends on datastore",
    "iops does not depend on datastore",
    "iops depends on datastore and workload",
    "iops does not depend on datastore and workload",
    "iops depends on datastore, workload and their interaction",
];

fn replies() -> Vec<Titled> {
    let plan = two_by_two();
    let noisy = |sd, by| Trials::noisy(&plan, 6, sd, 11, second(by));
    let all: Vec<&str> = COMPARED.iter().chain(&FACTORS).copied().collect();
    let one = asked::plan(&["a", "b"], &["w"], &[1]);
    let both = |cell: usize| 0.1 * ((cell % 2) as f64 + (cell / 4) as f64);
    vec![
        ("b is faster", noisy(0.005, 0.1).ask(&plan, &all)),
        ("b is slower", noisy(0.005, -0.2).ask(&plan, &all)),
        ("b is faster by less than the margin", noisy(0.004, 0.02).ask(&plan, &all)),
        ("b may be faster", noisy(0.09, 0.03).ask(&plan, &all)),
        ("nothing is known", noisy(0.9, 0.0).ask(&plan, &all)),
        ("b is twice as fast", noisy(0.02, 0.9).ask(&plan, &all)),
        ("two factors", Trials::noisy(&plan, 6, 0.005, 2, both).ask(&plan, &FACTORS)),
        ("one load", Trials::noisy(&one, 6, 0.005, 1, second(0.1)).ask(&one, &COMPARED[..2])),
    ]
}

fn trends_and_limits() -> Vec<Titled> {
    let mut plan = plan(&["a", "b"], &["w"], &[1, 4]);
    plan.outstanding = vec![2, 8, 32];
    let slope = |cell: usize| 0.2 * (cell / 2 % 3) as f64;
    let quiet = Trials::noisy(&plan, 6, 0.005, 3, slope);
    let loud = Trials::noisy(&plan, 6, 0.8, 3, |_| 0.0);
    let trends = [
        "iops of a grows with outstanding",
        "iops of a falls with outstanding everywhere",
        "mean latency of b grows with vms",
        "throughput of a falls with vms everywhere",
    ];
    let limits = [
        "iops of a is at least 5000",
        "iops of b is at most 5000 at 4 vms with 8 outstanding",
        "throughput of a is at least 20MB/s everywhere",
        "p99 latency of a is at most 1ms",
        "latency-mean of b is at most 400us",
        "cpu-per-io of a is at most 5us",
    ];
    vec![
        ("more with more outstanding", quiet.ask(&plan, &trends)),
        ("no trend that can be seen", loud.ask(&plan, &trends)),
        ("limits", quiet.ask(&plan, &limits)),
        ("limits and much noise", loud.ask(&plan, &limits)),
    ]
}

fn unanswered() -> Vec<Titled> {
    let plan = two_by_two();
    let noisy = |blocks| Trials::noisy(&plan, blocks, 0.01, 5, second(0.1));
    let some = ["b is faster than a", "iops of a grows with vms", "iops depends on datastore"];
    let everywhere = ["b is faster than a", "b is faster than a everywhere", FACTORS[0]];
    let elsewhere = |question: &str, why| {
        let [not_understood] = <[Answer; 1]>::try_from(noisy(6).ask(&plan, &[""])).unwrap();
        Answer { question: question.into(), grounds: Grounds::Unanswered(why), ..not_understood }
    };
    let impossible = Unanswered::NoSuchReduction { metric: Metric::Iops, percent: 100.0 };
    let no_spread = Trials::of(&plan, 3, |_, _| 100.0);
    let mut intervals = plan.clone();
    intervals.design.unit = Unit::Interval;
    let half = noisy(6).without(|block, cell| (block % 2 == 0) == (cell == 1) && cell < 2);
    let none = Trials::of(&plan, 1, |_, _| 100.0).without(|_, cell| cell == 1);
    vec![
        ("not understood", noisy(6).ask(&plan, &["b is nicer than a"])),
        ("one block", noisy(1).ask(&plan, &some)),
        ("no block", noisy(0).ask(&plan, &some)),
        ("no block in common", half.ask(&plan, &["b is faster than a on w at 1 vms", FACTORS[0]])),
        (
            "a metric that nothing has",
            noisy(6).ask(&plan, &["b is faster than a in elapsed", "elapsed depends on datastore"]),
        ),
        ("a cell that failed", noisy(6).without(|_, cell| cell == 1).ask(&plan, &everywhere)),
        ("an invalid cell", noisy(6).with_errors(1).ask(&plan, &everywhere)),
        ("no spread", no_spread.ask(&plan, &[FACTORS[0], "b is equal to a", "b differs from a"])),
        ("no interval", none.ask(&intervals, &everywhere)),
        (
            "of another study",
            vec![
                elsewhere("b is at least 100% slower than a", impossible),
                elsewhere("c is faster than a", Unanswered::NoSuchDatastore("c".into())),
                elsewhere("b is faster than a at 16 vms", Unanswered::NoLoad),
                elsewhere(
                    "b is faster than a, durably",
                    Unanswered::NotDurable(vec!["vm-4k".into(), "mail".into()]),
                ),
                elsewhere(
                    "iops depends on datastore at 16 vms",
                    Unanswered::OneLevel(Factor::Datastore),
                ),
            ],
        ),
    ]
}

fn remarks() -> Vec<Titled> {
    let one = plan(&["a", "b"], &["w"], &[1]);
    let faster = ["b is faster than a", "iops of b is at least 5000"];
    let with = |blocks, seed, jump: fn(u32, usize) -> f64, sd: f64| {
        let mut noise = Noise(seed);
        Trials::of(&one, blocks, |block, cell| {
            let shift = if cell == 1 { 0.02 } else { 0.0 };
            8000.0 * (shift + noise.normal(sd) + jump(block, cell)).exp()
        })
        .ask(&one, &faster)
    };
    let mut state = 0.0;
    let mut noise = Noise(4);
    let drifting = Trials::of(&one, 24, |_, cell| {
        state = if cell == 0 { 0.9 * state + noise.normal(0.05) } else { state };
        8000.0 * (if cell == 1 { 0.1 + state } else { 0.0 }).exp()
    });
    let mut fixed_order = two_by_two();
    fixed_order.design.order = Order::AsWritten;
    let all = ["b is faster than a", "iops of a is at least 5000", FACTORS[0]];
    let mut stopped = one.clone();
    stopped.design.blocks = Blocks::Auto { min: 5, max: 100 };
    let auto = Trials::noisy(&stopped, 12, 0.05, 3, second(0.0));
    let crossed = plan(&["a", "b"], &["w", "x"], &[1]);
    let residuals = |jump: fn(u32, usize) -> f64| {
        let mut noise = Noise(9);
        Trials::of(&crossed, 12, |block, cell| {
            8000.0 * (0.2 * (cell % 2) as f64 + noise.normal(0.01) + jump(block, cell)).exp()
        })
        .ask(&crossed, &FACTORS[..1])
    };
    let mut intervals = plan(&["a", "b"], &["w", "x"], &[1]);
    intervals.design.unit = Unit::Interval;
    let of_intervals = [
        "b is faster than a on w",
        "b is within 5% of a in latency on w",
        "iops of a is at least 900",
        "b is faster than a in p99 latency on w",
        FACTORS[0],
        FACTORS[4],
        "iops does not depend on workload",
    ];
    let runs = Trials::noisy(&intervals, 3, 0.02, 8, second(0.1));
    vec![
        ("few blocks", with(3, 1, |_, _| 0.0, 0.005)),
        (
            "an outlier",
            with(12, 2, |block, cell| if (block, cell) == (7, 1) { 3.0 } else { 0.0 }, 0.003),
        ),
        (
            "outliers to both sides",
            with(
                12,
                3,
                |block, cell| match (block, cell) {
                    (2, 1) | (5, 1) => -2.0,
                    (7, 1) | (9, 1) => 2.0,
                    _ => 0.0,
                },
                0.05,
            ),
        ),
        (
            "a first block unlike the others",
            with(12, 5, |block, cell| if (block, cell) == (0, 1) { 1.0 } else { 0.0 }, 0.01),
        ),
        (
            "first blocks unlike the others",
            with(12, 6, |block, cell| if block < 2 && cell == 1 { 0.5 } else { 0.0 }, 0.01),
        ),
        ("blocks that resemble their neighbours", drifting.ask(&one, &faster)),
        (
            "a fixed order",
            Trials::noisy(&fixed_order, 6, 0.01, 1, second(0.1)).ask(&fixed_order, &all),
        ),
        ("stopped by width", auto.ask(&stopped, &all)),
        ("residuals without fault", residuals(|_, _| 0.0)),
        ("a residual that stands out", {
            residuals(|block, cell| if (block, cell) == (7, 1) { 1.0 } else { 0.0 })
        }),
        ("a cell with more spread", {
            residuals(|block, cell| match (cell, block % 2) {
                (1, 0) => 0.1,
                (1, _) => -0.1,
                _ => 0.0,
            })
        }),
        ("one run, correlated", Trials::one_run(&intervals, 0.6).ask(&intervals, &of_intervals)),
        ("three runs", runs.ask(&intervals, &of_intervals)),
        (
            "two loads by intervals",
            runs.ask(&intervals, &["b is faster than a", "b is faster than a everywhere"]),
        ),
    ]
}

fn predicted() -> Vec<Titled> {
    let plan = plan(&["a", "b"], &["w"], &[1, 2]);
    let questions = [
        "b is faster than a",
        "b differs from a",
        "b is faster than a everywhere",
        "iops of b grows with vms",
        "b is equal to a",
        "iops depends on datastore",
        "iops does not depend on datastore",
        "iops depends on datastore, vms and their interaction",
    ];
    let shift = |by: f64| move |cell: usize| by * (cell % 2 + cell / 2) as f64;
    let noisy = |sd, by| Trials::noisy(&plan, 6, sd, 5, shift(by)).ask_model(&plan, &questions);
    let alike = Trials::of(&plan, 3, |_, cell| 1000.0 + 100.0 * cell as f64);
    vec![
        ("a model, a difference too small to measure", noisy(1e-6, 1e-4)),
        ("a model, a difference", noisy(1e-6, 0.2)),
        ("a model with noise", noisy(0.05, 0.2)),
        ("a model that repeats itself", alike.ask_model(&plan, &questions)),
    ]
}

#[test]
fn answers_of_every_kind_in_words() {
    let all: Vec<Titled> =
        [replies(), trends_and_limits(), unanswered(), remarks(), predicted()].concat();
    let answers = all.iter().flat_map(|(_, answers)| answers.clone()).collect();
    let shape = Shape { blocks: 0, ..usual() };
    let report = made(&shape, |analysis| analysis.answers = answers);
    let value = json(&report);
    let mut shown = value["answers"].as_array().unwrap().iter();
    let mut text = String::new();
    for (title, answers) in &all {
        writeln!(text, "== {title}\n").unwrap();
        for shown in shown.by_ref().take(answers.len()) {
            write_answer(&mut text, shown);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/answers.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert!(golden == text, "answers.txt differs; UPDATE_GOLDEN=1 rewrites it. Now:\n{text}");
}

/// One answer with all of its texts.
fn write_answer(text: &mut String, answer: &Value) {
    let words = |value: &Value| value.as_str().unwrap().to_string();
    let reply = words(&answer["reply"]);
    writeln!(text, "{}\n  {reply}: {}", words(&answer["question"]), words(&answer["sentence"]))
        .unwrap();
    if let Some(estimate) = answer["estimate"].as_object() {
        writeln!(text, "  of {}", words(&estimate["of"])).unwrap();
    }
    writeln!(text, "  test {}", words(&answer["test"])).unwrap();
    let list = |of: &str, name: &str| -> Vec<String> {
        let items = answer[of].as_array();
        items.into_iter().flatten().map(|item| words(&item[name])).collect()
    };
    let (loads, terms) = (list("parts", "load"), list("anova", "term"));
    if !loads.is_empty() {
        writeln!(text, "  loads {}", loads.join("; ")).unwrap();
    }
    if !terms.is_empty() {
        writeln!(text, "  terms {}", terms.join("; ")).unwrap();
    }
    for remark in answer["remarks"].as_array().unwrap() {
        writeln!(text, "  - {}", words(remark)).unwrap();
    }
    text.push('\n');
}
