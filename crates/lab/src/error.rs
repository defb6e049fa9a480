//! Errors of labs, and what to do about each.

use std::io;
use std::path::{Path, PathBuf};

use stormeter_units::format_bytes;

/// A directory that the user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabDirectory {
    /// Holds what one lab's guests need on the host.
    Lab,
    /// Holds what labs share: packages, images, templates.
    Cache,
}

/// Why a lab cannot be built, started, inspected or ended.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Routers do not find all of their neighbours again.
    #[error("routers lack neighbours after {seconds} s: {lacks}")]
    Unsettled {
        /// How long that was waited for.
        seconds: u64,
        /// What they lack.
        lacks: String,
    },
    /// A guest does not reach another through the routers.
    #[error("{from} does not reach {to} after {seconds} s: {lacks}")]
    Unreached {
        /// The guest.
        from: String,
        /// The other.
        to: String,
        /// How long that was waited for.
        seconds: u64,
        /// What the routers lack.
        lacks: String,
    },
    /// The lab has no such desktops.
    #[error("the lab has no desktops {set}; it has {}", if known.is_empty() { "none: add them to its file".into() } else { known.join(", ") })]
    NoDesktops {
        /// The name.
        set: String,
        /// The names that it has.
        known: Vec<String>,
    },
    /// Another process has desktops of the set.
    #[error(
        "desktops of {set} are made by another process; wait until it has ended, or use another set"
    )]
    DesktopsInUse {
        /// The set.
        set: String,
    },
    /// The template is not there.
    #[error(
        "the template of desktops {set} is missing, or its storage does not answer; run the study again from the start"
    )]
    NoTemplate {
        /// The set.
        set: String,
    },
    /// The template has other contents than were written.
    #[error(
        "the template of desktops {set} was changed since it was written; run the study again from the start"
    )]
    OtherTemplate {
        /// The set.
        set: String,
    },
    /// A LUN has no files, nor has a pool of a Ceph cluster.
    #[error(
        "desktops on a LUN or on Ceph cannot be linked to their template, which needs files; write by: full, or use an \
         export"
    )]
    NoLinks,
    /// The storage of a lab does not clone.
    #[error("the storage of a lab makes no clones, only Ceph does; write by: full or by: linked")]
    NoClones,
    /// librbd cannot be used.
    #[error(
        "{0}; desktops on Ceph need librbd (Debian: librbd1) and a stormeter that is not static"
    )]
    CephLibrary(stormeter_rbd::LoadError),
    /// The cluster that disks of desktops are on refuses something or does not answer.
    #[error("Ceph: {0}")]
    Ceph(stormeter_rbd::RbdError),
    /// An image has a name that a desktop's disk would have.
    #[error(
        "the pool has an image {image} that no lab has made, which stays as it is; write another name, as in rbd:POOL/NAME"
    )]
    NotOurImage {
        /// Its name.
        image: String,
    },
    /// More desktops than places.
    #[error(
        "desktops {set} have {places} places, and {wanted} are wanted; raise count in the lab file, or lower load.vms"
    )]
    FewPlaces {
        /// The set.
        set: String,
        /// Its places.
        places: usize,
        /// What was asked for.
        wanted: u32,
    },
    /// A program is missing on the host.
    #[error("{program} is not there; install it: apt-get install {package}")]
    NoTool {
        /// The program.
        program: String,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// A program on the host cannot be started.
    #[error("{program} cannot be started: {source}")]
    Tool {
        /// The program.
        program: String,
        /// The reason.
        source: io::Error,
    },
    /// A program on the host failed.
    #[error("{program} failed: {said}")]
    ToolFailed {
        /// The program.
        program: String,
        /// The end of its error output.
        said: String,
    },
    /// A package cannot be fetched.
    #[error(
        "the package {package} cannot be fetched: {said}; look at the network and at /etc/apt, and \
         try `apt-get update`"
    )]
    Fetch {
        /// The package's name.
        package: String,
        /// apt's error message.
        said: String,
    },
    /// apt printed something unexpected.
    #[error("apt-get listed no package to fetch; try `apt-get update`, then `stormeter lab build`")]
    NothingToFetch,
    /// The kernel's image is not as expected.
    #[error("the kernel's image cannot be used: {0}; another kernel may do, please report it")]
    Kernel(&'static str),
    /// The kernel lacks a module that a guest needs.
    #[error(
        "the kernel {release} has no module {module}, which {wanted} needs; labs need Debian's kernel \
         linux-image-amd64"
    )]
    Module {
        /// The missing module.
        module: String,
        /// The requested module that depends on it.
        wanted: String,
        /// The kernel's release.
        release: String,
    },
    /// A library that is in no package.
    #[error("no package has {library}, which {program} needs; please report it with your release")]
    Library {
        /// Its file name.
        library: String,
        /// The program that needs it.
        program: String,
    },
    /// A program for the guests cannot run there.
    #[error(
        "{} is not a program for Linux on x86-64 and cannot run in guests; name a stormeter that is",
        path.display()
    )]
    NoProgram {
        /// The program's file.
        path: PathBuf,
    },
    /// A library that a program loads was not found.
    #[error(
        "{} needs {library}, which is in none of the folders where Debian has libraries, so guests cannot be given \
         it; use the static stormeter, which `cargo xtask static` builds",
        program.display()
    )]
    NoLibrary {
        /// Its file name or path.
        library: String,
        /// The program that needs it.
        program: PathBuf,
    },
    /// There are no images yet, or only those of another version of this program.
    #[error("there are no images for this stormeter in {}; run `stormeter lab build`", cache.display())]
    NotBuilt {
        /// Where images were looked for.
        cache: PathBuf,
    },
    /// A host's kernel was not built.
    #[error(
        "there is no kernel of {suite} for this stormeter in {}; run `stormeter lab build {suite}`",
        cache.display()
    )]
    SuiteNotBuilt {
        /// The suite.
        suite: String,
        /// Where images were looked for.
        cache: PathBuf,
    },
    /// The mirror has no such suite, or does not answer.
    #[error("the suite {suite} cannot be had from {mirror}: {said}")]
    NoSuite {
        /// The suite.
        suite: String,
        /// The mirror of this machine.
        mirror: String,
        /// apt's error message.
        said: String,
    },
    /// Not the name of a suite.
    #[error("{said:?} is not a suite of Debian, such as trixie or bookworm-backports")]
    NotASuite {
        /// What was given.
        said: String,
    },
    /// apt on this machine has no sources of Debian.
    #[error(
        "apt on this machine has no sources of Debian (its archive main), of which another kernel could be had"
    )]
    NoMirror,
    /// Not enough free space on a file system.
    #[error(
        "{what} needs {} and {} has {} free; make room, or choose another directory",
        format_bytes(*need_bytes), path.display(), format_bytes(*free_bytes)
    )]
    NoSpace {
        /// What needs the space.
        what: &'static str,
        /// The directory.
        path: PathBuf,
        /// Bytes needed.
        need_bytes: u64,
        /// Bytes free.
        free_bytes: u64,
        /// What the directory is for.
        of: LabDirectory,
    },
    /// Not enough memory for the guests.
    #[error(
        "the lab's guests need {} of memory and {} are free; give them less, or start fewer",
        format_bytes(*need_bytes), format_bytes(*free_bytes)
    )]
    NoMemory {
        /// Sum over all guests, in bytes.
        need_bytes: u64,
        /// Available memory by the kernel's estimate, in bytes.
        free_bytes: u64,
    },
    /// A lab is already running in the directory.
    #[error(
        "a lab runs in {} already ({guests} guests); look at it with `stormeter lab status`, end it with \
         `stormeter lab down`, or choose another directory",
        directory.display()
    )]
    Running {
        /// The directory.
        directory: PathBuf,
        /// Number of its guests that are running.
        guests: usize,
    },
    /// Another `stormeter lab` is working in the directory.
    #[error("another `stormeter lab up` or `down` is at work in {}; wait until it has ended", directory.display())]
    Busy {
        /// The directory.
        directory: PathBuf,
    },
    /// The directory does not belong to a lab.
    #[error("{} is not a lab's: {why}; choose another directory", directory.display())]
    NotOurs {
        /// The directory.
        directory: PathBuf,
        /// The evidence.
        why: &'static str,
    },
    /// There is no lab in the directory.
    #[error("there is no lab in {}; start one with `stormeter lab up LAB.YAML`", directory.display())]
    NoLab {
        /// Where it was looked for.
        directory: PathBuf,
    },
    /// The lab has no such guest.
    #[error("the lab has no guest {name}; it has {known}")]
    NoGuest {
        /// The name that was given.
        name: String,
        /// The lab's guests.
        known: String,
    },
    /// The lab has no such host.
    #[error("the lab has no host {name}; it has {known}")]
    NoHost {
        /// The name that was given.
        name: String,
        /// The lab's hosts.
        known: String,
    },
    /// A guest has no such network, array or disk.
    #[error("{guest} has no {what} called {part}; it has {known}")]
    NoPart {
        /// The guest.
        guest: String,
        /// The name that was given.
        part: String,
        /// The kind of part: network, array, disk.
        what: &'static str,
        /// The guest's parts of that kind.
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
        /// Why it does not apply.
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
    /// There is no snapshot to roll back to.
    #[error("the lab has no snapshot; take one: `stormeter lab snapshot`")]
    NoSnapshot,
    /// A disk whose contents cannot be changed while it is in use.
    #[error(
        "the VM's disk {disk} is a qcow2 file on an export, of which QEMU knows tables that a rollback of \
         the storage guest would make wrong; write format: raw"
    )]
    SnapshotBelowQcow2 {
        /// The disk, as `vm.disk`.
        disk: String,
    },
    /// A guest does not become ready.
    #[error("{guest} {what}; the end of its console ({}):\n{tail}", console.display())]
    Guest {
        /// The guest.
        guest: String,
        /// What it did or failed to do.
        what: String,
        /// The log of its console.
        console: PathBuf,
        /// The last lines of the log.
        tail: String,
    },
    /// A guest whose kernel has crashed.
    #[error(
        "{guest} {what}: its kernel has failed, which the lab file does not cause; try again, and if it happens \
         again, report it with this (all of its console is in {}):\n{report}",
        console.display()
    )]
    KernelFailed {
        /// The guest.
        guest: String,
        /// What it did or failed to do.
        what: String,
        /// The log of its console.
        console: PathBuf,
        /// The kernel's report, from the first line about the crash.
        report: String,
    },
    /// A process that does not end.
    #[error(
        "process {pid} of {guest} does not end, not even when it is killed; look at it with ps"
    )]
    Lives {
        /// Process id.
        pid: i32,
        /// The guest that it runs.
        guest: String,
    },
    /// QEMU refused a command.
    #[error("QEMU refuses {command}: {said}")]
    Qmp {
        /// The command.
        command: String,
        /// QEMU's description of the error.
        said: String,
    },
    /// QEMU's control socket failed.
    #[error("QEMU of {guest} does not answer: {source}; look at {}", log.display())]
    QmpSocket {
        /// The guest.
        guest: String,
        /// The reason.
        source: io::Error,
        /// QEMU's log.
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
    /// NFS as hypervisors use it needs a privileged port.
    #[error(
        "a VM's disk on the export {export} needs port 111, which this user may not open; run as \
         root, allow it (sysctl net.ipv4.ip_unprivileged_port_start=111), or put the disk on a LUN"
    )]
    Portmapper {
        /// The export, as `nas.vm`.
        export: String,
    },
    /// A password file that is missing or invalid.
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
        /// What was found.
        why: String,
    },
    /// The lab file has mistakes.
    #[error("{0}")]
    File(#[from] stormeter_yaml::FileErrors),
    /// A file or directory cannot be accessed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A signal ended the command.
    #[error("interrupted; what was started is ended again")]
    Interrupted,
}

/// Names the file that an error is about.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> LabError + use<> {
    let path = path.to_owned();
    move |source| LabError::Io { path, source }
}

/// Programs on the host and the packages that contain them.
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

/// The error for a program that could not be started: missing, or something else.
pub(crate) fn tool(program: &str, source: io::Error) -> LabError {
    let package = PACKAGES.iter().find(|(name, _)| *name == program).map(|(_, package)| *package);
    match package {
        Some(package) if source.kind() == io::ErrorKind::NotFound => {
            LabError::NoTool { program: program.into(), package }
        }
        _ => LabError::Tool { program: program.into(), source },
    }
}
