//! Messages are for people: no decision depends on their text, and only the command line knows its
//! options.
//!
//! A layer that spells an option is wrong for every other user of that layer: a study file, a prediction, a program.
//! A decision by the text of a message changes when the message is improved.

use super::finding::Finding;
use super::source::{Source, is_at};
use crate::layers::LAYERS;

/// Packages that have command-line options.
const HAVE_OPTIONS: [&str; 2] = ["crates/cli/", "crates/bench/"];

/// Where options of other programs are written, or programs that have them.
const OF_OTHER_PROGRAMS: [&str; 14] = [
    "crates/lab/src/image/packages.rs",
    "crates/lab/src/image/program.rs",
    "crates/lab/src/qemu/version.rs",
    "crates/lab/src/rack/array.rs",
    "crates/lab/src/rack/groups.rs",
    "crates/lab/src/rack/snapshot.rs",
    "crates/lab/src/rack/volume.rs",
    "crates/ceph/src/command.rs",
    "crates/ceph/src/pool.rs",
    "crates/ceph/src/up.rs",
    "crates/peers/src/child.rs",
    "crates/peers/src/chromium.rs",
    "crates/peers/src/prometheus.rs",
    "crates/peers/src/tgt.rs",
];

/// Earlier forms of results files contain only the sentence.
const EARLY_FORMS: &str = "crates/results/src/read.rs";

/// Names that values with text for people have.
const MESSAGES: [&str; 8] =
    ["advice", "error", "message", "reason", "said", "sentence", "what", "why"];

/// Methods that inspect or change a text.
const LOOKS: [&str; 7] = [
    "contains",
    "ends_with",
    "replace",
    "split_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
];

/// Checks one place of a file that is not a test.
pub(crate) fn check(source: &Source, at: usize) -> Option<Finding> {
    if !is_below(&source.name) {
        return None;
    }
    let token = &source.tokens[at];
    let text = if token.text.contains('"') {
        option_in(&token.text).filter(|_| !is_in(&source.name, &OF_OTHER_PROGRAMS)).map(|option| {
            format!("{option} is known to the command line only; say what helps, not what it is called there")
        })
    } else {
        (source.name != EARLY_FORMS && looks_into_message(source, at))
            .then(|| "a decision by the text of a message; use its type".to_owned())
    }?;
    Some(Finding::in_file(&source.name, token.line, text))
}

fn is_in(name: &str, all: &[&str]) -> bool {
    all.iter().any(|begin| name.starts_with(begin))
}

/// Whether a file belongs to a layer below the command line.
fn is_below(name: &str) -> bool {
    let Some((package, rest)) = name.strip_prefix("crates/").and_then(|name| name.split_once('/'))
    else {
        return false;
    };
    rest.starts_with("src/")
        && !is_in(name, &HAVE_OPTIONS)
        && LAYERS.iter().any(|l| l.package.strip_prefix("stormeter-") == Some(package))
}

/// An option in a string: `--` and a letter, at the start of a word.
fn option_in(text: &str) -> Option<&str> {
    let (at, _) = text.match_indices("--").find(|&(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + 2..].chars().next();
        before.is_some_and(|c| !c.is_alphanumeric() && c != '-')
            && after.is_some_and(|c| c.is_ascii_lowercase())
    })?;
    let word = &text[at..];
    let end = word.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(word.len());
    Some(&word[..end])
}

/// `message.contains(…)`, also with `to_string()` or `as_str()` in between.
fn looks_into_message(source: &Source, at: usize) -> bool {
    let tokens = &source.tokens;
    if !MESSAGES.contains(&tokens[at].text.as_str()) {
        return false;
    }
    let text = ["to_string", "as_str", "as_ref"];
    let after = match text.iter().any(|way| is_at(tokens, at + 1, &[".", way, "(", ")"])) {
        true => at + 5,
        false => at + 1,
    };
    LOOKS.iter().any(|look| is_at(tokens, after, &[".", look, "("]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        let source = Source::new(name, text);
        let all = (0..source.tokens.len()).filter_map(|at| check(&source, at));
        all.map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn options_are_spelled_by_the_command_line_alone() {
        let text = "#[error(\"too small: give a larger --size\")]";
        let found_below = found("crates/trial/src/workload.rs", text);
        assert_eq!(found_below.len(), 1, "{found_below:?}");
        assert!(found_below[0].contains("--size"), "{found_below:?}");
        assert!(found("crates/cli/src/exit.rs", text).is_empty());
        assert!(found("crates/lab/src/rack/groups.rs", text).is_empty());
        assert!(found("crates/report/src/a.rs", "\"a -- b, x--y, ---\" // --size").is_empty());
    }

    #[test]
    fn no_decision_depends_on_a_message() {
        for text in [
            "if reason.starts_with(\"the agent\") {}",
            "error.to_string().contains(\"gone\")",
            "finding.advice.replace(\"--\", \"\")",
        ] {
            assert_eq!(found("crates/runner/src/a.rs", text).len(), 1, "{text}");
            assert!(found("xtask/src/a.rs", text).is_empty());
        }
        assert!(found("crates/results/src/read.rs", "said.starts_with(begin)").is_empty());
        assert!(found("crates/runner/src/a.rs", "url.starts_with(\"a\"); reason.len()").is_empty());
    }
}
