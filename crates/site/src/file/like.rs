//! Expands `like`: an entry takes over the keys of another one, from the file or the library; its
//! own keys take precedence.
//!
//! This is done on the tree, before values are read, so that what is taken over is checked as if it
//! were written there.

use stormeter_units::nearest;
use stormeter_yaml::{Diagnostics, Node, Value, document, shortened};

use super::form::{FORM, LIBRARY};
use super::part::all_of;
use crate::library::library_text;

type Pairs = Vec<(Node, Node)>;

/// The deepest chain of `like`; a deeper one is a mistake.
const MOST_STEPS: usize = 16;

/// Sections whose entries may use `like`, and the matching section of the library.
const SECTIONS: [(&str, Option<&str>); 7] = [
    ("hosts", Some("hosts")),
    ("stacks", None),
    ("networks", None),
    ("disk-groups", None),
    ("controllers", Some("controllers")),
    ("clusters", None),
    ("datastores", None),
];

/// Mappings of adapters and single devices within entries: section, key, library section, and
/// whether the key holds one entry or several named ones.
const WITHIN: [(&str, &str, &str, bool); 5] = [
    ("hosts", "adapters", "adapters", false),
    ("controllers", "ports", "adapters", false),
    ("disk-groups", "device", "devices", true),
    ("clusters", "cache", "devices", true),
    ("clusters", "capacity", "devices", true),
];

/// The value of a key of a mapping.
pub(super) fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Value::Map(pairs) = &node.value else { return None };
    pairs.iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
}

/// Like [`get`], but mutable.
pub(super) fn get_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let Value::Map(pairs) = &mut node.value else { return None };
    pairs.iter_mut().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
}

fn pairs_of(node: Option<&Node>) -> &[(Node, Node)] {
    match node.map(|node| &node.value) {
        Some(Value::Map(pairs)) => pairs,
        _ => &[],
    }
}

/// Whether there is a `like` anywhere.
fn has_like(node: &Node) -> bool {
    match &node.value {
        Value::Map(pairs) => {
            pairs.iter().any(|(key, value)| key.text() == Some("like") || has_like(value))
        }
        Value::List(items) => items.iter().any(has_like),
        _ => false,
    }
}

/// Expands every `like` of a site. If its base is not found, the `like` stays.
pub(super) fn expand(root: &mut Node, diagnostics: &mut Diagnostics) {
    if !has_like(root) {
        return;
    }
    let library = document(library_text(), LIBRARY, &FORM, diagnostics);
    let of_library = |name: &str| pairs_of(library.as_ref().and_then(|node| get(node, name)));
    for (section, library) in SECTIONS {
        let kind = match section {
            "disk-groups" => "disk group",
            _ => section.trim_end_matches('s'),
        };
        let library = library.map_or(&[][..], of_library);
        if let Some(node) = get_mut(root, section) {
            expand_entries(node, &Source { kind, library }, diagnostics);
        }
    }
    for (section, key, library, is_one) in WITHIN {
        let source = Source { kind: library.trim_end_matches('s'), library: of_library(library) };
        let Some(Value::Map(entries)) = get_mut(root, section).map(|node| &mut node.value) else {
            continue;
        };
        for (_, entry) in entries {
            match get_mut(entry, key) {
                Some(node) if is_one => {
                    let mut steps = vec![String::new()];
                    *node = source.whole(node, &[], &mut steps, diagnostics);
                }
                Some(node) => expand_entries(node, &source, diagnostics),
                None => {}
            }
        }
    }
}

/// Where entries of one kind come from.
struct Source<'l> {
    /// What messages call an entry.
    kind: &'l str,
    library: &'l [(Node, Node)],
}

fn expand_entries(node: &mut Node, source: &Source<'_>, diagnostics: &mut Diagnostics) {
    let Value::Map(pairs) = &node.value else { return };
    let whole: Pairs = pairs
        .iter()
        .map(|(name, entry)| {
            let mut steps = vec![name.text().unwrap_or_default().to_owned()];
            (name.clone(), source.whole(entry, pairs, &mut steps, diagnostics))
        })
        .collect();
    node.value = Value::Map(whole);
}

impl Source<'_> {
    /// The entry with everything that it takes over; `steps` are the names from the first entry to
    /// this one.
    fn whole(
        &self,
        entry: &Node,
        siblings: &[(Node, Node)],
        steps: &mut Vec<String>,
        diagnostics: &mut Diagnostics,
    ) -> Node {
        let Some(like) = get(entry, "like") else { return entry.clone() };
        let Value::Map(own) = &entry.value else { return entry.clone() };
        let name = like.text().unwrap_or_default().trim();
        let find = |entries: &[(Node, Node)]| {
            entries.iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value.clone())
        };
        // An entry may be like the library entry with the same name.
        let is_itself = steps.last().is_some_and(|last| last == name);
        let found = find(siblings).filter(|_| !is_itself);
        let base = match found {
            Some(_) if steps.iter().any(|step| step == name) => {
                self.tell_circle(like, name, steps, diagnostics);
                return entry.clone();
            }
            Some(_) if steps.len() > MOST_STEPS => {
                diagnostics
                    .error_at(like.place, format!("like goes over more than {MOST_STEPS} entries"));
                return entry.clone();
            }
            Some(found) => {
                steps.push(name.to_owned());
                let whole = self.whole(&found, siblings, steps, diagnostics);
                steps.pop();
                whole
            }
            None => match find(self.library) {
                Some(found) => found,
                None => {
                    self.tell_unknown(like, siblings, steps, diagnostics);
                    return entry.clone();
                }
            },
        };
        // If the base has an unresolved `like`, it is kept, so that its keys are not reported as missing.
        let is_own = |key: &Node| {
            key.text() != Some("like") && own.iter().any(|(known, _)| known.text() == key.text())
        };
        let mut pairs: Pairs =
            own.iter().filter(|(key, _)| key.text() != Some("like")).cloned().collect();
        pairs.extend(pairs_of(Some(&base)).iter().filter(|(key, _)| !is_own(key)).cloned());
        Node { place: entry.place, value: Value::Map(pairs) }
    }

    /// Once per cycle: reported for the alphabetically first of its entries.
    fn tell_circle(
        &self,
        like: &Node,
        name: &str,
        steps: &[String],
        diagnostics: &mut Diagnostics,
    ) {
        let begin = steps.iter().position(|step| step == name).unwrap_or(0);
        let circle = &steps[begin..];
        if begin == 0 && circle.iter().min().is_some_and(|first| first == name) {
            let way = circle.join(", which is like ");
            diagnostics.error_at(
                like.place,
                format!("{way}, which is like {name}: a circle; write one of them out"),
            );
        }
    }

    fn tell_unknown(
        &self,
        like: &Node,
        siblings: &[(Node, Node)],
        steps: &[String],
        diagnostics: &mut Diagnostics,
    ) {
        let kind = self.kind;
        let Some(name) = like.text().map(str::trim) else {
            let found = like.found();
            diagnostics.error_at(like.place, format!("like names one {kind}, not {found}"));
            return;
        };
        let names = |entries: &[(Node, Node)]| -> Vec<String> {
            entries.iter().filter_map(|(key, _)| key.text().map(str::to_owned)).collect()
        };
        let mut known = names(siblings);
        known.retain(|name| steps.last() != Some(name));
        known.extend(names(self.library));
        let all = || known.iter().map(String::as_str);
        let advice = match nearest(name, all()) {
            _ if known.is_empty() => "there is none; write the keys out".into(),
            Some(meant) => format!("did you mean {meant}? There is {}", all_of(all())),
            None => format!("there is {}", all_of(all())),
        };
        let no_other = match steps.last().is_some_and(|last| last == name) {
            true => format!("no {kind} is called {} but itself", shortened(name)),
            false => format!("no {kind} is called {}", shortened(name)),
        };
        diagnostics.error_at(like.place, format!("{no_other}; {advice}"));
    }
}
