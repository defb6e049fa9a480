//! Loads modules in the order of the lists in the image.

use std::fs::{self, File};

use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};

/// The kernel parameter that names lists, in addition to `base`.
const WANTED: &str = "stormeter.modules=";

pub(super) fn load() -> Result<(), String> {
    let read = |path: &str| {
        fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"))
    };
    let (order, line) = (read("/modules/order")?, read("/proc/cmdline")?);
    for file in wanted(&order, &line)? {
        let path = format!("/modules/{file}");
        let module = File::open(&path).map_err(|error| format!("{path}: {error}"))?;
        match finit_module(&module, c"", ModuleInitFlags::empty()) {
            // Two lists may contain the same module.
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(errno) => return Err(format!("the module {file} does not load: {errno}")),
        }
    }
    Ok(())
}

/// The files to load: those of the list `base`, then those of each list that the parameter names.
fn wanted<'o>(order: &'o str, line: &str) -> Result<Vec<&'o str>, String> {
    let named = line.split_whitespace().find_map(|word| word.strip_prefix(WANTED)).unwrap_or("");
    let mut files = Vec::new();
    for name in ["base"].into_iter().chain(named.split(',').filter(|name| !name.is_empty())) {
        let list = order.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let list = list.ok_or_else(|| format!("this image has no modules for {name}"))?;
        files.extend(list.split_whitespace());
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::wanted;

    #[test]
    fn the_command_line_says_which_lists_are_loaded() {
        let order = "base: a.ko b.ko\nnvme: c.ko\nlsi: d.ko e.ko\n";
        assert_eq!(wanted(order, "quiet").unwrap(), ["a.ko", "b.ko"]);
        let line = "quiet stormeter.modules=lsi panic=-1";
        assert_eq!(wanted(order, line).unwrap(), ["a.ko", "b.ko", "d.ko", "e.ko"]);
        let error = wanted(order, "stormeter.modules=floppy").unwrap_err();
        assert!(error.contains("floppy"), "{error}");
    }
}
