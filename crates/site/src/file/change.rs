//! Applies changes from outside to the tree.

use stormeter_yaml::{Diagnostics, Node, Place, Value, document};

use super::form::{CHANGES, FORM};
use super::host::{CREDITS, is_fibre_channel};
use super::like::{get, get_mut};
use super::path::{find_mut, put};
use crate::overrides::Override;

/// Applies changes of `like` before entries are expanded: they determine what is taken over.
pub(super) fn change_likes(root: &mut Node, changes: &[Override], diagnostics: &mut Diagnostics) {
    for (index, change) in changes.iter().enumerate() {
        if change.path().ends_with(".like")
            && let Some(value) = value(index, change, diagnostics)
        {
            put(root, change.path(), value, diagnostics);
        }
    }
}

/// Applies all other changes, in order.
pub(super) fn change(root: &mut Node, changes: &[Override], diagnostics: &mut Diagnostics) {
    for (index, change) in changes.iter().enumerate() {
        if change.path().ends_with(".like") {
            continue;
        }
        let Some(value) = value(index, change, diagnostics) else { continue };
        if !change.is_word() {
            if let Some(adapter) = change.path().strip_suffix(".rate")
                && let Some(adapter) = find_mut(root, adapter)
            {
                keep_kind(adapter, value.place);
            }
            put(root, change.path(), value, diagnostics);
            continue;
        }
        let place = value.place;
        if by_word(root, change.path(), &value) == 0 {
            diagnostics.error_at(
                place,
                format!("{change} changes nothing, because the site has none of that"),
            );
        }
    }
}

/// The value of a change as a tree whose positions are in the change's text.
fn value(index: usize, change: &Override, diagnostics: &mut Diagnostics) -> Option<Node> {
    let text = change.value();
    let column = change.path().chars().count() + 2;
    let width = text.chars().count();
    let place = Place { source: CHANGES, line: index + 1, column, width };
    if !text.starts_with(['{', '[']) {
        return Some(Node { place, value: Value::Text(text.trim_matches('"').into()) });
    }
    let mut wrong = Diagnostics::default();
    let Some(mut node) = document(text, CHANGES, &FORM, &mut wrong) else {
        diagnostics.error_at(
            place,
            format!("{change} is not valid YAML; look for a missing bracket or comma"),
        );
        return None;
    };
    shift(&mut node, index, column - 1);
    Some(node)
}

fn shift(node: &mut Node, lines: usize, columns: usize) {
    node.place.line += lines;
    node.place.column += columns;
    match &mut node.value {
        Value::Map(pairs) => {
            for (key, value) in pairs {
                shift(key, lines, columns);
                shift(value, lines, columns);
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| shift(item, lines, columns)),
        _ => {}
    }
}

/// Sets a key, new or not.
fn set(entry: &mut Node, key: &str, value: &Node) -> usize {
    if let Some(node) = get_mut(entry, key) {
        *node = value.clone();
        return 1;
    }
    let Value::Map(pairs) = &mut entry.value else { return 0 };
    pairs.push((Node { place: value.place, value: Value::Text(key.into()) }, value.clone()));
    1
}

/// The entries of a section.
fn entries<'n>(root: &'n mut Node, section: &str) -> Vec<(String, &'n mut Node)> {
    match get_mut(root, section).map(|node| &mut node.value) {
        Some(Value::Map(pairs)) => pairs
            .iter_mut()
            .map(|(name, entry)| (name.text().unwrap_or_default().to_owned(), entry))
            .collect(),
        _ => Vec::new(),
    }
}

/// The values of a key in all entries of a section: the names they refer to.
fn named(root: &mut Node, section: &str, key: &str) -> Vec<String> {
    let entries = entries(root, section);
    let text = |entry: &mut Node| get(entry, key).and_then(Node::text).map(str::to_owned);
    entries.into_iter().filter_map(|(_, entry)| text(entry)).collect()
}

/// A rate may be given in bytes per second, if a fit sets it or a fraction of the old one is
/// requested; the kind of adapter is then kept by adding its credits.
fn keep_kind(adapter: &mut Node, place: Place) {
    if is_fibre_channel(adapter) && get(adapter, "credits").is_none() {
        set(adapter, "credits", &Node { place, value: Value::Text(CREDITS.to_string()) });
    }
}

/// Applies a short word; returns how many values it changed.
fn by_word(root: &mut Node, word: &str, value: &Node) -> usize {
    let every = |root: &mut Node, section: &str, key: &str| -> usize {
        entries(root, section).into_iter().map(|(_, entry)| set(entry, key, value)).sum()
    };
    let some = |root: &mut Node, names: Vec<String>, key: &str| -> usize {
        let hosts = entries(root, "hosts").into_iter();
        hosts.filter(|(name, _)| names.contains(name)).map(|(_, host)| set(host, key, value)).sum()
    };
    let ports = |root: &mut Node, section: &str, within: &str, key: &str, fibre: bool| -> usize {
        let mut changed = 0;
        for (_, owner) in entries(root, section) {
            for (_, adapter) in entries(owner, within) {
                if is_fibre_channel(adapter) == fibre {
                    keep_kind(adapter, value.place);
                    changed += set(adapter, key, value);
                }
            }
        }
        changed
    };
    let all_ports = |root: &mut Node, key: &str, fibre: bool| {
        ports(root, "hosts", "adapters", key, fibre)
            + ports(root, "controllers", "ports", key, fibre)
    };
    match word {
        "nic" => all_ports(root, "rate", false),
        "mtu" => all_ports(root, "mtu", false),
        "hba" => all_ports(root, "rate", true),
        "nics" => ports(root, "hosts", "adapters", "count", false),
        "cores" => every(root, "hosts", "cores"),
        "hosts" | "vms-per-host" => {
            let names = named(root, "datastores", "hosts");
            some(root, names, if word == "hosts" { "count" } else { word })
        }
        "nodes" => {
            let names = named(root, "clusters", "nodes");
            some(root, names, "count")
        }
        "controllers" => every(root, "controllers", "count"),
        "disks" => every(root, "disk-groups", "disks"),
        "groups" => every(root, "disk-groups", "groups"),
        "read-cache" => {
            let mut changed = 0;
            for (_, controller) in entries(root, "controllers") {
                let empty = Node { place: value.place, value: Value::Map(Vec::new()) };
                if get(controller, "cache").is_none() {
                    set(controller, "cache", &empty);
                }
                changed +=
                    get_mut(controller, "cache").map_or(0, |cache| set(cache, "read", value));
            }
            let of_clusters = entries(root, "clusters").into_iter();
            let with = of_clusters.filter(|(_, cluster)| get(cluster, "read-cache").is_some());
            changed + with.map(|(_, cluster)| set(cluster, "read-cache", value)).sum::<usize>()
        }
        "write-memory" => set(root, word, value),
        "stripes" | "replicas" => {
            let datastores = entries(root, "datastores").into_iter();
            let spread = datastores.filter(|(_, datastore)| get(datastore, "cluster").is_some());
            spread.map(|(_, datastore)| set(datastore, word, value)).sum()
        }
        _ => 0,
    }
}
