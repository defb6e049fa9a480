//! Reads `datastores` and `baseline`.

use super::keys;
use crate::study_plan::NamedDatastore;
use stormeter_units::nearest;
use stormeter_yaml::Diagnostics;
use stormeter_yaml::has_password;
use stormeter_yaml::{Node, Value, shortened};
use stormeter_yaml::{Section, one_of};

/// The message about the unquoted URL `null:`.
pub(super) const UNQUOTED_NULL_URL: &str =
    "the URL null: ends in a colon, which YAML takes for a key; put it in quotes: \"null:\"";

const EXAMPLE: &str = "datastores: {local: /srv/vm, nas: \"nfs://nas1/export/vm\"}";

/// The datastores in the order of the file; mistakes go to `diagnostics`.
pub(super) fn read(study: &Section<'_>, diagnostics: &mut Diagnostics) -> Vec<NamedDatastore> {
    let Some(node) = study.get("datastores") else {
        diagnostics.error_at(study.place, format!("a study needs datastores; write {EXAMPLE}"));
        return Vec::new();
    };
    let pairs = match &node.value {
        Value::Map(pairs) if !pairs.is_empty() => pairs,
        Value::List(_) | Value::Text(_) => {
            let found = node.found();
            diagnostics.error_at(
                node.place,
                format!("datastores are names with URLs, not {found}; give each a name: {EXAMPLE}"),
            );
            return Vec::new();
        }
        _ => {
            diagnostics.error_at(study.place, format!("no datastore is named; write {EXAMPLE}"));
            return Vec::new();
        }
    };
    let mut datastores: Vec<NamedDatastore> = Vec::new();
    for (key, value) in pairs {
        let Some(name) = key.text() else {
            diagnostics.error_at(
                key.place,
                format!("the name of a datastore is a word, not {}; write {EXAMPLE}", key.found()),
            );
            continue;
        };
        check_name("a datastore", name, key, diagnostics);
        let (url, ceiling) = urls(name, key, value, diagnostics);
        let url = url.unwrap_or_default();
        datastores.push(NamedDatastore {
            name: name.into(),
            url,
            site_changes: Vec::new(),
            ceiling,
            hosts: Vec::new(),
        });
    }
    check_ceilings(pairs, &datastores, diagnostics);
    datastores
}

/// A ceiling lacks the limits of everything that is compared: it cannot be one of the compared
/// datastores.
fn check_ceilings(
    pairs: &[(Node, Node)],
    datastores: &[NamedDatastore],
    diagnostics: &mut Diagnostics,
) {
    for of in datastores {
        let is_same = |other: &&NamedDatastore| Some(&other.url) == of.ceiling.as_ref();
        let Some(same) = datastores.iter().find(is_same) else { continue };
        let at = pairs.iter().find(|(key, _)| key.text() == Some(&of.name));
        let place = at.map_or_else(Default::default, |(_, value)| value.place);
        diagnostics.error_at(
            place,
            format!(
                "the ceiling of {} is the datastore {}; name one that is reached in the same way and has no \
                 limit of its own, such as a LUN in memory",
                of.name, same.name
            ),
        );
    }
}

/// The URL of a datastore, and that of its ceiling.
fn urls(
    name: &str,
    key: &Node,
    value: &Node,
    diagnostics: &mut Diagnostics,
) -> (Option<String>, Option<String>) {
    let (node, ceiling) = match &value.value {
        Value::Map(pairs) => {
            // To YAML, the unquoted URL `null:` is the key null without a value.
            if let [(inner, rest)] = pairs.as_slice()
                && inner.value == Value::Nothing
                && rest.value == Value::Nothing
            {
                diagnostics.error_at(value.place, UNQUOTED_NULL_URL);
                return (None, None);
            }
            let of = format!("datastore {name}");
            let Some(section) = Section::open(value, &of, &keys::DATASTORE, diagnostics) else {
                return (None, None);
            };
            let Some(node) = section.get("url") else {
                if pairs.is_empty() {
                    diagnostics.error_at(
                        value.place,
                        format!("datastore {name} has no url; write {EXAMPLE}"),
                    );
                }
                return (None, None);
            };
            let ceiling = section.get("ceiling");
            (
                node,
                ceiling.and_then(|node| {
                    url((&format!("the ceiling of {name}"), "ceiling"), node, node, diagnostics)
                }),
            )
        }
        _ => (value, None),
    };
    (url((&format!("datastore {name}"), name), key, node, diagnostics), ceiling)
}

/// The URL of something that has a name in the file; `key` is the key that should have it.
fn url(
    (of, name): (&str, &str),
    key: &Node,
    node: &Node,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let text = node.text().map(str::trim).unwrap_or_default();
    if text.is_empty() {
        let place = if node.value == Value::Nothing { key.place } else { node.place };
        let message = match node.value {
            Value::List(_) => {
                format!("{of} has one URL, not a list; give each URL a name of its own")
            }
            _ => format!(
                "{of} has no URL; write {name}: /srv/vm (and the datastore that keeps nothing in \
                 quotes: {name}: \"null:\")"
            ),
        };
        diagnostics.error_at(place, message);
        return None;
    }
    if has_password(text) {
        diagnostics.error_at(
            node.place,
            "a password has no place in a study file, which is stored with the results and passed \
             on; remove it from the URL, and give password-file=FILE as an option of the URL, or \
             STORMETER_ISCSI_PASSWORD in the environment",
        );
        return None;
    }
    Some(text.into())
}

/// The index of the baseline; the first datastore by default.
pub(super) fn baseline(
    study: &Section<'_>,
    datastores: &[NamedDatastore],
    diagnostics: &mut Diagnostics,
) -> usize {
    let Some(node) = study.get("baseline") else { return 0 };
    let names = || datastores.iter().map(|datastore| datastore.name.as_str());
    let text = node.text().unwrap_or_default();
    if let Some(index) = names().position(|name| name == text) {
        return index;
    }
    if datastores.is_empty() {
        return 0;
    }
    let by_url = datastores.iter().find(|datastore| datastore.url == text && !text.is_empty());
    let meant = by_url.map(|datastore| datastore.name.as_str()).or_else(|| nearest(text, names()));
    let meant = meant.map(|name| format!("did you mean {name}? ")).unwrap_or_default();
    diagnostics.error_at(
        node.place,
        format!(
            "the baseline {} is none of the datastores; {meant}Write baseline: {}",
            node.found(),
            one_of(names())
        ),
    );
    0
}

/// Names appear in tables, questions and messages: they must be one line, without the quotes used
/// in questions.
pub(super) fn check_name(of: &str, name: &str, node: &Node, diagnostics: &mut Diagnostics) {
    const MOST: usize = 64;
    let message = if name.trim().is_empty() {
        format!("{of} has an empty name; give it one such as nas")
    } else if name.trim() != name || name.contains(|c: char| c.is_control() || "\"'`".contains(c)) {
        format!(
            "the name \"{}\" has quotes, line ends or spaces around it, which questions could not \
             name; remove them",
            shortened(name)
        )
    } else if name.chars().count() > MOST {
        format!("the name \"{}\" is longer than {MOST} characters; shorten it", shortened(name))
    } else {
        return;
    };
    diagnostics.error_at(node.place, message);
}
