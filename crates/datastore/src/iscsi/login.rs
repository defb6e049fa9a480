//! The login: initiator, password, and proposed parameters.

use std::path::Path;
use std::rc::Rc;

use stormeter_iscsi::chap::{Algorithm, Credentials, Mutual};
use stormeter_iscsi::login::Digest;
use stormeter_iscsi::scsi::Lun;
use stormeter_iscsi::{Isid, Options, Parameters, Secret, Timeouts, UnitCache};

use crate::{DatastoreError, IscsiLun};

/// The environment's password of the user.
const PASSWORD: &str = "STORMETER_ISCSI_PASSWORD";
/// The environment's password by which the target proves itself.
const TARGET_PASSWORD: &str = "STORMETER_ISCSI_TARGET_PASSWORD";
/// The longest READ or WRITE, whatever the target allows: several times the requests that
/// hypervisors make.
const MAX_TRANSFER_BYTES: u32 = 1 << 20;
/// The longest password file that is read.
const MAX_PASSWORD_BYTES: u64 = 4096;

/// All that sessions to one LUN have in common.
#[derive(Clone)]
pub(super) struct Login {
    url: IscsiLun,
    initiator: String,
    chap: Option<Credentials>,
    lun: Lun,
    random: u64,
}

impl Login {
    /// Reads the passwords, wherever they are.
    pub(super) fn new(url: &IscsiLun) -> Result<Self, DatastoreError> {
        let chap = match &url.user {
            None => None,
            Some(user) => Some(Credentials {
                name: user.clone(),
                secret: secret(
                    url,
                    user,
                    url.password.as_ref(),
                    url.password_file.as_deref(),
                    PASSWORD,
                )?,
                algorithms: Algorithm::ALL.to_vec(),
                mutual: mutual(url)?,
            }),
        };
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host: String = host
            .trim()
            .to_ascii_lowercase()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c))
            .collect();
        let initiator = url.initiator.clone().unwrap_or_else(|| match host.as_str() {
            "" => "iqn.2026-01.io.stormeter:initiator".into(),
            host => format!("iqn.2026-01.io.stormeter:{host}"),
        });
        // The URL bounds the number to what an address can hold.
        let lun = Lun::of_number(u32::from(url.lun)).unwrap_or(Lun(0));
        Ok(Self { url: url.clone(), initiator, chap, lun, random: system_random() })
    }

    /// What one session is made of. `number` tells the sessions of this process apart.
    pub(super) fn options(
        &self,
        number: u16,
        block_bytes: u32,
        extents: Vec<u64>,
        disk_bytes: u64,
        cache: Rc<UnitCache>,
    ) -> Options {
        let url = &self.url;
        let digests = |wanted: bool| if wanted { vec![Digest::Crc32c] } else { vec![Digest::None] };
        let patience_ns = url.timeout.as_nanos() as u64;
        let defaults = Timeouts::default();
        let mut word = self.random ^ u64::from(number);
        Options {
            initiator_name: self.initiator.clone(),
            isid: Isid::random(self.random, number),
            target_name: url.target.clone(),
            lun: self.lun,
            chap: self.chap.clone(),
            parameters: Parameters {
                header_digest: digests(url.header_digest),
                data_digest: digests(url.data_digest),
                initial_r2t: url.initial_r2t,
                immediate_data: url.immediate_data,
                ..Parameters::default()
            },
            block_bytes,
            extents,
            disk_bytes,
            cache,
            max_transfer_bytes: MAX_TRANSFER_BYTES,
            timeouts: Timeouts {
                // Half, so that what got lost on the way is asked for again before the end.
                reply_ns: defaults.reply_ns.min(patience_ns / 2),
                operation_ns: patience_ns,
                ..defaults
            },
            flush_on_close: false,
            random: Box::new(move || {
                word = splitmix(word);
                word ^ system_random()
            }),
        }
    }
}

/// A random word. The standard library seeds its hash maps from the system's random numbers.
fn system_random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}

/// One step of the SplitMix64 generator (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, 2014).
fn splitmix(word: u64) -> u64 {
    let mut mixed = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

fn mutual(url: &IscsiLun) -> Result<Option<Mutual>, DatastoreError> {
    let file = url.target_password_file.as_deref();
    if url.target_user.is_none() && file.is_none() {
        return Ok(None);
    }
    let user = url.target_user.as_deref().unwrap_or("the target");
    let secret = secret(url, user, None, file, TARGET_PASSWORD)?;
    Ok(Some(Mutual { name: url.target_user.clone(), secret }))
}

fn secret(
    url: &IscsiLun,
    user: &str,
    given: Option<&Secret>,
    file: Option<&Path>,
    variable: &'static str,
) -> Result<Secret, DatastoreError> {
    if let Some(secret) = given {
        return Ok(secret.clone());
    }
    if let Some(path) = file {
        return from_file(path);
    }
    match std::env::var(variable) {
        Ok(password) if !password.is_empty() => Ok(Secret::new(password)),
        _ => Err(DatastoreError::NoPassword { user: user.into(), name: url.to_string(), variable }),
    }
}

/// The first line of a file.
fn from_file(path: &Path) -> Result<Secret, DatastoreError> {
    use std::io::Read;
    let failed = |reason: String| DatastoreError::Password { path: path.into(), reason };
    let file = std::fs::File::open(path).map_err(|error| failed(error.to_string()))?;
    let mut text = String::new();
    let read = file.take(MAX_PASSWORD_BYTES).read_to_string(&mut text);
    read.map_err(|error| failed(error.to_string()))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(Secret::new(line)),
        _ => Err(failed("its first line is empty".into())),
    }
}
