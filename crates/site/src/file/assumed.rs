//! Reads `assumed`: which values of a site are unknown, and what else they may plausibly be. Defaults that a file leaves
//! to this reader are assumed, too, as far as they can decide a prediction.
//!
//! A prediction is repeated with each of the other values, so that an answer which rests on one of them can say so.

use serde::{Deserialize, Serialize};
use stormeter_yaml::{Diagnostics, Node, Value};

use super::fit::{items, open};
use super::keys;
use super::like::get;
use super::path::find;
use super::value;
use crate::overrides::Override;
use crate::unit::Quantity;

/// A value of a site that is assumed, and the other values that it may plausibly have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assumption {
    /// Its path in the site file.
    pub parameter: String,
    /// Paths of parameters that always have the same value.
    pub with: Vec<String>,
    /// The value, in the notation of site files.
    pub value: String,
    /// The others, in the same notation.
    pub others: Vec<String>,
    /// Whether the file leaves it to the default.
    pub is_default: bool,
}

impl Assumption {
    /// The changes that give the parameter, and those linked to it, another value.
    pub fn changed_to(&self, other: &str) -> Vec<Override> {
        let paths = std::iter::once(&self.parameter).chain(&self.with);
        paths.map(|path| Override::at(path, other.into())).collect()
    }
}

/// A default that can decide a prediction and that no data sheet gives.
struct AssumedDefault {
    section: &'static str,
    /// The mapping in an entry that the key belongs to; `None`: the entry itself.
    within: Option<&'static str>,
    key: &'static str,
    /// Whether the mapping is one that the key applies to.
    applies: fn(&Node) -> bool,
    value: &'static str,
    others: &'static [&'static str],
}

fn has_write_memory(cache: &Node) -> bool {
    let text = get(cache, "write").and_then(Node::text).map(str::trim);
    text.is_some_and(|text| Quantity::parse(text).is_some_and(|quantity| quantity.value > 0.0))
}

fn is_flash(device: &Node) -> bool {
    get(device, "kind").and_then(Node::text).is_some_and(|kind| kind.trim() == "ssd")
}

/// These defaults, with the reason for their other values.
const DEFAULTS: [AssumedDefault; 5] = [
    // One request after another with its parity, and the 32 commands of a disk's own queue (SATA NCQ).
    AssumedDefault {
        section: "controllers",
        within: Some("cache"),
        key: "destage-depth",
        applies: has_write_memory,
        value: "16",
        others: &["2", "32"],
    },
    // Battery-backed controllers destage all the time or when hardly any room is left.
    AssumedDefault {
        section: "controllers",
        within: Some("cache"),
        key: "destage-from",
        applies: has_write_memory,
        value: "50%",
        others: &["10%", "90%"],
    },
    // Nearly empty, and as full as people let it become.
    AssumedDefault {
        section: "disk-groups",
        within: Some("device"),
        key: "filled",
        applies: is_flash,
        value: "50%",
        others: &["10%", "90%"],
    },
    AssumedDefault {
        section: "clusters",
        within: Some("cache"),
        key: "filled",
        applies: is_flash,
        value: "50%",
        others: &["10%", "90%"],
    },
    AssumedDefault {
        section: "clusters",
        within: Some("capacity"),
        key: "filled",
        applies: is_flash,
        value: "50%",
        others: &["10%", "90%"],
    },
];

/// The defaults that this site leaves open.
fn defaults(root: &Node) -> Vec<Assumption> {
    let of_section = |one: &AssumedDefault| {
        let entries = match get(root, one.section).map(|node| &node.value) {
            Some(Value::Map(pairs)) => pairs.as_slice(),
            _ => &[],
        };
        let own = entries.iter().filter_map(|(name, entry)| {
            let within = one.within.map_or(Some(entry), |within| get(entry, within))?;
            if !(one.applies)(within) || get(within, one.key).is_some() {
                return None;
            }
            let within = one.within.map(|within| format!("{within}.")).unwrap_or_default();
            Some(Assumption {
                parameter: format!("{}.{}.{within}{}", one.section, name.text()?, one.key),
                with: Vec::new(),
                value: one.value.into(),
                others: one.others.iter().map(|other| String::from(*other)).collect(),
                is_default: true,
            })
        });
        own.collect::<Vec<_>>()
    };
    DEFAULTS.iter().flat_map(of_section).collect()
}

/// Reads what is assumed of the site in `root`, in the order of the file; then follow the defaults. `written` is the file
/// without changes from outside, if there are any: a value that a change sets is no longer assumed.
pub(super) fn assumed(
    root: &Node,
    written: Option<&Node>,
    node: Option<&Node>,
    diagnostics: &mut Diagnostics,
) -> Vec<Assumption> {
    let mut all: Vec<Assumption> = Vec::new();
    for item in items(node, "assumed", diagnostics) {
        let Some(one) = assumption(written.unwrap_or(root), item, diagnostics) else { continue };
        if all.iter().any(|known| known.parameter == one.parameter) {
            let message = format!("{} is assumed twice; keep one", one.parameter);
            diagnostics.error_at(item.place, message);
        }
        all.push(one);
    }
    all.retain(|one| is_as_written(root, one));
    all.extend(defaults(root));
    all
}

/// Whether the site has the value that the file assumes.
fn is_as_written(root: &Node, one: &Assumption) -> bool {
    let mut unheard = Diagnostics::default();
    let place = root.place;
    let found = find(root, &one.parameter, place, &mut unheard);
    found.and_then(Node::text).is_some_and(|text| text.trim() == one.value)
}

fn assumption(root: &Node, item: &Node, diagnostics: &mut Diagnostics) -> Option<Assumption> {
    let part = open(item, &keys::ASSUMED, diagnostics)?;
    let path = part.need("parameter", value::word, diagnostics);
    let others = part.need("plausible", value::words, diagnostics);
    let path = path?;
    let place = part.place_of("parameter");
    let node = find(root, &path, place, diagnostics)?;
    let Some(stands) = node.text().map(str::trim) else {
        let found = node.found();
        diagnostics.error_at(place, format!("{path} is {found}; only a value can be assumed"));
        return None;
    };
    let unit = Quantity::parse(stands).map(|quantity| quantity.unit);
    let fits = |text: &str| match (unit, Quantity::parse(text)) {
        (Some(unit), Some(other)) => other.unit == unit || other.value == 0.0,
        _ => true,
    };
    let mut plausible = Vec::new();
    for node in others? {
        let Some(text) = node.text().map(str::trim) else { continue };
        if text == stands {
            let message = format!("{path} is {text} already; name other values");
            diagnostics.error_at(node.place, message);
        } else if !fits(text) {
            let message = format!("{path} is {stands}, and {text} has another unit");
            diagnostics.error_at(node.place, message);
        }
        plausible.push(text.to_owned());
    }
    let mut with = Vec::new();
    for node in part.get("with", value::words, diagnostics).into_iter().flatten() {
        let Some(path) = node.text() else { continue };
        let other = find(root, path, node.place, diagnostics)?;
        if other.text().map(str::trim) != Some(stands) {
            let message = format!("{path} is {}, not {stands}, so they differ", other.found());
            diagnostics.error_at(node.place, message);
        }
        with.push(path.to_owned());
    }
    Some(Assumption {
        parameter: path,
        with,
        value: stands.to_owned(),
        others: plausible,
        is_default: false,
    })
}
