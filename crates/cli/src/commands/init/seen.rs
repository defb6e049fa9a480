//! The file systems of this machine on which a study could run: with room, and writable by this user.

use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};
use stormeter_datastore::{Filesystem, mounted_file_systems};
use stormeter_units::format_bytes;

use super::place::{Kind, Place};

/// A file system with less than this cannot hold the disks of a study worth running.
const LEAST_BYTES: u64 = 4 << 30;
/// More than a reader would keep in the file.
const MOST_PLACES: usize = 4;
/// File systems that hold nothing of a user's, live in memory, or cannot be written.
const NO_STORAGE: [&str; 26] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fuse.gvfsd-fuse",
    "fuse.portal",
    "fusectl",
    "hugetlbfs",
    "iso9660",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "ramfs",
    "rpc_pipefs",
    "securityfs",
    "squashfs",
    "sysfs",
    "tmpfs",
    "tracefs",
];

/// The places, the one with the shortest path first.
pub(super) fn places() -> Vec<Place> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut found: Vec<(PathBuf, Filesystem)> = Vec::new();
    for mount in mounted_file_systems() {
        let is_known = |mount: &Filesystem| {
            found.iter().any(|(_, known)| known.device_number == mount.device_number)
        };
        if NO_STORAGE.contains(&mount.kind.as_str()) || is_known(&mount) {
            continue;
        }
        let on_it = |path: &Path| Filesystem::of(path).as_ref() == Some(&mount);
        let usable = |path: &PathBuf| path.is_dir() && on_it(path) && is_writable(path);
        let candidates = candidates(&mount.mount_point, home.as_deref());
        let path = candidates.into_iter().find(usable);
        found.extend(path.map(|path| (path, mount)));
    }
    found.retain(|(path, _)| free_bytes(path) >= LEAST_BYTES);
    found.sort_by_key(|(path, _)| path.as_os_str().len());
    found.truncate(MOST_PLACES);
    let mut places: Vec<Place> = Vec::new();
    for (path, mount) in found {
        places.push(place(&path, &mount, &places));
    }
    places
}

/// Directories of a file system that may hold a run's disks. The root of the system is not one.
fn candidates(mount_point: &str, home: Option<&Path>) -> Vec<PathBuf> {
    match mount_point {
        "/" => ["/srv"]
            .map(PathBuf::from)
            .into_iter()
            .chain(home.map(Path::to_path_buf))
            .chain([PathBuf::from("/var/tmp")])
            .collect(),
        "/home" => home.map(Path::to_path_buf).into_iter().collect(),
        // Nothing is kept where the system starts from.
        point if point.starts_with("/boot") => Vec::new(),
        point => vec![point.into()],
    }
}

fn is_writable(path: &Path) -> bool {
    access(path, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}

// The types of the fields differ between C libraries.
#[allow(clippy::unnecessary_cast)]
fn free_bytes(path: &Path) -> u64 {
    statvfs(path).map_or(0, |stat| {
        (stat.blocks_available() as u64).saturating_mul(stat.fragment_size() as u64)
    })
}

fn place(path: &Path, mount: &Filesystem, others: &[Place]) -> Place {
    let last = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let letters = last.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c));
    let usual: String = letters.skip_while(|c| !c.is_ascii_alphabetic()).collect();
    let usual = if usual.is_empty() { "local".to_owned() } else { usual };
    let is_taken = |name: &str| others.iter().any(|other| other.name == name);
    let numbered = (2..).map(|number| format!("{usual}{number}"));
    let mut names = std::iter::once(usual.clone()).chain(numbered);
    Place {
        name: names.find(|name| !is_taken(name)).unwrap_or_default(),
        url: path.display().to_string(),
        kind: Kind::Directory,
        remark: Some(format!(
            "{} on {}, {} free",
            mount.kind,
            mount.source,
            format_bytes(free_bytes(path))
        )),
        had_password: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_is_the_root_or_where_the_system_starts_from() {
        let home = Path::new("/users/u");
        assert!(candidates("/boot/efi", Some(home)).is_empty());
        assert!(!candidates("/", Some(home)).contains(&PathBuf::from("/")));
        assert_eq!(candidates("/home", Some(home)), [home]);
        assert_eq!(candidates("/mnt/nas", None), [Path::new("/mnt/nas")]);
    }

    #[test]
    fn what_is_seen_can_be_written_and_has_a_name_of_its_own() {
        let places = places();
        for (index, place) in places.iter().enumerate() {
            assert!(is_writable(Path::new(&place.url)), "{place:?}");
            assert!(places[..index].iter().all(|other| other.name != place.name), "{places:?}");
        }
    }
}
