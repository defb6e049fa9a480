//! Rules for text files of any kind.

use super::finding::Finding;

/// Reminders that would be forgotten. Written in two parts, or this file itself would be found.
const REMINDERS: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];

/// Directories that exist on one person's machine only.
const PLACES: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Checks the lines of a file against the rules.
pub(crate) fn check(name: &str, text: &str) -> Vec<Finding> {
    if name.ends_with(".lock") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut found = |text: String| findings.push(Finding::in_file(name, index + 1, text));
        for word in REMINDERS.iter().filter(|word| has(line, word, is_word, is_word)) {
            found(format!("{word}: do it now, or open an issue"));
        }
        for place in PLACES.iter().filter(|place| has(line, place, is_path, |_| false)) {
            found(format!(
                "{place} exists on one machine only; use a path that means the same anywhere"
            ));
        }
    }
    findings
}

/// Whether `word` occurs in the line as a whole word.
fn has(line: &str, word: &str, before: fn(char) -> bool, after: fn(char) -> bool) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let previous = line[..at].chars().next_back();
        let next = line[at + word.len()..].chars().next();
        !previous.is_some_and(before) && !next.is_some_and(after)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Characters that make it a later part of another path.
fn is_path(c: char) -> bool {
    is_word(c) || matches!(c, '.' | '-' | '~' | '}' | ')')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        check(name, text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn reminders_are_found_as_words_only() {
        for word in REMINDERS {
            let lines = found("a.toml", &format!("a\n# {word}: later"));
            assert_eq!(lines.len(), 1, "{word}");
            assert!(lines[0].starts_with("a.toml:2: "), "{lines:?}");
        }
        assert!(found("a.sh", "mktemp /tmp/a.XXXXXX").is_empty());
    }

    #[test]
    fn places_on_one_machine_are_found() {
        for place in PLACES {
            assert_eq!(found("a.md", &format!("see {place}a")).len(), 1, "{place}");
            assert_eq!(found("a.md", &format!("{place}a")).len(), 1, "{place}");
            assert!(found("a.md", &format!("see net{place}a, ../b{place}")).is_empty(), "{place}");
            assert!(found("Cargo.lock", place).is_empty());
        }
        assert!(found("a.md", "stormeter compare /srv/vm /mnt/nas").is_empty());
    }
}
