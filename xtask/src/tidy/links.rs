//! Links in Markdown: their files and headings have to exist, on the repository's pages and in the book.
//!
//! The book holds `docs/` only, so a page there links to nothing outside of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::finding::Finding;

/// What the book is made of.
const BOOK: &str = "docs/";
/// Its table of contents.
const SUMMARY: &str = "docs/SUMMARY.md";

/// What the rules need to know of a document.
struct Document {
    /// Targets with their lines.
    links: Vec<(String, usize)>,
    /// The headings as links name them.
    anchors: BTreeSet<String>,
}

/// Checks the links of all documents, by name and text; `files` are those of the repository.
pub(crate) fn check(documents: &[(String, String)], files: &[PathBuf]) -> Vec<Finding> {
    let parsed: BTreeMap<&str, Document> =
        documents.iter().map(|(name, text)| (name.as_str(), Document::of(text))).collect();
    let mut findings = Vec::new();
    for (name, document) in &parsed {
        for (target, line) in &document.links {
            if let Some(wrong) = broken(name, target, &parsed, files) {
                findings.push(Finding::in_file(name, *line, format!("link to {target}: {wrong}")));
            }
        }
    }
    findings.extend(unlisted(&parsed));
    findings
}

/// Why a link leads nowhere; `None` if it leads somewhere, or to another site.
fn broken(
    from: &str,
    target: &str,
    documents: &BTreeMap<&str, Document>,
    files: &[PathBuf],
) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let place = match path {
        "" => from.to_owned(),
        _ => below_root(&Path::new(from).parent()?.join(path)),
    };
    if !files.iter().any(|file| file.starts_with(&place)) {
        return Some(format!("{place} does not exist"));
    }
    if from.starts_with(BOOK) && !place.starts_with(BOOK) {
        return Some(format!("the book holds {BOOK} only; name the path without a link"));
    }
    let document = documents.get(place.as_str()).filter(|_| !anchor.is_empty())?;
    (!document.anchors.contains(anchor)).then(|| format!("{place} has no such heading"))
}

/// The path without `.` and `..`.
fn below_root(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = parts.pop(),
            Component::Normal(part) => parts.extend(part.to_str()),
            _ => {}
        }
    }
    parts.join("/")
}

/// Pages of the book that its table of contents leaves out.
fn unlisted(documents: &BTreeMap<&str, Document>) -> Vec<Finding> {
    let Some(summary) = documents.get(SUMMARY) else { return Vec::new() };
    let listed: BTreeSet<String> =
        summary.links.iter().map(|(target, _)| format!("{BOOK}{target}")).collect();
    let pages = documents.keys().filter(|name| name.starts_with(BOOK) && **name != SUMMARY);
    let missing = pages.filter(|name| !listed.contains(**name));
    missing
        .map(|name| Finding::in_file(name, 1, format!("is not in the book; add it to {SUMMARY}")))
        .collect()
}

impl Document {
    fn of(text: &str) -> Self {
        let mut document = Self { links: Vec::new(), anchors: BTreeSet::new() };
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    let line = text[..range.start].matches('\n').count() + 1;
                    document.links.push((dest_url.into_string(), line));
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    document.add_heading(&heading.take().unwrap_or_default());
                }
                Event::Text(text) | Event::Code(text) => {
                    heading.iter_mut().for_each(|words| words.push_str(&text));
                }
                _ => {}
            }
        }
        document
    }

    /// Headings are named alike by repository hosts and by mdBook; the second of a name gets a number.
    fn add_heading(&mut self, words: &str) {
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let name: String =
            kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let numbered = (1..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let free = names.find(|name| !self.anchors.contains(name));
        self.anchors.extend(free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(documents: &[(&str, &str)]) -> Vec<String> {
        let owned: Vec<(String, String)> =
            documents.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        let names = documents.iter().map(|(name, _)| *name).chain(["studies/a/plan.yaml"]);
        let files: Vec<PathBuf> = names.map(PathBuf::from).collect();
        check(&owned, &files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let text = "# A `b`: c, d!\n\n[a](studies/) [b](./studies/a/plan.yaml) [c](#a-b-c-d)\n\
                    [d](https://example.org/x) [e](docs/b.md#two-1) `[f](none.md)`\n\n\
                    ```\n[g](none.md)\n```\n";
        let page = "# Two\n## Two\n[up](b.md)\n";
        assert_eq!(found(&[("README.md", text), ("docs/b.md", page)]), Vec::<String>::new());
    }

    #[test]
    fn links_that_lead_nowhere_are_found_with_their_lines() {
        let text =
            "# A\n\n[a](none.md)\n![b](docs/none.png)\n\n| t |\n|---|\n| [c](docs/b.md#none) |\n";
        let lines = found(&[("README.md", text), ("docs/b.md", "# B\n\n[up](../README.md#a)\n")]);
        let starts = ["README.md:3: ", "README.md:4: ", "README.md:8: ", "docs/b.md:3: "];
        assert_eq!(lines.len(), starts.len(), "{lines:?}");
        for (line, start) in lines.iter().zip(starts) {
            assert!(line.starts_with(start), "{lines:?}");
        }
        assert!(lines[3].contains("the book holds docs/ only"), "{lines:?}");
    }

    #[test]
    fn a_page_that_the_book_leaves_out_is_found() {
        let summary = (SUMMARY, "- [A](a.md)\n");
        let lines = found(&[summary, ("docs/a.md", "# A"), ("docs/b.md", "# B")]);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("docs/b.md:1: "), "{lines:?}");
    }
}
