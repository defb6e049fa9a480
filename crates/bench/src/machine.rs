//! The machine on which the figures were measured.

use std::fs;
use std::thread::available_parallelism;

use crate::failure::Failure;
use crate::library::{LIBISCSI, LIBNFS};
use crate::{fio, process};

/// The machine in words, for the head of the table.
pub(crate) fn describe() -> Result<String, Failure> {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = available_parallelism().map_or(1, usize::from);
    let fio = fio::version()?;
    let valgrind = process::run(&["valgrind".into(), "--version".into()])?.output;
    let date = process::run(&["date".into(), "-u".into(), "+%Y-%m-%d".into()])?.output;
    Ok(format!(
        "{}, {cores} cores; Linux {}; {fio}; {}; {}; {}; {}; {}; {}",
        model(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
        kernel.trim(),
        valgrind.trim().replace('-', " "),
        LIBNFS.version(),
        LIBISCSI.version(),
        qemu_version(),
        crate::simulator::version(),
        date.trim()
    ))
}

/// QEMU's version, as far as that can be determined: it matters for the network figures only.
fn qemu_version() -> String {
    let output = process::run(&["qemu-img", "--version"].map(str::to_owned)).map(|e| e.output);
    // `qemu-img version 7.2.0 (Debian …)`
    let version = output.ok().and_then(|text| Some(text.split(' ').nth(2)?.trim().to_owned()));
    format!("QEMU {}", version.as_deref().unwrap_or("of unknown version"))
}

fn model(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
    name.unwrap_or("unknown processor").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named() {
        assert_eq!(model("processor: 0\nmodel name\t: A B C\nmodel name\t: D\n"), "A B C");
    }
}
