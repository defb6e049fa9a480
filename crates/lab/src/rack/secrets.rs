//! CHAP passwords: read when a lab is started, and never written into its directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::error::LabError;
use crate::model::{Chap, Lab, Mounted};

/// Passwords by the files that contain them.
#[derive(Default)]
pub(super) struct Secrets(BTreeMap<PathBuf, String>);

impl Secrets {
    /// Reads all passwords that a lab needs.
    ///
    /// # Errors
    /// A file is missing, or its contents are not a valid password.
    pub(super) fn read(lab: &Lab) -> Result<Self, LabError> {
        let luns = lab.storage.iter().flat_map(|storage| &storage.luns);
        let mounts = lab.hosts.iter().flat_map(|host| &host.mounts);
        let of_mounts = mounts.filter_map(|mount| match &mount.of {
            Mounted::Iscsi { chap, .. } => chap.as_ref(),
            _ => None,
        });
        let mut found = BTreeMap::new();
        for chap in luns.filter_map(|lun| lun.chap.as_ref()).chain(of_mounts) {
            let path = chap.password_file.clone();
            let wrong = |why: &str| LabError::Password { path: path.clone(), why: why.into() };
            let text = fs::read_to_string(&path).map_err(|error| wrong(&error.to_string()))?;
            let password = text.trim_end_matches(['\n', '\r']);
            // It passes through a shell of the guest, in single quotes.
            let plain = |c: char| c.is_ascii_graphic() && c != '\'' && c != '\\';
            // RFC 7143, 9.2.1: at least 96 bits, or IPsec.
            if !(12..=128).contains(&password.len()) || !password.chars().all(plain) {
                return Err(wrong(
                    "a password has 12 to 128 letters, digits and signs on one line, without spaces, \
                     quotes and backslashes",
                ));
            }
            found.insert(path, password.to_owned());
        }
        Ok(Self(found))
    }

    /// The password for a login.
    pub(super) fn of(&self, chap: &Chap) -> &str {
        self.0.get(&chap.password_file).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;

    #[test]
    fn a_password_is_read_or_what_is_wrong_with_its_file_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("chap.txt");
        let text = format!(
            "storage: {{nas: {{disks: {{a: {{size: 64MiB}}}}, luns: {{a: {{disks: a, chap: {{user: u, \
             password-file: {}}}}}}}}}}}",
            file.display()
        );
        let lab = parse_lab(&text).unwrap();
        let error = |lab| Secrets::read(lab).err().unwrap().to_string();
        assert!(error(&lab).contains("chap.txt"), "{}", error(&lab));
        for bad in ["short\n", "", "with spaces in it\n", "with'a'quote'in'it\n"] {
            fs::write(&file, bad).unwrap();
            assert!(error(&lab).contains("12 to 128"), "{bad}");
        }
        fs::write(&file, "correct-horse\n").unwrap();
        let chap = lab.storage[0].luns[0].chap.clone().unwrap();
        assert_eq!(Secrets::read(&lab).unwrap().of(&chap), "correct-horse");
    }
}
