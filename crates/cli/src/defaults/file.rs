//! The defaults file: commands with their options, by their long names.
//!
//! ```yaml
//! all: {color: never}
//! compare: {time-limit: 2m, precision: 3%}
//! lab up: {accelerator: tcg}
//! ```
//!
//! Every command and every option is checked, whatever command is running; a value is checked when it is used.

use clap::Command;
use stormeter_units::nearest;
use stormeter_yaml::{Diagnostics, FileErrors, Form, Node, Place, Source, Value, document};

use super::options::{self, ALL, Named};

const FORM: Form = Form {
    name: "a defaults file",
    holds: "defaults",
    levels: "three",
    empty: "the file is empty; write defaults such as {compare: {precision: 3%}}",
    hint: |_| None,
};

/// A default in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The command, such as `compare` or `lab up`; `all` for all that have the option.
    pub(crate) command: String,
    /// The long name of the option.
    pub(crate) option: String,
    /// Its value; several for an option that may be repeated. `true` or `false` for a flag.
    pub(crate) values: Vec<String>,
    /// Where the value stands.
    pub(crate) place: Place,
}

/// The defaults in a file called `name`. The definition of the program must be built.
///
/// # Errors
/// All mistakes, each with its place.
pub(crate) fn parsed(name: &str, text: &str, program: &Command) -> Result<Vec<Entry>, FileErrors> {
    let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if text.lines().all(is_blank) {
        return Ok(Vec::new());
    }
    let mut diagnostics = Diagnostics::default();
    let entries = match document(text, 0, &FORM, &mut diagnostics) {
        Some(node) => commands(&node, &options::commands(program), &mut diagnostics),
        None => Vec::new(),
    };
    if diagnostics.is_empty() {
        return Ok(entries);
    }
    Err(diagnostics.into_errors(&[Source { name, text }]).in_file(name))
}

fn commands(node: &Node, known: &[Named<'_>], diagnostics: &mut Diagnostics) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (key, value) in pairs(node, "the file", "compare: {precision: 3%}", diagnostics) {
        let Some(name) = key.text() else { continue };
        let of_command: Vec<&Named<'_>> =
            known.iter().filter(|one| name == ALL || one.name == name).collect();
        if of_command.is_empty() {
            let names = known.iter().map(|one| one.name.as_str()).chain([ALL]);
            let meant = match nearest(name, names) {
                Some(near) => format!("did you mean {near}?"),
                None => "write a command, such as compare or \"lab up\", or all".into(),
            };
            diagnostics.error_at(key.place, format!("there is no command {name}; {meant}"));
        } else if value.value != Value::Nothing {
            for (key, value) in pairs(value, name, "precision: 3%", diagnostics) {
                entries.extend(option((name, &of_command), key, value, diagnostics));
            }
        }
    }
    entries
}

/// The pairs of a mapping; `what` names it in messages.
fn pairs<'n>(
    node: &'n Node,
    what: &str,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> &'n [(Node, Node)] {
    match &node.value {
        Value::Map(pairs) => pairs,
        _ => {
            let found = node.found();
            let message = format!("{what} is a mapping, not {found}; write it like {{{example}}}");
            diagnostics.error_at(node.place, message);
            &[]
        }
    }
}

fn option(
    (command, known): (&str, &[&Named<'_>]),
    key: &Node,
    value: &Node,
    diagnostics: &mut Diagnostics,
) -> Option<Entry> {
    let name = key.text()?;
    let found = known.iter().find_map(|one| options::option(one.command, name));
    let Some(found) = found else {
        diagnostics.error_at(key.place, unknown(command, known, name));
        return None;
    };
    let expected = match options::takes_value(found) {
        true => "a value as it is typed",
        false => "true or false",
    };
    let values = match &value.value {
        Value::Text(text) => Some(vec![text.clone()]),
        Value::List(nodes) if options::takes_value(found) => {
            nodes.iter().map(|node| node.text().map(String::from)).collect()
        }
        _ => None,
    };
    let is_fine = |values: &Vec<String>| {
        options::takes_value(found)
            || values.iter().all(|it| ["true", "false"].contains(&it.as_str()))
    };
    let values = values.filter(is_fine);
    if values.is_none() {
        let message = format!("{name} is {expected}, not {}", value.found());
        diagnostics.error_at(value.place, message);
    }
    Some(Entry {
        command: command.into(),
        option: name.into(),
        values: values?,
        place: value.place,
    })
}

/// Why an option has no default.
pub(super) fn unknown(command: &str, known: &[&Named<'_>], name: &str) -> String {
    if options::is_refused(name) {
        return format!("{name} has no default: it must be typed each time");
    }
    let names = known.iter().flat_map(|one| options::options(one.command));
    let meant = match nearest(name, names.filter_map(|option| option.get_long())) {
        Some(near) => format!("did you mean {near}?"),
        None => "write the long name of an option, without the dashes".into(),
    };
    match command {
        ALL => format!("no command has an option {name}; {meant}"),
        command => format!("{command} has no option {name}; {meant}"),
    }
}
