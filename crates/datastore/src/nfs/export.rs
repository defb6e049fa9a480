//! An export as a file system: what a datastore does on it in addition to reading and writing disks.
//!
//! A control connection may be idle for as long as a measurement takes, and the server may close it
//! meanwhile, so a call on a broken connection is repeated once on a new one.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stormeter_disk::Clock;
use stormeter_nfs::{
    Attributes, Auth, Create, Cursor, Export as ListExports, FileHandle, FileSystemLimits,
    FileSystemSpace, FileType, GetAttributes, GetPort, Lookup, MOUNT_PROGRAM, MOUNT_VERSION,
    MakeDirectory, Mnt, NFS_PROGRAM, NFS_VERSION, NfsError, NfsStatus, Null, PORTMAP_PORT, Place,
    Procedure, Read, ReadDirectory, Remove, RemoveDirectory, Rename, Stability, Umnt, Write,
};

use super::dialog::{Dialog, Refused};
use crate::network::resolve;
use crate::survey::TransferSizes;
use crate::{DatastoreError, Host, NfsExport, RealClock};

/// The longest time of a control call.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest READ and WRITE that are used, whatever the server allows: several times the requests
/// that hypervisors make.
const MAX_TRANSFER_BYTES: u32 = 1 << 20;
/// Most names of one directory that are looked at.
const MAX_NAMES: usize = 1 << 20;
/// Bytes of one listing call's answer.
const LISTING_BYTES: u32 = 32 << 10;
/// XIDs of control connections; those of sessions come after them.
const CONTROL_XIDS: u32 = 1 << 24;

/// Something in a directory.
pub(super) struct FoundFile {
    pub(super) handle: FileHandle,
    pub(super) is_file: bool,
    pub(super) is_directory: bool,
}

/// A mounted export.
pub(super) struct Export {
    url: NfsExport,
    auth: Auth,
    address: SocketAddr,
    mount_address: SocketAddr,
    /// The mounted path, for unmounting.
    mounted_path: String,
    dialog: Option<Dialog>,
    timeout: Duration,
    root: FileHandle,
    first_xid: u32,
    next_xid: u32,
    read_max: u32,
    write_max: u32,
    offered: TransferSizes,
}

/// The credential that the server gets.
pub(super) fn credential(url: &NfsExport) -> Auth {
    let uid = url.uid.unwrap_or_else(|| nix::unistd::geteuid().as_raw());
    let gid = url.gid.unwrap_or_else(|| nix::unistd::getegid().as_raw());
    // A fixed name, and no groups: nothing that could be refused.
    Auth::sys(uid, gid, &[], "stormeter").unwrap_or_else(|_| Auth::none())
}

/// The first XID: a server's replay cache must not know it from an earlier process.
fn first_xid() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mixed = (since.as_nanos() as u64 ^ u64::from(std::process::id()) << 40)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32
}

impl Export {
    /// Finds the ports, mounts the directory and asks for the limits.
    pub(super) fn open(url: &NfsExport) -> Result<Self, DatastoreError> {
        let timeout = CALL_TIMEOUT.min(url.timeout);
        let first_xid = first_xid();
        let mut ports = Ports { host: &url.host, timeout, name: url.to_string(), xid: first_xid };
        let address = match url.host.port {
            Some(port) => resolve(&url.host, port)?,
            None => ports.find(NFS_PROGRAM, NFS_VERSION, 2049)?,
        };
        let mount_address = match url.mount_port {
            Some(port) => SocketAddr::new(address.ip(), port),
            None => ports.find(MOUNT_PROGRAM, MOUNT_VERSION, address.port())?,
        };
        let auth = credential(url);
        let mount_xid = first_xid.wrapping_add(16);
        let mounted = mount(url, mount_address, timeout, &auth, mount_xid)?;
        let mut export = Self {
            url: url.clone(),
            auth,
            address,
            mount_address,
            mounted_path: mounted.path,
            dialog: None,
            timeout,
            root: mounted.root,
            next_xid: first_xid.wrapping_add(32),
            first_xid,
            read_max: 0,
            write_max: 0,
            offered: TransferSizes::default(),
        };
        export.walk(&mounted.rest)?;
        let limits = export
            .call(&FileSystemLimits { file: export.root })
            .map_err(|refused| export.error("ask for the limits of", "", refused))?;
        export.offered = TransferSizes {
            read_max_bytes: limits.read_max_bytes,
            read_preferred_bytes: limits.read_preferred_bytes,
            write_max_bytes: limits.write_max_bytes,
            write_preferred_bytes: limits.write_preferred_bytes,
        };
        export.read_max = limits.read_max_bytes.clamp(512, MAX_TRANSFER_BYTES);
        export.write_max = limits.write_max_bytes.clamp(512, MAX_TRANSFER_BYTES);
        Ok(export)
    }

    fn walk(&mut self, rest: &str) -> Result<(), DatastoreError> {
        for name in rest.split('/').filter(|name| !name.is_empty()) {
            let found = self.look_up(&self.root(), name);
            match found.map_err(|refused| self.error("open", "", refused))? {
                Some(found) if found.is_directory => self.root = found.handle,
                _ => return Err(DatastoreError::Missing { path: self.url.to_string().into() }),
            }
        }
        Ok(())
    }

    /// A call on the control connection.
    fn call<P: Procedure>(&mut self, procedure: &P) -> Result<P::Reply, Refused> {
        // The second attempt has the same XID, so a server that has executed the call answers again.
        let xid = self.next_xid;
        self.next_xid = xid.wrapping_add(1);
        if let Some(dialog) = &mut self.dialog {
            match dialog.call(xid, &self.auth, procedure) {
                Err(Refused::Connection(_)) => self.dialog = None,
                outcome => return outcome,
            }
        }
        let dialog = self.dialog.insert(Dialog::connect(self.address, self.timeout)?);
        let outcome = dialog.call(xid, &self.auth, procedure);
        if matches!(outcome, Err(Refused::Connection(_))) {
            self.dialog = None;
        }
        outcome
    }

    /// The NFS service.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// An XID behind all that this connection may use.
    pub(super) fn unused_xid(&self) -> u32 {
        self.first_xid.wrapping_add(CONTROL_XIDS)
    }

    /// The longest READ and WRITE.
    pub(super) fn transfer_sizes(&self) -> (u32, u32) {
        (self.read_max, self.write_max)
    }

    /// The sizes that the server gave, whatever is used of them.
    pub(super) fn offered(&self) -> TransferSizes {
        self.offered
    }

    /// The time of a call that does nothing.
    pub(super) fn round_trip(&mut self, clock: &RealClock) -> Result<u64, DatastoreError> {
        let mut clock = clock.clone();
        let start_ns = clock.now_ns();
        self.call(&Null).map_err(|refused| self.error("call", "", refused))?;
        Ok(clock.now_ns().saturating_sub(start_ns))
    }

    /// The datastore's directory.
    pub(super) fn root(&self) -> FileHandle {
        self.root
    }

    /// What people call a place on the export.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        let url = self.url.to_string();
        let url = url.trim_end_matches('/');
        if name.is_empty() { url.into() } else { format!("{url}/{name}").into() }
    }

    /// The error that fits a refusal.
    pub(super) fn error(
        &self,
        action: &'static str,
        name: &str,
        refused: Refused,
    ) -> DatastoreError {
        let path = self.place(name);
        match refused {
            Refused::Status(NfsStatus::NoSpace | NfsStatus::Quota) => DatastoreError::Full { path },
            Refused::Status(NfsStatus::ReadOnly) => DatastoreError::ReadOnly { path },
            Refused::Status(status) => {
                DatastoreError::Refused { action, path, reason: status.to_string() }
            }
            Refused::Protocol(error) => {
                DatastoreError::Refused { action, path, reason: error.to_string() }
            }
            Refused::Connection(error) => DatastoreError::Unreachable {
                name: self.url.to_string(),
                reason: format!("{}: {error}", self.address),
            },
        }
    }

    /// The entry with a name.
    pub(super) fn look_up(
        &mut self,
        directory: &FileHandle,
        name: &str,
    ) -> Result<Option<FoundFile>, Refused> {
        let place = Place { directory: *directory, name: name.as_bytes() };
        let found = match self.call(&Lookup { place }) {
            Ok(found) => found,
            Err(Refused::Status(NfsStatus::NoEntry)) => return Ok(None),
            Err(refused) => return Err(refused),
        };
        let attributes = match found.attributes {
            Some(attributes) => attributes,
            None => self.attributes(&found.file)?,
        };
        Ok(Some(FoundFile {
            handle: found.file,
            is_file: attributes.file_type == FileType::Regular,
            is_directory: attributes.file_type == FileType::Directory,
        }))
    }

    /// A file's attributes.
    pub(super) fn attributes(&mut self, file: &FileHandle) -> Result<Attributes, Refused> {
        self.call(&GetAttributes { file: *file })
    }

    /// Makes a directory in the datastore's.
    pub(super) fn make_directory(&mut self, name: &str) -> Result<FileHandle, Refused> {
        let place = Place { directory: self.root, name: name.as_bytes() };
        let made = self.call(&MakeDirectory { place, mode: 0o700 })?;
        self.handle_of(made.file, place)
    }

    /// Makes a file that is not there yet.
    pub(super) fn create(
        &mut self,
        directory: &FileHandle,
        name: &str,
    ) -> Result<FileHandle, Refused> {
        let place = Place { directory: *directory, name: name.as_bytes() };
        let made = self.call(&Create { place, mode: 0o600 })?;
        self.handle_of(made.file, place)
    }

    /// Servers may omit the handle of a created file.
    fn handle_of(
        &mut self,
        handle: Option<FileHandle>,
        place: Place<'_>,
    ) -> Result<FileHandle, Refused> {
        match handle {
            Some(handle) => Ok(handle),
            None => Ok(self.call(&Lookup { place })?.file),
        }
    }

    /// The first bytes of a file, at most `most_bytes`.
    pub(super) fn read(&mut self, file: &FileHandle, most_bytes: u32) -> Result<Vec<u8>, Refused> {
        let mut bytes = Vec::new();
        while (bytes.len() as u32) < most_bytes {
            let offset_bytes = bytes.len() as u64;
            let length_bytes = (most_bytes - bytes.len() as u32).min(8192);
            let part = self.call(&Read { file: *file, offset_bytes, length_bytes })?;
            bytes.extend_from_slice(&part.data);
            if part.end_of_file || part.data.is_empty() {
                break;
            }
        }
        Ok(bytes)
    }

    /// Writes a small file from its start, onto stable storage.
    pub(super) fn write(&mut self, file: &FileHandle, bytes: &[u8]) -> Result<(), Refused> {
        let mut done = 0;
        while done < bytes.len() {
            let data = &bytes[done..bytes.len().min(done + 8192)];
            let written = self.call(&Write {
                file: *file,
                offset_bytes: done as u64,
                stability: Stability::FileSync,
                data,
            })?;
            if written.count == 0 {
                return Err(Refused::Status(NfsStatus::Io));
            }
            done += (written.count as usize).min(data.len());
        }
        Ok(())
    }

    /// Renames a file, replacing a file of that name.
    pub(super) fn rename(
        &mut self,
        directory: &FileHandle,
        from: &str,
        to: &str,
    ) -> Result<(), Refused> {
        let from = Place { directory: *directory, name: from.as_bytes() };
        let to = Place { directory: *directory, name: to.as_bytes() };
        self.call(&Rename { from, to })
    }

    /// Removes a file; that there is none is fine.
    pub(super) fn remove(&mut self, directory: &FileHandle, name: &str) -> Result<(), Refused> {
        let place = Place { directory: *directory, name: name.as_bytes() };
        match self.call(&Remove { place }) {
            Err(Refused::Status(NfsStatus::NoEntry)) => Ok(()),
            outcome => outcome,
        }
    }

    /// Removes an empty directory of the datastore's; that there is none is fine.
    pub(super) fn remove_directory(&mut self, name: &str) -> Result<(), Refused> {
        let place = Place { directory: self.root, name: name.as_bytes() };
        match self.call(&RemoveDirectory { place }) {
            Err(Refused::Status(NfsStatus::NoEntry)) => Ok(()),
            outcome => outcome,
        }
    }

    /// The names in a directory that are valid text.
    pub(super) fn list(&mut self, directory: &FileHandle) -> Result<Vec<String>, Refused> {
        let mut names = Vec::new();
        let mut cursor = Cursor::default();
        loop {
            let listing = self.call(&ReadDirectory {
                directory: *directory,
                cursor,
                most_bytes: LISTING_BYTES,
            })?;
            let empty = listing.entries.is_empty();
            for entry in listing.entries {
                match String::from_utf8(entry.name) {
                    Ok(name) if name != "." && name != ".." => names.push(name),
                    _ => {}
                }
            }
            match listing.next {
                // A listing that does not get on would have no end.
                Some(next) if next.cookie != cursor.cookie && !empty && names.len() < MAX_NAMES => {
                    cursor = next;
                }
                _ => return Ok(names),
            }
        }
    }

    /// Size of the file system and what this user may still write, in bytes.
    pub(super) fn room(&mut self) -> Result<(u64, u64), Refused> {
        let space = self.call(&FileSystemSpace { file: self.root })?;
        Ok((space.total_bytes, space.available_bytes))
    }

    /// Tells the server that the export is no longer used.
    pub(super) fn unmount(&mut self) {
        self.dialog = None;
        // A courtesy: servers only keep a list for people to look at.
        if let Ok(mut dialog) = Dialog::connect(self.mount_address, self.timeout) {
            let xid = self.next_xid;
            self.next_xid = xid.wrapping_add(1);
            let _ = dialog.call(xid, &self.auth, &Umnt { path: &self.mounted_path });
        }
    }
}

/// A mounted export.
struct MountedExport {
    root: FileHandle,
    path: String,
    /// The way from there to the datastore's directory.
    rest: String,
}

/// Mounts the directory itself, or an export above it.
fn mount(
    url: &NfsExport,
    address: SocketAddr,
    timeout: Duration,
    auth: &Auth,
    xid: u32,
) -> Result<MountedExport, DatastoreError> {
    let unreachable = |refused: Refused| DatastoreError::Unreachable {
        name: url.to_string(),
        reason: format!("the mount service at {address}: {refused}"),
    };
    let mut dialog =
        Dialog::connect(address, timeout).map_err(|error| unreachable(error.into()))?;
    let path = trimmed(&url.path);
    let refused = match dialog.call(xid, auth, &Mnt { path }) {
        Ok(mounted) => {
            let (root, rest) = (mounted.directory, String::new());
            return Ok(MountedExport { root, path: path.into(), rest });
        }
        Err(Refused::Protocol(NfsError::Mount(status))) => status,
        Err(other) => return Err(unreachable(other)),
    };
    let entries = match dialog.call(xid.wrapping_add(1), auth, &ListExports) {
        Ok(entries) => entries,
        Err(Refused::Protocol(_) | Refused::Status(_)) => Vec::new(),
        Err(other) => return Err(unreachable(other)),
    };
    let above = entries.iter().filter(|entry| is_above(trimmed(&entry.path), path));
    if let Some(above) = above.max_by_key(|entry| entry.path.len()) {
        let mounted = dialog.call(xid.wrapping_add(2), auth, &Mnt { path: &above.path });
        if let Ok(mounted) = mounted {
            let rest = path.strip_prefix(trimmed(&above.path)).unwrap_or_default();
            return Ok(MountedExport {
                root: mounted.directory,
                path: above.path.clone(),
                rest: rest.into(),
            });
        }
    }
    let listed: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).take(20).collect();
    let listed = match listed.as_slice() {
        [] => "it tells of no exports".to_owned(),
        listed => format!("it exports {}", listed.join(", ")),
    };
    Err(DatastoreError::Refused {
        action: "mount",
        path: url.to_string().into(),
        reason: format!("{refused}; {listed}"),
    })
}

/// A path without slashes at its end; the root keeps its one.
fn trimmed(path: &str) -> &str {
    let short = path.trim_end_matches('/');
    if short.is_empty() { "/" } else { short }
}

/// Whether an export's path is a directory above another path.
fn is_above(export: &str, path: &str) -> bool {
    match path.strip_prefix(export) {
        Some(rest) => export == "/" || rest.starts_with('/'),
        None => false,
    }
}

/// The port mapper of a host.
struct Ports<'a> {
    host: &'a Host,
    timeout: Duration,
    name: String,
    xid: u32,
}

impl Ports<'_> {
    /// The port of a program; `usual` without a port mapper.
    fn find(
        &mut self,
        program: u32,
        version: u32,
        usual: u16,
    ) -> Result<SocketAddr, DatastoreError> {
        let host = Host { name: self.host.name.clone(), port: None };
        let mut address = resolve(&host, PORTMAP_PORT)?;
        self.xid = self.xid.wrapping_add(1);
        let asked =
            Dialog::connect(address, self.timeout).map_err(Refused::from).and_then(|mut dialog| {
                dialog.call(self.xid, &Auth::none(), &GetPort { program, version })
            });
        let port = match asked {
            Ok(Some(port)) => port,
            Ok(None) => {
                return Err(DatastoreError::Unreachable {
                    name: self.name.clone(),
                    reason: format!(
                        "the port mapper of {} knows no program {program} version {version}: \
                         switch NFSv3 on, or give the ports (nfs://host:PORT/…?mountport=PORT)",
                        self.host.name
                    ),
                });
            }
            // Without a port mapper both services are often on the given port.
            Err(_) => usual,
        };
        address.set_port(port);
        Ok(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_above_are_above() {
        assert!(is_above("/srv", "/srv/vm"));
        assert!(is_above("/", "/srv/vm"));
        assert!(!is_above("/srv/v", "/srv/vm"));
        assert!(!is_above("/srv/vm", "/srv/vm"));
        assert_eq!(trimmed("/srv//"), "/srv");
        assert_eq!(trimmed("//"), "/");
    }
}
