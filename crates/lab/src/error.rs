//! What goes wrong with a lab, and what to do next.

use std::io;
use std::path::{Path, PathBuf};

use stormeter_units::format_bytes;

/// A directory that the user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabDirectory {
    /// What a lab's guests have on the host.
    Lab,
    /// What labs share: packages, images, templates.
    Cache,
}

/// Why a lab cannot be built, started, looked at or ended.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A program of the host is not there.
    #[error("{program} is not there; install it: apt-get install {package}")]
    NoTool {
        /// The program.
        program: String,
        /// Debian's package.
        package: &'static str,
    },
    /// A program of the host cannot be started.
    #[error("{program} cannot be started: {source}")]
    Tool {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// A program of the host says no.
    #[error("{program} failed: {said}")]
    ToolFailed {
        /// The program.
        program: String,
        /// The last of what it said.
        said: String,
    },
    /// A package does not come.
    #[error(
        "the package {package} cannot be fetched: {said}; look at the network and at /etc/apt, and \
         try `apt-get update`"
    )]
    Fetch {
        /// Its name.
        package: String,
        /// What apt said.
        said: String,
    },
    /// apt told something that is not understood.
    #[error(
        "apt-get told of no package to fetch; try `apt-get update`, then `stormeter lab build`"
    )]
    NothingToFetch,
    /// The kernel's image is not as expected.
    #[error("the kernel's image cannot be used: {0}; another kernel may do, please report it")]
    Kernel(&'static str),
    /// A module that a guest needs.
    #[error(
        "the kernel {release} has no module {module}, which {wanted} needs; labs need Debian's kernel \
         linux-image-amd64"
    )]
    Module {
        /// What is missing.
        module: String,
        /// What a guest asked for.
        wanted: String,
        /// The kernel's release.
        release: String,
    },
    /// A library that no package has.
    #[error("no package has {library}, which {program} needs; please report it with your release")]
    Library {
        /// Its file's name.
        library: String,
        /// Who wants it.
        program: String,
    },
    /// What is to run in guests does not run there.
    #[error(
        "{} is no program for Linux on x86-64, and cannot run in guests; name a stormeter that is",
        path.display()
    )]
    NoProgram {
        /// The file.
        path: PathBuf,
    },
    /// What a program loads is not found.
    #[error(
        "{} needs {library}, which is in none of the folders where Debian has libraries, so guests cannot be given \
         it; use the static stormeter, which `cargo xtask static` builds",
        program.display()
    )]
    NoLibrary {
        /// Its file's name, or its path.
        library: String,
        /// Who wants it.
        program: PathBuf,
    },
    /// There are no images yet, or not those of this program.
    #[error("there are no images for this stormeter in {}; run `stormeter lab build`", cache.display())]
    NotBuilt {
        /// Where they were looked for.
        cache: PathBuf,
    },
    /// Not enough room on a file system.
    #[error(
        "{what} needs {} and {} has {} free; make room, or choose another directory",
        format_bytes(*need_bytes), path.display(), format_bytes(*free_bytes)
    )]
    NoSpace {
        /// What needs it.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What is needed.
        need_bytes: u64,
        /// What is there.
        free_bytes: u64,
        /// What the directory is.
        of: LabDirectory,
    },
    /// Not enough memory for the guests.
    #[error(
        "the lab's guests need {} of memory and {} are free; give them less, or start fewer",
        format_bytes(*need_bytes), format_bytes(*free_bytes)
    )]
    NoMemory {
        /// The sum of the guests.
        need_bytes: u64,
        /// What the kernel thinks is available.
        free_bytes: u64,
    },
    /// A lab runs in the directory.
    #[error(
        "a lab runs in {} already ({guests} guests); look at it with `stormeter lab status`, end it with \
         `stormeter lab down`, or choose another directory",
        directory.display()
    )]
    Running {
        /// Where.
        directory: PathBuf,
        /// How many of its guests live.
        guests: usize,
    },
    /// Another `stormeter lab` works in the directory.
    #[error("another `stormeter lab up` or `down` is at work in {}; wait until it has ended", directory.display())]
    Busy {
        /// Where.
        directory: PathBuf,
    },
    /// The directory is somebody's.
    #[error("{} is not a lab's: {why}; choose another directory", directory.display())]
    NotOurs {
        /// Where.
        directory: PathBuf,
        /// What speaks against it.
        why: &'static str,
    },
    /// There is no lab.
    #[error("there is no lab in {}; start one with `stormeter lab up LAB.YAML`", directory.display())]
    NoLab {
        /// Where it was looked for.
        directory: PathBuf,
    },
    /// There is no such guest.
    #[error("the lab has no guest {name}; it has {known}")]
    NoGuest {
        /// What was asked for.
        name: String,
        /// Those that it has.
        known: String,
    },
    /// There is no such host.
    #[error("the lab has no host {name}; it has {known}")]
    NoHost {
        /// What was asked for.
        name: String,
        /// Those that it has.
        known: String,
    },
    /// A guest has no such network, array or disk.
    #[error("{guest} has no {what} called {part}; it has {known}")]
    NoPart {
        /// The guest.
        guest: String,
        /// What was asked for.
        part: String,
        /// What it would be.
        what: &'static str,
        /// Those that it has.
        known: String,
    },
    /// A disk of a guest without the array that it is of.
    #[error("{guest} has arrays that can lose a disk: {known}; write which, as in {guest}.NAME 0")]
    WhichArray {
        /// The guest.
        guest: String,
        /// Those that it has.
        known: String,
    },
    /// Something that is done in predictions only.
    #[error(
        "a lab cannot do {fault}: its disks are as fast as its file says; predict it, or give an array of \
         the lab slower disks"
    )]
    OnlyPredicted {
        /// What.
        fault: String,
    },
    /// An action that is of storage guests.
    #[error("{guest} {what}; it is of storage guests")]
    NotStorage {
        /// The guest.
        guest: String,
        /// Why it cannot be.
        what: &'static str,
    },
    /// Something could not be done to a guest that runs.
    #[error("{fault} was not done: {source}")]
    Fault {
        /// What.
        fault: String,
        /// Why.
        source: Box<LabError>,
    },
    /// There is nothing to roll back to.
    #[error("the lab has no snapshot; take one: `stormeter lab snapshot`")]
    NoSnapshot,
    /// A disk whose contents cannot be changed below those who use it.
    #[error(
        "the VM's disk {disk} is a qcow2 file on an export, of which QEMU knows tables that a rollback of \
         the storage guest would make wrong; write format: raw"
    )]
    SnapshotBelowQcow2 {
        /// As `vm.disk`.
        disk: String,
    },
    /// A guest does not become ready.
    #[error("{guest} {what}; the end of its console ({}):\n{tail}", console.display())]
    Guest {
        /// Its name.
        guest: String,
        /// What it did, or did not.
        what: String,
        /// Its log.
        console: PathBuf,
        /// The log's last lines.
        tail: String,
    },
    /// A guest whose kernel has failed.
    #[error(
        "{guest} {what}: its kernel has failed, which is no fault of the lab file; try again, and if it happens \
         again, report it with this (all of its console is in {}):\n{report}",
        console.display()
    )]
    KernelFailed {
        /// Its name.
        guest: String,
        /// What it did, or did not.
        what: String,
        /// Its log.
        console: PathBuf,
        /// What the kernel said of it, beginning with what went wrong.
        report: String,
    },
    /// A process that does not end.
    #[error(
        "process {pid} of {guest} does not end, not even when it is killed; look at it with ps"
    )]
    Lives {
        /// Its id.
        pid: i32,
        /// Whose it is.
        guest: String,
    },
    /// What QEMU answered to a command.
    #[error("QEMU refuses {command}: {said}")]
    Qmp {
        /// The command.
        command: String,
        /// The error's description.
        said: String,
    },
    /// QEMU's control socket.
    #[error("QEMU of {guest} does not answer: {source}; look at {}", log.display())]
    QmpSocket {
        /// Whose.
        guest: String,
        /// Why.
        source: io::Error,
        /// Where to look.
        log: PathBuf,
    },
    /// No loopback address is free.
    #[error(
        "the ports that {guest} serves on (3260, 2049, 20048) are taken on every address that was \
         tried; end another lab with `stormeter lab down`"
    )]
    NoAddress {
        /// The storage guest.
        guest: String,
    },
    /// NFS as hypervisors speak it begins at a port of the administrator.
    #[error(
        "a VM's disk on the export {export} needs port 111, which this user may not open; run as \
         root, allow it (sysctl net.ipv4.ip_unprivileged_port_start=111), or put the disk on a LUN"
    )]
    Portmapper {
        /// As `nas.vm`.
        export: String,
    },
    /// A password that is not there or is none.
    #[error("the password in {} cannot be used: {why}", path.display())]
    Password {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// KVM was asked for and does not work.
    #[error("KVM cannot be used here: {why}; unless it is asked for, TCG is used instead")]
    NoKvm {
        /// What was seen.
        why: String,
    },
    /// The lab file.
    #[error("{0}")]
    File(#[from] stormeter_yaml::FileErrors),
    /// A file or directory.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Ended by a signal.
    #[error("interrupted; what was started is ended again")]
    Interrupted,
}

/// Tells which file an error is about.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> LabError + use<> {
    let path = path.to_owned();
    move |source| LabError::Io { path, source }
}

/// Programs of the host and the packages that have them.
const PACKAGES: [(&str, &str); 9] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("qemu-img", "qemu-utils"),
    ("apt-get", "apt"),
    ("dpkg-deb", "dpkg"),
    ("xz", "xz-utils"),
    ("gzip", "gzip"),
    ("zstd", "zstd"),
    ("lz4", "lz4"),
    ("dpkg", "dpkg"),
];

/// A program that could not be started: not there, or something else.
pub(crate) fn tool(program: &str, source: io::Error) -> LabError {
    let package = PACKAGES.iter().find(|(name, _)| *name == program).map(|(_, package)| *package);
    match package {
        Some(package) if source.kind() == io::ErrorKind::NotFound => {
            LabError::NoTool { program: program.into(), package }
        }
        _ => LabError::Tool { program: program.into(), source },
    }
}
