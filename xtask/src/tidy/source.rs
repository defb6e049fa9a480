//! A Rust file, and which parts of it are for tests only.

use std::path::{Path, PathBuf};

use super::token::{Token, tokens};

/// One Rust file.
pub(crate) struct Source {
    /// Relative to the root.
    pub(crate) name: String,
    /// The text of the file.
    pub(crate) text: String,
    pub(crate) tokens: Vec<Token>,
    /// Ranges of tokens (start, exclusive end) that are for tests only.
    for_tests: Vec<(usize, usize)>,
}

impl Source {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let tokens = tokens(text);
        let for_tests = ranges_for_tests(&tokens);
        Self { name: name.to_owned(), text: text.to_owned(), tokens, for_tests }
    }

    pub(crate) fn is_for_tests(&self, token: usize) -> bool {
        self.for_tests.iter().any(|(from, to)| (*from..*to).contains(&token))
    }

    /// The paths, without `.rs`, of the modules that this file includes for tests only.
    pub(crate) fn modules_for_tests(&self) -> Vec<PathBuf> {
        let path = Path::new(&self.name);
        let Some(directory) = path.parent() else { return vec![] };
        let stem = path.file_stem().unwrap_or_default();
        let below = match stem.to_str() {
            Some("lib" | "main" | "mod") => directory.to_path_buf(),
            _ => directory.join(stem),
        };
        let mut modules = Vec::new();
        for (from, to) in &self.for_tests {
            let item = &self.tokens[*from..*to];
            let [.., keyword, name, end] = item else { continue };
            if keyword.text != "mod" || end.text != ";" {
                continue;
            }
            modules.push(match Self::path_attribute(item) {
                Some(file) => directory.join(file).with_extension(""),
                None => below.join(&name.text),
            });
        }
        modules
    }

    /// The value of `#[path = "…"]`.
    fn path_attribute(item: &[Token]) -> Option<&str> {
        let [_, _, path] =
            item.windows(3).find(|words| words[0].text == "path" && words[1].text == "=")?
        else {
            return None;
        };
        Some(path.text.trim_matches('"'))
    }
}

/// The items under `#[cfg(test)]`, or the whole file under `#![cfg(test)]`.
fn ranges_for_tests(tokens: &[Token]) -> Vec<(usize, usize)> {
    const ITEM: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    const FILE: [&str; 8] = ["#", "!", "[", "cfg", "(", "test", ")", "]"];
    if (0..tokens.len()).any(|at| is_at(tokens, at, &FILE)) {
        return vec![(0, tokens.len())];
    }
    (0..tokens.len())
        .filter(|at| is_at(tokens, *at, &ITEM))
        .map(|at| (at, item_end(tokens, at + ITEM.len())))
        .collect()
}

/// Whether the tokens from a position on are these words.
pub(crate) fn is_at(tokens: &[Token], at: usize, words: &[&str]) -> bool {
    tokens
        .get(at..at + words.len())
        .is_some_and(|tokens| tokens.iter().zip(words).all(|(token, word)| token.text == *word))
}

/// The position after the first semicolon outside brackets, or after the item's braces.
fn item_end(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, for_tests: bool) -> Vec<String> {
        let source = Source::new("src/lib.rs", text);
        let some = |(at, token): (usize, &Token)| {
            let is_word = token.text.starts_with(char::is_alphabetic);
            (source.is_for_tests(at) == for_tests && is_word).then(|| token.text.clone())
        };
        source.tokens.iter().enumerate().filter_map(some).collect()
    }

    #[test]
    fn what_stands_under_cfg_test_is_for_tests_and_no_more() {
        let text = "a(); #[cfg(test)] mod tests { fn b() { [1; 2]; } } c";
        assert_eq!(words(text, false), ["a", "c"]);
        let text = "#[cfg(test)] use b::{c, d}; e #[cfg(test)] fn f(x: [u8; 2]) {} g";
        assert_eq!(words(text, false), ["e", "g"]);
        assert_eq!(words("#![cfg(test)] a {} b", false), Vec::<String>::new());
        assert_eq!(words("#[cfg(unix)] a { } b", true), Vec::<String>::new());
    }

    #[test]
    fn modules_for_tests_in_other_files_are_found() {
        let modules = |name: &str, text: &str| Source::new(name, text).modules_for_tests();
        assert_eq!(modules("a/src/lib.rs", "#[cfg(test)] mod b;"), [Path::new("a/src/b")]);
        assert_eq!(modules("a/src/c.rs", "#[cfg(test)] mod b;"), [Path::new("a/src/c/b")]);
        let text = "#[cfg(test)]\n#[path = \"c_tests.rs\"]\nmod tests;";
        assert_eq!(modules("a/src/c.rs", text), [Path::new("a/src/c_tests")]);
        assert!(modules("a/src/lib.rs", "mod b; #[cfg(test)] mod c {}").is_empty());
    }
}
