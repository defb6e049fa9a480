//! Small facts about this machine and this process, from /proc and system calls.

use std::fs;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::Pid;

/// The CPUs that this process may run on.
pub(crate) fn allowed_cpus() -> Vec<usize> {
    match sched_getaffinity(Pid::from_raw(0)) {
        Ok(set) => (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect(),
        Err(_) => vec![0],
    }
}

/// Keeps the calling thread on one CPU. Returns whether the system agreed.
pub(crate) fn pin_to(cpu: usize) -> bool {
    let mut set = CpuSet::new();
    set.set(cpu).is_ok() && sched_setaffinity(Pid::from_raw(0), &set).is_ok()
}

/// Raises the limit of open files to what the system allows: a thousand VMs have a thousand disks.
pub(crate) fn raise_open_files() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // If it fails, the error of opening the disks has its own advice.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// A value of /proc/meminfo, in bytes.
pub(crate) fn memory_bytes(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    parse_memory(&text, name)
}

fn parse_memory(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split(':').next() == Some(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// A file of one line, trimmed; `None` if it is missing or empty.
pub(crate) fn line_of(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The first three figures of /proc/loadavg.
pub(crate) fn load_average() -> Option<[f64; 3]> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    let mut figures = text.split_whitespace().map(|word| word.parse::<f64>().ok());
    Some([figures.next()??, figures.next()??, figures.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_by_its_exact_name() {
        let text = "MemTotal:  100 kB\nMemAvailable:    7 kB\n";
        assert_eq!(parse_memory(text, "MemAvailable"), Some(7168));
        assert_eq!(parse_memory(text, "MemTotal"), Some(102_400));
        assert_eq!(parse_memory(text, "Mem"), None);
    }

    #[test]
    fn this_machine_has_a_cpu_and_memory() {
        assert!(!allowed_cpus().is_empty());
        assert!(memory_bytes("MemTotal") > Some(1 << 20));
        assert!(load_average().is_some());
    }
}
