//! The directories of the user that the XDG Base Directory Specification defines for all programs
//! (<https://specifications.freedesktop.org/basedir-spec/latest/>).

use std::ffi::OsString;
use std::path::PathBuf;

/// A kind of files that programs keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What the user would miss.
    Data,
    /// What the user wrote.
    Configuration,
    /// What can be made again.
    Cache,
}

/// This program's directory for files of a kind, as the variables say; `None` if they name no home. It may be missing.
pub(crate) fn of(kind: Kind, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let (name, below_home) = match kind {
        Kind::Data => ("XDG_DATA_HOME", ".local/share"),
        Kind::Configuration => ("XDG_CONFIG_HOME", ".config"),
        Kind::Cache => ("XDG_CACHE_HOME", ".cache"),
    };
    // The specification: a relative path is invalid and ignored.
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute(name).or_else(|| Some(absolute("HOME")?.join(below_home)));
    Some(base?.join("stormeter"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_where() {
        let of = |variables: &[(&str, &str)]| {
            let variable = |name: &str| variables.iter().find(|(known, _)| *known == name);
            of(Kind::Data, |name| variable(name).map(|(_, value)| value.into()))
        };
        let home = ("HOME", "/users/me");
        assert_eq!(of(&[home]), Some("/users/me/.local/share/stormeter".into()));
        assert_eq!(of(&[home, ("XDG_DATA_HOME", "/data")]), Some("/data/stormeter".into()));
        for ignored in ["", "data"] {
            let directory = of(&[home, ("XDG_DATA_HOME", ignored)]);
            assert_eq!(directory, Some("/users/me/.local/share/stormeter".into()), "{ignored}");
        }
        assert_eq!(of(&[("HOME", "")]), None);
    }
}
