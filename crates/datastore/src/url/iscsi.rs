//! `iscsi://[user[%password]@]host[:port]/iqn/lun[?option&…]`, as libiscsi writes it.
//!
//! A password in a URL is read and never written: what is shown, stored and compared is the URL
//! without it. It may also come from a file (`password-file=`) or from the environment.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use stormeter_iscsi::Secret;

use super::authority::{Host, decode, encode};
use super::error::{UrlError, bad_value, unknown_option};
use super::nfs::{DEFAULT_TIMEOUT, number, timeout, timeout_option};

/// The most sessions of one driving thread.
pub(crate) const MAX_SESSIONS: u32 = 16;

const OPTIONS: &str = "there are sessions=N, policy=fixed|round-robin, portals=HOST[:PORT],…, \
                       header-digest=none|crc32c, data-digest=none|crc32c, initial-r2t=yes|no, \
                       immediate-data=yes|no, initiator=IQN, password-file=FILE, \
                       target-user=NAME, target-password-file=FILE, timeout=TIME and \
                       engine=auto|uring|positional";

const NAMES: [&str; 13] = [
    "sessions",
    "policy",
    "portals",
    "header-digest",
    "data-digest",
    "initial-r2t",
    "immediate-data",
    "initiator",
    "password-file",
    "target-user",
    "target-password-file",
    "timeout",
    "engine",
];

/// The port of a portal that names none (RFC 7143 section 13.6: "iscsi" at IANA).
pub(crate) const PORTAL_PORT: u16 = 3260;

/// Which of several sessions an operation takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PathPolicy {
    /// One session is active; the others are on standby and take over when it is lost.
    #[default]
    Fixed,
    /// Operations take the sessions in turn.
    RoundRobin,
}

/// A LUN of an iSCSI target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IscsiLun {
    /// The user of CHAP.
    pub user: Option<String>,
    /// The CHAP password, if the URL has it.
    pub password: Option<Secret>,
    /// A file that holds the password.
    pub password_file: Option<PathBuf>,
    /// The name under which the target has to prove itself (mutual CHAP).
    pub target_user: Option<String>,
    /// A file that holds the password by which it does.
    pub target_password_file: Option<PathBuf>,
    /// The portals, the first of them from the URL's host.
    pub portals: Vec<Host>,
    /// The target's name.
    pub target: String,
    /// The logical unit.
    pub lun: u16,
    /// The initiator's name; without it one is made from the host's.
    pub initiator: Option<String>,
    /// Sessions of each driving thread, spread over the portals; as many as portals if not given.
    pub sessions: Option<u32>,
    /// How operations choose among them.
    pub policy: PathPolicy,
    /// CRC32C over headers.
    pub header_digest: bool,
    /// CRC32C over data.
    pub data_digest: bool,
    /// What to propose for InitialR2T.
    pub initial_r2t: bool,
    /// What to propose for ImmediateData.
    pub immediate_data: bool,
    /// How long a dead or silent target is waited for before I/Os fail.
    pub timeout: Duration,
}

/// An invalid LUN URL in a form that may be shown: without a possible password, which is between the user and
/// the last @. After a % without an @, its end is unknown.
fn without_password(rest: &str) -> String {
    match rest.rsplit_once('@') {
        Some((login, place)) => {
            let user = login.split(['%', ':']).next().unwrap_or_default();
            format!("{user}@{place}")
        }
        None => match rest.split_once('%') {
            Some((user, _)) => format!("{user}%…"),
            None => rest.to_owned(),
        },
    }
}

impl IscsiLun {
    pub(super) fn parse(rest: &str) -> Result<Self, UrlError> {
        let form = || UrlError::Form {
            text: format!("iscsi:{}", without_password(rest)),
            form: "iscsi://[user[%password]@]host[:port]/target/lun, such as \
                   iscsi://nas1/iqn.2026-01.example:vm/1",
        };
        let rest = rest.strip_prefix("//").ok_or_else(form)?;
        let slash = rest.find('/').ok_or_else(form)?;
        let (authority, path) = (&rest[..slash], &rest[slash + 1..]);
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => (Some(login), host),
            None => (None, authority),
        };
        let (user, password) = match login {
            None => (None, None),
            Some(login) => match login.split_once('%') {
                // The text after the first % is the password, not decoded, as libiscsi reads it.
                Some((user, password)) => (Some(user), Some(Secret::new(password))),
                None => (Some(login), None),
            },
        };
        let (target, lun) = path.rsplit_once('/').ok_or_else(form)?;
        let target = decode(target).filter(|target| is_name(target)).ok_or_else(form)?;
        // Flat space addressing ends at 16383 (SAM-5 section 4.7.4).
        let lun = lun.parse().ok().filter(|&lun: &u16| lun < 16_384).ok_or_else(form)?;
        if user.is_some_and(str::is_empty) {
            return Err(form());
        }
        Ok(Self {
            user: user.map(Into::into),
            password,
            password_file: None,
            target_user: None,
            target_password_file: None,
            // Not the parser's error, which would repeat part of a password with a slash.
            portals: vec![Host::parse(host, "iscsi").map_err(|_| form())?],
            target,
            lun,
            initiator: None,
            sessions: None,
            policy: PathPolicy::Fixed,
            header_digest: false,
            data_digest: false,
            initial_r2t: false,
            immediate_data: true,
            timeout: DEFAULT_TIMEOUT,
        })
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), UrlError> {
        match name {
            "sessions" => {
                self.sessions = Some(number("sessions", value, 1..=MAX_SESSIONS, "1 to 16")?);
            }
            "policy" => {
                self.policy = match value {
                    "fixed" => PathPolicy::Fixed,
                    "round-robin" => PathPolicy::RoundRobin,
                    _ => return Err(bad_value("policy", value, "fixed or policy=round-robin")),
                }
            }
            "portals" => {
                self.portals.truncate(1);
                for portal in value.split(',') {
                    self.portals.push(Host::parse(portal, "iscsi")?);
                }
                if self.portals.len() > MAX_SESSIONS as usize {
                    return Err(bad_value("portals", value, "at most 15 portals"));
                }
            }
            "header-digest" => self.header_digest = digest("header-digest", value)?,
            "data-digest" => self.data_digest = digest("data-digest", value)?,
            "initial-r2t" => self.initial_r2t = yes("initial-r2t", value)?,
            "immediate-data" => self.immediate_data = yes("immediate-data", value)?,
            "initiator" if is_name(value) => self.initiator = Some(value.into()),
            "initiator" => return Err(bad_value("initiator", value, "iqn.YYYY-MM.domain:name")),
            "password-file" => self.password_file = Some(file("password-file", value)?),
            "target-user" if !value.is_empty() => self.target_user = Some(value.into()),
            "target-user" => return Err(bad_value("target-user", value, "NAME")),
            "target-password-file" => {
                self.target_password_file = Some(file("target-password-file", value)?);
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
        let more: Vec<String> = self.portals.iter().skip(1).map(ToString::to_string).collect();
        given("portals", (!more.is_empty()).then(|| more.join(",")));
        given("sessions", self.sessions.map(|count| count.to_string()));
        given("policy", (self.policy == PathPolicy::RoundRobin).then(|| "round-robin".into()));
        given("header-digest", self.header_digest.then(|| "crc32c".into()));
        given("data-digest", self.data_digest.then(|| "crc32c".into()));
        given("initial-r2t", self.initial_r2t.then(|| "yes".into()));
        given("immediate-data", (!self.immediate_data).then(|| "no".into()));
        given("initiator", self.initiator.clone());
        let path = |path: &Option<PathBuf>| path.as_ref().map(|p| encode(&p.to_string_lossy()));
        given("password-file", path(&self.password_file));
        given("target-user", self.target_user.as_deref().map(encode));
        given("target-password-file", path(&self.target_password_file));
        given("timeout", timeout_option(self.timeout));
        options
    }
}

impl fmt::Display for IscsiLun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("iscsi://")?;
        if let Some(user) = &self.user {
            // As it is read: like libiscsi, a user is not decoded.
            write!(out, "{user}@")?;
        }
        write!(out, "{}/{}/{}", self.portals[0], self.target, self.lun)
    }
}

/// Names of RFC 7143 section 4.2.7: iqn., eui. or naa., in characters that need no escape.
fn is_name(text: &str) -> bool {
    let typed = ["iqn.", "eui.", "naa."].iter().any(|prefix| text.starts_with(prefix));
    let sound = |c: char| c.is_ascii_alphanumeric() || "-.:_".contains(c) || !c.is_ascii();
    typed && text.len() <= 223 && text.chars().all(sound)
}

fn digest(option: &'static str, value: &str) -> Result<bool, UrlError> {
    match value.to_ascii_lowercase().as_str() {
        "crc32c" => Ok(true),
        "none" => Ok(false),
        _ => Err(bad_value(option, value, "none or crc32c")),
    }
}

fn yes(option: &'static str, value: &str) -> Result<bool, UrlError> {
    match value.to_ascii_lowercase().as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(bad_value(option, value, "yes or no")),
    }
}

fn file(option: &'static str, value: &str) -> Result<PathBuf, UrlError> {
    match decode(value) {
        Some(path) if !path.is_empty() => Ok(path.into()),
        _ => Err(bad_value(option, value, "FILE")),
    }
}
