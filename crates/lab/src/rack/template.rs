//! Guests that were frozen once they were up, to be cloned in a tenth of a second.
//!
//! The memory of the frozen guest is a file, which migration then need not copy (`x-ignore-shared`,
//! QEMU's docs/devel/migration); its state is a second, small file. A clone maps the memory and copies
//! the pages that it writes to. The key of a template consists of what its clones see and what runs
//! them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::directory;
use crate::error::{LabDirectory, LabError, at};
use crate::image::{Images, key, need_room};
use crate::model::Lab;
use crate::qemu::{Accelerator, Guest, Hardware, Kind, Memory, Qmp, Ram, spawn};

/// How long a guest may take to boot.
pub(super) const BOOT: Duration = Duration::from_secs(120);

/// Counts changes to the arguments that guests are started with.
const FORM: &str = "6";

/// How many are kept; the least recently used are removed first, but none that a lab is starting from.
const MOST: usize = 12;

/// A frozen guest. It is not removed before this is dropped, by when its clones have opened its
/// files.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) ram: PathBuf,
    pub(super) state: PathBuf,
    /// Its folder, locked: the lock is shared with other labs that start from it.
    in_use: fs::File,
}

impl Template {
    /// The template in this folder, if there is one. Its use is recorded in the folder's modification time.
    fn open(folder: &Path) -> Option<Self> {
        let opened = fs::File::open(folder).ok()?;
        opened.lock_shared().ok()?;
        // It may have been removed and recreated between opening and locking.
        let is_still_there = opened.metadata().ok()?.ino() == fs::metadata(folder).ok()?.ino();
        opened.set_modified(SystemTime::now()).ok()?;
        is_still_there.then(|| Self {
            ram: folder.join("ram"),
            state: folder.join("state"),
            in_use: opened,
        })
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        // Unlocked explicitly, not by closing: a child that another thread has forked and that has not executed its
        // program yet has the file open, too.
        let _ = self.in_use.unlock();
    }
}

fn folder(images: &Images, hardware: &Hardware, accelerator: Accelerator, qemu: &str) -> PathBuf {
    let image: &Path = match hardware.kind {
        Kind::Worker => &images.worker,
        Kind::Storage => &images.storage,
        Kind::Router => &images.router,
        Kind::Host => images.host_files(hardware.suite.as_deref(), hardware.services).1,
    };
    // The system's folder is named by its own key, and a blank disk consists only of what is visible
    // of it.
    let text =
        format!("{FORM} {qemu} {} {} {:?}", image.display(), accelerator.name(), hardware.blank());
    images.system.join("templates").join(key(&[text.as_bytes()]))
}

/// The template for this hardware, if it exists.
pub(super) fn find(
    images: &Images,
    hardware: &Hardware,
    accelerator: Accelerator,
    qemu: &str,
) -> Option<Template> {
    Template::open(&folder(images, hardware, accelerator, qemu))
}

/// Boots a guest with this hardware in the lab's directory and freezes it.
///
/// # Errors
/// It does not boot, or QEMU cannot freeze it; nothing of it is left then.
pub(super) fn make(
    images: &Images,
    hardware: &Hardware,
    accelerator: Accelerator,
    qemu: &str,
    lab: &Path,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<Template, LabError> {
    let folder = folder(images, hardware, accelerator, qemu);
    let all = images.system.join("templates");
    need_room("a template", &all, hardware.memory_bytes + (64 << 20), LabDirectory::Cache)?;
    let half = all.join(format!(".build-{}", std::process::id()));
    let _ = fs::remove_dir_all(&half);
    fs::create_dir_all(&half).map_err(at(&half))?;
    // Here it can be found and ended if this process is killed.
    let guest = directory::guest(lab, ".frozen");
    let frozen = freeze(&guest, images, &hardware.blank(), accelerator, &half, keep_going);
    if let Some(process) = guest.process() {
        process.end()?;
    }
    let _ = fs::remove_dir_all(&guest.folder);
    let kept = frozen.and_then(|()| match fs::rename(&half, &folder) {
        // Another process has made the same one meanwhile.
        Err(_) if folder.is_dir() => Ok(()),
        other => other.map_err(at(&folder)),
    });
    let _ = fs::remove_dir_all(&half);
    kept?;
    let made = Template::open(&folder).ok_or_else(|| guest.failed("was not frozen"))?;
    forget(&all, MOST);
    Ok(made)
}

fn freeze(
    guest: &Guest,
    images: &Images,
    hardware: &Hardware,
    accelerator: Accelerator,
    half: &Path,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<(), LabError> {
    let memory = Memory { ram: Ram::Kept(half.join("ram")), waits: false };
    spawn(guest, hardware, images, accelerator, &memory, &[])?;
    guest.wait_for(hardware.kind, BOOT, keep_going)?;
    let mut qmp = guest.connect()?;
    qmp.run("stop", json!({}))?;
    ignore_shared(&mut qmp)?;
    let state = half.join("state");
    qmp.run("migrate", json!({"uri": format!("exec:cat > {}", quoted(&state))}))?;
    qmp.wait_for_migration()?;
    // QEMU closes the pipe, and exits, when everything is written.
    let _ = qmp.run("quit", json!({}));
    Ok(())
}

/// Turns off the copying of file-backed memory.
pub(super) fn ignore_shared(qmp: &mut Qmp) -> Result<(), LabError> {
    let capabilities = json!([{"capability": "x-ignore-shared", "state": true}]);
    qmp.run("migrate-set-capabilities", json!({"capabilities": capabilities})).map(|_| ())
}

/// Quotes a path for the shell to which QEMU passes it.
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

/// Removes templates beyond `most`, and what killed processes left unfinished.
fn forget(all: &Path, most: usize) {
    let mut folders = Vec::new();
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(pid) = name.strip_prefix(".build-") {
            if !Path::new("/proc").join(pid).exists() {
                let _ = fs::remove_dir_all(entry.path());
            }
        } else if let Ok(used) = entry.metadata().and_then(|found| found.modified()) {
            folders.push((used, entry.path()));
        }
    }
    folders.sort();
    for (_, folder) in folders.iter().take(folders.len().saturating_sub(most)) {
        // A lab that is starting from it, in this process or another, has locked it.
        let Ok(opened) = fs::File::open(folder) else { continue };
        if opened.try_lock().is_ok() {
            let _ = fs::remove_dir_all(folder);
            let _ = opened.unlock();
        }
    }
}

/// The distinct kinds of hardware among guests that will be cloned.
pub(super) fn kinds(hardware: impl Iterator<Item = Hardware>) -> Vec<Hardware> {
    let mut kinds: Vec<Hardware> = Vec::new();
    for one in hardware.filter(Hardware::can_freeze) {
        let blank = one.blank();
        if !kinds.contains(&blank) {
            kinds.push(blank);
        }
    }
    kinds
}

/// The memory of all guests together, in bytes.
pub(super) fn memory_bytes(lab: &Lab) -> u64 {
    let storage: u64 = lab.storage.iter().map(|storage| storage.memory_bytes).sum();
    let vms: u64 = lab.vms.iter().map(|vm| vm.memory_bytes).sum();
    let hosts: u64 = lab.hosts.iter().map(|host| host.memory_bytes).sum();
    let routers: u64 = lab.routers.iter().map(|router| router.memory_bytes).sum();
    let desktops = lab.desktops.iter().flat_map(|set| &set.places);
    let desktops: u64 = desktops.map(|vm| vm.memory_bytes).sum();
    routers + storage + hosts + vms + desktops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_reads_is_the_path() {
        let path = Path::new("/a b/it's");
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("printf %s {}", quoted(path))])
            .output()
            .unwrap();
        assert_eq!(output.stdout, path.to_str().unwrap().as_bytes());
    }

    #[test]
    fn the_newest_are_kept_and_halves_of_dead_processes_are_not() {
        let all = tempfile::tempdir().unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        let half = all.path().join(format!(".build-{}", ended.id()));
        ended.wait().unwrap();
        fs::create_dir(&half).unwrap();
        let mine = all.path().join(format!(".build-{}", std::process::id()));
        fs::create_dir(&mine).unwrap();
        for (index, name) in ["first", "second", "third"].into_iter().enumerate() {
            let folder = all.path().join(name);
            fs::create_dir(&folder).unwrap();
            let time = std::time::UNIX_EPOCH + Duration::from_secs(index as u64 * 60);
            fs::File::open(&folder).unwrap().set_modified(time).unwrap();
        }
        forget(all.path(), 2);
        let exists = |name: &str| all.path().join(name).exists();
        assert!(!exists("first") && exists("second") && exists("third"));
        assert!(!half.exists() && mine.exists());
    }

    #[test]
    fn one_that_a_lab_comes_up_from_stays_and_a_use_makes_it_young() {
        let all = tempfile::tempdir().unwrap();
        let [first, second, third] = ["first", "second", "third"].map(|name| all.path().join(name));
        for (folder, age) in [(&first, 3), (&second, 2), (&third, 1)] {
            fs::create_dir(folder).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age * 60);
            fs::File::open(folder).unwrap().set_modified(time).unwrap();
        }
        drop(Template::open(&first).unwrap());
        let in_use = Template::open(&second).unwrap();
        fs::File::open(&second).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        forget(all.path(), 1);
        assert!(first.exists(), "the last that was used");
        assert!(second.exists(), "in use");
        assert!(!third.exists());
        drop(in_use);
        forget(all.path(), 1);
        assert!(!second.exists(), "no longer in use");
        assert!(Template::open(&second).is_none());
    }
}
