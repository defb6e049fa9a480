//! Where the defaults file is.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::user_directory::{self, Kind};

/// The variable that names the file; empty, there are no defaults, neither from it nor from variables.
pub(crate) const VARIABLE: &str = "STORMETER_DEFAULTS";

/// The environment, by name.
pub(crate) type Variables = BTreeMap<String, OsString>;

/// Where the defaults file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DefaultsPlace {
    /// The user turned defaults off.
    Off,
    /// The user named it: it must exist.
    Named(PathBuf),
    /// The usual place; `None` without a home.
    Usual(Option<PathBuf>),
}

impl DefaultsPlace {
    /// As the environment says.
    pub(crate) fn of(variables: &Variables) -> Self {
        match variables.get(VARIABLE) {
            Some(path) if path.is_empty() => Self::Off,
            Some(path) => Self::Named(path.into()),
            None => {
                let own =
                    user_directory::of(Kind::Configuration, |name| variables.get(name).cloned());
                Self::Usual(own.map(|own| own.join("defaults.yaml")))
            }
        }
    }

    /// The file that is read, if there is one.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Off => None,
            Self::Named(path) => Some(path),
            Self::Usual(path) => path.as_ref().filter(|path| path.exists()),
        }
    }

    /// Which file is read, in words.
    pub(crate) fn described(&self) -> String {
        match (self, self.path()) {
            (_, Some(path)) => path.display().to_string(),
            (Self::Usual(Some(path)), None) => format!("none ({} does not exist)", path.display()),
            (Self::Off, None) => format!("none ({VARIABLE} is empty)"),
            _ => "none (HOME is not set)".into(),
        }
    }
}

/// The environment of this process. Names that are not text are not ours.
pub(crate) fn variables() -> Variables {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_file() {
        let of = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
            DefaultsPlace::of(&pairs.collect())
        };
        let usual = |path: &str| DefaultsPlace::Usual(Some(path.into()));
        let home = ("HOME", "/users/me");
        assert_eq!(of(&[home]), usual("/users/me/.config/stormeter/defaults.yaml"));
        assert_eq!(of(&[home, ("XDG_CONFIG_HOME", "/c")]), usual("/c/stormeter/defaults.yaml"));
        assert_eq!(of(&[home, (VARIABLE, "d.yaml")]), DefaultsPlace::Named("d.yaml".into()));
        assert_eq!(of(&[home, (VARIABLE, "")]), DefaultsPlace::Off);
        assert_eq!(of(&[]), DefaultsPlace::Usual(None));
    }
}
