//! What is packaged: the version, the commit and its date, which is the date of every file in a package.

use crate::child::output;
use crate::repository::Repository;

/// A version at a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) version: String,
    /// The commit, in full.
    pub(crate) commit: String,
    pub(crate) date: CommitDate,
    /// Where the source is.
    pub(crate) repository: String,
}

/// The date of a commit, in UTC, in the forms that packages need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommitDate {
    /// Seconds since 1970.
    pub(crate) epoch: u64,
    /// `2026-11-28T13:01:01Z`, as in RFC 3339.
    pub(crate) machine: String,
    /// `Sat, 28 Nov 2026 13:01:01 +0000`, as in Debian's changelogs.
    pub(crate) letter: String,
    /// `Sat Nov 28 2026`, as in RPM's changelogs.
    pub(crate) day: String,
}

impl Release {
    /// That of the repository.
    ///
    /// # Errors
    /// There is no history: the date and the commit are not known.
    pub(crate) fn of(repository: &Repository) -> Result<Self, String> {
        let field = |format: &str, date: &str| {
            let mut git = repository.command("git");
            // A checkout may belong to another user, as in a container.
            git.arg("-c").arg(format!("safe.directory={}", repository.root.display()));
            git.args(["log", "-1"]).arg(format!("--format={format}"));
            git.arg(format!("--date=format-local:{date}")).env("TZ", "UTC").env("LC_ALL", "C");
            output(&mut git)
                .map(|text| text.trim().to_owned())
                .map_err(|error| format!("packages are made from a commit: {error}"))
        };
        let epoch = field("%ct", "")?;
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: field("%H", "")?,
            date: CommitDate {
                epoch: epoch.parse().map_err(|error| format!("git's date '{epoch}': {error}"))?,
                machine: field("%cd", "%Y-%m-%dT%H:%M:%SZ")?,
                letter: field("%cd", "%a, %d %b %Y %H:%M:%S +0000")?,
                day: field("%cd", "%a %b %d %Y")?,
            },
            repository: env!("CARGO_PKG_REPOSITORY").to_owned(),
        })
    }

    /// The start of names of files.
    pub(crate) fn stem(&self) -> String {
        format!("stormeter-{}", self.version)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A release on 28 November 2026.
    pub(in crate::dist) fn release() -> Release {
        Release {
            version: "1.2.3".into(),
            commit: "0123456789abcdef".into(),
            date: CommitDate {
                epoch: 1_795_870_861,
                machine: "2026-11-28T13:01:01Z".into(),
                letter: "Sat, 28 Nov 2026 13:01:01 +0000".into(),
                day: "Sat Nov 28 2026".into(),
            },
            repository: "https://example.org/s".into(),
        }
    }
}
