//! Where the repository is, which files belong to it, and how to call cargo in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::child::output;

/// The repository that the chores work on.
pub(crate) struct Repository {
    /// The workspace's root.
    pub(crate) root: PathBuf,
    /// Where cargo builds.
    pub(crate) target: PathBuf,
}

impl Repository {
    pub(crate) fn open() -> Result<Self, String> {
        // Asked at run time, since clones may share a target directory: cargo says where the
        // package is.
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = package
            .parent()
            .filter(|root| root.join("Cargo.lock").exists())
            .ok_or("the workspace cannot be found; run this as cargo xtask")?
            .to_path_buf();
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(directory) => root.join(directory),
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// Cargo, at the root.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(cargo());
        command.args(arguments);
        command
    }

    /// A program run at the root, which finds system tools wherever Debian puts them.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("PATH", search_path(&[]));
        command
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The files that are, or are about to be, under version control, relative to the root.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, String> {
        let mut git = self.command("git");
        // A checkout that belongs to another user, as in a container, must not stop this.
        git.arg("-c").arg(format!("safe.directory={}", self.root.display()));
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let list = output(&mut git)
            .map_err(|error| format!("git cannot list the repository's files: {error}"))?;
        let mut files: Vec<PathBuf> =
            list.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
        files.retain(|file| self.root.join(file).is_file());
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// An empty directory below the target directory: on a real disk, because temporary directories
    /// are often in memory and refuse O_DIRECT.
    pub(crate) fn scratch(&self, name: &str) -> Result<PathBuf, String> {
        let directory = self.target.join("xtask").join(name);
        let made = match std::fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => std::fs::create_dir_all(&directory),
        };
        made.map_err(|error| format!("{} cannot be made: {error}", directory.display()))?;
        Ok(directory)
    }
}

/// Makes our program independent of the user who runs it: results that go to no named place go below the directory, and
/// no defaults apply.
pub(crate) fn without_user(command: &mut Command, directory: &Path) {
    command.env("XDG_DATA_HOME", directory.join("data"));
    command.env_remove("STORMETER_RESULTS").env("STORMETER_DEFAULTS", "");
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// PATH with `first` before it and the administrator's directories after it.
pub(crate) fn search_path(first: &[&Path]) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = first
        .iter()
        .map(PathBuf::from)
        .chain(std::env::split_paths(&path))
        .chain(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from));
    // This fails only on a colon in a directory's name; then the path stays as it was.
    std::env::join_paths(directories).unwrap_or(path)
}
