//! Podman with a store of its own below the target directory, and settings that suit machines with old control groups
//! and few rights: these go into files, so that the commands of the page are run as they are.

use std::path::Path;
use std::process::Command;

use super::packages;
use super::page::{Runner, SHELL};
use crate::child::output;
use crate::repository::Repository;

/// Runs lines in a directory with copies of the packages.
///
/// # Errors
/// The settings or the copies cannot be written.
pub(super) fn place(repository: &Repository, made: &Path) -> Result<Runner, String> {
    let directory = repository.scratch("podman")?;
    let write = |name: &str, text: String| {
        let path = directory.join(name);
        std::fs::write(&path, text)
            .map(|()| path.clone())
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))
    };
    let at = |name: &str| directory.join(name).display().to_string();
    // Copies of whole layers work on every file system.
    let storage = write(
        "storage.conf",
        format!(
            "[storage]\ndriver = \"vfs\"\ngraphroot = \"{}\"\nrunroot = \"{}\"\n",
            at("store"),
            at("run"),
        ),
    )?;
    let files = output(Command::new("sh").args(["-c", "ulimit -Hn"]))?;
    let containers = write("containers.conf", containers(files.trim()))?;
    let downloads = directory.join("downloads");
    packages::copy(made, &downloads)?;
    let environment = [("CONTAINERS_STORAGE_CONF", storage), ("CONTAINERS_CONF", containers)];
    Ok(Box::new(move |line| {
        let mut command = Command::new(SHELL[0]);
        command.args(&SHELL[1..]).args(["-c", line]).envs(environment.clone());
        command.current_dir(&downloads);
        command
    }))
}

/// More open files than this process may have cannot be granted without CAP_SYS_RESOURCE. The network is the
/// container's own loopback: nothing else is needed, and setting up more needs more rights.
fn containers(open_files: &str) -> String {
    format!(
        "[containers]\nnetns = \"none\"\ndefault_ulimits = [\"nofile={open_files}:{open_files}\", \
         \"nproc=4096:4096\"]\n[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\n\
         events_logger = \"none\"\n"
    )
}
