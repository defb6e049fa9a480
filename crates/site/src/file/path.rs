//! Parameters by path: `hosts.esx.adapters.nic.rate`.
//!
//! A name may contain dots, so each step takes the longest key that the path continues with.

use stormeter_units::nearest;
use stormeter_yaml::{Diagnostics, Node, Place, Value, shortened};

use super::like::get_mut;
use super::part::all_of;

/// A step from a mapping: the matching key, and the rest of the path.
fn step<'p>(node: &Node, path: &'p str) -> Option<(usize, &'p str)> {
    match &node.value {
        Value::Map(pairs) => pairs
            .iter()
            .enumerate()
            .filter_map(|(index, (key, _))| {
                let rest = path.strip_prefix(key.text()?)?;
                let rest = if rest.is_empty() { rest } else { rest.strip_prefix('.')? };
                Some((index, rest))
            })
            .min_by_key(|(_, rest)| rest.len()),
        Value::List(items) => {
            let (first, rest) = path.split_once('.').unwrap_or((path, ""));
            first.parse().ok().filter(|index| *index < items.len()).map(|index| (index, rest))
        }
        _ => None,
    }
}

/// The node at a path. Missing parts are reported at `place`.
pub(super) fn find<'n>(
    root: &'n Node,
    path: &str,
    place: Place,
    diagnostics: &mut Diagnostics,
) -> Option<&'n Node> {
    let (mut node, mut rest) = (root, path);
    while !rest.is_empty() {
        let Some((index, after)) = step(node, rest) else {
            tell_missing(node, path, rest, place, diagnostics);
            return None;
        };
        node = match &node.value {
            Value::Map(pairs) => &pairs[index].1,
            Value::List(items) => &items[index],
            _ => return None,
        };
        rest = after;
    }
    Some(node)
}

/// The node at a path, mutable, if there is one.
pub(super) fn find_mut<'n>(root: &'n mut Node, path: &str) -> Option<&'n mut Node> {
    let (mut node, mut rest) = (root, path);
    while !rest.is_empty() {
        let (index, after) = step(node, rest)?;
        node = match &mut node.value {
            Value::Map(pairs) => &mut pairs[index].1,
            Value::List(items) => &mut items[index],
            _ => return None,
        };
        rest = after;
    }
    Some(node)
}

/// Sets the value at a path. A key may be new in the mapping of an entry; whether it is valid is
/// checked when the mapping is read.
pub(super) fn put(root: &mut Node, path: &str, value: Node, diagnostics: &mut Diagnostics) {
    let (mut node, mut rest, mut depth) = (root, path, 0);
    loop {
        if rest.is_empty() {
            *node = value;
            return;
        }
        let Some((index, after)) = step(node, rest) else { break };
        rest = after;
        depth += 1;
        node = match &mut node.value {
            Value::Map(pairs) => &mut pairs[index].1,
            Value::List(items) => &mut items[index],
            _ => return,
        };
    }
    let place = value.place;
    let text = |text: &str| Node { place, value: Value::Text(text.into()) };
    // A cache that is not written out exists, but is empty.
    if let Some(key) = rest.strip_prefix("cache.").filter(|_| depth == 2) {
        if let Value::Map(pairs) = &mut node.value {
            pairs.push((text("cache"), Node { place, value: Value::Map(Vec::new()) }));
        }
        if let Some(cache) = get_mut(node, "cache") {
            return put(cache, key, value, diagnostics);
        }
    }
    match &mut node.value {
        Value::Map(pairs) if depth >= 1 && !rest.contains('.') && has_keys(path, depth) => {
            pairs.push((text(rest), value));
        }
        _ => tell_missing(node, path, rest, place, diagnostics),
    }
}

/// Whether the mapping at this depth of a path has keys rather than names of entries.
fn has_keys(path: &str, depth: usize) -> bool {
    match path.split('.').next() {
        Some("client") => true,
        _ => depth >= 2 && !path.contains(".adapters.") && !path.contains(".ports.") || depth >= 4,
    }
}

fn tell_missing(node: &Node, path: &str, rest: &str, place: Place, diagnostics: &mut Diagnostics) {
    let before = path.strip_suffix(rest).unwrap_or_default().trim_end_matches('.');
    let owner = if before.is_empty() { "the site" } else { before };
    let first = rest.split('.').next().unwrap_or(rest);
    let message = match &node.value {
        Value::Map(pairs) => {
            let names = || pairs.iter().filter_map(|(key, _)| key.text());
            let meant = nearest(first, names()).map(|name| format!("did you mean {name}? I"));
            format!(
                "{owner} has no {}; {}t has {}",
                shortened(first),
                meant.unwrap_or("i".into()),
                all_of(names())
            )
        }
        Value::List(items) => {
            format!("{owner} is a list of {}; count from 0", items.len())
        }
        _ => format!("{owner} has no parts, so there is no {} in it", shortened(first)),
    };
    diagnostics.error_at(place, message);
}
