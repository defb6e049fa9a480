//! NFS-Ganesha: an NFS server in user space from another project.
//!
//! It serves version 3 over TCP only, which is what our clients use, on ports that were found free.
//! With a file system behind it (FSAL VFS) file handles survive it, like a real server's; its FSAL
//! MEM forgets everything.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use crate::PeerError;
use crate::child::{Guarded, tail, wait_until, with_attempts};
use crate::clients::libnfs_url;
use crate::error::at;
use crate::port;
use crate::portmapper::{self, Portmapper};
use crate::program::{GANESHA, GANESHA_MEM, GANESHA_VFS};
use crate::rpc::{self, Procedure};

/// How long it may take to start; usually a tenth of a second.
const PATIENCE_S: u64 = 10;
/// The line in its log when it serves.
const READY: &str = "NFS SERVER INITIALIZED";

/// Where the files are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// A temporary directory, which is removed with the server.
    #[default]
    OwnDirectory,
    /// A directory that remains. Its path must not contain white space or quotes.
    Directory(PathBuf),
    /// The server's memory, lost when it is killed. It keeps two megabytes of a file; what is read
    /// beyond them is not what was written.
    Memory,
}

/// Options of the server.
#[derive(Clone, Debug, Default)]
pub struct GaneshaOptions {
    /// Where the files are.
    pub storage: Storage,
    /// Refuse writes.
    pub read_only: bool,
    /// Map root to nobody, as most servers in the field do.
    pub squash_root: bool,
    /// The largest READ and WRITE that the server reports (FSINFO); its default if not given.
    pub transfer_max_bytes: Option<u32>,
}

/// A running server; ends when it is dropped.
#[derive(Debug)]
pub struct Ganesha {
    // In the order of dropping: the server, then what it depends on.
    process: Guarded,
    portmapper: Option<Arc<Portmapper>>,
    export: PathBuf,
    in_memory: bool,
    nfs_port: u16,
    mount_port: u16,
    scratch: TempDir,
}

impl Ganesha {
    /// Starts a server and waits until it serves.
    ///
    /// # Errors
    /// It is not installed, or does not start to serve: the message has the end of its log.
    pub fn start(options: &GaneshaOptions) -> Result<Self, PeerError> {
        if options.storage == Storage::Memory { GANESHA_MEM } else { GANESHA_VFS }.check()?;
        with_attempts(|| Self::try_start(options))
    }

    fn try_start(options: &GaneshaOptions) -> Result<Self, PeerError> {
        let scratch = TempDir::with_prefix("ganesha").map_err(at(&std::env::temp_dir()))?;
        let export = match &options.storage {
            Storage::OwnDirectory => scratch.path().join("export"),
            Storage::Directory(directory) => directory.clone(),
            Storage::Memory => PathBuf::from("/memory"),
        };
        if options.storage == Storage::OwnDirectory {
            std::fs::create_dir(&export).map_err(at(&export))?;
        }
        let [nfs_port, mount_port] = port::free()?;
        let file = scratch.path().join("ganesha.conf");
        let text = configuration(options, &export, nfs_port, mount_port);
        std::fs::write(&file, text).map_err(at(&file))?;
        let portmapper = portmapper::ensure()?;
        let process = spawn(scratch.path())?;
        let in_memory = options.storage == Storage::Memory;
        let mut ganesha =
            Self { process, portmapper, export, in_memory, nfs_port, mount_port, scratch };
        ganesha.wait()?;
        Ok(ganesha)
    }

    /// Ready means: the log says so, because it answers before it has registered with the portmapper,
    /// and exits if that fails; NFS answers, and MOUNT lists our export (and not another server's).
    fn wait(&mut self) -> Result<(), PeerError> {
        let null = Procedure { program: rpc::NFS, version: 3, number: 0 };
        let list = Procedure { program: rpc::MOUNT, version: 3, number: 5 };
        let (nfs, mount) = (self.nfs_address(), self.mount_address());
        let log = self.log();
        let says_so = || std::fs::read_to_string(&log).is_ok_and(|text| text.contains(READY));
        let process = &mut self.process;
        let mut exports = None;
        wait_until(Duration::from_secs(PATIENCE_S), || {
            if !says_so() {
                return !process.is_running();
            }
            exports = rpc::call(nfs, null, &[]).and_then(|_| rpc::call(mount, list, &[])).ok();
            exports.is_some() || !process.is_running()
        });
        let program = GANESHA.name;
        let (is_running, log) = (self.process.is_running(), tail(&self.log()));
        let path = self.export.as_os_str().as_encoded_bytes();
        match exports {
            _ if !is_running => Err(PeerError::Ended { program, log }),
            None => Err(PeerError::NotReady { program, waited_s: PATIENCE_S, log }),
            Some(list) if list.windows(path.len()).any(|window| window == path) => Ok(()),
            // It serves even if it could not create an export.
            Some(_) => {
                Err(PeerError::NotServed { program, what: self.export.display().to_string(), log })
            }
        }
    }

    /// Kills it with SIGKILL, like a power failure; it stays down until [`Ganesha::restart`].
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Kills it if it is running, and starts it again on the same ports with the same files.
    ///
    /// # Errors
    /// As [`Ganesha::start`].
    pub fn restart(&mut self) -> Result<(), PeerError> {
        with_attempts(|| {
            self.kill();
            if self.portmapper.is_none() {
                // The portmapper of another process may have ended since.
                self.portmapper = portmapper::ensure()?;
            }
            self.process = spawn(self.scratch.path())?;
            self.wait()
        })
    }

    /// The port of the NFS program.
    #[must_use]
    pub fn nfs_port(&self) -> u16 {
        self.nfs_port
    }

    /// The port of the MOUNT program.
    #[must_use]
    pub fn mount_port(&self) -> u16 {
        self.mount_port
    }

    /// The address of the NFS program.
    #[must_use]
    pub fn nfs_address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.nfs_port))
    }

    /// The address of the MOUNT program.
    #[must_use]
    pub fn mount_address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.mount_port))
    }

    /// The path that clients mount.
    #[must_use]
    pub fn export_path(&self) -> &Path {
        &self.export
    }

    /// The directory that is served; `None` if the files are in memory.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        (!self.in_memory).then_some(&*self.export)
    }

    /// The export's URL in Stormeter's syntax.
    #[must_use]
    pub fn url(&self) -> String {
        let (address, path) = (self.nfs_address(), self.export.display());
        format!("nfs://{address}{path}?mountport={}", self.mount_port)
    }

    /// A file's URL in libnfs's syntax; the export's URL for an empty name.
    #[must_use]
    pub fn libnfs_url(&self, name: &str) -> String {
        libnfs_url(self.nfs_address(), self.mount_port, &self.export.join(name))
    }

    /// The server's process id; after [`Ganesha::kill`], that of the last one.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// The server's log since its last start.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        log(self.scratch.path())
    }
}

fn log(scratch: &Path) -> PathBuf {
    scratch.join("log")
}

fn spawn(scratch: &Path) -> Result<Guarded, PeerError> {
    let log = log(scratch);
    // The previous server's output says nothing about this one.
    std::fs::write(&log, "").map_err(at(&log))?;
    let path = |name: &str| scratch.join(name).to_string_lossy().into_owned();
    let arguments = [
        "-F".to_owned(),
        "-L".to_owned(),
        path("log"),
        "-f".to_owned(),
        path("ganesha.conf"),
        "-p".to_owned(),
        path("pid"),
    ];
    // A server under test does not register with the machine's bus.
    let environment = [("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent")];
    Guarded::start(GANESHA, &arguments, &environment, scratch, &log)
}

/// The configuration file: ganesha-core-config(8), ganesha-export-config(8).
fn configuration(options: &GaneshaOptions, export: &Path, nfs: u16, mount: u16) -> String {
    let export = export.display();
    let access = if options.read_only { "RO" } else { "RW" };
    let squash = if options.squash_root { "Root_Squash" } else { "None" };
    let layer = if options.storage == Storage::Memory { "MEM" } else { "VFS" };
    let sizes = options
        .transfer_max_bytes
        .map(|bytes| format!("MaxRead = {bytes}; MaxWrite = {bytes};"))
        .unwrap_or_default();
    format!(
        "NFS_CORE_PARAM {{
    Bind_addr = 127.0.0.1;
    NFS_Port = {nfs};
    MNT_Port = {mount};
    Protocols = 3;
    Enable_UDP = false;
    Enable_NLM = false;
    Enable_RQUOTA = false;
    mount_path_pseudo = false;
}}
EXPORT {{
    Export_Id = 1;
    Path = {export};
    Pseudo = {export};
    Protocols = 3;
    Transports = TCP;
    Access_Type = {access};
    Squash = {squash};
    SecType = sys;
    PrivilegedPort = false;
    {sizes}
    FSAL {{ Name = {layer}; }}
}}
MEM {{ Inode_Size = 2097152; }}
LOG {{ Default_Log_Level = EVENT; }}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::{put_string, word, words};

    /// Calls a procedure of version 3, checks that the status is OK and removes it from the
    /// results.
    fn ask(address: SocketAddr, program: u32, number: u32, arguments: &[u8]) -> Vec<u8> {
        let results = rpc::call(address, Procedure { program, version: 3, number }, arguments);
        let results = results.unwrap();
        assert_eq!(word(&results, 0), Some(0), "procedure {number} of {program}");
        results[4..].to_vec()
    }

    /// The handle, with its length, at the start of results.
    fn handle(results: &[u8]) -> Vec<u8> {
        let length = usize::try_from(word(results, 0).unwrap()).unwrap();
        results[..4 + length.next_multiple_of(4)].to_vec()
    }

    #[test]
    fn handles_outlive_the_server() {
        let mut ganesha = Ganesha::start(&GaneshaOptions::default()).unwrap();
        std::fs::write(ganesha.export_path().join("file"), b"hello").unwrap();
        let mut path = Vec::new();
        put_string(&mut path, &ganesha.export_path().to_string_lossy());
        let mut entry = handle(&ask(ganesha.mount_address(), rpc::MOUNT, 1, &path));
        put_string(&mut entry, "file");
        let file = handle(&ask(ganesha.nfs_address(), rpc::NFS, 3, &entry));
        ganesha.restart().unwrap();
        let read = [file, words(&[0, 0, 100])].concat();
        let results = ask(ganesha.nfs_address(), rpc::NFS, 6, &read);
        assert!(results.windows(5).any(|bytes| bytes == b"hello"), "{results:?}");
    }

    #[test]
    fn requested_sizes_are_configured() {
        let options =
            GaneshaOptions { transfer_max_bytes: Some(65_536), ..GaneshaOptions::default() };
        let ganesha = Ganesha::start(&options).unwrap();
        let mut path = Vec::new();
        put_string(&mut path, &ganesha.export_path().to_string_lossy());
        let root = handle(&ask(ganesha.mount_address(), rpc::MOUNT, 1, &path));
        let results = ask(ganesha.nfs_address(), rpc::NFS, 19, &root);
        // Attributes, or their absence, come first; rtmax and wtmax are words 0 and 3 after that.
        let at = if word(&results, 0) == Some(1) { 4 + 84 } else { 4 };
        assert_eq!([word(&results, at), word(&results, at + 12)], [Some(65_536); 2]);
    }
}
