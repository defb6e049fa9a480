//! A disk with a computed speed behind `embedded:local` and `embedded:iscsi`: the counterpart of the disks of
//! `embedded:ceph`.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use stormeter_ceph::Speed;
use stormeter_timed_disk::DISK;

use super::url::take;
use crate::child::ServerChild;
use crate::exit::Failure;

/// What a disk is, as an embedded datastore's URL says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DiskKind {
    pub(super) speed: Option<Speed>,
    /// Mirrored pairs of such disks in a RAID-10; 0: a single disk.
    pub(super) pairs: u32,
}

impl DiskKind {
    /// Takes the options of the disk out of a URL's, and returns the others.
    pub(super) fn take(url: &str) -> Result<(Self, String), Failure> {
        let mut kind = Self::default();
        let rest = take(url, |name, value| {
            match name {
                "disk" => kind.speed = Some(value.parse().map_err(|error| format!("{error}"))?),
                "raid-10" => {
                    let disks: Option<u32> = value.parse().ok();
                    let disks = disks.filter(|disks| (2..=64).contains(disks) && disks % 2 == 0);
                    let disks = disks.ok_or_else(|| {
                        "write the number of its disks, which is even, from 2 to 64".to_owned()
                    })?;
                    kind.pairs = disks / 2;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if kind.pairs > 0 && kind.speed.is_none() {
            return Err(Failure::Usage(format!(
                "{url}: a RAID-10 needs the speed of its disks, such as disk=8ms,100MB/s"
            )));
        }
        Ok((kind, rest))
    }
}

/// A disk that is served; it ends when this is dropped.
pub(super) struct EmbeddedDisk {
    // In the order of dropping: what uses it, then its server.
    /// The kernel detaches a loop device with a pending detach when its last user closes it.
    held: Option<File>,
    _server: ServerChild,
    store: PathBuf,
    directory: PathBuf,
}

impl EmbeddedDisk {
    /// Serves a new disk of this size at `directory`, with its content in the file `store`. The directory exists.
    pub(super) fn start(
        store: PathBuf,
        directory: PathBuf,
        bytes: u64,
        kind: &DiskKind,
    ) -> Result<Self, Failure> {
        let words: [OsString; 7] = [
            "serve-disk".into(),
            store.clone().into(),
            directory.clone().into(),
            bytes.to_string().into(),
            kind.speed.unwrap_or(Speed::FASTEST).to_string().into(),
            "--pairs".into(),
            kind.pairs.to_string().into(),
        ];
        let server = ServerChild::start(words.iter().map(OsString::as_os_str))?;
        Ok(Self { held: None, _server: server, store, directory })
    }

    /// The file of the disk.
    pub(super) fn file(&self) -> PathBuf {
        self.directory.join(DISK)
    }

    /// Attaches a loop device to it, which stays for as long as this value.
    pub(super) fn device(&mut self) -> Result<PathBuf, Failure> {
        let file = self.file();
        let arguments = ["--find", "--show", "--direct-io=on"].map(OsString::from);
        let device = losetup(arguments.into_iter().chain([file.into()]))?;
        let failed = |error| Failure::File(format!("{}: {error}", device.display()));
        self.held = Some(File::open(&device).map_err(failed)?);
        losetup(["--detach".into(), device.clone().into()])?;
        Ok(device)
    }
}

impl Drop for EmbeddedDisk {
    fn drop(&mut self) {
        drop(self.held.take());
        let _ = std::fs::remove_file(&self.store);
    }
}

/// What losetup(8) prints.
fn losetup(arguments: impl IntoIterator<Item = OsString>) -> Result<PathBuf, Failure> {
    let failed = |reason: String| {
        Failure::File(format!(
            "a loop device, which embedded:local with disk= needs root for: {reason}"
        ))
    };
    let output = Command::new("losetup")
        .args(arguments)
        .output()
        .map_err(|error| failed(format!("losetup (Debian: mount): {error}")))?;
    match output.status.success() {
        true => Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())),
        false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

/// Unmounts and removes what a killed run left in `directory`, whose entries are disks.
pub(super) fn remove_left(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        // Each does nothing where there is nothing to be done.
        let _ = Command::new("umount").arg("-l").arg(&path).output();
        let _ = std::fs::remove_dir(&path);
        let _ = std::fs::remove_file(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_disk_are_taken_out() {
        let take = |options: &str| DiskKind::take(&format!("embedded:iscsi?{options}"));
        let (kind, rest) =
            take("sessions=2&disk=8ms,100MB/s&raid-10=4").unwrap_or_else(|f| panic!("{f}"));
        assert_eq!((kind.pairs, rest.as_str()), (2, "?sessions=2"));
        assert_eq!(kind.speed.map(|speed| speed.position_ns), Some(8_000_000));
        assert_eq!(
            take("").unwrap_or_else(|f| panic!("{f}")),
            (DiskKind::default(), String::new())
        );
        for bad in ["raid-10=4", "disk=8ms,100MB/s&raid-10=3", "disk=fast"] {
            assert!(take(bad).is_err(), "{bad}");
        }
    }
}
