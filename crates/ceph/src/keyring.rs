//! Keys of cephx, and the files that hold them, which only their owner can read.
//!
//! A key is the type (1: AES), the time of its creation, a length and 16 random bytes, little
//! endian and in base64: Ceph's documentation, "Cephx authentication protocol", and what
//! `ceph-authtool --gen-key` prints.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::CephError;
use crate::error::at;

const AES: u16 = 1;
const SECRET_BYTES: u16 = 16;

/// What an entity may do, by the kind of daemon that it asks.
type Capabilities = &'static [(&'static str, &'static str)];

const OF_ADMIN: Capabilities =
    &[("mds", "allow *"), ("mgr", "allow *"), ("mon", "allow *"), ("osd", "allow *")];
const OF_MONITOR: Capabilities = &[("mon", "allow *")];
const OF_MANAGER: Capabilities =
    &[("mds", "allow *"), ("mon", "allow profile mgr"), ("osd", "allow *")];
const OF_OSD: Capabilities =
    &[("mgr", "allow profile osd"), ("mon", "allow profile osd"), ("osd", "allow *")];

/// The section of one entity in a keyring.
pub(crate) struct Entry(String);

impl Entry {
    pub(crate) fn admin() -> Result<Self, CephError> {
        Self::of("client.admin", OF_ADMIN)
    }

    pub(crate) fn monitor() -> Result<Self, CephError> {
        Self::of("mon.", OF_MONITOR)
    }

    pub(crate) fn manager(name: &str) -> Result<Self, CephError> {
        Self::of(name, OF_MANAGER)
    }

    pub(crate) fn osd(name: &str) -> Result<Self, CephError> {
        Self::of(name, OF_OSD)
    }

    fn of(name: &str, capabilities: Capabilities) -> Result<Self, CephError> {
        let mut text = format!("[{name}]\n\tkey = {}\n", new_key()?);
        for (daemon, may) in capabilities {
            text += &format!("\tcaps {daemon} = \"{may}\"\n");
        }
        Ok(Self(text))
    }
}

/// Writes a keyring that at no time anyone but its owner can read.
pub(crate) fn write(path: &Path, entries: &[&Entry]) -> Result<(), CephError> {
    let text: String = entries.iter().map(|entry| entry.0.as_str()).collect();
    let mut file =
        File::options().write(true).create_new(true).mode(0o600).open(path).map_err(at(path))?;
    file.write_all(text.as_bytes()).map_err(at(path))
}

fn new_key() -> Result<String, CephError> {
    let random = Path::new("/dev/urandom");
    let mut secret = [0; SECRET_BYTES as usize];
    File::open(random).and_then(|mut file| file.read_exact(&mut secret)).map_err(at(random))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(base64(&encode(now.as_secs(), now.subsec_nanos(), secret)))
}

fn encode(seconds: u64, nanoseconds: u32, secret: [u8; SECRET_BYTES as usize]) -> Vec<u8> {
    let mut bytes = AES.to_le_bytes().to_vec();
    // The format has 32 bits for the seconds.
    bytes.extend_from_slice(&seconds.to_le_bytes()[..4]);
    bytes.extend_from_slice(&nanoseconds.to_le_bytes());
    bytes.extend_from_slice(&SECRET_BYTES.to_le_bytes());
    bytes.extend_from_slice(&secret);
    bytes
}

/// RFC 4648 section 4.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place) & 63) as usize;
            text.push(if place <= chunk.len() { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn a_key_has_the_form_of_cephs() {
        // Printed by `ceph-authtool --gen-print-key`: 28 bytes, type 1, 16 bytes of secret.
        let key = base64(&encode(0x6020_3040, 5, [7; 16]));
        assert_eq!(key.len(), 40);
        assert!(key.starts_with("AQBAMCBg"), "{key}");
        assert_ne!(new_key().unwrap(), new_key().unwrap());
    }

    #[test]
    fn only_the_owner_reads_it_and_nothing_is_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keyring");
        let (admin, osd) = (Entry::admin().unwrap(), Entry::osd("osd.3").unwrap());
        write(&path, &[&admin, &osd]).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("[client.admin]\n\tkey = AQ"), "{text}");
        assert!(text.contains("[osd.3]") && text.contains("caps mon = \"allow profile osd\""));
        assert!(write(&path, &[&admin]).is_err());
    }
}
