//! A mapping of the file with known keys, whose values are read with the expected types.
//!
//! Every reader returns `None` if there is nothing to read or if it was wrong; the mistake is then in
//! the diagnostics. Reading therefore continues to the end of the file, and all mistakes are reported
//! together.

use crate::document::{Node, Value, shortened};
use crate::error::{Diagnostics, Place};
use crate::keys::Keys;
use stormeter_units::nearest;

/// A mapping whose keys are known.
#[derive(Debug)]
pub struct Section<'n> {
    /// Where the mapping starts.
    pub place: Place,
    keys: &'static Keys,
    entries: Vec<(&'n str, Place, &'n Node)>,
}

impl<'n> Section<'n> {
    /// Opens the mapping at `node` and reports its unknown keys. `what` names it in messages.
    pub fn open(
        node: &'n Node,
        what: &str,
        keys: &'static Keys,
        diagnostics: &mut Diagnostics,
    ) -> Option<Section<'n>> {
        let Value::Map(pairs) = &node.value else {
            let first = keys.telling();
            diagnostics.error_at(
                node.place,
                format!(
                    "{what} is a mapping of keys, not {}; write it like {{{}: {}}}",
                    node.found(),
                    first.name,
                    first.example
                ),
            );
            return None;
        };
        let mut entries = Vec::new();
        for (key, value) in pairs {
            let Some(name) = key.text() else {
                diagnostics.error_at(key.place, format!("a key is a word, not {}", key.found()));
                continue;
            };
            if !keys.names().any(|known| known == name) {
                diagnostics.error_at(key.place, unknown_key(name, keys));
            } else if value.value == Value::Nothing && !keys.may_be_empty.contains(&name) {
                let example = keys.example(name);
                diagnostics.error_at(
                    key.place,
                    format!("{name} has no value; write {name}: {example}, or leave it out"),
                );
            } else {
                entries.push((name, key.place, value));
            }
        }
        Some(Section { place: node.place, keys, entries })
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'n Node> {
        debug_assert!(self.keys.names().any(|known| known == key), "{key}");
        self.entries.iter().find(|(name, _, _)| *name == key).map(|&(_, _, node)| node)
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The position of a key's value; of the mapping if the key is not there.
    pub fn place_of(&self, key: &str) -> Place {
        self.get(key).map_or(self.place, |node| node.place)
    }

    /// A text on one line.
    pub fn text(&self, key: &str, diagnostics: &mut Diagnostics) -> Option<&'n str> {
        let node = self.get(key)?;
        let text = node.text().filter(|text| !text.trim().is_empty());
        if text.is_none() {
            self.wrong(key, node, "a text", diagnostics);
        }
        text
    }

    /// One of several words.
    pub fn choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&str, T)],
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        choice(self.get(key)?, key, choices, diagnostics)
    }

    /// `true` or `false`.
    pub fn flag(&self, key: &str, diagnostics: &mut Diagnostics) -> Option<bool> {
        let node = self.get(key)?;
        let text = node.text().unwrap_or_default().to_lowercase();
        let meant = match text.as_str() {
            "true" => return Some(true),
            "false" => return Some(false),
            "yes" | "y" | "on" | "1" => "true",
            "no" | "n" | "off" | "0" => "false",
            _ => {
                self.wrong(key, node, "true or false", diagnostics);
                return None;
            }
        };
        diagnostics
            .error_at(node.place, format!("{key} is true or false; write {meant} for {text}"));
        None
    }

    /// A size in bytes.
    pub fn size(&self, key: &str, diagnostics: &mut Diagnostics) -> Option<u64> {
        crate::scalar::size(self.get(key)?, key, self.keys.example(key), diagnostics)
    }

    /// A size that fits into a request.
    pub fn request_size(&self, key: &str, diagnostics: &mut Diagnostics) -> Option<u32> {
        crate::scalar::request_size(self.get(key)?, key, self.keys.example(key), diagnostics)
    }

    /// A duration in nanoseconds.
    pub fn duration(&self, key: &str, diagnostics: &mut Diagnostics) -> Option<u64> {
        crate::scalar::duration(self.get(key)?, key, self.keys.example(key), diagnostics)
    }

    /// A share from 0 to 100, in per cent.
    pub fn percent(&self, key: &str, diagnostics: &mut Diagnostics) -> Option<f64> {
        crate::scalar::percent(self.get(key)?, key, self.keys.example(key), diagnostics)
    }

    /// A whole number of at least `least`.
    pub fn count(&self, key: &str, least: u32, diagnostics: &mut Diagnostics) -> Option<u32> {
        crate::scalar::count(self.get(key)?, key, least, diagnostics)
    }

    /// One whole number or a list of different ones, each at least 1: the levels of a factor.
    pub fn levels(&self, key: &str, diagnostics: &mut Diagnostics) -> Option<Vec<u32>> {
        let node = self.get(key)?;
        let Value::List(items) = &node.value else {
            let text = node.text().unwrap_or_default();
            let parts: Vec<&str> =
                text.split([' ', ',', ';']).filter(|part| !part.is_empty()).collect();
            if parts.len() > 1 && parts.iter().all(|part| part.parse::<u32>().is_ok()) {
                let list = parts.join(", ");
                diagnostics.error_at(
                    node.place,
                    format!("{key} is a number or a list, not \"{text}\"; write {key}: [{list}]"),
                );
                return None;
            }
            return crate::scalar::count(node, key, 1, diagnostics).map(|one| vec![one]);
        };
        if items.is_empty() {
            self.wrong(key, node, "a number or a list of numbers", diagnostics);
            return None;
        }
        let mut levels = Vec::new();
        for item in items {
            let level = crate::scalar::count(item, key, 1, diagnostics)?;
            if levels.contains(&level) {
                diagnostics
                    .error_at(item.place, format!("{key} has the level {level} twice; keep one"));
                return None;
            }
            levels.push(level);
        }
        Some(levels)
    }

    /// A number.
    pub fn number(&self, key: &str, diagnostics: &mut Diagnostics) -> Option<f64> {
        let node = self.get(key)?;
        let number = node.text().and_then(|text| text.trim().parse::<f64>().ok());
        if number.is_none_or(|number| !number.is_finite()) {
            self.wrong(key, node, "a number", diagnostics);
            return None;
        }
        number
    }

    /// Reports a value that is not what was expected.
    pub fn wrong(&self, key: &str, node: &Node, expected: &str, diagnostics: &mut Diagnostics) {
        let example = self.keys.example(key);
        diagnostics.error_at(
            node.place,
            format!("{key} is {expected}, not {}; write {key}: {example}", node.found()),
        );
    }
}

/// One of several words at `node`.
pub fn choice<T: Copy>(
    node: &Node,
    what: &str,
    choices: &[(&str, T)],
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    let names = || choices.iter().map(|&(name, _)| name);
    let text = node.text().unwrap_or_default();
    if let Some(&(_, chosen)) = choices.iter().find(|(name, _)| *name == text) {
        return Some(chosen);
    }
    let meant =
        nearest(text, names()).map(|name| format!("did you mean {name}? ")).unwrap_or_default();
    diagnostics.error_at(
        node.place,
        format!("{what} cannot be {}; {meant}{what} is {}", node.found(), one_of(names())),
    );
    None
}

/// `a, b or c`.
pub fn one_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<&str> = words.collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => (*only).into(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The message about an unknown key.
fn unknown_key(name: &str, keys: &Keys) -> String {
    let of = keys.of;
    let known: Vec<&str> = keys.names().collect();
    let known = known.join(", ");
    match nearest(name, keys.names()) {
        Some(meant) => format!(
            "{of} has no key \"{}\"; did you mean {meant}? Its keys are {known}",
            shortened(name)
        ),
        None => format!("{of} has no key \"{}\"; its keys are {known}", shortened(name)),
    }
}
