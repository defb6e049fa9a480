//! tgt: an iSCSI target in user space from another project.
//!
//! It is configured by a second program over a socket, and loses its configuration when it ends: a
//! restart configures it again.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::PeerError;
use crate::child::{Guarded, tail, wait_until, with_attempts};
use crate::clients::run_with;
use crate::error::at;
use crate::port;
use crate::program::{TGTADM, TGTD};

const PATIENCE_S: u64 = 10;
/// The target's name without its last part.
const NAME: &str = "iqn.2026-01.test.stormeter:";
/// The control socket of server and tool, in the folder in which both run. A socket address has space for 108
/// bytes (unix(7)), which the full path may exceed.
const CONTROL: (&str, &str) = ("TGT_IPC_SOCKET", "control");

/// How the target accesses the file behind a logical unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backing {
    /// With threads and ordinary reads and writes.
    #[default]
    ReadWrite,
    /// With Linux's asynchronous I/O and `O_DIRECT`.
    Asynchronous,
}

/// A user and secret; initiators refuse secrets of less than 12 characters (RFC 7143 section
/// 9.2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chap {
    /// The user name.
    pub user: String,
    /// The secret.
    pub secret: String,
}

/// Options of the target.
#[derive(Clone, Debug)]
pub struct TgtOptions {
    /// The last part of the target's name.
    pub name: String,
    /// The size of each further logical unit, from LUN 1 on unless there are `unit_files`; LUN 0 is the target's controller.
    pub units_bytes: Vec<u64>,
    /// Existing files or devices that are the first logical units, accessed with `O_DIRECT`.
    pub unit_files: Vec<PathBuf>,
    /// How the others' files are accessed.
    pub backing: Backing,
    /// The size of a logical block; the target's default is 512.
    pub block_bytes: u32,
    /// Credentials for logging in; without them anyone may.
    pub chap: Option<Chap>,
    /// Credentials with which the target authenticates itself to the initiator (mutual CHAP).
    pub chap_outgoing: Option<Chap>,
    /// Target parameters, such as (`InitialR2T`, `No`): tgtadm(8).
    pub parameters: Vec<(String, String)>,
    /// Whether the units report a write cache (WCE), as they do by default.
    pub write_cache: bool,
    /// A second portal, for more than one path.
    pub two_portals: bool,
    /// The directory of the units' files; the system's temporary directory by default.
    pub directory: Option<PathBuf>,
}

impl Default for TgtOptions {
    fn default() -> Self {
        Self {
            name: "disk".into(),
            units_bytes: vec![64 << 20],
            unit_files: Vec::new(),
            backing: Backing::default(),
            block_bytes: 512,
            chap: None,
            chap_outgoing: None,
            parameters: Vec::new(),
            write_cache: true,
            two_portals: false,
            directory: None,
        }
    }
}

/// A running target; ends when it is dropped.
#[derive(Debug)]
pub struct Tgt {
    // In the order of dropping: the server, then what it depends on.
    process: Guarded,
    options: TgtOptions,
    ports: Vec<u16>,
    scratch: TempDir,
}

impl Tgt {
    /// Starts a target and waits until it serves.
    ///
    /// # Errors
    /// It is not installed, refuses a parameter, or does not start to serve: the message has the
    /// end of its log.
    pub fn start(options: &TgtOptions) -> Result<Self, PeerError> {
        with_attempts(|| Self::try_start(options.clone()))
    }

    fn try_start(options: TgtOptions) -> Result<Self, PeerError> {
        let directory = options.directory.clone().unwrap_or_else(std::env::temp_dir);
        // The programs run in a folder below it.
        let directory = std::path::absolute(&directory).map_err(at(&directory))?;
        let scratch = TempDir::with_prefix_in("tgt", &directory).map_err(at(&directory))?;
        for (lun, bytes) in (options.unit_files.len() + 1..).zip(&options.units_bytes) {
            make_file(&unit_file(scratch.path(), lun), *bytes)?;
        }
        let [first, second] = port::free()?;
        let ports = if options.two_portals { vec![first, second] } else { vec![first] };
        let process = spawn(scratch.path(), first)?;
        let mut tgt = Self { process, options, ports, scratch };
        tgt.configure()?;
        Ok(tgt)
    }

    fn configure(&mut self) -> Result<(), PeerError> {
        self.wait_for_control()?;
        if let Some(port) = self.ports.get(1) {
            self.admin("portal", "new", &["--param", &format!("portal=127.0.0.1:{port}")])?;
        }
        // The server does not exit if a portal cannot be bound.
        let portals = self.admin_show_portals()?;
        if let Some(port) = self.ports.iter().find(|p| !portals.contains(&format!(":{p},"))) {
            let log = format!("port {port} was not to be had\n{}", tail(&self.log()));
            return Err(PeerError::NotReady { program: TGTD.name, waited_s: 0, log });
        }
        self.admin("target", "new", &["--targetname", &self.target_name()])?;
        for index in 0..self.options.units_bytes.len() + self.options.unit_files.len() {
            self.attach(index + 1)?;
        }
        for (name, value) in &self.options.parameters {
            self.admin("target", "update", &["--name", name, "--value", value])?;
        }
        self.account(self.options.chap.as_ref(), &[])?;
        self.account(self.options.chap_outgoing.as_ref(), &["--outgoing"])?;
        self.admin("target", "bind", &["--initiator-address", "ALL"])?;
        Ok(())
    }

    fn wait_for_control(&mut self) -> Result<(), PeerError> {
        let show = ["--lld", "iscsi", "--mode", "portal", "--op", "show"];
        TGTADM.path()?;
        let process = &mut self.process;
        let mut ready = false;
        wait_until(Duration::from_secs(PATIENCE_S), || {
            ready = tgtadm(self.scratch.path(), &show).is_ok();
            ready || !process.is_running()
        });
        let program = TGTD.name;
        let log = || tail(&self.scratch.path().join("log"));
        match (ready, self.process.is_running()) {
            (true, _) => Ok(()),
            (false, false) => Err(PeerError::Ended { program, log: log() }),
            (false, true) => Err(PeerError::NotReady { program, waited_s: PATIENCE_S, log: log() }),
        }
    }

    fn attach(&self, lun: usize) -> Result<(), PeerError> {
        let own = unit_file(self.scratch.path(), lun);
        let given = self.options.unit_files.get(lun - 1);
        let kind = match self.options.backing {
            Backing::ReadWrite if given.is_none() => "rdwr",
            Backing::ReadWrite | Backing::Asynchronous => "aio",
        };
        let file = given.unwrap_or(&own);
        let (lun, file) = (lun.to_string(), file.to_string_lossy());
        let block = self.options.block_bytes.to_string();
        let mut arguments = vec!["--lun", &lun, "--backing-store", &file, "--bstype", kind];
        arguments.extend(["--blocksize", &block]);
        self.admin("logicalunit", "new", &arguments)?;
        if !self.options.write_cache {
            // The caching page in full: WCE is bit 2 of its first byte.
            let page =
                "mode_page=8:0:18:0x10:0:0xff:0xff:0:0:0xff:0xff:0xff:0xff:0x80:0x14:0:0:0:0:0:0";
            self.admin("logicalunit", "update", &["--lun", &lun, "--params", page])?;
        }
        Ok(())
    }

    fn account(&self, chap: Option<&Chap>, direction: &[&str]) -> Result<(), PeerError> {
        let Some(Chap { user, secret }) = chap else { return Ok(()) };
        self.tgtadm(&[
            "--lld",
            "iscsi",
            "--mode",
            "account",
            "--op",
            "new",
            "--user",
            user,
            "--password",
            secret,
        ])?;
        self.admin("account", "bind", &[&["--user", user], direction].concat())?;
        Ok(())
    }

    /// Creates another logical unit and returns its number.
    ///
    /// # Errors
    /// The target refuses it.
    pub fn add_unit(&mut self, bytes: u64) -> Result<u32, PeerError> {
        let lun = self.options.unit_files.len() + self.options.units_bytes.len() + 1;
        make_file(&unit_file(self.scratch.path(), lun), bytes)?;
        self.attach(lun)?;
        self.options.units_bytes.push(bytes);
        Ok(u32::try_from(lun).unwrap_or(u32::MAX))
    }

    /// Sets a parameter of the target, for later sessions and after a restart.
    ///
    /// # Errors
    /// The target refuses it.
    pub fn set_parameter(&mut self, name: &str, value: &str) -> Result<(), PeerError> {
        self.admin("target", "update", &["--name", name, "--value", value])?;
        self.options.parameters.push((name.into(), value.into()));
        Ok(())
    }

    /// The parameters in force, one per line: `name=value`.
    ///
    /// # Errors
    /// The target does not answer.
    pub fn parameters(&self) -> Result<String, PeerError> {
        self.admin("target", "show", &[])
    }

    /// Kills it with SIGKILL, like a power failure; it stays down until [`Tgt::restart`].
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Kills it if it is running, and starts it again on the same ports with the same logical
    /// units.
    ///
    /// # Errors
    /// As [`Tgt::start`].
    pub fn restart(&mut self) -> Result<(), PeerError> {
        self.kill();
        let first = self.ports.first().copied().unwrap_or_default();
        self.process = spawn(self.scratch.path(), first)?;
        self.configure()
    }

    /// Shuts it down in an orderly way: sessions are closed, cached data is written. It ignores
    /// SIGTERM, so the request goes over its socket.
    ///
    /// # Errors
    /// It does not end.
    pub fn stop(&mut self) -> Result<(), PeerError> {
        self.admin("target", "delete", &["--force"])?;
        self.tgtadm(&["--mode", "system", "--op", "delete"])?;
        if self.process.ends_within(Duration::from_secs(PATIENCE_S)) {
            return Ok(());
        }
        let log = tail(&self.log());
        Err(PeerError::NotReady { program: TGTD.name, waited_s: PATIENCE_S, log })
    }

    /// The target's name.
    #[must_use]
    pub fn target_name(&self) -> String {
        format!("{NAME}{}", self.options.name)
    }

    /// The address of the first portal.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.addresses().first().copied().unwrap_or((Ipv4Addr::LOCALHOST, 0).into())
    }

    /// The addresses of all portals.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.ports.iter().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, *port))).collect()
    }

    /// A logical unit's URL, without secrets.
    #[must_use]
    pub fn url(&self, lun: u32) -> String {
        format!("iscsi://{}/{}/{lun}", self.address(), self.target_name())
    }

    /// A logical unit's URL in libiscsi's syntax, with user and secret if there are any; with
    /// another portal than the target's own if `through` is the address of a proxy.
    #[must_use]
    pub fn libiscsi_url(&self, through: SocketAddr, lun: u32) -> String {
        format!("{}/{}/{lun}", self.libiscsi_portal(through), self.target_name())
    }

    /// A portal's URL in libiscsi's syntax, with user and secret if there are any.
    #[must_use]
    pub fn libiscsi_portal(&self, address: SocketAddr) -> String {
        match &self.options.chap {
            Some(Chap { user, secret }) => format!("iscsi://{user}%{secret}@{address}"),
            None => format!("iscsi://{address}"),
        }
    }

    /// The file behind a logical unit.
    #[must_use]
    pub fn unit_file(&self, lun: u32) -> PathBuf {
        unit_file(self.scratch.path(), usize::try_from(lun).unwrap_or(usize::MAX))
    }

    /// The server's process id; after [`Tgt::kill`], that of the last one.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// The server's log.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.scratch.path().join("log")
    }

    fn admin_show_portals(&self) -> Result<String, PeerError> {
        self.tgtadm(&["--lld", "iscsi", "--mode", "portal", "--op", "show"])
    }

    /// Sends a management request about our only target.
    fn admin(&self, mode: &str, operation: &str, more: &[&str]) -> Result<String, PeerError> {
        let mut arguments = vec!["--lld", "iscsi", "--mode", mode, "--op", operation];
        if mode != "portal" {
            arguments.extend(["--tid", "1"]);
        }
        arguments.extend(more);
        self.tgtadm(&arguments)
    }

    fn tgtadm(&self, arguments: &[&str]) -> Result<String, PeerError> {
        tgtadm(self.scratch.path(), arguments)
    }
}

fn tgtadm(scratch: &Path, arguments: &[&str]) -> Result<String, PeerError> {
    run_with(TGTADM, arguments, &[CONTROL], Some(scratch))
}

fn unit_file(scratch: &Path, lun: usize) -> PathBuf {
    scratch.join(format!("unit{lun}"))
}

fn make_file(path: &Path, bytes: u64) -> Result<(), PeerError> {
    std::fs::File::create(path).and_then(|file| file.set_len(bytes)).map_err(at(path))
}

fn spawn(scratch: &Path, port: u16) -> Result<Guarded, PeerError> {
    // Without an explicit portal it would listen on every address of the machine.
    let arguments = ["-f", "--iscsi", &format!("portal=127.0.0.1:{port}")].map(str::to_owned);
    Guarded::start(TGTD, &arguments, &[CONTROL], scratch, &scratch.join("log"))
}
