//! Which kernel modules a guest needs, and the order in which they are loaded.
//!
//! `depmod` runs when a kernel is installed, and nothing is installed here: the dependencies are read
//! from the module files (`depends=` among the lines that modinfo(8) shows). A guest's init then loads
//! files in the order of a list and needs neither modprobe nor its databases.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::kernel::elf_in;
use crate::error::{LabError, at};

/// The modules of one kernel.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    /// Files by module name.
    files: BTreeMap<String, PathBuf>,
    /// Modules that are built into the kernel.
    built_in: Vec<String>,
    /// The kernel release, as in `6.1.0-56-amd64`.
    pub(super) release: String,
}

impl Modules {
    /// Reads the modules below `directory`, which is `lib/modules/RELEASE`.
    pub(crate) fn of(directory: &Path) -> Result<Self, LabError> {
        let release = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut modules = Self { release, ..Self::default() };
        let list = directory.join("modules.builtin");
        let text = fs::read_to_string(&list).map_err(at(&list))?;
        modules.built_in = text.lines().map(|line| name_of(Path::new(line))).collect();
        modules.gather(directory)?;
        Ok(modules)
    }

    fn gather(&mut self, directory: &Path) -> Result<(), LabError> {
        for entry in fs::read_dir(directory).map_err(at(directory))? {
            let entry = entry.map_err(at(directory))?;
            let path = entry.path();
            // Links (`build`, `source`) lead out of the unpacked tree.
            if entry.file_type().map_err(at(&path))?.is_dir() {
                self.gather(&path)?;
            } else if let Some(name) = module_name(&path) {
                self.files.insert(name, path);
            }
        }
        Ok(())
    }

    /// The files that make `name` work, each after its dependencies; empty if it is built in.
    ///
    /// # Errors
    /// The name of a module that the kernel does not have.
    pub(crate) fn order(&self, name: &str) -> Result<Vec<PathBuf>, LabError> {
        let mut order = Vec::new();
        self.add(name, name, &mut Vec::new(), &mut order)?;
        Ok(order)
    }

    fn add(
        &self,
        name: &str,
        wanted: &str,
        above: &mut Vec<String>,
        order: &mut Vec<PathBuf>,
    ) -> Result<(), LabError> {
        let name = name.replace('-', "_");
        if self.built_in.contains(&name) || above.contains(&name) {
            return Ok(());
        }
        let path = self.files.get(&name).ok_or_else(|| LabError::Module {
            module: name.clone(),
            wanted: wanted.into(),
            release: self.release.clone(),
        })?;
        let path = plain(path)?;
        if order.contains(&path) {
            return Ok(());
        }
        above.push(name);
        for needed in needs(&fs::read(&path).map_err(at(&path))?) {
            self.add(&needed, wanted, above, order)?;
        }
        above.pop();
        order.push(path);
        Ok(())
    }
}

/// The name of the module in this file, which may be compressed; `None` for another file.
fn module_name(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let name = file.strip_suffix(".ko").or_else(|| file.strip_suffix(".ko.xz"))?;
    Some(name.replace('-', "_"))
}

/// The file without compression: a guest's init has no program that unpacks it. It is written once, next to the other.
fn plain(path: &Path) -> Result<PathBuf, LabError> {
    if path.extension().is_some_and(|extension| extension == "ko") {
        return Ok(path.to_owned());
    }
    let plain = path.with_extension("");
    if !plain.exists() {
        let elf = elf_in(&fs::read(path).map_err(at(path))?)?;
        fs::write(&plain, elf).map_err(at(&plain))?;
    }
    Ok(plain)
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().replace('-', "_")
}

/// A module's declared dependencies. The lines of modinfo are zero-terminated texts; searching for the
/// line is enough, because nothing else in a module starts like that.
fn needs(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(start) = module.windows(KEY.len()).position(|window| window == KEY) else {
        return Vec::new();
    };
    let rest = &module[start + KEY.len()..];
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    let names = String::from_utf8_lossy(&rest[..end]).into_owned();
    names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel whose modules declare these dependencies.
    fn kernel(modules: &[(&str, &str)]) -> (tempfile::TempDir, Modules) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("6.1.0-test");
        fs::create_dir_all(root.join("kernel/drivers")).unwrap();
        fs::write(root.join("modules.builtin"), "kernel/lib/libbase.ko\n").unwrap();
        for (name, depends) in modules {
            let path = root.join(format!("kernel/drivers/{name}.ko"));
            fs::write(path, format!("ELF\0license=GPL\0depends={depends}\0name={name}\0")).unwrap();
        }
        let modules = Modules::of(&root).unwrap();
        (directory, modules)
    }

    fn names(order: &[PathBuf]) -> Vec<String> {
        order.iter().map(|path| name_of(path)).collect()
    }

    #[test]
    fn each_comes_after_what_it_needs_and_once() {
        let (_directory, modules) =
            kernel(&[("disk", "ring,bus"), ("bus", ""), ("ring", "bus,libbase"), ("a-b", "disk")]);
        assert_eq!(names(&modules.order("a-b").unwrap()), ["bus", "ring", "disk", "a_b"]);
        assert_eq!(names(&modules.order("libbase").unwrap()), [""; 0]);
    }

    #[test]
    fn a_compressed_one_is_unpacked() {
        use std::process::{Command, Stdio};

        let (directory, _) = kernel(&[("ring", "")]);
        let root = directory.path().join("6.1.0-test");
        let packed = root.join("kernel/drivers/disk-a.ko.xz");
        let module = directory.path().join("module");
        fs::write(&module, "\x7fELF\0depends=ring\0").unwrap();
        let from = fs::File::open(&module).unwrap();
        let to = fs::File::create(&packed).unwrap();
        let made = Command::new("xz").arg("-c").stdin(from).stdout(Stdio::from(to)).status();
        assert!(made.unwrap().success());
        let order = Modules::of(&root).unwrap().order("disk-a").unwrap();
        assert_eq!(names(&order), ["ring", "disk_a"]);
        assert_eq!(fs::read(&order[1]).unwrap(), fs::read(&module).unwrap());
    }

    #[test]
    fn a_missing_one_is_named_with_who_wanted_it() {
        let (_directory, modules) = kernel(&[("disk", "ring")]);
        let message = modules.order("disk").unwrap_err().to_string();
        for part in ["6.1.0-test", "ring", "disk"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn a_circle_ends() {
        let (_directory, modules) = kernel(&[("one", "two"), ("two", "one")]);
        assert_eq!(names(&modules.order("one").unwrap()), ["two", "one"]);
    }
}
