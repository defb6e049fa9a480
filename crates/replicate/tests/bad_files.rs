//! Files that cannot be read: each message has the line and the column and says what to do. The golden
//! file lists them all; read it as the author of the mistake would.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::path::Path;

use stormeter_replicate::{Published, replicate};
use stormeter_testkit::assert_golden;

const GOOD: &str = "\
study: {name: s, title: T, authors: [A], year: 2000, where: W, question: Q}
tables:
  - name: one
    label: Table 1
    about: times
    unit: ms
    columns: [row, a, b]
    rows:
      - [x, 1.0, 2.0]
      - [y, 3.0, ~]
findings:
  - id: f1
    source: Table 1
    statement: The mean.
    published: \"2.0\"
    compute: mean(one.a)
";

/// What is replaced in the good file, and the replacement.
const BAD: &[(&str, &str)] = &[
    ("name: one", "name: on-e"),
    ("name: one", "nam: one"),
    ("    label: Table 1\n", ""),
    ("[row, a, b]", "[row, a, a]"),
    ("[row, a, b]", "[row, a, {name: b, exact: perhaps}]"),
    ("[row, a, b]", "row"),
    ("[x, 1.0, 2.0]", "[x, 1.0]"),
    ("[x, 1.0, 2.0]", "[x, 1.0, 1e3]"),
    ("[x, 1.0, 2.0]", "[x, 1.0, \"about 2\"]"),
    ("[y, 3.0, ~]", "[x, 3.0, ~]"),
    ("findings:", "finding:"),
    ("id: f1", "id:"),
    ("statement: The mean.", "statment: The mean."),
    ("published: \"2.0\"", "published: two"),
    ("published: \"2.0\"", "published: \"2.0\"\n    about: \"2\""),
    ("published: \"2.0\"", "low: \"3\"\n    high: \"2\""),
    ("published: \"2.0\"", "low: \"3\""),
    ("compute: mean(one.a)", "compute: mean(one.c)"),
    ("compute: mean(one.a)", "compute: mean(two.a)"),
    ("compute: mean(one.a)", "compute: mean(one.b)"),
    ("compute: mean(one.a)", "compute: mean(one.row)"),
    ("compute: mean(one.a)", "compute: maen(one.a)"),
    ("compute: mean(one.a)", "compute: mean(one.a"),
    ("compute: mean(one.a)", "compute: one.a.x"),
    ("compute: mean(one.a)", "source: twice"),
    ("compute: mean(one.a)", "compute: mean(one.a)\n    ask-direction: one is faster than two"),
    ("compute: mean(one.a)", "not-testable: why\n    compute: mean(one.a)"),
    ("compute: mean(one.a)", "not-testable: why\n    reason: more"),
    ("compute: mean(one.a)", "compute: mean(one.a)\n    basis: hearsay"),
    ("compute: mean(one.a)", "compute: mean(one.a)\n    reason: \"{mean(one.q)}\""),
    ("compute: mean(one.a)", "compute: mean(one.a)\n    sound: {say: nothing}"),
    ("compute: mean(one.a)", "compute: mean(one.a)\n    sound: {say: a, holds: one.}"),
    ("compute: mean(one.a)", "compute: mean(one.a) > 0\n    compute-rounded: [1]"),
    ("  - id: f1", "  - {id: f1, source: a, statement: b, not-testable: c}\n  - id: f1"),
    ("study: {", "study: {{"),
    ("compute: mean(one.a)", "compute: mean(one.a) / 0"),
    ("compute: mean(one.a)", "compute: moments(2, 1, 1)"),
    ("    published: \"2.0\"\n", ""),
    ("compute: mean(one.a)", "compute: mean(one.a)\n    sound: {say: a, holds: 1 + 1}"),
];

#[test]
fn the_good_file_is_good() {
    let table = replicate(&Published::read(GOOD).unwrap(), None, None).unwrap();
    assert_eq!(table.summary.agree, 1);
}

#[test]
fn each_mistake_has_its_message() {
    let mut text = String::new();
    for (before, after) in BAD {
        assert!(GOOD.contains(before), "{before}");
        let bad = GOOD.replacen(before, after, 1);
        let message = match Published::read(&bad) {
            Err(error) => error.to_string(),
            Ok(study) => {
                replicate(&study, None, None).expect_err(&format!("{after} passes")).to_string()
            }
        };
        let shown =
            if after.is_empty() { format!("without {before}") } else { (*after).to_owned() };
        writeln!(text, "{}\n  {message}\n", shown.trim()).unwrap();
    }
    for (name, bad) in [("an empty file", ""), ("two documents", "a: 1\n---\nb: 2\n")] {
        writeln!(text, "{name}\n  {}\n", Published::read(bad).unwrap_err()).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/bad_files.txt");
    assert_golden(&path, &text);
}

#[test]
fn old_spellings_of_keys_are_read_with_notes() {
    let new = GOOD.replace("study: {", "stands-for: one for x\nstudy: {").replace(
        "compute: mean(one.a)",
        "compute: mean(one.a)\n    compute-rounded: mean(one.a)\n    ask-full: x is faster than y\n    \
         ask-direction: x is faster than y\n  - id: f2\n    source: Table 2\n    statement: More.\n    \
         not-testable: a chart",
    );
    const KEYS: [&str; 5] =
        ["stands-for", "compute-rounded", "ask-full", "ask-direction", "not-testable"];
    let old = KEYS.iter().fold(new.clone(), |text, key| text.replace(key, &key.replace('-', "_")));
    let new = Published::read(&new).unwrap();
    assert_eq!(new.notes, []);
    let mut old = Published::read(&old).unwrap();
    let notes: Vec<String> = old.notes.drain(..).map(|note| note.message).collect();
    let expected =
        KEYS.map(|key| format!("{} is the old spelling of {key}", key.replace('-', "_")));
    assert_eq!(notes, expected);
    assert_eq!(old, new);
    let both = GOOD.replace("study: {", "stands-for: a\nstands_for: b\nstudy: {");
    let error = Published::read(&both).unwrap_err();
    assert_eq!((error.line, error.column), (2, 1), "{error}");
}

#[test]
fn no_truncated_file_makes_the_reader_panic() {
    for (end, _) in GOOD.char_indices() {
        let _ = Published::read(&GOOD[..end]);
    }
}
