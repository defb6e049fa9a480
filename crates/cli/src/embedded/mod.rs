//! Datastores that a study starts itself: `embedded:local`, `embedded:nfs`, `embedded:iscsi` and `embedded:ceph`.
//!
//! A study that anyone can run needs datastores that every machine has: a directory, our own NFS server, tgt and a small
//! Ceph cluster, all on the disk of the working directory. The plan has their names, so it is the same on every
//! machine and in every run; the addresses of the servers (loopback, a new port each time) are known only
//! here.

mod ceph;
mod disk;
mod url;

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use stormeter_ceph::Cluster;
use stormeter_peers::{PeerError, Tgt, TgtOptions};
use stormeter_study::StudyPlan;

use self::ceph::EmbeddedCeph;
use self::disk::{DiskKind, EmbeddedDisk};
use self::url::{CEPH, SCHEME, join, kind};
use crate::child::ServerChild;
use crate::exit::Failure;

/// Their directory in the working directory.
const DIRECTORY: &str = "stormeter-embedded";
const KINDS: [&str; 4] = ["local", "nfs", "iscsi", CEPH];
/// Space kept free at both ends of a LUN.
const LUN_MARGIN_BYTES: u64 = 4 << 20;
/// Disks on a LUN start at multiples of this.
const LUN_STEP_BYTES: u64 = 1 << 20;

/// The running datastores; they end when this value is dropped.
#[derive(Default)]
pub(crate) struct Embedded {
    addresses: Vec<(String, String)>,
    // In the order of dropping: the servers, then what they use.
    nfs: Option<ServerChild>,
    tgt: Option<Tgt>,
    ceph: Option<EmbeddedCeph>,
    disks: Vec<EmbeddedDisk>,
    devices: Vec<PathBuf>,
    directory: Option<OwnDirectory>,
}

impl Embedded {
    /// Starts the embedded datastores in the plan; other URLs are ignored.
    ///
    /// What takes long is announced to `say`.
    pub(crate) fn start(plan: &StudyPlan, say: &dyn Fn(&str)) -> Result<Self, Failure> {
        let urls: Vec<String> = plan.urls().into_iter().map(str::to_owned).collect();
        let disks = plan.disks();
        let bytes = disks
            .bytes
            .checked_next_multiple_of(LUN_STEP_BYTES)
            .and_then(|bytes| bytes.checked_mul(u64::from(disks.count)))
            .unwrap_or(u64::MAX - LUN_MARGIN_BYTES);
        Self::serve(&urls, bytes, say)
    }

    /// `bytes` is the space that the disks need on each LUN.
    fn serve(urls: &[String], bytes: u64, say: &dyn Fn(&str)) -> Result<Self, Failure> {
        let mut named: Vec<&String> = urls.iter().filter(|url| url.starts_with(SCHEME)).collect();
        named.sort();
        named.dedup();
        if named.is_empty() {
            return Ok(Self::default());
        }
        if let Some(other) = named.iter().map(|url| kind(url)).find(|kind| !KINDS.contains(kind)) {
            return Err(Failure::Usage(format!(
                "there is no embedded datastore {other:?}; there are embedded:local, embedded:nfs, \
                 embedded:iscsi and embedded:ceph, each with the options of its kind after a question mark"
            )));
        }
        let directory = OwnDirectory::take()?;
        if directory.top.to_string_lossy().contains('?') {
            return Err(Failure::Usage(
                "embedded datastores need a working directory without a question mark in its path, \
                 where options of datastores begin"
                    .into(),
            ));
        }
        // After the directory, so that it goes before it if one of them does not start.
        let mut embedded = Self::default();
        let (pools, others): (Vec<&String>, Vec<&String>) =
            named.into_iter().partition(|url| kind(url) == CEPH);
        if !pools.is_empty() {
            let ceph = EmbeddedCeph::start(&directory.top.join(CEPH), &pools, say)?;
            embedded.addresses.extend(ceph.addresses.clone());
            embedded.ceph = Some(ceph);
        }
        embedded.start_servers(&directory, &others, bytes)?;
        embedded.directory = Some(directory);
        Ok(embedded)
    }

    fn start_servers(
        &mut self,
        directory: &OwnDirectory,
        urls: &[&String],
        bytes: u64,
    ) -> Result<(), Failure> {
        let mut local = Vec::new();
        // Disks with a speed of their own become the target's first units.
        let (mut on_disks, mut on_files, mut disks) = (Vec::new(), Vec::new(), Vec::new());
        for url in urls {
            let (disk, options) = DiskKind::take(url)?;
            match (kind(url), disk.speed) {
                ("local", None) => {
                    let path = directory.make("local")?;
                    self.addresses.push(((*url).clone(), format!("{}{options}", path.display())));
                }
                ("local", Some(_)) => local.push((url, disk, options)),
                ("nfs", None) => {
                    if self.nfs.is_none() {
                        self.nfs = Some(nfs(&directory.make("export")?)?);
                    }
                    let server = self.nfs.as_ref().map_or("", ServerChild::url);
                    self.addresses.push(((*url).clone(), join(server, &options)));
                }
                ("nfs", Some(_)) => {
                    return Err(Failure::Usage(format!(
                        "{url}: embedded:nfs has the disk of the working directory; disk= is an option of \
                         embedded:local, embedded:iscsi and embedded:ceph"
                    )));
                }
                (_, None) => on_files.push((url, options)),
                (_, Some(_)) => {
                    disks.push(self.start_disk(directory, bytes + LUN_MARGIN_BYTES, &disk)?);
                    on_disks.push((url, options));
                }
            }
        }
        for (url, disk, options) in local {
            self.start_disk(directory, bytes + LUN_MARGIN_BYTES, &disk)?;
            let device = self.disks.last_mut().map(EmbeddedDisk::device).transpose()?;
            let device = device.unwrap_or_default();
            self.addresses.push(((*url).clone(), format!("{}{options}", device.display())));
            self.devices.push(device);
        }
        if !on_disks.is_empty() || !on_files.is_empty() {
            let size = bytes + LUN_MARGIN_BYTES;
            let units = vec![size; on_files.len()];
            let tgt = tgt(&directory.fresh("tgt")?, disks, units)?;
            for (lun, (url, options)) in (1..).zip(on_disks.iter().chain(&on_files)) {
                self.addresses.push(((**url).clone(), join(&tgt.url(lun), options)));
            }
            self.tgt = Some(tgt);
        }
        Ok(())
    }

    /// Serves one more disk, and returns its file.
    fn start_disk(
        &mut self,
        directory: &OwnDirectory,
        bytes: u64,
        kind: &DiskKind,
    ) -> Result<PathBuf, Failure> {
        let (places, stores) = (directory.make("disks")?, directory.make("stores")?);
        let number = self.disks.len().to_string();
        if number == "0" {
            disk::remove_left(&places);
        }
        let place = places.join(&number);
        make_own(&place).map_err(|error| Failure::File(format!("{}: {error}", place.display())))?;
        let disk = EmbeddedDisk::start(stores.join(&number), place, bytes, kind)?;
        let file = disk.file();
        self.disks.push(disk);
        Ok(file)
    }

    /// The devices among them, which hold no data of others.
    pub(crate) fn devices(&self) -> &[PathBuf] {
        &self.devices
    }

    /// The Ceph cluster, if there is one.
    pub(crate) fn cluster(&self) -> Result<Option<Cluster>, Failure> {
        Ok(self.ceph.as_ref().map(EmbeddedCeph::cluster).transpose()?)
    }

    /// Pairs of the name in the plan and the URL to open.
    pub(crate) fn addresses(&self) -> Vec<(String, String)> {
        self.addresses.clone()
    }
}

/// The directory, served over NFS.
pub(crate) fn nfs(directory: &Path) -> Result<ServerChild, Failure> {
    ServerChild::start([OsStr::new("serve-nfs"), directory.as_os_str()])
}

/// A target with these disks as its first units, and further ones of these sizes.
fn tgt(directory: &Path, disks: Vec<PathBuf>, units_bytes: Vec<u64>) -> Result<Tgt, Failure> {
    let options = TgtOptions {
        unit_files: disks,
        units_bytes,
        directory: Some(directory.to_path_buf()),
        ..TgtOptions::default()
    };
    Tgt::start(&options).map_err(|error| {
        match error {
        PeerError::Missing { .. } => Failure::File(
            "embedded:iscsi needs tgt, which is not installed: install it (Debian: apt-get install \
             tgt), or take that datastore out of the study file"
                .into(),
        ),
        error => Failure::File(format!("tgt did not start: {error}")),
    }
    })
}

/// Our own directory below the working directory, for one run at a time.
struct OwnDirectory {
    top: PathBuf,
    _lock: File,
}

impl OwnDirectory {
    fn take() -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::File(format!(
                "the embedded datastores cannot have {DIRECTORY} in the working directory: {error}"
            ))
        };
        make_own(Path::new(DIRECTORY)).map_err(failed)?;
        // Servers must find it from any working directory.
        let top = PathBuf::from(DIRECTORY).canonicalize().map_err(failed)?;
        // Never through a link, and existing content is not removed.
        let lock = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .custom_flags(OFlag::O_NOFOLLOW.bits())
            .open(top.join("lock"))
            .map_err(failed)?;
        lock.try_lock().map_err(|_| {
            Failure::File(format!(
                "another run uses the embedded datastores in {DIRECTORY}; wait for it, or work in \
                 another directory"
            ))
        })?;
        Ok(Self { top, _lock: lock })
    }

    fn make(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.top.join(name);
        make_own(&path).map_err(|error| Failure::File(format!("{} : {error}", path.display())))?;
        Ok(path)
    }

    /// Creates it without what the tgt of a killed run left there: directories whose names start with `tgt`.
    fn fresh(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.make(name)?;
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            let is_left = entry.file_name().to_string_lossy().starts_with("tgt");
            if is_left && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        Ok(path)
    }
}

impl Drop for OwnDirectory {
    /// Removes the directories if they are empty again, which they are unless other files were put there.
    fn drop(&mut self) {
        for entry in std::fs::read_dir(self.top.join("disks")).into_iter().flatten().flatten() {
            let _ = std::fs::remove_dir(entry.path());
        }
        for name in ["local", "export", "tgt", "disks", "stores"] {
            let _ = std::fs::remove_dir(self.top.join(name));
        }
        let _ = std::fs::remove_file(self.top.join("lock"));
        let _ = std::fs::remove_dir(&self.top);
    }
}

/// Creates a directory that other users cannot read. An existing one must belong to this user: it will be
/// served, and other users with write permission could have put a link in its place.
pub(crate) fn make_own(directory: &Path) -> std::io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let found = std::fs::symlink_metadata(directory)?;
            // The owner of /proc/self is the effective user of this process (proc(5)).
            if found.is_dir() && found.uid() == std::fs::metadata("/proc/self")?.uid() {
                return Ok(());
            }
            Err(std::io::Error::other(format!(
                "{} is there and is no directory of yours; remove it, or work elsewhere",
                directory.display()
            )))
        }
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_kind_lists_the_known_ones() {
        let Err(failure) = Embedded::serve(&["embedded:smb".into()], 0, &|_| ()) else {
            panic!("there is none");
        };
        assert!(failure.to_string().contains("embedded:local"), "{failure}");
    }

    #[test]
    fn other_urls_need_nothing() {
        let embedded = Embedded::serve(&["/srv/vm".into(), "null:".into()], 0, &|_| ())
            .unwrap_or_else(|f| panic!("{f}"));
        assert!(embedded.addresses().is_empty());
    }
}
