//! Datastores that a study starts itself: `embedded:local`, `embedded:nfs` and `embedded:iscsi`.
//!
//! A study that anyone can run needs datastores that every machine has: a directory, our own NFS server and
//! tgt, all on the disk of the working directory. The plan has their names, so it is the same on every
//! machine and in every run; the addresses of the servers (loopback, a new port each time) are known only
//! here.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use stormeter_peers::{PeerError, Tgt, TgtOptions};
use stormeter_study::StudyPlan;

use crate::child::ServerChild;
use crate::exit::Failure;

/// Their directory in the working directory.
const DIRECTORY: &str = "stormeter-embedded";
const SCHEME: &str = "embedded:";
const KINDS: [&str; 3] = ["local", "nfs", "iscsi"];
/// Space kept free at both ends of a LUN.
const LUN_MARGIN_BYTES: u64 = 4 << 20;
/// Disks on a LUN start at multiples of this.
const LUN_STEP_BYTES: u64 = 1 << 20;

/// The running datastores; they end when this value is dropped.
pub(crate) struct Embedded {
    addresses: Vec<(String, String)>,
    // In the order of dropping: the servers, then what they use.
    nfs: Option<ServerChild>,
    tgt: Option<Tgt>,
    directory: Option<OwnDirectory>,
}

impl Embedded {
    /// Starts the embedded datastores in the plan; other URLs are ignored.
    pub(crate) fn start(plan: &StudyPlan) -> Result<Self, Failure> {
        let urls: Vec<String> = plan.urls().into_iter().map(str::to_owned).collect();
        let disks = plan.disks();
        let bytes = disks
            .bytes
            .checked_next_multiple_of(LUN_STEP_BYTES)
            .and_then(|bytes| bytes.checked_mul(u64::from(disks.count)))
            .unwrap_or(u64::MAX - LUN_MARGIN_BYTES);
        Self::serve(&urls, bytes)
    }

    /// `bytes` is the space that the disks need on each LUN.
    fn serve(urls: &[String], bytes: u64) -> Result<Self, Failure> {
        let mut embedded = Self { addresses: Vec::new(), nfs: None, tgt: None, directory: None };
        let mut named: Vec<&String> = urls.iter().filter(|url| url.starts_with(SCHEME)).collect();
        named.sort();
        named.dedup();
        if named.is_empty() {
            return Ok(embedded);
        }
        if let Some(other) = named.iter().map(|url| kind(url)).find(|kind| !KINDS.contains(kind)) {
            return Err(Failure::Usage(format!(
                "there is no embedded datastore {other:?}; there are embedded:local, embedded:nfs and \
                 embedded:iscsi, each with the options of its kind after a question mark"
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
        let units = named.iter().filter(|url| kind(url) == "iscsi").count();
        if units > 0 {
            embedded.tgt = Some(tgt(&directory.fresh("tgt")?, units, bytes + LUN_MARGIN_BYTES)?);
        }
        let mut lun = 0;
        for url in named {
            let options = url.split_once('?').map_or(String::new(), |(_, text)| format!("?{text}"));
            let address = match kind(url) {
                "local" => format!("{}{options}", directory.make("local")?.display()),
                "nfs" => {
                    if embedded.nfs.is_none() {
                        embedded.nfs = Some(nfs(&directory.make("export")?)?);
                    }
                    let server = embedded.nfs.as_ref().map_or("", ServerChild::url);
                    join(server, &options)
                }
                _ => {
                    lun += 1;
                    let target = embedded.tgt.as_ref().map_or(String::new(), |tgt| tgt.url(lun));
                    join(&target, &options)
                }
            };
            embedded.addresses.push((url.clone(), address));
        }
        embedded.directory = Some(directory);
        Ok(embedded)
    }

    /// Pairs of the name in the plan and the URL to open.
    pub(crate) fn addresses(&self) -> Vec<(String, String)> {
        self.addresses.clone()
    }
}

/// `iscsi` of `embedded:iscsi?sessions=2`.
fn kind(url: &str) -> &str {
    let rest = url.strip_prefix(SCHEME).unwrap_or(url);
    rest.split('?').next().unwrap_or(rest)
}

/// Adds options to a URL that may have some.
fn join(url: &str, options: &str) -> String {
    match (url.contains('?'), options.strip_prefix('?')) {
        (true, Some(more)) => format!("{url}&{more}"),
        _ => format!("{url}{options}"),
    }
}

/// The directory, served over NFS.
pub(crate) fn nfs(directory: &Path) -> Result<ServerChild, Failure> {
    ServerChild::start([OsStr::new("serve-nfs"), directory.as_os_str()])
}

fn tgt(directory: &Path, units: usize, bytes: u64) -> Result<Tgt, Failure> {
    let options = TgtOptions {
        units_bytes: vec![bytes; units],
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
        for name in ["local", "export", "tgt"] {
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
    fn options_go_with_the_address() {
        assert_eq!(kind("embedded:iscsi?sessions=2"), "iscsi");
        assert_eq!(kind("embedded:nfs"), "nfs");
        assert_eq!(join("nfs://127.0.0.1:20/x", ""), "nfs://127.0.0.1:20/x");
        assert_eq!(join("nfs://h/x", "?connections=2"), "nfs://h/x?connections=2");
        assert_eq!(join("nfs://h/x?a=1", "?connections=2"), "nfs://h/x?a=1&connections=2");
    }

    #[test]
    fn an_unknown_kind_lists_the_known_ones() {
        let Err(failure) = Embedded::serve(&["embedded:ceph".into()], 0) else {
            panic!("there is none");
        };
        assert!(failure.to_string().contains("embedded:local"), "{failure}");
    }

    #[test]
    fn other_urls_need_nothing() {
        let embedded = Embedded::serve(&["/srv/vm".into(), "null:".into()], 0)
            .unwrap_or_else(|f| panic!("{f}"));
        assert!(embedded.addresses().is_empty());
    }
}
