//! Words that translate another language instead of speaking English: refused in comments, strings and
//! Markdown, so that what was rewritten once does not come back.
//!
//! Only words without a good use here are in the table; CONTRIBUTING.md has the whole style sheet. Names
//! in code and byte strings, which are data, are not looked at.

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, tokenize};

use super::finding::Finding;

/// What is refused, and what to write instead. Lower case; several words stand for any space between them.
const OUT: &[(&str, &str)] = &[
    ("anew", "again, or re-"),
    ("anybody", "a name: the user, another process"),
    ("are told", "are reported, are passed"),
    ("begun", "started"),
    ("beside", "next to, in addition to, compared with"),
    ("goes on with", "resumes"),
    ("gone on with", "resumed"),
    ("gravest", "most severe"),
    ("hold against", "compare with, check against"),
    ("held against", "compared with, checked against"),
    ("holds against", "compares with, checks against"),
    ("is told", "is reported, is passed"),
    ("mended", "fixed"),
    ("no way to a host", "invalid host …: expected …"),
    ("so many", "this many, N, a number of"),
    ("somebody", "a name: the user, another process"),
    ("whoever", "a name: the caller, the user"),
];

/// Where the rule holds: these directories and files… CONTRIBUTING.md has the words in its style sheet.
const DONE: &[&str] =
    &["crates/", "xtask/", "docs/", "studies/", "README.md", "ARCHITECTURE.md", "CHANGELOG.md"];

/// … except in these, whose texts are still to be rewritten. Remove an entry when its texts are done.
const TO_DO: &[&str] = &[
    // The table itself.
    "xtask/src/tidy/words.rs",
];

/// Checks the texts of a file.
pub(crate) fn check(name: &str, text: &str) -> Vec<Finding> {
    let is_done = DONE.iter().any(|directory| name.starts_with(directory));
    if !is_done || TO_DO.iter().any(|directory| name.starts_with(directory)) {
        return Vec::new();
    }
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("md") => found(name, text, 1),
        Some("rs") => rust_texts(text).flat_map(|(line, text)| found(name, &text, line)).collect(),
        _ => Vec::new(),
    }
}

/// The comments and strings of a Rust file with their first lines. Comments of consecutive lines are one
/// text, since a phrase may be broken between them.
fn rust_texts(source: &str) -> impl Iterator<Item = (usize, String)> {
    let (mut rest, mut line) = (source, 1);
    let mut texts: Vec<(usize, String)> = Vec::new();
    let mut in_comment = false;
    for token in tokenize(source, FrontmatterAllowed::No) {
        let (text, after) = rest.split_at(token.len as usize);
        rest = after;
        match token.kind {
            TokenKind::LineComment { .. } => {
                let words = text.trim_start_matches(['/', '!']);
                match texts.last_mut().filter(|_| in_comment) {
                    Some((_, whole)) => {
                        whole.push('\n');
                        whole.push_str(words);
                    }
                    None => texts.push((line, words.to_owned())),
                }
                in_comment = true;
            }
            TokenKind::Whitespace => in_comment &= text.matches('\n').count() < 2,
            TokenKind::BlockComment { .. }
            | TokenKind::Literal {
                kind: LiteralKind::Str { .. } | LiteralKind::RawStr { .. },
                ..
            } => {
                texts.push((line, text.replace("\\\n", " \n")));
                in_comment = false;
            }
            _ => in_comment = false,
        }
        line += text.matches('\n').count();
    }
    texts.into_iter()
}

/// The refused words of a text that starts on `line`.
fn found(name: &str, text: &str, line: usize) -> Vec<Finding> {
    let words = words(text, line);
    let mut findings = Vec::new();
    for (at, &(_, line)) in words.iter().enumerate() {
        for (out, instead) in OUT {
            let mut rest = words[at..].iter();
            if out.split(' ').all(|word| rest.next().is_some_and(|(found, _)| found == word)) {
                let text = format!("\"{out}\" is not idiomatic; write {instead}");
                findings.push(Finding::in_file(name, line, text));
            }
        }
    }
    findings
}

/// The words of a text in lower case, with their lines. Punctuation other than a hyphen or an apostrophe
/// within a word stands as a word of its own, so that a phrase does not reach over it.
fn words(text: &str, first_line: usize) -> Vec<(String, usize)> {
    let mut words = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut word = String::new();
        for c in line.chars().chain([' ']) {
            if c.is_alphanumeric() || matches!(c, '_' | '-' | '\'') {
                word.extend(c.to_lowercase());
                continue;
            }
            if !word.is_empty() {
                words.push((std::mem::take(&mut word), first_line + index));
            }
            if !c.is_whitespace() {
                words.push((c.to_string(), first_line + index));
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, text: &str) -> Vec<String> {
        check(name, text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_word_is_refused_in_comments_strings_and_markdown() {
        for (out, _) in OUT {
            for (name, text) in [
                ("crates/lab/src/a.rs", format!("\n/// It {out} here.\nfn a() {{}}")),
                ("crates/lab/src/a.rs", format!("\nconst A: &str = \"It {out} here\";")),
                ("xtask/src/a.rs", format!("\nfn a() {{}} // {out}")),
                ("crates/lab/README.md", format!("\nIt {out} here.")),
            ] {
                let found = refused(name, &text);
                assert!(found.iter().any(|line| line.contains(&format!("\"{out}\""))), "{text}");
                assert!(found[0].starts_with(&format!("{name}:2: ")), "{found:?}");
            }
        }
    }

    #[test]
    fn a_phrase_is_found_across_lines() {
        let found = refused("crates/lab/src/a.rs", "//! It is held\n//! against that.\n");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(refused("crates/lab/src/a.rs", "const A: &str = \"so \\\n  many\";").len(), 1);
        assert!(refused("crates/lab/src/a.rs", "// It is held.\n\n// Against that.").is_empty());
        assert!(refused("crates/lab/src/a.rs", "// so\nfn many() {} // many").is_empty());
    }

    #[test]
    fn names_in_code_data_and_other_words_pass() {
        for text in [
            "let begun = somebody.anew(begun_ns);",
            "const MARK: &[u8] = b\"the file beside this\";",
            "// The beginning, besides: renewed, `begun_ns`, told apart, somebody_else.",
            "// It is so. Many do.",
        ] {
            assert!(refused("crates/lab/src/a.rs", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn what_is_still_to_do_is_left_alone() {
        let to_do = format!("{}a.rs", TO_DO[0]);
        for name in [to_do.as_str(), "CONTRIBUTING.md", "examples/a.md", "crates/lab/a.txt"] {
            assert!(refused(name, "// anew\n").is_empty(), "{name}");
        }
        for name in ["crates/lab/src/a.rs", "docs/a.md", "README.md"] {
            assert_eq!(refused(name, "// anew\n").len(), 1, "{name}");
        }
    }
}
