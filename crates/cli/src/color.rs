//! Whether to use colors: as asked for, or as the environment and the terminal suggest.

use std::ffi::OsString;

use clap::{ColorChoice, ValueEnum};

/// When to use colors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// What these arguments ask for. Looked for before they are parsed, because help and errors of the
    /// parser are coloured, too.
    pub(crate) fn asked(arguments: impl Iterator<Item = OsString>) -> Self {
        let mut asked = Self::Auto;
        let mut arguments = arguments.map(|word| word.to_string_lossy().into_owned());
        while let Some(word) = arguments.next() {
            let value = match word.as_str() {
                "--" => break,
                "--color" => arguments.next(),
                word => word.strip_prefix("--color=").map(String::from),
            };
            let known = value.and_then(|value| Self::from_str(&value, false).ok());
            asked = known.unwrap_or(asked);
        }
        asked
    }

    /// Whether text for a stream is coloured.
    pub(crate) fn is_used(self, is_terminal: bool) -> bool {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                is_terminal
                    && set("NO_COLOR").is_none()
                    && set("TERM").is_none_or(|terminal| terminal != "dumb")
            }
        }
    }

    /// The same for the parser of arguments.
    pub(crate) fn of_parser(self) -> ColorChoice {
        match self {
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
            Self::Auto => ColorChoice::Auto,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_that_is_asked_for_counts() {
        let asked = |text: &str| Color::asked(text.split(' ').map(OsString::from));
        assert_eq!(asked("stormeter report r.db"), Color::Auto);
        assert_eq!(asked("stormeter --color=always report r.db"), Color::Always);
        assert_eq!(asked("stormeter report r.db --color never"), Color::Never);
        assert_eq!(asked("stormeter report --color=always --color=never"), Color::Never);
        assert_eq!(asked("stormeter report -- --color=always"), Color::Auto);
        assert_eq!(asked("stormeter --color=red"), Color::Auto);
    }
}
