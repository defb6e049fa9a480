//! `nfs://host[:port]/export[?option&…]`, with the option names of libnfs for options that it has.

use std::fmt;
use std::time::Duration;

use stormeter_units::parse_duration_ns;

use super::authority::{Host, decode, encode};
use super::error::{UrlError, bad_value, unknown_option};

/// The most connections of one driving thread.
pub(crate) const MAX_CONNECTIONS: u32 = 16;

const OPTIONS: &str = "there are version=3, connections=N, uid=N, gid=N, mountport=N, \
                       sync=file|unstable, timeout=TIME and engine=auto|uring|positional";

const NAMES: [&str; 8] =
    ["version", "connections", "uid", "gid", "mountport", "sync", "timeout", "engine"];

/// When a write counts as done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NfsSync {
    /// Each write is on stable storage before it completes (FILE_SYNC): what hypervisors ask for.
    #[default]
    File,
    /// Writes complete in the server's memory (UNSTABLE) and are committed later.
    Unstable,
}

/// An NFSv3 export, or a directory of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NfsExport {
    /// The server, with the port of its NFS service if that is given.
    pub host: Host,
    /// The exported directory.
    pub path: String,
    /// TCP port of the mount service; without it the port mapper is asked.
    pub mount_port: Option<u16>,
    /// TCP connections of each driving thread (as nconnect of other clients).
    pub connections: u32,
    /// User of AUTH_SYS.
    pub uid: Option<u32>,
    /// Group of AUTH_SYS.
    pub gid: Option<u32>,
    /// When a write counts as done.
    pub sync: NfsSync,
    /// How long a dead or silent server is waited for before I/Os fail.
    pub timeout: Duration,
}

/// How long a network datastore may be gone unless the URL says otherwise.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(20);

impl NfsExport {
    pub(super) fn parse(rest: &str) -> Result<Self, UrlError> {
        let form = || UrlError::Form {
            text: format!("nfs:{rest}"),
            form: "nfs://host[:port]/export, such as nfs://nas1/export/vm",
        };
        let rest = rest.strip_prefix("//").ok_or_else(form)?;
        let slash = rest.find('/').ok_or_else(form)?;
        let path = decode(&rest[slash..]).ok_or_else(form)?;
        if path.contains('\0') || path.split('/').any(|part| part == "..") {
            return Err(form());
        }
        Ok(Self {
            host: Host::parse(&rest[..slash], "nfs")?,
            path,
            mount_port: None,
            connections: 1,
            uid: None,
            gid: None,
            sync: NfsSync::File,
            timeout: DEFAULT_TIMEOUT,
        })
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), UrlError> {
        match name {
            "version" if value == "3" => {}
            "version" => return Err(bad_value("version", value, "3 (NFSv4 is not spoken yet)")),
            "connections" => {
                self.connections = number("connections", value, 1..=MAX_CONNECTIONS, "1 to 16")?;
            }
            "uid" => self.uid = Some(number("uid", value, 0..=u32::MAX, "a user's number")?),
            "gid" => self.gid = Some(number("gid", value, 0..=u32::MAX, "a group's number")?),
            "mountport" => {
                self.mount_port =
                    Some(number("mountport", value, 1..=65_535, "1 to 65535")? as u16);
            }
            "sync" => {
                self.sync = match value {
                    "file" => NfsSync::File,
                    "unstable" => NfsSync::Unstable,
                    _ => return Err(bad_value("sync", value, "file or sync=unstable")),
                }
            }
            "timeout" => self.timeout = timeout(value)?,
            _ => return Err(unknown_option(name, &NAMES, OPTIONS)),
        }
        Ok(())
    }

    pub(super) fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        let mut given = |name: &str, value: Option<String>| {
            options.extend(value.map(|value| format!("{name}={value}")));
        };
        given("mountport", self.mount_port.map(|port| port.to_string()));
        given("connections", (self.connections != 1).then(|| self.connections.to_string()));
        given("uid", self.uid.map(|id| id.to_string()));
        given("gid", self.gid.map(|id| id.to_string()));
        given("sync", (self.sync == NfsSync::Unstable).then(|| "unstable".into()));
        given("timeout", timeout_option(self.timeout));
        options
    }
}

impl fmt::Display for NfsExport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "nfs://{}{}", self.host, encode(&self.path))
    }
}

/// A number within bounds.
pub(super) fn number(
    option: &'static str,
    value: &str,
    bounds: std::ops::RangeInclusive<u32>,
    choices: &'static str,
) -> Result<u32, UrlError> {
    let number = value.parse().ok().filter(|number| bounds.contains(number));
    number.ok_or_else(|| bad_value(option, value, choices))
}

/// A time that a server may be gone.
pub(super) fn timeout(value: &str) -> Result<Duration, UrlError> {
    const BOUNDS_NS: std::ops::RangeInclusive<u64> = 100_000_000..=3_600_000_000_000;
    let parsed = parse_duration_ns(value).ok().filter(|ns| BOUNDS_NS.contains(ns));
    let timeout = parsed.map(Duration::from_nanos);
    timeout.ok_or_else(|| bad_value("timeout", value, "100ms to 1h"))
}

pub(super) fn timeout_option(timeout: Duration) -> Option<String> {
    let ms = timeout.as_millis();
    (timeout != DEFAULT_TIMEOUT).then(|| match ms % 1000 {
        0 => format!("{}s", ms / 1000),
        _ => format!("{ms}ms"),
    })
}
