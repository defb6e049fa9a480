//! The URL that names a datastore: text in, location and options out.
//!
//! Written as users of QEMU and libnfs write them. Whether a path below `/dev` is a device or a
//! directory (`/dev/shm`) is asked of the file system here, so that nothing later can mistake one
//! for the other. Errors never repeat the text between scheme and path: it may contain a password.

mod authority;
mod error;
mod iscsi;
mod nfs;
mod rbd;
mod server;
#[cfg(test)]
mod tests;

use std::fmt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stormeter_iscsi::Secret;
use stormeter_units::nearest;
use stormeter_uring::EngineChoice;

use self::error::{bad_value, unknown_option};

pub use authority::Host;
pub use error::UrlError;
pub(crate) use iscsi::PORTAL_PORT;
pub use iscsi::{IscsiLun, PathPolicy};
pub use nfs::{NfsExport, NfsSync};
pub use rbd::RbdPool;

/// Planned schemes, and their names.
const PLANNED: [(&str, &str); 4] =
    [("nbd", "NBD"), ("nvme-tcp", "NVMe over TCP"), ("s3", "S3"), ("http", "HTTP")];

/// The location of a datastore.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A directory of a mounted file system; disks are files below it.
    Directory(PathBuf),
    /// A whole block device; disks are extents of it.
    Device(PathBuf),
    /// An NFS export, accessed directly; disks are files on it.
    Nfs(Box<NfsExport>),
    /// A LUN of an iSCSI target, accessed directly; disks are extents of it.
    Iscsi(Box<IscsiLun>),
    /// Images in a pool of a Ceph cluster.
    Rbd(Box<RbdPool>),
    /// A server that offers services and no disks.
    Server(Host),
    /// Nothing: every operation completes at once.
    Null,
}

/// A datastore's name with its options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct DatastoreUrl {
    /// Its location.
    pub location: Location,
    /// Whether the page cache is to be bypassed (`?direct=`, default yes; there is none on this side
    /// of NFS and iSCSI spoken directly).
    pub direct: bool,
    /// How I/O is done (`?engine=`, default whatever works best).
    pub engine: EngineChoice,
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
            Some("nfs") => Location::Nfs(Box::new(NfsExport::parse(&body[4..])?)),
            Some("iscsi") => Location::Iscsi(Box::new(IscsiLun::parse(&body[6..])?)),
            Some("rbd") => Location::Rbd(Box::new(RbdPool::parse(&body[4..])?)),
            Some("server") => Location::Server(server::parse(&body[7..])?),
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
            return Err(unknown_option(name, &[], known));
        }
        if let Location::Server(_) = self.location {
            return Err(unknown_option(name, &[], "server:// has no options"));
        }
        if let Location::Rbd(pool) = &mut self.location {
            // librbd does its I/O itself.
            return pool.set(name, value);
        }
        if name == "engine" {
            self.engine = match value {
                "auto" => EngineChoice::Auto,
                "uring" => EngineChoice::Uring,
                "positional" => EngineChoice::Positional,
                _ => return Err(bad_value("engine", value, "auto, uring or positional")),
            };
            return Ok(());
        }
        match (&mut self.location, name) {
            (Location::Nfs(export), _) => export.set(name, value)?,
            (Location::Iscsi(lun), _) => lun.set(name, value)?,
            (_, "direct") => {
                self.direct = match value {
                    "1" => true,
                    "0" => false,
                    _ => return Err(bad_value("direct", value, "0 or direct=1")),
                }
            }
            _ => {
                let known = "there are direct=0|1 and engine=auto|uring|positional";
                return Err(unknown_option(name, &["direct", "engine"], known));
            }
        }
        Ok(())
    }

    /// Removes the CHAP password, which text forms never contain, and returns it.
    pub fn take_secret(&mut self) -> Option<Secret> {
        match &mut self.location {
            Location::Iscsi(lun) => lun.password.take(),
            _ => None,
        }
    }

    /// Sets the CHAP password of an iSCSI URL; ignored by others.
    pub fn set_secret(&mut self, secret: Secret) {
        if let Location::Iscsi(lun) = &mut self.location {
            lun.password = Some(secret);
        }
    }

    /// The path, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.location {
            Location::Directory(path) | Location::Device(path) => Some(path),
            Location::Nfs(_)
            | Location::Iscsi(_)
            | Location::Rbd(_)
            | Location::Server(_)
            | Location::Null => None,
        }
    }

    fn options(&self) -> Vec<String> {
        let mut options = match &self.location {
            Location::Nfs(export) => export.options(),
            Location::Iscsi(lun) => lun.options(),
            Location::Rbd(pool) => pool.options(),
            _ => Vec::new(),
        };
        if !self.direct {
            options.push("direct=0".into());
        }
        match self.engine {
            EngineChoice::Auto => {}
            EngineChoice::Uring => options.push("engine=uring".into()),
            EngineChoice::Positional => options.push("engine=positional".into()),
        }
        options
    }
}

/// The scheme as RFC 3986 section 3.1 defines it, if the text has one.
fn scheme(text: &str) -> Option<&str> {
    let (before, _) = text.split_once(':')?;
    let valid = before.starts_with(|c: char| c.is_ascii_alphabetic())
        && before.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
    valid.then_some(before)
}

fn unknown(scheme: &str) -> UrlError {
    if scheme == "sim" {
        return UrlError::Simulated;
    }
    match PLANNED.iter().find(|(planned, _)| *planned == scheme) {
        Some(&(scheme, words)) => UrlError::NotYet { scheme, words },
        None => {
            let meant = nearest(scheme, ["file", "nfs", "iscsi", "rbd", "server", "null"]);
            UrlError::UnknownScheme { scheme: scheme.into(), meant }
        }
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
    authority::decode(rest).map(PathBuf::from).ok_or_else(error)
}

/// Directory or device? Only a block device, or a missing or unusual file below `/dev`, counts
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
            Location::Server(host) => return write!(out, "server://{host}"),
            Location::Nfs(export) => write!(out, "{export}")?,
            Location::Iscsi(lun) => write!(out, "{lun}")?,
            Location::Rbd(pool) => write!(out, "{pool}")?,
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
        for (index, option) in self.options().iter().enumerate() {
            write!(out, "{}{option}", if index == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

impl FromStr for DatastoreUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::parse(text)
    }
}

stormeter_units::by_text!(DatastoreUrl, UrlError);
