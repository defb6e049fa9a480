//! Which options may have defaults.

use clap::{Arg, Command};

/// Options without a default: what destroys data, and files to write, of which there would be one for all runs. Where
/// results go is the directory of results.
const NEVER: &[&str] = &[
    "agent-binary",
    "destroy-data",
    "dir",
    "help",
    "html",
    "journal",
    "junit",
    "listen",
    "markdown",
    "new-key",
    "output",
    "reports",
    "rerun-base",
    "resume",
    "verbose",
    "version",
    "write",
    "yes",
];

/// The key in the file, and the word in variables, for whatever command has the option.
pub(crate) const ALL: &str = "all";

/// A command that options are given to: all names from the program on, and its definition.
pub(crate) struct Named<'c> {
    /// Such as `compare` or `lab up`.
    pub(crate) name: String,
    pub(crate) command: &'c Command,
}

/// The commands that have defaults. The definition must be built.
pub(crate) fn commands(program: &Command) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    let mut due: Vec<(String, &Command)> = vec![(String::new(), program)];
    while let Some((before, command)) = due.pop() {
        let below = command.get_subcommands();
        for one in below.filter(|one| !one.is_hide_set() && one.get_name() != "help") {
            let name = format!("{before}{}", one.get_name());
            due.push((format!("{name} "), one));
            // An agent does what its controller says, which has the defaults.
            if name != "agent" {
                found.push(Named { name, command: one });
            }
        }
    }
    found
}

/// An option by its long name.
pub(crate) fn option<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    options(command).find(|option| option.get_long() == Some(name))
}

/// The options of a command that may have defaults.
pub(crate) fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    let long = command.get_arguments().filter(|argument| argument.get_long().is_some());
    long.filter(|argument| argument.get_long().is_some_and(|name| !is_refused(name)))
}

/// Whether an option has no default although commands have it.
pub(crate) fn is_refused(name: &str) -> bool {
    NEVER.contains(&name)
}

/// Whether an option takes a value; a flag does not.
pub(crate) fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn nothing_that_destroys_or_writes_has_a_default() {
        let mut program = Arguments::command();
        program.build();
        for Named { name, command } in commands(&program) {
            for option in options(command) {
                let help = option.get_help().map(ToString::to_string).unwrap_or_default();
                let first = help.split(' ').next().unwrap_or_default();
                let is_harmless = !["Overwrite", "Write", "Delete", "Replace"].contains(&first);
                assert!(is_harmless, "{name} {option}: {help}");
            }
        }
    }

    #[test]
    fn what_is_refused_is_an_option() {
        let mut program = Arguments::command();
        program.build();
        let all = commands(&program);
        let has = |name: &str| {
            let mut arguments = all.iter().flat_map(|one| one.command.get_arguments());
            arguments.any(|argument| argument.get_long() == Some(name))
        };
        for name in NEVER.iter().filter(|name| !["verbose", "version"].contains(name)) {
            assert!(has(name), "{name}");
        }
    }
}
