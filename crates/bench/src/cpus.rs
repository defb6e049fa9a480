//! The CPUs that runs are pinned to.

use std::fs;

/// The first and the last CPU that this process may run on.
///
/// The runner pins I/O threads to the first, so fio's are pinned there as well; what needs no
/// storage is measured on the last, away from the first one's interrupts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cpus {
    pub(crate) first: String,
    pub(crate) last: String,
}

/// Those of this process.
pub(crate) fn cpus() -> Cpus {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    parse(&status).unwrap_or_else(|| Cpus { first: "0".into(), last: "0".into() })
}

fn parse(status: &str) -> Option<Cpus> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim();
    let mut numbers = list.split([',', '-']);
    let first = numbers.next()?;
    Some(Cpus { first: first.to_owned(), last: numbers.next_back().unwrap_or(first).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_cpu_are_found_in_lists_and_ranges() {
        for (list, first, last) in [("0-3", "0", "3"), ("2", "2", "2"), ("1,4-6,9", "1", "9")] {
            let status = format!("Name: x\nCpus_allowed_list:\t{list}\n");
            assert_eq!(parse(&status), Some(Cpus { first: first.into(), last: last.into() }));
        }
    }
}
