//! A named mapping of the lab: its title in messages, and its required keys.

use stormeter_units::nearest;
use stormeter_yaml::{Diagnostics, Keys, Node, Place, Section, Value, one_of, shortened};

use super::keys::NOT_YET;

/// An entry of a section of named mappings.
pub(super) struct Entry<'n> {
    pub(super) name: &'n str,
    pub(super) place: Place,
    pub(super) node: &'n Node,
}

/// Opens the mapping at `node`. Keys that a rack has and a lab does not are reported as unsupported,
/// not as misspelled.
pub(super) fn open<'n>(
    node: &'n Node,
    what: &str,
    keys: &'static Keys,
    diagnostics: &mut Diagnostics,
) -> Option<Section<'n>> {
    let before = diagnostics.count();
    if let Value::Map(pairs) = &node.value {
        let not_yet = NOT_YET.iter().find(|(of, _)| *of == keys.schema).map_or(&[][..], |(_, w)| w);
        for (key, _) in pairs {
            if let Some(word) = key.text().filter(|text| not_yet.contains(text)) {
                diagnostics.error_at(
                    key.place,
                    format!("{} cannot have {word} yet; remove it for now", keys.of),
                );
            }
        }
    }
    if diagnostics.count() == before {
        return Section::open(node, what, keys, diagnostics);
    }
    // Already reported; the rest is read all the same.
    let mut others = Diagnostics::default();
    Section::open(node, what, keys, &mut others)
}

/// The entries of a section; names that processes, files or devices cannot have are reported.
pub(super) fn entries<'n>(
    node: Option<&'n Node>,
    kind: &str,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Entry<'n>> {
    let Some(node) = node else { return Vec::new() };
    let Value::Map(pairs) = &node.value else {
        let found = node.found();
        diagnostics.error_at(
            node.place,
            format!("each {kind} has a name with what it is, not {found}; write {example}"),
        );
        return Vec::new();
    };
    let mut entries = Vec::new();
    for (key, value) in pairs {
        let name = key.text().unwrap_or_default();
        if is_name(name) {
            entries.push(Entry { name, place: key.place, node: value });
            continue;
        }
        let found = key.found();
        diagnostics.error_at(
            key.place,
            format!(
                "the name of a {kind} begins with a letter and has at most 24 small letters, digits \
                 and -, unlike {found}; write {example}"
            ),
        );
    }
    entries
}

fn is_name(name: &str) -> bool {
    name.len() <= 24
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The index in `names` of what the node refers to, a `kind` for `owner`.
pub(super) fn link(
    node: &Node,
    owner: &str,
    kind: &str,
    names: &[&str],
    diagnostics: &mut Diagnostics,
) -> Option<usize> {
    let Some(text) = node.text().map(str::trim) else {
        diagnostics
            .error_at(node.place, format!("{owner} names one {kind} here, not {}", node.found()));
        return None;
    };
    if let Some(index) = names.iter().position(|name| *name == text) {
        return Some(index);
    }
    let advice = match nearest(text, names.iter().copied()) {
        _ if names.is_empty() => "there is none".into(),
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("it may be {}", one_of(names.iter().copied())),
    };
    let text = shortened(text);
    diagnostics.error_at(
        node.place,
        format!("{owner} cannot be resolved: there is no {kind} {text}; {advice}"),
    );
    None
}

/// A required key.
pub(super) fn needed<'n>(
    section: &Section<'n>,
    owner: &str,
    place: Place,
    key: &'static str,
    keys: &'static Keys,
    diagnostics: &mut Diagnostics,
) -> Option<&'n Node> {
    let node = section.get(key);
    if node.is_none() {
        let example = keys.example(key);
        diagnostics.error_at(place, format!("{owner} has no {key}; write {key}: {example}"));
    }
    node
}
