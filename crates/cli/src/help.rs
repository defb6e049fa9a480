//! The definition of the program with its commands in groups.

use clap::{Command, CommandFactory};

use crate::arguments::Arguments;
use crate::color::Color;

/// Commands by purpose.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Measure", &["doctor", "demo", "compare", "durable", "ceiling", "net"]),
    (
        "Understand",
        &["report", "export", "audit", "gate", "predict", "measure-site", "calibrate", "site"],
    ),
    ("Results", &["list", "prune"]),
    ("Studies", &["init", "run", "profile", "import", "replicate", "lab"]),
    ("Tools", &["agent", "serve-nfs", "schema", "completions", "man", "help"]),
];

/// The definition, with the commands of the help in groups.
pub(crate) fn command(color: Color) -> Command {
    let command = Arguments::command().color(color.of_parser());
    let groups = groups(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{{options}}{{after-help}}"
    ))
}

fn groups(command: &Command) -> String {
    let style = command.get_styles();
    let (header, literal) = (style.get_header(), style.get_literal());
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let width = names.map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (title, names) in GROUPS {
        text += &format!("{header}{title}:{header:#}\n");
        for name in names {
            let about = match command.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None => "Print this help, or that of a command".into(),
            };
            let padding = " ".repeat(width - name.len());
            text += &format!("  {literal}{name}{literal:#}{padding}  {about}\n");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(command: &Command) -> Vec<Command> {
        let mut commands = vec![command.clone()];
        let mut at = 0;
        while at < commands.len() {
            let below: Vec<Command> = commands[at].get_subcommands().cloned().collect();
            commands.extend(below);
            at += 1;
        }
        commands
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = Arguments::command();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut expected: Vec<&str> = visible.map(Command::get_name).chain(["help"]).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.to_vec()).collect();
        expected.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, expected);
    }

    /// Text that was broken by hand is broken again on a narrower terminal, which leaves short lines: a
    /// paragraph is one line, and everything else fits into 79 columns.
    #[test]
    fn texts_after_options_are_broken_by_the_parser_only() {
        for command in all(&Arguments::command()) {
            let Some(text) = command.get_after_help() else { continue };
            let text = text.to_string();
            let lines: Vec<&str> = text.lines().collect();
            for (index, line) in lines.iter().enumerate() {
                let next = lines.get(index + 1).copied().unwrap_or_default();
                let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
                let is_broken = is_prose(line) && is_prose(next);
                assert!(!is_broken, "{}: {line:?} is broken", command.get_name());
                let fits = line.chars().count() <= 79 || is_prose(line);
                assert!(fits, "{}: {line:?} is too long", command.get_name());
            }
        }
    }

    #[test]
    fn help_fits_terminals_of_80_and_100_columns() {
        for width in [80, 100] {
            for mut command in all(&command(Color::Never)) {
                let help = command.clone().term_width(width).max_term_width(100);
                for text in [help.clone().render_help(), help.clone().render_long_help()] {
                    for line in text.to_string().lines() {
                        let columns = line.chars().count();
                        let name = command.get_name();
                        assert!(columns <= width, "{name} at {width}: {columns}: {line}");
                    }
                }
                command.build();
            }
        }
    }

    #[test]
    fn options_are_below_the_heading_that_they_belong_to() {
        let program = Arguments::command();
        let compare = program.find_subcommand("compare").expect("compare");
        let heading = |id: &str| {
            let found = compare.get_arguments().find(|argument| argument.get_id() == id);
            found.expect(id).get_help_heading()
        };
        for (id, title) in [
            ("vms", "Load"),
            ("size", "Load"),
            ("precision", "Measurement"),
            ("seed", "Measurement"),
            ("verify", "Safety"),
            ("destroy_data", "Safety"),
            ("output", "Output"),
            ("html", "Output"),
            ("json", "Output"),
            ("quiet", "Output"),
        ] {
            assert_eq!(heading(id), Some(title), "{id}");
        }
        // An argument after options that several commands share is not one of them.
        let ceiling = program.find_subcommand("ceiling").expect("ceiling");
        let json = ceiling.get_arguments().find(|argument| argument.get_id() == "json");
        assert_ne!(json.expect("json").get_help_heading(), Some("Load"));
    }
}
