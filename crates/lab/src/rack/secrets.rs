//! Passwords, of CHAP and of services: read when a lab is started, and never written into its directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::LabError;
use crate::model::{Chap, Lab, Mounted};
use crate::services::Services;

/// RFC 7143, 9.2.1: at least 96 bits, or IPsec.
const LEAST_CHAP: usize = 12;
/// Of services: VNC uses eight letters at most (RFC 6143, section 7.2.2).
const LEAST_SERVICE: usize = 6;
const MOST: usize = 128;

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
        let chaps = luns.filter_map(|lun| lun.chap.as_ref()).chain(of_mounts);
        let chaps = chaps.map(|chap| (chap.password_file.as_path(), LEAST_CHAP));
        let services = lab.hosts.iter().flat_map(|host| host.services.password_files());
        let mut found = BTreeMap::new();
        for (path, least) in chaps.chain(services.map(|path| (path, LEAST_SERVICE))) {
            found.insert(path.to_owned(), read(path, least)?);
        }
        Ok(Self(found))
    }

    /// The password for a login.
    pub(super) fn of(&self, chap: &Chap) -> &str {
        self.in_file(&chap.password_file)
    }

    /// The password in a file of the lab.
    pub(super) fn in_file(&self, path: &Path) -> &str {
        self.0.get(path).map_or("", String::as_str)
    }
}

/// The same lab with absolute paths of password files: a guest may be restarted from another working directory.
pub(super) fn anchored(lab: &Lab) -> Lab {
    let mut lab = lab.clone();
    let luns = lab.storage.iter_mut().flat_map(|storage| &mut storage.luns);
    let of_luns = luns.filter_map(|lun| lun.chap.as_mut()).map(|chap| &mut chap.password_file);
    let (mut of_mounts, mut of_services) = (Vec::new(), Vec::new());
    for host in &mut lab.hosts {
        of_mounts.extend(host.mounts.iter_mut().filter_map(|mount| match &mut mount.of {
            Mounted::Iscsi { chap, .. } => chap.as_mut().map(|chap| &mut chap.password_file),
            _ => None,
        }));
        let Services { ftp, vnc } = &mut host.services;
        of_services.extend(ftp.as_mut().map(|ftp| &mut ftp.password_file));
        of_services.extend(vnc.as_mut().map(|vnc| &mut vnc.password_file));
    }
    for path in of_luns.chain(of_mounts).chain(of_services) {
        *path = std::path::absolute(&*path).unwrap_or_else(|_| path.clone());
    }
    lab
}

/// A password of at least that many letters.
fn read(path: &Path, least: usize) -> Result<String, LabError> {
    let wrong = |why: String| LabError::Password { path: path.to_owned(), why };
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let password = text.trim_end_matches(['\n', '\r']);
    // It passes through a shell of the guest, in single quotes.
    let plain = |c: char| c.is_ascii_graphic() && c != '\'' && c != '\\';
    if (least..=MOST).contains(&password.len()) && password.chars().all(plain) {
        return Ok(password.to_owned());
    }
    Err(wrong(format!(
        "a password has {least} to {MOST} letters, digits and signs on one line, without spaces, quotes and \
         backslashes"
    )))
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

    #[test]
    fn a_password_of_a_service_may_be_shorter() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("vnc.txt");
        let text = format!(
            "networks: {{n: {{}}}}\nrouters: {{r: {{role: provider, networks: [n]}}}}\n\
             hosts: {{h: {{networks: [n], services: {{vnc: {{password-file: {}}}}}}}}}",
            file.display()
        );
        let lab = parse_lab(&text).unwrap();
        fs::write(&file, "five5\n").unwrap();
        let error = Secrets::read(&lab).err().unwrap().to_string();
        assert!(error.contains("6 to 128") && !error.contains("five5"), "{error}");
        let here = parse_lab(&text.replace(&file.display().to_string(), "vnc.txt")).unwrap();
        let anchored = anchored(&here);
        let path = anchored.hosts[0].services.password_files().next().unwrap();
        assert_eq!(path, std::env::current_dir().unwrap().join("vnc.txt"));
        fs::write(&file, "letter\n").unwrap();
        assert_eq!(Secrets::read(&lab).unwrap().in_file(&file), "letter");
    }
}
