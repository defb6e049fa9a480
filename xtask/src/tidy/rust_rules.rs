//! Rules for Rust files.

use std::path::{Path, PathBuf};

use super::finding::Finding;
use super::message_rules;
use super::source::{Source, is_at};
use crate::layers::LAYERS;

/// A file that is longer holds more than one idea.
const LINES: usize = 600;

/// The only crates that may contain `unsafe`: the kernel's ring, and libraries that are loaded at run time.
const UNSAFE_HERE: [&str; 2] = ["crates/uring/", "crates/rbd/"];

/// Checks a file against the rules. `for_tests` are the modules, without `.rs`, that are included
/// for tests only.
pub(crate) fn check(source: &Source, for_tests: &[PathBuf]) -> Vec<Finding> {
    let is_test_file = is_test_file(&source.name, for_tests);
    let mut findings = whole_file(source);
    let pure = is_pure(&source.name);
    for at in 0..source.tokens.len() {
        let is_test = is_test_file || source.is_for_tests(at);
        let mut found = |text: &str| {
            let line = source.tokens[at].line;
            findings.push(Finding::in_file(&source.name, line, text.to_owned()));
        };
        if let Some(text) = unfinished(source, at) {
            found(text);
        }
        let is_allowed = || UNSAFE_HERE.iter().any(|place| source.name.starts_with(place));
        if source.tokens[at].text == "unsafe" && !is_allowed() {
            found("unsafe code belongs in crates/uring or crates/rbd, behind a safe function");
        }
        if is_test && source.tokens[at].text == "sleep" {
            found("a test does not sleep; wait for what it waits for, or use virtual time");
        }
        if let Some(text) = machine(source, at).filter(|_| pure && !is_test) {
            found(&text);
        }
        if !is_test {
            findings.extend(message_rules::check(source, at));
        }
    }
    findings
}

fn whole_file(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !source.text.starts_with("//!") {
        let text = "begin the file with //! and say what it is for, and why so";
        findings.push(Finding::in_file(&source.name, 1, text.into()));
    }
    let lines = source.text.lines().count();
    if lines > LINES {
        let text =
            format!("{lines} lines, {LINES} are the most; give one of its ideas its own file");
        findings.push(Finding::in_file(&source.name, LINES + 1, text));
    }
    findings
}

/// Tests whose long form the chore `truth` runs, together with all that are marked this way; their
/// short form is among the others.
const LONG_FORMS: &str = "crates/simulator/tests/theory/";

fn unfinished(source: &Source, at: usize) -> Option<&'static str> {
    let is = |words: &[&str]| is_at(&source.tokens, at, words);
    if is(&["todo", "!"]) || is(&["unimplemented", "!"]) {
        return Some("finish this, or leave it out");
    }
    if is(&["dbg", "!"]) {
        return Some("remove the debugging output");
    }
    if is(&["#", "[", "ignore"]) && !source.name.starts_with(LONG_FORMS) {
        return Some("a test that is not run proves nothing; fix or remove it");
    }
    None
}

/// What a token uses of the machine, if anything.
fn machine(source: &Source, at: usize) -> Option<String> {
    const MODULES: [&str; 3] = ["net", "fs", "thread"];
    let tokens = &source.tokens;
    let word = tokens[at].text.as_str();
    if matches!(word, "Instant" | "SystemTime") {
        return Some(format!("{word} in a crate that computes only; pass a Clock in"));
    }
    if word != "std" || !is_at(tokens, at + 1, &[":", ":"]) {
        return None;
    }
    let next = tokens.get(at + 3)?;
    let segments = if next.text == "{" { group(source, at + 3) } else { vec![next.text.as_str()] };
    let module = segments.into_iter().find(|segment| MODULES.contains(segment))?;
    Some(format!("std::{module} in a crate that computes only; pass in what it needs"))
}

/// The first words of the items in braces: `a` and `b` of `{a::c, b::{d, e}}`.
fn group(source: &Source, open: usize) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut words = Vec::new();
    for (at, token) in source.tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            word if depth == 1 && matches!(source.tokens[at - 1].text.as_str(), "{" | ",") => {
                words.push(word);
            }
            _ => {}
        }
    }
    words
}

/// Whether a file is program text of a package that only computes.
fn is_pure(name: &str) -> bool {
    let Some((package, rest)) = name.strip_prefix("crates/").and_then(|name| name.split_once('/'))
    else {
        return false;
    };
    rest.starts_with("src/")
        && LAYERS.iter().any(|l| l.pure && l.package.strip_prefix("stormeter-") == Some(package))
}

fn is_test_file(name: &str, for_tests: &[PathBuf]) -> bool {
    let path = Path::new(name);
    let module = path.with_extension("");
    path.components().any(|part| part.as_os_str() == "tests")
        || for_tests.iter().any(|test| module.starts_with(test))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings on a file with a proper header.
    fn found(name: &str, body: &str) -> Vec<String> {
        let source = Source::new(name, &format!("//! A file.\n{body}"));
        check(&source, &[PathBuf::from("crates/driver/src/suite")])
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    fn one(name: &str, body: &str, part: &str) {
        let found = found(name, body);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert!(found[0].starts_with(&format!("{name}:2: ")), "{found:?}");
        assert!(found[0].contains(part), "{found:?}");
    }

    fn none(name: &str, body: &str) {
        assert_eq!(found(name, body), Vec::<String>::new(), "{body}");
    }

    const PURE: &str = "crates/driver/src/a.rs";
    const OTHER: &str = "crates/datastore/src/a.rs";

    #[test]
    fn a_file_says_what_it_is_for() {
        let findings = check(&Source::new(OTHER, "// A file.\n"), &[]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].to_string().contains("//!"));
    }

    #[test]
    fn a_file_is_not_too_long() {
        none(OTHER, &"\n".repeat(LINES - 1));
        let found = found(OTHER, &"\n".repeat(LINES));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with(&format!("{OTHER}:601: 601 lines")), "{found:?}");
    }

    #[test]
    fn nothing_is_left_unfinished() {
        one(OTHER, "fn a() { todo!() }", "finish");
        one(OTHER, "fn a() { unimplemented!(\"b\") }", "finish");
        one(OTHER, "fn a() { dbg!(1); }", "debugging");
        one(OTHER, "#[ignore = \"slow\"] fn a() {}", "proves nothing");
        none("crates/simulator/tests/theory/a.rs", "#[ignore = \"slow\"] fn a() {}");
        none(OTHER, "// todo!() and dbg!() are mentioned\nlet todo = \"unimplemented!()\";");
    }

    #[test]
    fn unsafe_has_two_places() {
        one(PURE, "unsafe { a() }", "crates/uring");
        one("xtask/src/a.rs", "unsafe fn a() {}", "crates/uring");
        none("crates/uring/src/a.rs", "unsafe { a() }");
        none("crates/rbd/src/a.rs", "unsafe { a() }");
        none(PURE, "#![forbid(unsafe_code)] // unsafe");
    }

    #[test]
    fn tests_do_not_sleep() {
        let pause = "std::thread::sleep(x);";
        one("crates/datastore/tests/a.rs", pause, "does not sleep");
        one(OTHER, "#[cfg(test)] mod tests { use std::thread::sleep; }", "does not sleep");
        none(OTHER, pause);
    }

    #[test]
    fn what_computes_has_no_clock_and_no_machine() {
        one(PURE, "let a = std::time::Instant::now();", "pass a Clock in");
        one(PURE, "fn a(b: SystemTime) {}", "pass a Clock in");
        one(PURE, "use std::fs::File;", "std::fs");
        one(PURE, "use std::net;", "std::net");
        one(PURE, "use std::{fmt, thread::{self, spawn}};", "std::thread");
        none(PURE, "use std::{fmt, collections::{fs, net}}; let fs = b::fs::c;");
        none(PURE, "use std::time::Duration; // Instant");
        none(OTHER, "use std::{fs, net, time::Instant};");
    }

    #[test]
    fn tests_of_what_computes_may_use_the_machine() {
        let clock = "use std::time::Instant;";
        none(PURE, &format!("#[cfg(test)] mod tests {{ {clock} }}"));
        none("crates/driver/tests/a.rs", clock);
        none("crates/driver/src/suite/a.rs", clock);
        none("crates/driver/src/suite.rs", clock);
        one("crates/driver/src/suites.rs", clock, "pass a Clock in");
    }
}
