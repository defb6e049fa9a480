//! Changes to a site from outside its file: what-if, sweeps, calibration.
//!
//! They are applied to the tree before it is read, so the reader's units, defaults and checks
//! apply.

use std::fmt;

use stormeter_units::nearest;

/// A change: a parameter by its path or by a short word, and its value in the notation of site
/// files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// `hosts.esx.adapters.nic.rate` or one of [`WORDS`].
    path: String,
    /// In the notation of site files: `10GbE`, `{like: sata-ssd-480gb}`.
    value: String,
}

/// The short words, and the parameters that each changes.
pub const WORDS: [(&str, &str); 15] = [
    ("nic", "the rate of every Ethernet adapter of hosts and controllers"),
    ("nics", "how many ports each Ethernet adapter of the hosts has"),
    ("mtu", "the MTU of every Ethernet adapter of hosts and controllers"),
    ("hba", "the rate of every Fibre Channel adapter of hosts and controllers"),
    ("cores", "the cores of every host"),
    ("hosts", "how many hosts there are of each group that runs VMs"),
    ("controllers", "how many controllers there are of each kind"),
    ("disks", "the disks of every disk group"),
    ("groups", "how many RAID groups every disk group has"),
    ("read-cache", "the memory for reads of every controller, and the flash for reads of clusters"),
    ("stripes", "the stripes of every datastore on a cluster"),
    ("replicas", "the replicas of every datastore on a cluster"),
    ("nodes", "how many nodes every cluster has"),
    (
        "write-memory",
        "whether memories for writes are in their steady state (steady) or empty (fresh)",
    ),
    ("vms-per-host", "how many VMs a host takes, of each group that runs VMs"),
];

/// A change that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// The value is missing.
    #[error(
        "\"{0}\" changes nothing; write a parameter and its value, such as nic=40GbE or hosts.esx.cores=16"
    )]
    NoValue(String),
    /// A single word that is not one of [`WORDS`].
    #[error(
        "\"{word}\" is not a parameter; {advice}write a path such as hosts.esx.cores, or one of {known}"
    )]
    UnknownWord {
        /// The word that was given.
        word: String,
        /// `did you mean nic? `, or empty.
        advice: String,
        /// The known words.
        known: String,
    },
}

impl Override {
    /// Parses `nic=40GbE` or `hosts.esx.cores=16`.
    pub fn parse(text: &str) -> Result<Override, OverrideError> {
        let (path, value) =
            text.split_once('=').ok_or_else(|| OverrideError::NoValue(text.into()))?;
        Override::new(path, value)
    }

    /// A parameter with its value; for a factor of a study, the path may start with `site.`.
    pub fn new(path: &str, value: &str) -> Result<Override, OverrideError> {
        let (path, value) = (path.trim(), value.trim());
        if path.is_empty() || value.is_empty() || value.contains(['\n', '\r']) {
            return Err(OverrideError::NoValue(format!("{path}={value}")));
        }
        let path = path.strip_prefix("site.").unwrap_or(path);
        let known = || WORDS.iter().map(|(word, _)| *word);
        if !path.contains('.') && known().all(|word| word != path) {
            let meant = nearest(path, known());
            return Err(OverrideError::UnknownWord {
                word: path.into(),
                advice: meant.map(|word| format!("did you mean {word}? ")).unwrap_or_default(),
                known: known().collect::<Vec<_>>().join(", "),
            });
        }
        Ok(Override { path: path.into(), value: value.into() })
    }

    /// A parameter whose path is known to be valid.
    pub(crate) fn at(path: &str, value: String) -> Override {
        Override { path: path.into(), value }
    }

    /// The parameter: a path or a word.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value in the notation of site files.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Whether it is a word rather than a path.
    pub(crate) fn is_word(&self) -> bool {
        !self.path.contains('.')
    }
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.path, self.value)
    }
}
