//! A mapping of the site with its name: its title in messages, and its required keys.

use stormeter_units::nearest;
use stormeter_yaml::{Diagnostics, Keys, Node, Place, Section, Value, shortened};

use super::value::At;

/// A named mapping.
pub(super) struct Part<'n> {
    section: Section<'n>,
    keys: &'static Keys,
    /// As in `host group esx`.
    pub(super) name: String,
    /// The position of its name.
    pub(super) place: Place,
}

impl<'n> Part<'n> {
    /// Opens the mapping at `node`, whose name is at `place`.
    pub(super) fn open(
        node: &'n Node,
        place: Place,
        name: impl Into<String>,
        keys: &'static Keys,
        diagnostics: &mut Diagnostics,
    ) -> Option<Part<'n>> {
        let name = name.into();
        if node.value == Value::Nothing {
            let keys = all_of(keys.names());
            diagnostics.error_at(place, format!("{name} has nothing in it; its keys are {keys}"));
            return None;
        }
        let section = Section::open(node, &name, keys, diagnostics)?;
        Some(Part { section, keys, name, place })
    }

    /// The value of a key.
    pub(super) fn node(&self, key: &str) -> Option<&'n Node> {
        self.section.get(key)
    }

    /// The position of a key's value, or else of the mapping's name.
    pub(super) fn place_of(&self, key: &str) -> Place {
        self.node(key).map_or(self.place, |node| node.place)
    }

    /// The value of a required key.
    pub(super) fn needed(&self, key: &str, diagnostics: &mut Diagnostics) -> Option<&'n Node> {
        let node = self.node(key);
        // Keys are not missing if an unresolved `like` might have provided them.
        let is_like_something = self.keys.names().any(|k| k == "like") && self.section.has("like");
        if node.is_none() && !is_like_something {
            let example = self.keys.example(key);
            diagnostics.error_at(
                self.place,
                format!("{} has no {key}; write {key}: {example}", self.name),
            );
        }
        node
    }

    /// Reads an optional key.
    pub(super) fn get<T>(
        &self,
        key: &'static str,
        read: fn(At<'_, '_>, &mut Diagnostics) -> Option<T>,
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        read(self.at(key)?, diagnostics)
    }

    /// Reads a required key.
    pub(super) fn need<T>(
        &self,
        key: &'static str,
        read: fn(At<'_, '_>, &mut Diagnostics) -> Option<T>,
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        self.needed(key, diagnostics)?;
        self.get(key, read, diagnostics)
    }

    /// A value with its description for messages.
    pub(super) fn at(&self, key: &'static str) -> Option<At<'n, 'static>> {
        Some(At { node: self.node(key)?, key, example: self.keys.example(key) })
    }

    /// One of several words.
    pub(super) fn choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&str, T)],
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        self.section.choice(key, choices, diagnostics)
    }

    /// The index in `names` of what a key refers to, a `kind` of `of`; an unknown name is reported.
    pub(super) fn link(
        &self,
        key: &str,
        kind: &str,
        of: &str,
        names: &[String],
        diagnostics: &mut Diagnostics,
    ) -> Option<usize> {
        link(self.node(key)?, &self.name, kind, of, names, diagnostics)
    }
}

/// The owner of the parts that most references name.
pub(super) const THE_SITE: &str = "the site";

/// The index in `names` of what `node` refers to, on behalf of `owner`.
pub(super) fn link(
    node: &Node,
    owner: &str,
    kind: &str,
    of: &str,
    names: &[String],
    diagnostics: &mut Diagnostics,
) -> Option<usize> {
    let Some(text) = node.text().map(str::trim) else {
        diagnostics
            .error_at(node.place, format!("{owner} names one {kind} here, not {}", node.found()));
        return None;
    };
    if let Some(index) = names.iter().position(|name| name == text) {
        return Some(index);
    }
    // A section that could not be read has no names; its own mistake has been reported already.
    if names.is_empty() && !diagnostics.is_empty() {
        return None;
    }
    let known = || names.iter().map(String::as_str);
    let advice = match nearest(text, known()) {
        _ if names.is_empty() => "it has none".into(),
        Some(meant) => format!("did you mean {meant}? It has {}", all_of(known())),
        None => format!("it has {}", all_of(known())),
    };
    let text = shortened(text);
    diagnostics.error_at(
        node.place,
        format!("{owner} cannot be resolved: {of} has no {kind} {text}; {advice}"),
    );
    None
}

/// `a, b and c`.
pub(super) fn all_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<&str> = words.collect();
    match words.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        words => words.concat(),
    }
}

/// The entries of a section of named mappings: name, its position, value. Names that messages and
/// tables could not show are reported.
pub(super) fn entries<'n>(
    node: Option<&'n Node>,
    kind: &str,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<(&'n str, Place, &'n Node)> {
    let Some(node) = node else { return Vec::new() };
    let Value::Map(pairs) = &node.value else {
        let found = node.found();
        diagnostics.error_at(
            node.place,
            format!("each {kind} has a name with its keys, not {found}; write {example}"),
        );
        return Vec::new();
    };
    let mut entries = Vec::new();
    for (key, value) in pairs {
        let name = key.text().map(str::trim).unwrap_or_default();
        if name.is_empty() || name.chars().count() > 64 || name.contains(char::is_control) {
            let found = key.found();
            diagnostics.error_at(
                key.place,
                format!("the name of a {kind} is a word of at most 64 characters, not {found}"),
            );
            continue;
        }
        entries.push((name, key.place, value));
    }
    entries
}

/// The names of the entries.
pub(super) fn names(entries: &[(&str, Place, &Node)]) -> Vec<String> {
    entries.iter().map(|(name, _, _)| (*name).to_owned()).collect()
}
