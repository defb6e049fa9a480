//! `hosts`: who carries out the trials, and how each is reached.

use stormeter_yaml::{Faults, Node, Section, Value, nearest, shortened};

use super::datastores::check_name;
use super::keys;
use crate::study_plan::StudyHost;

const EXAMPLE: &str = "hosts: {esx1: \"ssh:root@esx1\", here: local}";
/// More processes than one machine leads without getting in its own way.
const MOST: usize = 1000;
/// The ways to a host: what the text begins with, and how it goes on.
const WAYS: [(&str, &str); 4] = [
    ("local", "local"),
    ("ssh:", "ssh:user@host or ssh:user@host:port"),
    ("command:", "\"command: kubectl exec -i pod -- stormeter agent\""),
    ("lab:", "lab:NAME"),
];

/// The hosts in the order of the file; none where the file names none.
pub(super) fn read(study: &Section<'_>, faults: &mut Faults) -> Vec<StudyHost> {
    let Some(node) = study.get("hosts") else { return Vec::new() };
    let pairs = match &node.value {
        Value::Map(pairs) if !pairs.is_empty() => pairs,
        Value::Map(_) => {
            faults.at(node.place, format!("no host is named; write {EXAMPLE}, or leave hosts out"));
            return Vec::new();
        }
        _ => {
            let found = node.found();
            faults.at(
                node.place,
                format!("hosts are names with the ways to them, not {found}; write {EXAMPLE}"),
            );
            return Vec::new();
        }
    };
    if pairs.len() > MOST {
        faults.at(
            node.place,
            format!("{} hosts are more than the {MOST} that one machine can lead", pairs.len()),
        );
        return Vec::new();
    }
    let mut hosts = Vec::new();
    for (key, value) in pairs {
        let Some(name) = key.text() else {
            let found = key.found();
            faults.at(key.place, format!("the name of a host is a word, not {found}"));
            continue;
        };
        check_name("a host", name, key, faults);
        if let Some(reached_by) = way(name, value, faults) {
            hosts.push(StudyHost { name: name.into(), reached_by });
        }
    }
    hosts
}

/// The way to a host, as text.
fn way(name: &str, node: &Node, faults: &mut Faults) -> Option<String> {
    if let Value::Map(_) = &node.value {
        let section = Section::open(node, &format!("host {name}"), &keys::HOST, faults)?;
        let command = section.text("command", faults)?;
        return check(name, &format!("command: {command}"), node, faults);
    }
    check(name, node.text().unwrap_or_default(), node, faults)
}

fn check(name: &str, text: &str, node: &Node, faults: &mut Faults) -> Option<String> {
    let text = text.trim();
    let found = WAYS
        .iter()
        .find(|(way, _)| if way.ends_with(':') { text.starts_with(way) } else { text == *way });
    let fault = match found {
        None => {
            let word = text.split(':').next().unwrap_or_default();
            let words = WAYS.iter().map(|(way, _)| way.trim_end_matches(':'));
            let meant = nearest(word, words).map(|word| format!("did you mean {word}? Write "));
            let forms: Vec<&str> = WAYS.iter().map(|(_, form)| *form).collect();
            format!(
                "host {name} is reached by {}, which is no way to a host; {}{}",
                if text.is_empty() { node.found() } else { format!("\"{}\"", shortened(text)) },
                meant.unwrap_or_else(|| "write ".into()),
                forms.join(", ")
            )
        }
        Some((way, form)) if way.ends_with(':') => {
            let rest = text[way.len()..].trim();
            // What begins with a dash would be an option of ssh.
            if !rest.is_empty() && !rest.starts_with('-') && !text.contains(char::is_control) {
                return Some(format!("{way}{}{rest}", if *way == "command:" { " " } else { "" }));
            }
            format!("the way to host {name} says not where; write {form}")
        }
        Some(_) => return Some(text.to_owned()),
    };
    faults.at(node.place, fault);
    None
}
