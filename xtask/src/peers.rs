//! The programs that the checks need besides Rust, and how to get them.
//!
//! Found by program (or by the file that a program loads) rather than by package, so that any
//! distribution will do; installed with Debian's apt where possible, otherwise the instructions are
//! printed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::child::{output, succeed};
use crate::repository::{Repository, search_path};
use crate::target::{AARCH64, X86_64};

/// The target triples of the static binaries.
pub(crate) const MUSL: &str = X86_64.triple;
pub(crate) const MUSL_ARM: &str = AARCH64.triple;

/// A program that the checks use.
struct Peer {
    /// Its name, or the path of a file that a program loads, with `*` for one directory.
    program: &'static str,
    /// The Debian package.
    package: &'static str,
    what_for: &'static str,
}

const fn peer(program: &'static str, package: &'static str, what_for: &'static str) -> Peer {
    Peer { program, package, what_for }
}

const PEERS: &[Peer] = &[
    peer("fio", "fio", "the benchmarks compare with it"),
    peer("iperf3", "iperf3", "its results are read and audited"),
    peer("valgrind", "valgrind", "counts instructions"),
    peer("musl-gcc", "musl-tools", "SQLite in the static binary"),
    peer("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu", "the same for 64-bit ARM"),
    peer("qemu-aarch64", "qemu-user", "runs that"),
    peer("dpkg-deb", "dpkg", "makes Debian's packages"),
    peer("lintian", "lintian", "checks them"),
    peer("mmdebstrap", "mmdebstrap", "a clean Debian to install them in"),
    peer("rpmbuild", "rpm", "makes RPM's packages"),
    peer("podman", "podman", "runs the image"),
    peer("runc", "runc", "its containers, also where control groups are of the old form"),
    peer("mkfs.ext4", "e2fsprogs", "devices that hold data"),
    peer("losetup", "mount", "devices for tests"),
    peer("mount", "mount", "devices in use"),
    peer("partx", "util-linux", "devices with partitions"),
    peer("mkswap", "util-linux", "devices with swap"),
    peer("ganesha.nfsd", "nfs-ganesha", "an NFS server"),
    peer("/usr/lib/*/ganesha/libfsalvfs.so", "nfs-ganesha-vfs", "its files in a directory"),
    peer("/usr/lib/*/ganesha/libfsalmem.so", "nfs-ganesha-mem", "its files in memory"),
    peer("nfs-cp", "libnfs-utils", "an NFS client"),
    peer("nfs-ls", "libnfs-utils", "an NFS client"),
    peer("tgtd", "tgt", "an iSCSI target"),
    peer("tgtadm", "tgt", "configures it"),
    peer("iscsi-ls", "libiscsi-bin", "an iSCSI initiator"),
    peer("iscsi-inq", "libiscsi-bin", "an iSCSI initiator"),
    peer("qemu-img", "qemu-utils", "reads over iSCSI"),
    peer("qemu-io", "qemu-utils", "writes over iSCSI"),
    peer("/usr/lib/*/qemu/block-iscsi.so", "qemu-block-extra", "how they do that"),
    peer("/usr/lib/*/qemu/block-nfs.so", "qemu-block-extra", "benchmarks against libnfs"),
    peer("qemu-system-x86_64", "qemu-system-x86", "guests of labs"),
    peer("xz", "xz-utils", "their kernel"),
    peer("ceph-mon", "ceph-mon", "a Ceph cluster"),
    peer("ceph-mgr", "ceph-mgr", "its manager"),
    peer("ceph-osd", "ceph-osd", "its disks"),
    peer("ceph", "ceph-common", "asks it"),
    peer("cc", "gcc", "benchmarks against libraries"),
    peer("/usr/include/stdio.h", "libc6-dev", "the same"),
    peer("/usr/include/nfsc/libnfs.h", "libnfs-dev", "the same"),
    peer("/usr/include/iscsi/iscsi.h", "libiscsi-dev", "the same"),
    peer(
        "/usr/lib/python3/dist-packages/simpy/core.py",
        "python3-simpy3",
        "benchmarks against SimPy",
    ),
    peer("/usr/lib/python3/dist-packages/six.py", "python3-six", "fio's scripts"),
    peer(
        "/usr/lib/python3/dist-packages/pandas/__init__.py",
        "python3-pandas",
        "examples of the documentation",
    ),
    peer("Rscript", "r-base-core", "the same"),
    peer("chromium", "chromium", "pages"),
    peer("xmllint", "libxml2-utils", "checks test reports"),
    peer("sshd", "openssh-server", "a host that is reached by ssh"),
    peer("ssh-keygen", "openssh-client", "keys of its own"),
    peer("bash", "bash", "completes commands"),
    peer("zsh", "zsh", "the same"),
    peer("fish", "fish", "the same"),
    peer("taskset", "util-linux", "a CPU for each side of a benchmark"),
    peer("ip", "iproute2", "a private network for benchmarks"),
];

/// The chore `peers`: installs what is missing and lists what is there.
pub(crate) fn run(repository: &Repository) -> Result<(), String> {
    let got = install(repository);
    let width = PEERS.iter().map(|peer| peer.program.len()).max().unwrap_or_default();
    for peer in PEERS {
        let state = match find(peer.program) {
            Some(path) => path.display().to_string(),
            None => format!("MISSING (package {})", peer.package),
        };
        println!("{:<width$} {state:<24} {}", peer.program, peer.what_for);
    }
    got.map(|_| ())
}

/// Installs what is missing.
///
/// # Errors
/// Something is still missing: what it is and how to get it.
pub(crate) fn install(repository: &Repository) -> Result<String, String> {
    let mut problems = Vec::new();
    let packages = missing_packages();
    if !packages.is_empty() {
        println!("missing: {}", packages.join(", "));
        let by_hand = format!("install them: apt-get install {}", packages.join(" "));
        if find("apt-get").is_none() {
            problems.push(format!(
                "this is no Debian; install what corresponds to {}",
                packages.join(", ")
            ));
        } else if !is_root() {
            problems.push(format!("only root can install packages; {by_hand}"));
        } else if let Err(error) = apt(repository, &packages) {
            problems.push(format!("{error}; {by_hand}"));
        }
    }
    for (what, present, arguments) in [
        ("rustfmt", has_component(repository, "fmt"), ["component", "add", "rustfmt"]),
        ("clippy", has_component(repository, "clippy"), ["component", "add", "clippy"]),
        (MUSL, has_target(repository, MUSL), ["target", "add", MUSL]),
        (MUSL_ARM, has_target(repository, MUSL_ARM), ["target", "add", MUSL_ARM]),
    ] {
        if present {
            continue;
        }
        println!("missing: {what}");
        if find("rustup").is_none() {
            problems.push(format!("{what} is missing and there is no rustup; install it by hand"));
        } else if let Err(error) = succeed(repository.command("rustup").args(arguments)) {
            problems.push(error);
        }
    }
    if problems.is_empty() { Ok("all there".into()) } else { Err(problems.join("\n")) }
}

/// Some packages bring daemons that listen on every address of the machine, and start them. They
/// must be installed but not run: `invoke-rc.d` asks this program before it starts anything, and 101
/// means no (invoke-rc.d(8)).
const POLICY: &str = "/usr/sbin/policy-rc.d";
const REFUSE: &str = "#!/bin/sh\nexit 101\n";
/// Units that would start at the next boot.
const DAEMONS: [&str; 12] = [
    "ceph-crash.service",
    "nfs-ganesha.service",
    "nfs-ganesha-lock.service",
    "podman-auto-update.service",
    "podman-auto-update.timer",
    "podman-restart.service",
    "podman.service",
    "podman.socket",
    "rpcbind.service",
    "rpcbind.socket",
    "smartmontools.service",
    "tgt.service",
];

fn apt(repository: &Repository, packages: &[&str]) -> Result<(), String> {
    let policy = Policy::refuse(Path::new(POLICY))?;
    let before: Vec<&str> =
        DAEMONS.into_iter().filter(|unit| is_enabled(repository, unit)).collect();
    let installed = apt_install(repository, packages);
    drop(policy);
    // What the administrator had enabled is not touched.
    for unit in DAEMONS.into_iter().filter(|unit| !before.contains(unit)) {
        if is_enabled(repository, unit) {
            succeed(repository.command("systemctl").args(["--quiet", "disable", unit]))?;
        }
    }
    installed
}

fn is_enabled(repository: &Repository, unit: &str) -> bool {
    find("systemctl").is_some()
        && output(repository.command("systemctl").args(["is-enabled", unit])).is_ok()
}

/// While this value lives, no package starts a daemon.
struct Policy<'a> {
    /// The file that we created, to be removed; an administrator's own file stays.
    made: Option<&'a Path>,
}

impl<'a> Policy<'a> {
    fn refuse(path: &'a Path) -> Result<Self, String> {
        use std::io::Write;
        use std::os::unix::fs::OpenOptionsExt;
        let failed = |error| format!("{} cannot be written: {error}", path.display());
        let file = std::fs::File::options().write(true).create_new(true).mode(0o755).open(path);
        match file {
            Ok(mut file) => {
                let policy = Self { made: Some(path) };
                file.write_all(REFUSE.as_bytes()).map_err(failed)?;
                Ok(policy)
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Ok(Self { made: None })
            }
            Err(error) => Err(failed(error)),
        }
    }
}

impl Drop for Policy<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.made {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn apt_install(repository: &Repository, packages: &[&str]) -> Result<(), String> {
    let apt_get = |arguments: &[&str]| {
        let mut command = repository.command("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        succeed(&mut command)
    };
    apt_get(&["update", "-qq"])?;
    let mut arguments = vec!["install", "-qq", "--yes", "--no-install-recommends"];
    arguments.extend(packages);
    apt_get(&arguments)
}

/// The packages of the missing programs.
fn missing_packages() -> Vec<&'static str> {
    let mut packages: Vec<&str> =
        PEERS.iter().filter(|peer| find(peer.program).is_none()).map(|peer| peer.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// The names of the missing programs; a target counts as one.
pub(crate) fn missing(repository: &Repository, needs: &[&'static str]) -> Vec<&'static str> {
    let is_missing = |need: &&'static str| match *need {
        MUSL | MUSL_ARM => !has_target(repository, need),
        "rustfmt" => !has_component(repository, "fmt"),
        "clippy" => !has_component(repository, "clippy"),
        program => find(program).is_none(),
    };
    needs.iter().copied().filter(is_missing).collect()
}

fn has_component(repository: &Repository, subcommand: &str) -> bool {
    output(&mut repository.cargo(&[subcommand, "--version"])).is_ok()
}

fn has_target(repository: &Repository, triple: &str) -> bool {
    let mut rustc = repository.command("rustc");
    rustc.args(["--print", "target-libdir", "--target", triple]);
    output(&mut rustc).is_ok_and(|directory| PathBuf::from(directory.trim()).is_dir())
}

/// Finds a program, or a file below a directory whose name may be anything.
fn find(program: &str) -> Option<PathBuf> {
    if let Some((before, after)) = program.split_once("/*/") {
        let entries = std::fs::read_dir(before).into_iter().flatten().flatten();
        return entries.map(|entry| entry.path().join(after)).find(|path| path.is_file());
    }
    let path = search_path(&[]);
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|p| p.is_file())
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn programs_are_found_by_name_and_only_if_they_exist() {
        assert!(find("sh").is_some());
        assert_eq!(find("no-such-program-of-stormeter"), None);
        assert!(missing_packages().iter().all(|p| PEERS.iter().any(|peer| peer.package == *p)));
    }

    #[test]
    fn files_are_found_below_any_directory() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/*/peers.rs");
        assert!(find(source).is_some_and(|path| path.ends_with("src/peers.rs")));
        assert_eq!(find(concat!(env!("CARGO_MANIFEST_DIR"), "/*/no-such-file")), None);
        assert_eq!(find("/no/such/directory/*/peers.rs"), None);
    }

    #[test]
    fn daemons_are_refused_for_a_while_and_the_administrators_policy_stays() {
        let name = format!("stormeter-policy-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let policy = Policy::refuse(&path).unwrap();
        // Executed by itself it would be busy while a child that another test has just forked holds it open.
        let status = Command::new("sh").arg(&path).status().unwrap();
        assert_eq!(status.code(), Some(101));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o111, 0o111);
        let second = Policy::refuse(&path).unwrap();
        drop(second);
        assert!(path.exists());
        drop(policy);
        assert!(!path.exists());
    }

    #[test]
    fn the_missing_are_named() {
        let repository = Repository { root: ".".into(), target: "target".into() };
        let needs = ["sh", "no-such-program-of-stormeter"];
        assert_eq!(missing(&repository, &needs), ["no-such-program-of-stormeter"]);
    }
}
