//! Inserts the defaults that apply into the words of a command line.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use stormeter_units::nearest;

use super::file::{Entry, parsed, unknown};
use super::options::{self, ALL, Named};
use super::place::{DefaultsPlace, Variables};
use crate::exit::Failure;
use crate::text_file::read_text;

/// The words of a command line with the defaults that apply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Words {
    /// All words, of which the first is the program.
    pub(crate) all: Vec<OsString>,
    /// Those as they were typed.
    given: Vec<OsString>,
    /// The defaults among them.
    added: Vec<Added>,
    /// The index of the first of these in all words.
    at: usize,
}

/// One default.
#[derive(Debug, Clone, PartialEq)]
struct Added {
    words: Vec<String>,
    /// Where it comes from: the name of a variable, or a file with line and column.
    origin: String,
}

/// The words with the defaults that apply. The definition of the program must be built.
///
/// # Errors
/// The defaults file cannot be read, or it or a variable names what is no option.
pub(crate) fn expanded(
    program: &Command,
    given: Vec<OsString>,
    variables: &Variables,
) -> Result<Words, Failure> {
    let place = DefaultsPlace::of(variables);
    let plain = |given| Words { all: Vec::clone(&given), given, added: Vec::new(), at: 0 };
    // Where the parser stops for help, or nothing is run, nothing needs defaults.
    let lenient = program.clone().ignore_errors(true).try_get_matches_from(&given);
    let (Ok(matches), false) = (lenient, place == DefaultsPlace::Off) else {
        return Ok(plain(given));
    };
    let known = options::commands(program);
    let (name, matches) = innermost(&matches);
    let Some(command) = known.iter().find(|one| one.name == name) else { return Ok(plain(given)) };
    let Some(at) = after_command(&given, &name) else { return Ok(plain(given)) };
    let file = match place.path() {
        Some(path) => {
            let name = path.display().to_string();
            let entries = parsed(&name, &read_text(path, "defaults file")?, program);
            let entries = entries.map_err(|errors| Failure::Usage(errors.to_string()))?;
            of_file(command, &name, entries)
        }
        None => Vec::new(),
    };
    let of_variables = of_variables(command, &known, variables)?;
    let added = applying(command.command, matches, of_variables.into_iter().chain(file));
    let words = added.iter().flat_map(|one| &one.words).map(OsString::from);
    let all = given[..at].iter().cloned().chain(words).chain(given[at..].iter().cloned()).collect();
    Ok(Words { all, given, added, at })
}

impl Words {
    /// The defaults among the words.
    pub(crate) fn added(&self) -> impl Iterator<Item = &String> {
        self.added.iter().flat_map(|one| &one.words)
    }

    /// If the words as typed are fine and a default makes them wrong: what is wrong with it, and where it stands.
    pub(crate) fn mistake(&self, program: &Command) -> Option<String> {
        let parsed = |words: &[OsString]| program.clone().try_get_matches_from(words);
        if parsed(&self.given).is_err() {
            return None;
        }
        self.added.iter().find_map(|one| {
            let (before, after) = self.given.split_at(self.at);
            let words = one.words.iter().map(OsString::from);
            let words: Vec<_> =
                before.iter().cloned().chain(words).chain(after.iter().cloned()).collect();
            let error = parsed(&words).err()?.to_string();
            let first = error.lines().next().unwrap_or_default();
            Some(format!("{}: {}", one.origin, first.strip_prefix("error: ").unwrap_or(first)))
        })
    }
}

/// The command that is run, by all its names, and what is given to it.
fn innermost(matches: &ArgMatches) -> (String, &ArgMatches) {
    let (mut names, mut matches) = (Vec::new(), matches);
    while let Some((name, below)) = matches.subcommand() {
        names.push(name);
        matches = below;
    }
    (names.join(" "), matches)
}

/// The index after the word that names the command. Before it there may be the option that all commands have.
fn after_command(given: &[OsString], name: &str) -> Option<usize> {
    let mut at = 1;
    for name in name.split(' ') {
        let is_value = |index: usize| index > 0 && given[index - 1] == "--color";
        at = 1 + (at..given.len()).find(|index| given[*index] == *name && !is_value(*index))?;
    }
    Some(at)
}

/// A default for one option of the command.
struct Candidate {
    option: String,
    values: Vec<String>,
    origin: String,
}

/// Those of the file, the command's own first.
fn of_file(command: &Named<'_>, name: &str, entries: Vec<Entry>) -> Vec<Candidate> {
    let (own, all): (Vec<Entry>, Vec<Entry>) = entries
        .into_iter()
        .filter(|entry| entry.command == command.name || entry.command == ALL)
        .filter(|entry| options::option(command.command, &entry.option).is_some())
        .partition(|entry| entry.command != ALL);
    let default = |entry: Entry| Candidate {
        origin: format!("{name}:{}:{}", entry.place.line, entry.place.column),
        option: entry.option,
        values: entry.values,
    };
    own.into_iter().chain(all).map(default).collect()
}

/// Those of variables, the command's own first.
fn of_variables(
    command: &Named<'_>,
    known: &[Named<'_>],
    variables: &Variables,
) -> Result<Vec<Candidate>, Failure> {
    let mut found = Vec::new();
    let every: Vec<&Named<'_>> = known.iter().collect();
    for (name, of) in [(command.name.as_str(), &[command][..]), (ALL, &every)] {
        let prefix = format!("STORMETER_{}_", upper(name));
        // A command with commands below it shares the start of their variables.
        let is_alone = of.iter().all(|one| !one.command.has_subcommands()) || name == ALL;
        for (variable, value) in variables {
            let Some(rest) = variable.strip_prefix(&prefix) else { continue };
            let option = rest.to_lowercase().replace('_', "-");
            let of_any = of.iter().find_map(|one| options::option(one.command, &option));
            if of_any.is_none() && is_alone {
                let why = misspelt(name, of, &option, &prefix);
                return Err(Failure::Usage(format!("the variable {variable}: {why}")));
            }
            if let Some(definition) = options::option(command.command, &option) {
                let value = value.to_string_lossy().into_owned();
                if !options::takes_value(definition) && !["true", "false"].contains(&value.as_str())
                {
                    return Err(Failure::Usage(format!(
                        "the variable {variable} is true or false, not \"{value}\""
                    )));
                }
                let origin = format!("the variable {variable}");
                found.push(Candidate { option, values: vec![value], origin });
            }
        }
    }
    Ok(found)
}

/// Why a variable is no default, with the one that may be meant.
fn misspelt(name: &str, of: &[&Named<'_>], option: &str, prefix: &str) -> String {
    let longs = of.iter().flat_map(|one| options::options(one.command)).filter_map(Arg::get_long);
    match nearest(option, longs).filter(|_| !options::is_refused(option)) {
        Some(near) => {
            format!("{name} has no option {option}; did you mean {prefix}{}?", upper(near))
        }
        None => unknown(name, of, option),
    }
}

fn upper(name: &str) -> String {
    name.to_uppercase().replace(['-', ' '], "_")
}

/// The defaults that are neither given nor excluded by what is given, or by a default before them.
fn applying(
    command: &Command,
    matches: &ArgMatches,
    defaults: impl Iterator<Item = Candidate>,
) -> Vec<Added> {
    let is_given = |argument: &&Arg| {
        matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let mut given: Vec<&Arg> = command.get_arguments().filter(is_given).collect();
    let mut added = Vec::new();
    for Candidate { option, values, origin } in defaults {
        let Some(argument) = options::option(command, &option) else { continue };
        if given.iter().any(|other| excludes(command, other, argument)) {
            continue;
        }
        given.push(argument);
        let words: Vec<String> = match options::takes_value(argument) {
            true => values.iter().map(|value| format!("--{option}={value}")).collect(),
            false if values == ["true"] => vec![format!("--{option}")],
            // It is decided, and that is all.
            false => Vec::new(),
        };
        added.push(Added { words, origin });
    }
    added
}

fn excludes(command: &Command, one: &Arg, other: &Arg) -> bool {
    let conflicts = |one: &Arg, other: &Arg| {
        let found = command.get_arg_conflicts_with(one);
        found.iter().any(|conflict| conflict.get_id() == other.get_id())
    };
    one.get_id() == other.get_id() || conflicts(one, other) || conflicts(other, one)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    const FILE: &str = "all: {color: never, quiet: true, seed: 5}\n\
                        compare: {precision: 3%, time-limit: 2m, outstanding: 8, seed: 7}\n";

    fn program() -> Command {
        let mut program = Arguments::command();
        program.build();
        program
    }

    fn with(file: &str, variables: &[(&str, &str)], given: &str) -> Result<Words, Failure> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("defaults.yaml");
        std::fs::write(&path, file).unwrap();
        let file = (super::super::place::VARIABLE.to_owned(), path.into_os_string());
        let all = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
        let variables: Variables = [file].into_iter().chain(all).collect();
        expanded(&program(), given.split(' ').map(OsString::from).collect(), &variables)
    }

    fn words(file: &str, variables: &[(&str, &str)], given: &str) -> String {
        let words = with(file, variables, given).unwrap().all;
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        program().try_get_matches_from(&words).unwrap();
        words.join(" ")
    }

    fn refused(file: &str, variables: &[(&str, &str)], given: &str) -> String {
        with(file, variables, given).unwrap_err().to_string()
    }

    #[test]
    fn what_is_given_comes_before_a_variable_and_that_before_the_file() {
        let variable = ("STORMETER_COMPARE_PRECISION", "4%");
        let compare = |variables: &[_], given: &str| words(FILE, variables, given);
        assert_eq!(
            compare(&[], "stormeter compare a b"),
            "stormeter compare --precision=3% --time-limit=2m --outstanding=8 --seed=7 --color=never --quiet a b"
        );
        assert!(compare(&[variable], "stormeter compare a b").contains("--precision=4% --time"));
        for given in ["--precision 1%", "--precision=1%"] {
            let words = compare(&[variable], &format!("stormeter compare a b {given}"));
            assert_eq!(words.matches("--precision").count(), 1, "{words}");
            assert!(words.ends_with(given), "{words}");
        }
        let quiet = compare(&[("STORMETER_ALL_QUIET", "false")], "stormeter compare a b -q");
        assert_eq!(quiet.matches("quiet").count(), 0, "{quiet}");
        let short =
            compare(&[("STORMETER_COMPARE_WORKLOAD", "vm-8k")], "stormeter compare a b -wvm-4k");
        assert!(!short.contains("vm-8k"), "{short}");
    }

    #[test]
    fn what_is_given_excludes_what_conflicts_with_it() {
        let words = words(FILE, &[], "stormeter compare a b --rate 300");
        assert!(!words.contains("--outstanding"), "{words}");
    }

    #[test]
    fn each_command_has_its_own_defaults_and_those_of_all() {
        assert_eq!(
            words(FILE, &[], "stormeter report r.db"),
            "stormeter report --color=never r.db"
        );
        let file = "lab up: {accelerator: tcg, cold: true}\nlab do: {}";
        let lab = |given: &str| words(file, &[], given);
        assert_eq!(
            lab("stormeter lab up lab.yaml"),
            "stormeter lab up --accelerator=tcg --cold lab.yaml"
        );
        assert_eq!(lab("stormeter lab status"), "stormeter lab status");
        let before = words(FILE, &[], "stormeter --color always run s.yaml");
        assert_eq!(before, "stormeter --color always run --quiet s.yaml");
        let twice =
            words("predict: {what-if: [nic=40GbE, nics=2]}", &[], "stormeter predict s.yaml");
        assert_eq!(twice, "stormeter predict --what-if=nic=40GbE --what-if=nics=2 s.yaml");
    }

    #[test]
    fn help_agents_and_servers_of_our_own_have_none() {
        for given in ["stormeter compare --help", "stormeter agent", "stormeter --version"] {
            let all = with(FILE, &[], given).unwrap().all;
            assert_eq!(all, given.split(' ').map(OsString::from).collect::<Vec<_>>());
        }
        let off = Variables::from([(super::super::place::VARIABLE.to_owned(), OsString::new())]);
        let given: Vec<OsString> = ["stormeter", "compare", "a"].map(OsString::from).into();
        assert_eq!(expanded(&program(), given.clone(), &off).unwrap().all, given);
    }

    #[test]
    fn what_is_unknown_or_destroys_is_refused_with_its_place() {
        for (file, message) in [
            ("compere: {precision: 3%}", "1:1: there is no command compere; did you mean compare?"),
            (
                "compare:\n  presision: 3%",
                "2:3: compare has no option presision; did you mean precision?",
            ),
            ("all: {precison: 3%}", "no command has an option precison; did you mean precision?"),
            ("run: {destroy-data: /dev/sda}", "destroy-data has no default"),
            ("prune: {yes: true}", "yes has no default"),
            ("compare: {output: r.db}", "output has no default"),
            ("all: {html: r.html}", "html has no default"),
            ("compare: {verify: maybe}", "verify is true or false, not \"maybe\""),
            ("compare: {precision: {a: b}}", "precision is a value"),
            ("compare: [precision]", "compare is a mapping, not a list"),
        ] {
            // A mistake is reported whatever command is run.
            let text = refused(file, &[], "stormeter report r.db");
            assert!(text.contains(message), "{text}");
        }
        for (variable, message) in [
            ("STORMETER_COMPARE_PRESISION", "did you mean STORMETER_COMPARE_PRECISION?"),
            ("STORMETER_COMPARE_DESTROY_DATA", "destroy-data has no default"),
            ("STORMETER_ALL_YES", "yes has no default"),
            ("STORMETER_ALL_COLOUR", "did you mean STORMETER_ALL_COLOR?"),
            ("STORMETER_COMPARE_VERIFY", "is true or false"),
        ] {
            let text = refused("", &[(variable, "1")], "stormeter compare a b");
            assert!(text.contains(message) && text.contains(variable), "{text}");
        }
        let other = words("", &[("STORMETER_NET_KEY", "1")], "stormeter net demo");
        assert_eq!(other, "stormeter net demo", "a variable of another purpose");
    }

    #[test]
    fn a_wrong_value_is_reported_with_its_place() {
        let mistake = |file: &str, variables: &[_], given: &str| {
            with(file, variables, given).unwrap().mistake(&program())
        };
        let text = mistake("compare:\n  time-limit: 10", &[], "stormeter compare a b").unwrap();
        assert!(text.contains("defaults.yaml:2:15: ") && text.contains("no unit"), "{text}");
        let variable = ("STORMETER_COMPARE_TIME_LIMIT", "soon");
        let text = mistake("", &[variable], "stormeter compare a b").unwrap();
        assert!(text.starts_with("the variable STORMETER_COMPARE_TIME_LIMIT: "), "{text}");
        assert_eq!(mistake("", &[variable], "stormeter compare a b --bogus"), None, "typed");
        assert_eq!(mistake("", &[], "stormeter compare a b"), None);
    }
}
