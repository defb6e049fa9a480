//! Tidiness as a test: what reviewers would otherwise have to repeat.
//!
//! Each finding names the place and what to do. The rules do not know where files come from, so
//! that each can be tested on a few lines.

mod circles;
mod finding;
mod licences;
mod links;
mod message_rules;
mod rust_rules;
mod source;
mod text_rules;
mod token;
mod words;

use std::path::PathBuf;

pub(crate) use finding::Finding;
use source::Source;

use crate::changelog;
use crate::layer_picture;
use crate::layers;
use crate::metadata;
use crate::repository::Repository;
use crate::steps;

/// Without these, the licence in the manifests refers to nothing.
const LICENCE_FILES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

const CHANGELOG: &str = "CHANGELOG.md";

/// The chore `tidy`; with `--write` it first redraws what is drawn from tables.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    match arguments {
        [] => {}
        [word] if word == "--write" => {
            let path = repository.root.join(layer_picture::FILE);
            let text = layer_picture::redrawn(&architecture(repository)?)
                .ok_or("ARCHITECTURE.md has no place for the picture of the layers")?;
            std::fs::write(&path, text)
                .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        }
        _ => return Err("tidy takes --write or nothing".into()),
    }
    println!("tidy: {}", check(repository)?);
    Ok(())
}

fn architecture(repository: &Repository) -> Result<String, String> {
    let path = repository.root.join(layer_picture::FILE);
    std::fs::read_to_string(&path)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))
}

/// Checks the repository against all rules.
pub(crate) fn check(repository: &Repository) -> steps::Finding {
    let files = repository.files()?;
    let mut findings = Vec::new();
    let mut sources = Vec::new();
    let mut documents = Vec::new();
    for path in &files {
        let name = path.to_string_lossy();
        let bytes = std::fs::read(repository.root.join(path))
            .map_err(|error| format!("{name} cannot be read: {error}"))?;
        // Binary files have no lines to check.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        findings.extend(text_rules::check(&name, &text));
        findings.extend(words::check(&name, &text));
        if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(Source::new(&name, &text));
        }
        if path.extension().is_some_and(|extension| extension == "md") {
            documents.push((name.into_owned(), text));
        }
    }
    findings.extend(links::check(&documents, &files));
    let for_tests = sources.iter().flat_map(Source::modules_for_tests).collect::<Vec<PathBuf>>();
    for source in &sources {
        findings.extend(rust_rules::check(source, &for_tests));
    }
    findings.extend(circles::check(&sources, &for_tests));
    let packages = metadata::packages(repository)?;
    findings.extend(layers::check(&packages));
    findings.extend(layers::check_unused(&packages));
    findings.extend(layer_picture::check(&architecture(repository)?));
    let deny = repository.root.join("deny.toml");
    let deny = std::fs::read_to_string(&deny)
        .map_err(|error| format!("{} cannot be read: {error}", deny.display()))?;
    findings.extend(licences::check(&packages, &deny));
    for name in LICENCE_FILES {
        if !repository.has(name) {
            findings.push(Finding::in_file(name, 1, "is missing; add the licence's text".into()));
        }
    }
    let changelog = repository.root.join(CHANGELOG);
    let changelog = std::fs::read_to_string(&changelog)
        .map_err(|error| format!("{} cannot be read: {error}", changelog.display()))?;
    let dated = changelog::check(&changelog, env!("CARGO_PKG_VERSION"));
    findings.extend(dated.err().map(|text| Finding::in_file(CHANGELOG, 1, text)));
    if findings.is_empty() {
        return Ok(format!("{} files, {} packages", files.len(), packages.len()));
    }
    let lines: Vec<String> = findings.iter().map(|finding| format!("  {finding}")).collect();
    Err(format!("{} findings\n{}", findings.len(), lines.join("\n")))
}
