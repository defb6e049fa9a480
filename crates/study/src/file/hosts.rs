//! Reads `hosts`: which machines run the trials, and how each is reached.

use stormeter_units::nearest;
use stormeter_yaml::{Diagnostics, Node, Place, Section, Value, shortened};

use super::datastores::check_name;
use super::keys;
use crate::reach::{Reach, ReachError};
use crate::study_plan::StudyHost;

const EXAMPLE: &str = "hosts: {esx1: \"ssh:root@esx1\", here: local}";
/// More processes than one machine can control without disturbing itself.
const MOST: usize = 1000;
/// The hosts in the order of the file; empty if the file has none.
pub(super) fn read(study: &Section<'_>, diagnostics: &mut Diagnostics) -> Vec<StudyHost> {
    let Some(node) = study.get("hosts") else { return Vec::new() };
    let pairs = match &node.value {
        Value::Map(pairs) if !pairs.is_empty() => pairs,
        Value::Map(_) => {
            diagnostics.error_at(
                node.place,
                format!("no host is named; write {EXAMPLE}, or leave hosts out"),
            );
            return Vec::new();
        }
        _ => {
            let found = node.found();
            diagnostics.error_at(
                node.place,
                format!("hosts are names with the ways to them, not {found}; write {EXAMPLE}"),
            );
            return Vec::new();
        }
    };
    if pairs.len() > MOST {
        diagnostics.error_at(
            node.place,
            format!("{} hosts are more than the {MOST} that one machine can lead", pairs.len()),
        );
        return Vec::new();
    }
    let mut hosts = Vec::new();
    for (key, value) in pairs {
        let Some(name) = key.text() else {
            let found = key.found();
            diagnostics.error_at(key.place, format!("the name of a host is a word, not {found}"));
            continue;
        };
        check_name("a host", name, key, diagnostics);
        if let Some((reached_by, address)) = way(name, value, diagnostics) {
            hosts.push(StudyHost { name: name.into(), reached_by, address });
        }
    }
    hosts
}

/// How a host is reached, and its address if one is given.
fn way(name: &str, node: &Node, diagnostics: &mut Diagnostics) -> Option<(Reach, Option<String>)> {
    let Value::Map(_) = &node.value else {
        let way = check(name, node.text().unwrap_or_default(), node, diagnostics)?;
        return Some((way, None));
    };
    let before = diagnostics.count();
    let section = Section::open(node, &format!("host {name}"), &keys::HOST, diagnostics)?;
    let (command, ssh) = (section.text("command", diagnostics), section.text("ssh", diagnostics));
    let address = match section.text("address", diagnostics) {
        Some(text) => Some(address(name, text.trim(), section.place_of("address"), diagnostics)?),
        None => None,
    };
    let way = match (command, ssh) {
        (Some(command), None) => format!("command: {command}"),
        (None, Some(ssh)) => format!("ssh:{ssh}"),
        (found, _) => {
            let fault = match found {
                Some(_) => "has command and ssh, and is reached by one; take the other out",
                None => "does not say how it is reached; write command: … or ssh: user@host",
            };
            // A misspelled key, or a value that is not text, has been reported.
            if diagnostics.count() == before {
                diagnostics.error_at(section.place, format!("host {name} {fault}"));
            }
            return None;
        }
    };
    Some((check(name, &way, node, diagnostics)?, address))
}

/// `host` or `host:port`; an IPv6 address with a port is in brackets.
fn address(name: &str, text: &str, place: Place, diagnostics: &mut Diagnostics) -> Option<String> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_host = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || c == '/');
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if is_host && is_port {
        return Some(text.to_owned());
    }
    diagnostics.error_at(
        place,
        format!(
            "the address of host {name} is a name or an address with or without a port, not \"{}\"; \
             write address: 10.0.0.5, or address: \"10.0.0.5:7878\"",
            shortened(text)
        ),
    );
    None
}

fn check(name: &str, text: &str, node: &Node, diagnostics: &mut Diagnostics) -> Option<Reach> {
    let text = text.trim();
    let fault = match text.parse() {
        Ok(reach) => return Some(reach),
        Err(ReachError::Unknown) => {
            let word = text.split(':').next().unwrap_or_default();
            let words = Reach::FORMS.iter().map(|(word, _)| *word);
            let meant = nearest(word, words).map(|word| format!("did you mean {word}? Write "));
            format!(
                "host {name} cannot be reached by {}; {}{}",
                if text.is_empty() { node.found() } else { format!("\"{}\"", shortened(text)) },
                meant.unwrap_or_else(|| "write ".into()),
                Reach::FORMS.map(|(_, form)| form).join(", ")
            )
        }
        Err(ReachError::Nowhere { form }) => {
            format!("the transport of host {name} names no destination; write {form}")
        }
    };
    diagnostics.error_at(node.place, fault);
    None
}
