//! A system: kernel, modules and the guests' images, built from packages. That of another suite has a kernel and the
//! host's image only, and the programs in it are those of this machine's suite: two hosts then differ in their kernels
//! and in nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use super::closure::Closure;
use super::cpio::Archive;
use super::free_space::need_room;
use super::kernel::elf_of;
use super::key::key;
use super::modules::Modules;
use super::packages::{Apt, Package, unpack};
use super::recipe;
use super::scratch::Scratch;
use super::services;
use super::suite;
use super::usage::remove_unused;
use crate::error::{LabDirectory, LabError, at};
use crate::qemu::NETWORK;

/// Files in a system's folder.
pub(super) const KERNEL: &str = "vmlinux";
pub(super) const STORAGE: &str = "storage.img";
pub(super) const ROUTER: &str = "router.img";
/// The host's image without stormeter, which is appended to it.
pub(super) const INITIATOR: &str = "initiator.img";
/// What a host with services has in addition.
pub(super) const SERVICES: &str = "services.img";
/// The worker guest's modules, and lines of `NAME: FILE…` in loading order.
pub(super) const MODULES: &str = "modules";
pub(super) const ORDER: &str = "order";

/// The file in the cache that records which system is in use and the recipe that made it; for another suite, its name
/// follows.
const CURRENT: &str = "current";
/// The packages that a system was made from, one a line.
const PACKAGES: &str = "packages";
/// The kernel's release, as `uname -r` prints it.
const RELEASE: &str = "release";
const SYSTEM: &str = "system-";

/// Space for a build: packages, the unpacked kernel, images.
const ROOM_BYTES: u64 = 1 << 30;

/// The recipe's key: images of another recipe are not used. It must contain everything that changes
/// what is made from the same packages; the number stands for changes to this file.
fn recipe_key() -> String {
    let mut text = format!(
        "7 {:?} {:?} {:?} {:?} {:?}",
        recipe::BASE,
        recipe::CONTROLLERS,
        recipe::SERVER,
        recipe::PROGRAMS,
        recipe::FILES
    );
    text += &format!("{:?} {:?} {:?}", recipe::OURS, recipe::STORAGE, recipe::WITHOUT);
    text += &format!("{:?} {:?} {:?}", recipe::HOST, recipe::CLIENT, recipe::CLIENT_PROGRAMS);
    text += &format!("{:?} {:?}", recipe::CLIENT_FILES, recipe::CLIENT_OURS);
    text += &format!(" {:?} {:?} {:?}", recipe::UPLINK, recipe::ROUTING, recipe::ROUTER);
    text += &format!("{:?} {:?}", recipe::ROUTER_PROGRAMS, recipe::ROUTER_OURS);
    text += &services::recipe();
    key(&[text.as_bytes()])
}

/// The kernel's release of the system in this folder, if it is still there.
pub(super) fn release(system: &Path) -> Option<String> {
    fs::read_to_string(system.join(RELEASE)).ok()
}

/// The folder of the system that the last build made or found, if it was this program's recipe.
pub(super) fn current(root: &Path, suite: Option<&str>) -> Option<PathBuf> {
    named_by(root, &root.join(record(suite)))
}

/// The name of the file that records the current system.
fn record(suite: Option<&str>) -> String {
    suite.map_or_else(|| CURRENT.into(), |suite| format!("{CURRENT}-{suite}"))
}

/// The folder of the system that such a file names, if it was made by this program's recipe.
fn named_by(root: &Path, record: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(record).ok()?;
    let (system, made_by) = text.trim().split_once(' ')?;
    let folder = root.join(system);
    (made_by == recipe_key() && folder.is_dir()).then_some(folder)
}

/// Builds the system from today's packages, or finds it; with a suite, the one with its kernel.
pub(super) fn build(
    root: &Path,
    suite: Option<&str>,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, LabError> {
    let scratch = Scratch::new(root)?;
    let whose = suite.map_or_else(String::new, |suite| format!(", with the kernel of {suite}"));
    say(&format!("asking apt for packages{whose}"));
    let machine = Apt::default();
    let of_suite = suite.map(|suite| suite::open(suite, root)).transpose()?;
    let mut wanted: Vec<&str> = recipe::STORAGE.into_iter().chain(recipe::HOST).collect();
    if of_suite.is_none() {
        wanted.push(recipe::KERNEL);
        wanted.extend(recipe::ROUTING);
        wanted.extend(services::PACKAGES);
    }
    let mut packages = machine.resolve(&wanted, &recipe::WITHOUT, &scratch.path)?;
    let kernel = of_suite.as_ref().map(suite::kernel).transpose()?;
    let listed = packages.iter().chain(&kernel);
    let identities = listed.map(Package::identity).collect::<Vec<_>>().join("\n");
    let name = format!("{SYSTEM}{}", key(&[recipe_key().as_bytes(), identities.as_bytes()]));
    let folder = root.join(&name);
    if folder.is_dir() {
        say("they are those of the last build");
    } else {
        need_room("the build", root, ROOM_BYTES, LabDirectory::Cache)?;
        let store = root.join("packages");
        fs::create_dir_all(&store).map_err(at(&store))?;
        let count = packages.len() + kernel.iter().len();
        say(&format!("fetching {count} packages, those that are not here yet"));
        machine.fetch(&packages, &store, &scratch.path)?;
        if let (Some(apt), Some(kernel)) = (&of_suite, &kernel) {
            apt.fetch(std::slice::from_ref(kernel), &store, &scratch.path)?;
        }
        packages.extend(kernel);
        let made = make(&packages, &store, &scratch.path, suite.is_some(), say)?;
        write(&made.join(PACKAGES), identities.as_bytes())?;
        fs::rename(&made, &folder).map_err(at(&folder))?;
    }
    let now = scratch.path.join(CURRENT);
    fs::write(&now, format!("{name} {}\n", recipe_key())).map_err(at(&now))?;
    fs::rename(&now, root.join(record(suite))).map_err(at(root))?;
    forget(root);
    Ok(folder)
}

/// Removes systems that neither this version of stormeter nor a lab uses, and packages that are no longer
/// needed.
fn forget(root: &Path) {
    let entries = || fs::read_dir(root).into_iter().flatten().flatten();
    let starts =
        |entry: &fs::DirEntry, with: &str| entry.file_name().to_string_lossy().starts_with(with);
    let records = entries().filter(|entry| starts(entry, CURRENT));
    let kept: Vec<PathBuf> = records.filter_map(|entry| named_by(root, &entry.path())).collect();
    let systems = entries().filter(|entry| starts(entry, SYSTEM)).map(|entry| entry.path());
    systems.filter(|system| !kept.contains(system)).for_each(|system| remove_unused(&system));
    let lists = kept.iter().map(|system| fs::read_to_string(system.join(PACKAGES)));
    let lists: String = lists.map(|list| list.unwrap_or_default() + "\n").collect();
    for entry in fs::read_dir(root.join("packages")).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if !lists.lines().any(|identity| identity.starts_with(&format!("{file} "))) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Makes a system; `host_only` leaves out what other guests need.
fn make(
    packages: &[Package],
    store: &Path,
    scratch: &Path,
    host_only: bool,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, LabError> {
    let unpacked = scratch.join("unpacked");
    say("unpacking them");
    for package in packages {
        unpack(package, store, &unpacked)?;
    }
    let made = scratch.join("system");
    fs::create_dir(&made).map_err(at(&made))?;
    say("making the kernel");
    let image = only_entry(&unpacked.join("boot"), "vmlinuz-")?;
    let kernel = elf_of(&fs::read(&image).map_err(at(&image))?)?;
    // Debian 13 has moved them.
    let folders = ["lib/modules", "usr/lib/modules"].map(|folder| unpacked.join(folder));
    let folder = folders.iter().find(|folder| folder.is_dir()).unwrap_or(&folders[0]);
    let modules = Modules::of(&only_entry(folder, "")?)?;
    write(&made.join(KERNEL), &kernel)?;
    write(&made.join(RELEASE), modules.release.as_bytes())?;
    if !host_only {
        worker_modules(&modules, &made)?;
        say("making the storage guest");
        let own = &mut Closure::new(&unpacked);
        write(&made.join(STORAGE), &guest(own, &modules, &STORAGE_GUEST)?)?;
        say("making the router");
        let own = &mut Closure::new(&unpacked);
        write(&made.join(ROUTER), &guest(own, &modules, &ROUTER_GUEST)?)?;
    }
    say("making the host");
    let mut own = Closure::new(&unpacked);
    write(&made.join(INITIATOR), &guest(&mut own, &modules, &HOST)?)?;
    if !host_only {
        say("making what hosts with services have in addition");
        write(&made.join(SERVICES), &services::layer(&mut own)?)?;
    }
    fs::remove_dir_all(&unpacked).map_err(at(&unpacked))?;
    Ok(made)
}

fn worker_modules(modules: &Modules, made: &Path) -> Result<(), LabError> {
    let folder = made.join(MODULES);
    fs::create_dir(&folder).map_err(at(&folder))?;
    let mut order = String::new();
    let other = [("base", &recipe::BASE[..]), (NETWORK, &recipe::UPLINK[..])];
    for (name, wanted) in other.into_iter().chain(recipe::CONTROLLERS) {
        order += name;
        order.push(':');
        for file in files(modules, wanted)? {
            let last = file.file_name().unwrap_or_default();
            fs::copy(&file, folder.join(last)).map_err(at(&file))?;
            order.push(' ');
            order += &last.to_string_lossy();
        }
        order.push('\n');
    }
    write(&made.join(ORDER), order.as_bytes())
}

/// The files of several modules, without duplicates.
fn files(modules: &Modules, wanted: &[&str]) -> Result<Vec<PathBuf>, LabError> {
    let mut files = Vec::new();
    for name in wanted {
        for file in modules.order(name)? {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

/// The contents of a guest with a shell.
struct Contents {
    ours: &'static [(&'static str, u32, &'static str)],
    files: &'static [&'static str],
    programs: &'static [&'static str],
    modules: &'static [&'static str],
}

const STORAGE_GUEST: Contents = Contents {
    ours: &recipe::OURS,
    files: &recipe::FILES,
    programs: &recipe::PROGRAMS,
    modules: &recipe::SERVER,
};
const ROUTER_GUEST: Contents = Contents {
    ours: &recipe::ROUTER_OURS,
    files: &recipe::ROUTER_FILES,
    programs: &recipe::ROUTER_PROGRAMS,
    modules: &recipe::ROUTER,
};
const HOST: Contents = Contents {
    ours: &recipe::CLIENT_OURS,
    files: &recipe::CLIENT_FILES,
    programs: &recipe::CLIENT_PROGRAMS,
    modules: &recipe::CLIENT,
};

fn guest(
    closure: &mut Closure<'_>,
    modules: &Modules,
    contents: &Contents,
) -> Result<Vec<u8>, LabError> {
    let unpacked = closure.root;
    let mut archive = Archive::default();
    for (path, mode, contents) in contents.ours {
        archive.file(path, *mode, contents.as_bytes());
    }
    let read = |path: &str| {
        let path = unpacked.join(path);
        fs::read(&path).map_err(at(&path))
    };
    archive.file("bin/busybox", 0o755, &read("bin/busybox")?);
    archive.link("bin/sh", "busybox");
    for path in contents.files {
        archive.file(path, 0o644, &read(path)?);
    }
    for program in contents.programs {
        closure.copy(program, &mut archive)?;
    }
    let mut order = String::new();
    let wanted: Vec<&str> = recipe::BASE.iter().chain(contents.modules).copied().collect();
    for file in files(modules, &wanted)? {
        let last = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        archive.file(&format!("modules/{last}"), 0o644, &fs::read(&file).map_err(at(&file))?);
        order += &last;
        order.push('\n');
    }
    archive.file("modules/order", 0o644, order.as_bytes());
    Ok(archive.finish())
}

/// The only entry of a folder whose name starts with `prefix`.
fn only_entry(folder: &Path, prefix: &str) -> Result<PathBuf, LabError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let entry = entry.map_err(at(folder))?;
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            found.push(entry.path());
        }
    }
    match found.as_slice() {
        [only] => Ok(only.clone()),
        _ => Err(LabError::Kernel("its package has none, or several")),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    fs::write(path, bytes).map_err(at(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Held;

    #[test]
    fn a_system_of_another_recipe_or_that_is_gone_is_not_current() {
        let root = tempfile::tempdir().unwrap();
        let say = |text: &str| fs::write(root.path().join(CURRENT), text).unwrap();
        assert_eq!(current(root.path(), None), None);
        say(&format!("system-1 {}\n", recipe_key()));
        assert_eq!(current(root.path(), None), None, "its folder is not there");
        fs::create_dir(root.path().join("system-1")).unwrap();
        assert_eq!(current(root.path(), None), Some(root.path().join("system-1")));
        assert_eq!(current(root.path(), Some("trixie")), None, "that of another suite");
        say("system-1 0123456789abcdef\n");
        assert_eq!(current(root.path(), None), None);
    }

    #[test]
    fn what_is_no_longer_used_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let folders =
            ["system-old", "system-up", "system-new", "system-13", "packages", "templates"];
        for folder in folders {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        for (record, system, list) in [
            (CURRENT, "system-new", "b_1_amd64.deb SHA256:1\na_2_amd64.deb SHA256:1"),
            ("current-trixie", "system-13", "kernel_13_amd64.deb SHA256:1"),
        ] {
            fs::write(root.path().join(record), format!("{system} {}\n", recipe_key())).unwrap();
            fs::write(root.path().join(system).join(PACKAGES), list).unwrap();
        }
        let _up = Held::new(&root.path().join("system-up"), &root.path().join("lab.json")).unwrap();
        for file in ["a_1_amd64.deb", "a_2_amd64.deb", "kernel_13_amd64.deb"] {
            fs::write(root.path().join("packages").join(file), "").unwrap();
        }
        forget(root.path());
        let exists = |path: &str| root.path().join(path).exists();
        assert!(exists("system-up"), "a lab needs it");
        assert!(exists("system-new") && exists("templates") && exists("packages/a_2_amd64.deb"));
        assert!(exists("system-13") && exists("packages/kernel_13_amd64.deb"), "another suite");
        assert!(!exists("system-old") && !exists("packages/a_1_amd64.deb"));
    }
}
