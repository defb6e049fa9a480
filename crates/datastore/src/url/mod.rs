//! The URL that names a datastore: text in, location and options out.
//!
//! Written as users of QEMU and libnfs write them. Whether a path below `/dev` is a device or a
//! directory (`/dev/shm`) is asked of the file system here, so that nothing later can mistake one
//! for the other. Errors never repeat what stands between scheme and path: a password may be there.

use std::fmt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stormeter_uring::EngineChoice;

/// Schemes that this version opens, as they are listed to people.
const KNOWN: &str = "a path, file:///path, /dev/…, null:";

/// Schemes that will come, and the words for them.
const PLANNED: [(&str, &str); 8] = [
    ("nfs", "NFS spoken directly"),
    ("iscsi", "iSCSI spoken directly"),
    ("sim", "a simulated datastore"),
    ("nbd", "NBD"),
    ("rbd", "Ceph RBD"),
    ("nvme-tcp", "NVMe over TCP"),
    ("s3", "S3"),
    ("http", "HTTP"),
];

/// Where a datastore is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A directory of a mounted file system; disks are files below it.
    Directory(PathBuf),
    /// A block device, whole; disks are extents of it.
    Device(PathBuf),
    /// Nothing: every operation completes at once.
    Null,
}

/// A datastore's name with its options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct DatastoreUrl {
    /// Where it is.
    pub location: Location,
    /// Whether the page cache is to be bypassed (`?direct=`, default yes).
    pub direct: bool,
    /// How I/O is done (`?engine=`, default whatever works best).
    pub engine: EngineChoice,
}

/// Text that names no datastore.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Nothing was given.
    #[error("the datastore's URL is empty: give {KNOWN}")]
    Empty,
    /// A scheme that nobody knows.
    #[error(
        "unknown scheme \"{scheme}:\": known are {KNOWN}; planned are {planned}. \
         For a path that contains a colon write ./{scheme}:…",
        planned = planned_names()
    )]
    UnknownScheme {
        /// What stood before the colon.
        scheme: String,
    },
    /// A scheme that a later version will open.
    #[error(
        "{scheme}:// ({words}) is not in this version yet: mount it and give the mount point's \
         path; known are {KNOWN}"
    )]
    NotYet {
        /// The scheme.
        scheme: &'static str,
        /// What it stands for.
        words: &'static str,
    },
    /// An option that this kind of datastore does not have.
    #[error("unknown option \"{option}\": {known}")]
    UnknownOption {
        /// The option's name; its value is not repeated.
        option: String,
        /// Which options there are.
        known: &'static str,
    },
    /// An option's value makes no sense.
    #[error("{option}={value} is not understood: write {option}={choices}")]
    OptionValue {
        /// The option's name.
        option: &'static str,
        /// What was given.
        value: String,
        /// What may be given.
        choices: &'static str,
    },
    /// A `file:` URL that is not `file:///path`.
    #[error("\"{text}\" names no local file: write file:///path (three slashes) or the plain path")]
    File {
        /// What was given.
        text: String,
    },
    /// Something follows `null:`.
    #[error("null: takes nothing after the colon: write just null:")]
    Null,
}

fn planned_names() -> String {
    PLANNED.map(|(scheme, _)| format!("{scheme}:")).join(", ")
}

impl DatastoreUrl {
    /// Reads a URL. Looks at the file system only to tell a device from a directory.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(UrlError::Empty);
        }
        let (body, options) = text.split_once('?').unwrap_or((text, ""));
        let location = match scheme(body) {
            None => locate(PathBuf::from(body)),
            Some("file") => locate(file_path(body)?),
            Some("null") if body == "null:" => Location::Null,
            Some("null") => return Err(UrlError::Null),
            Some(other) => return Err(unknown(other)),
        };
        let mut url = Self { location, direct: true, engine: EngineChoice::Auto };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            url.set(option)?;
        }
        Ok(url)
    }

    fn set(&mut self, option: &str) -> Result<(), UrlError> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        if self.location == Location::Null {
            let known = "null: has no options";
            return Err(UrlError::UnknownOption { option: name.into(), known });
        }
        match name {
            "direct" => {
                self.direct = match value {
                    "1" => true,
                    "0" => false,
                    _ => return Err(bad_value("direct", value, "0 or direct=1")),
                }
            }
            "engine" => {
                self.engine = match value {
                    "auto" => EngineChoice::Auto,
                    "uring" => EngineChoice::Uring,
                    "positional" => EngineChoice::Positional,
                    _ => return Err(bad_value("engine", value, "auto, uring or positional")),
                }
            }
            _ => {
                let known = "there are direct=0|1 and engine=auto|uring|positional";
                return Err(UrlError::UnknownOption { option: name.into(), known });
            }
        }
        Ok(())
    }

    /// The path, where there is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.location {
            Location::Directory(path) | Location::Device(path) => Some(path),
            Location::Null => None,
        }
    }
}

fn bad_value(option: &'static str, value: &str, choices: &'static str) -> UrlError {
    UrlError::OptionValue { option, value: value.into(), choices }
}

/// The scheme as RFC 3986 section 3.1 defines it, if the text has one.
fn scheme(text: &str) -> Option<&str> {
    let (before, _) = text.split_once(':')?;
    let valid = before.starts_with(|c: char| c.is_ascii_alphabetic())
        && before.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
    valid.then_some(before)
}

fn unknown(scheme: &str) -> UrlError {
    match PLANNED.iter().find(|(planned, _)| *planned == scheme) {
        Some(&(scheme, words)) => UrlError::NotYet { scheme, words },
        None => UrlError::UnknownScheme { scheme: scheme.into() },
    }
}

/// The path of a `file:` URL (RFC 8089): no host or `localhost`, percent-encoded.
fn file_path(text: &str) -> Result<PathBuf, UrlError> {
    let error = || UrlError::File { text: text.into() };
    let rest = text.strip_prefix("file://").ok_or_else(error)?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return Err(error());
    }
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit(left.next()), digit(left.next()));
        let (Some(high), Some(low)) = (high, low) else { return Err(error()) };
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map(PathBuf::from).map_err(|_| error())
}

/// Directory or device? Only what is a block device, or a missing or odd thing below `/dev`, counts
/// as a device; `/dev/shm` is a file system like any other.
fn locate(path: PathBuf) -> Location {
    let below_dev = path.starts_with("/dev") && !path.starts_with("/dev/shm");
    let device = match std::fs::metadata(&path) {
        Ok(metadata) => metadata.file_type().is_block_device() || (below_dev && !metadata.is_dir()),
        Err(_) => below_dev,
    };
    if device { Location::Device(path) } else { Location::Directory(path) }
}

impl fmt::Display for DatastoreUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Location::Null => return out.write_str("null:"),
            Location::Directory(path) | Location::Device(path) => {
                let text = path.to_string_lossy();
                if text.contains('?') && text.starts_with('/') {
                    let encoded = text.replace('%', "%25").replace('?', "%3F");
                    write!(out, "file://{encoded}")?;
                } else {
                    out.write_str(&text)?;
                }
            }
        }
        let mut separator = '?';
        if !self.direct {
            write!(out, "{separator}direct=0")?;
            separator = '&';
        }
        match self.engine {
            EngineChoice::Auto => Ok(()),
            EngineChoice::Uring => write!(out, "{separator}engine=uring"),
            EngineChoice::Positional => write!(out, "{separator}engine=positional"),
        }
    }
}

impl FromStr for DatastoreUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for DatastoreUrl {
    type Error = UrlError;

    fn try_from(text: String) -> Result<Self, UrlError> {
        Self::parse(&text)
    }
}

impl From<DatastoreUrl> for String {
    fn from(url: DatastoreUrl) -> Self {
        url.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(text: &str) -> Location {
        DatastoreUrl::parse(text).unwrap().location
    }

    #[test]
    fn paths_are_directories() {
        let directory = |path: &str| Location::Directory(path.into());
        assert_eq!(location("/srv/vm"), directory("/srv/vm"));
        assert_eq!(location("./vm"), directory("./vm"));
        assert_eq!(location("./nas1:vm"), directory("./nas1:vm"));
        assert_eq!(location("vm/disks"), directory("vm/disks"));
        assert_eq!(location("file:///srv/my%20vm"), directory("/srv/my vm"));
        assert_eq!(location("file://localhost/srv"), directory("/srv"));
        assert_eq!(location("null:"), Location::Null);
    }

    #[test]
    fn below_dev_only_devices_are_devices() {
        assert_eq!(location("/dev/shm"), Location::Directory("/dev/shm".into()));
        assert_eq!(location("/dev/shm/nobody"), Location::Directory("/dev/shm/nobody".into()));
        assert_eq!(location("/dev"), Location::Directory("/dev".into()));
        assert_eq!(location("/dev/no-such"), Location::Device("/dev/no-such".into()));
        assert_eq!(location("file:///dev/no-such"), Location::Device("/dev/no-such".into()));
        assert_eq!(location("/dev/null"), Location::Device("/dev/null".into()));
        assert_eq!(location("/developer"), Location::Directory("/developer".into()));
    }

    #[test]
    fn options_are_read_and_written() {
        let url = DatastoreUrl::parse("/srv?direct=0&engine=positional").unwrap();
        assert!(!url.direct);
        assert_eq!(url.engine, EngineChoice::Positional);
        assert_eq!(url.to_string(), "/srv?direct=0&engine=positional");
        for text in ["/srv", "./vm?engine=uring", "null:", "/srv?direct=0", "file:///a%3Fb%2525"] {
            let url = DatastoreUrl::parse(text).unwrap();
            assert_eq!(url.to_string(), text);
            let json = serde_json::to_string(&url).unwrap();
            assert_eq!(serde_json::from_str::<DatastoreUrl>(&json).unwrap(), url);
        }
        assert_eq!(DatastoreUrl::parse("/srv?direct=1&engine=auto").unwrap().to_string(), "/srv");
    }

    #[test]
    fn an_unknown_scheme_lists_the_known_and_the_planned() {
        let error = DatastoreUrl::parse("gopher://x/y").unwrap_err().to_string();
        for word in ["gopher:", "file:///path", "null:", "/dev/", "nfs:", "iscsi:", "planned"] {
            assert!(error.contains(word), "{word} is not in: {error}");
        }
        let error = DatastoreUrl::parse("nas1:/export").unwrap_err().to_string();
        assert!(error.contains("./nas1:"), "{error}");
    }

    #[test]
    fn a_planned_scheme_says_so_and_keeps_the_password() {
        for scheme in ["nfs", "iscsi"] {
            let error = DatastoreUrl::parse(&format!("{scheme}://u%secret@h/x")).unwrap_err();
            assert!(matches!(error, UrlError::NotYet { .. }));
            assert!(error.to_string().contains("mount"), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let error = DatastoreUrl::parse("ftp://u:secret@h/x").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn bad_options_say_what_to_write() {
        let message = |text: &str| DatastoreUrl::parse(text).unwrap_err().to_string();
        assert!(message("/srv?dirct=0").contains("direct=0|1"));
        assert!(message("/srv?direct=no").contains("direct=0 or direct=1"));
        assert!(message("/srv?engine=aio").contains("auto, uring or positional"));
        assert!(message("null:?direct=0").contains("no options"));
        assert!(message("null:x").contains("just null:"));
        assert!(message("file:srv").contains("file:///path"));
        assert!(message("file://nas/srv").contains("file:///path"));
        assert!(message("file:///a%zz").contains("file:///path"));
        assert!(message("  ").contains("empty"));
    }
}
