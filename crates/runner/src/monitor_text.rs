//! Parses the kernel's accounts of the host: CPU time, memory, networks, disks (proc(5); for /proc/diskstats,
//! Documentation/admin-guide/iostats.rst of the kernel).
//!
//! Parsing only, so that each oddity has a test: offline CPUs, lines of other kernel versions, stacked devices that
//! would count a byte twice.

/// CPU time since boot, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// User, nice, system, interrupts, soft interrupts. Guests are a part of user time.
    pub busy: [u64; 5],
    /// Idle, and idle while I/O is outstanding.
    pub idle: [u64; 2],
}

/// More CPUs than Linux can have (CONFIG_NR_CPUS of x86-64 is at most 8192).
const MOST_CPUS: usize = 8192;

/// CPU time from /proc/stat: of all CPUs (`None`), and of each online CPU by its number.
pub(crate) fn cpu_times(text: &str) -> impl Iterator<Item = (Option<usize>, Ticks)> + '_ {
    // The lines of CPUs come first; what follows is long on a big host.
    text.lines().map_while(|line| line.strip_prefix("cpu")).filter_map(|line| {
        let (number, ticks) = line.split_once(' ')?;
        let cpu = match number {
            "" => None,
            number => Some(number.parse().ok().filter(|&cpu| cpu < MOST_CPUS)?),
        };
        let mut ticks = ticks.split_whitespace().map(|word| word.parse().unwrap_or(0));
        // Kernels before 2.6 have fewer fields; stolen time, which follows, is not this host's.
        let mut next = || ticks.next().unwrap_or(0);
        let (user, nice, system) = (next(), next(), next());
        let (idle, iowait, irq, softirq) = (next(), next(), next(), next());
        Some((cpu, Ticks { busy: [user, nice, system, irq, softirq], idle: [idle, iowait] }))
    })
}

/// Memory in use from /proc/meminfo, in bytes: all that is not available without swapping. `None` on kernels before
/// 3.14, which do not report available memory.
pub(crate) fn memory_used_bytes(text: &str) -> Option<u64> {
    let kib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    kib("MemTotal")?.checked_sub(kib("MemAvailable")?)?.checked_mul(1024)
}

/// Bytes received and sent by each network interface, from /proc/net/dev.
pub(crate) fn interfaces(text: &str) -> impl Iterator<Item = (&str, [u64; 2])> {
    // Two lines of headings; they have no colon.
    text.lines().filter_map(|line| {
        // From the right: an alias (`eth0:1`) has a colon too. Some kernels put no space after it.
        let (name, counts) = line.rsplit_once(':')?;
        let mut counts = counts.split_whitespace();
        let received = counts.next()?.parse().ok()?;
        let sent = counts.nth(7)?.parse().ok()?;
        Some((name.trim(), [received, sent]))
    })
}

/// Bytes read from and written to each block device, from /proc/diskstats, each byte once: without
/// partitions, without devices stacked on others (device mapper, md, loop, …) or in memory, and
/// without the single paths of a multipath NVMe disk.
pub(crate) fn disks(text: &str) -> impl Iterator<Item = (&str, [u64; 2])> {
    /// Sectors are 512 bytes here, whatever the device's are.
    const SECTOR_BYTES: u64 = 512;
    // The partitions of a disk follow it.
    let mut whole = "";
    text.lines().filter_map(move |line| {
        let mut words = line.split_whitespace().skip(2);
        let name = words.next()?;
        if is_partition(name, whole) {
            return None;
        }
        whole = name;
        if stands_on_others(name) {
            return None;
        }
        // Reads: done, merged, sectors, time; then the same of writes.
        let read: u64 = words.nth(2)?.parse().ok()?;
        let written: u64 = words.nth(3)?.parse().ok()?;
        Some((name, [read.wrapping_mul(SECTOR_BYTES), written.wrapping_mul(SECTOR_BYTES)]))
    })
}

/// Whether `name` is a partition of the disk `whole`: `sda1` of `sda`, `nvme0n1p1` of `nvme0n1`.
fn is_partition(name: &str, whole: &str) -> bool {
    let Some(rest) = name.strip_prefix(whole).filter(|_| !whole.is_empty()) else { return false };
    let number = match whole.ends_with(|c: char| c.is_ascii_digit()) {
        true => rest.strip_prefix('p').unwrap_or_default(),
        false => rest,
    };
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether another device moves the same bytes, or the device is in memory.
fn stands_on_others(name: &str) -> bool {
    const STACKED: [&str; 8] = ["dm-", "md", "loop", "ram", "zram", "zd", "bcache", "drbd"];
    if STACKED.iter().any(|prefix| name.starts_with(prefix)) {
        return true;
    }
    // nvme1c0n1: what nvme1n1 sends through its controller 0.
    let Some(rest) = name.strip_prefix("nvme") else { return false };
    rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('c')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_listed_by_cpu_and_those_that_are_off_are_left_out() {
        let text = "cpu  40 2 30 900 5 6 7 8 9 10\ncpu0 20 1 15 450 2 3 3 4 0 0\n\
                    cpu3 20 1 15 450 3 3 4 4 0 0\nintr 12345 0 9\nctxt 99\n";
        let all: Vec<_> = cpu_times(text).collect();
        assert_eq!(all.iter().map(|(cpu, _)| *cpu).collect::<Vec<_>>(), [None, Some(0), Some(3)]);
        assert_eq!(all[0].1, Ticks { busy: [40, 2, 30, 6, 7], idle: [900, 5] });
        assert_eq!(all[2].1, Ticks { busy: [20, 1, 15, 3, 4], idle: [450, 3] });
    }

    #[test]
    fn odd_accounts_of_cpus_are_read_as_far_as_they_go() {
        let early: Vec<_> = cpu_times("cpu  4 3 2 1\ncpu0 4 3 2 1\nintr 7\n").collect();
        assert_eq!(early[1], (Some(0), Ticks { busy: [4, 3, 2, 0, 0], idle: [1, 0] }));
        for text in ["", "intr 5", "cpu", "cpux 1 2 3 4", "cpu99999999999 1 2 3 4", "cpu-1 1 2 3"] {
            assert_eq!(cpu_times(text).count(), 0, "{text:?}");
        }
        let huge = "cpu  18446744073709551616 1 1 1\n";
        assert_eq!(cpu_times(huge).next().unwrap().1.busy, [0, 1, 1, 0, 0]);
    }

    #[test]
    fn memory_in_use_is_what_is_not_available() {
        let text =
            "MemTotal:       4030464 kB\nMemFree:         100 kB\nMemAvailable:    30464 kB\n";
        assert_eq!(memory_used_bytes(text), Some(4_000_000 * 1024));
        assert_eq!(memory_used_bytes("MemTotal: 5 kB\nMemFree: 3 kB\n"), None);
        assert_eq!(memory_used_bytes("MemTotal: 5 kB\nMemAvailable: 6 kB\n"), None);
        assert_eq!(memory_used_bytes(""), None);
    }

    #[test]
    fn interfaces_tell_what_they_received_and_sent() {
        let text = "Inter-|   Receive                  |  Transmit\n \
                    face |bytes    packets errs drop fifo frame compressed multicast|bytes packets\n\
                    \x20   lo:    3193      29    0    0    0     0          0         0     3193 29 0\n\
                    \x20 eth0:70000001 9 0 0 0 0 0 0 4000 5 0 0 0 0 0 0\n\
                    bond0.7:12 1 0 0 0 0 0 0 34 5 0 0 0 0 0 0\n  eth1: 5 6\n  eth2: x 1 0 0 0 0 0 0 4\n";
        let all: Vec<_> = interfaces(text).collect();
        let expected = [("lo", [3193, 3193]), ("eth0", [70_000_001, 4000]), ("bond0.7", [12, 34])];
        assert_eq!(all, expected);
    }

    #[test]
    fn each_byte_of_a_disk_counts_once() {
        let text = "   7       0 loop0 9 0 8 0 9 0 8 0 0 0 0\n   8       0 sda 5 1 100 3 6 2 200 4 0 9 9\n\
                    \x20  8       1 sda1 5 1 100 3 6 2 200 4 0 9 9\n   8      16 sdaa 1 0 10 0 1 0 20 0 0 0 0\n\
                    259 0 nvme0n1 1 0 1000 0 1 0 2000 0 0 0 0 0 0 0 0 0 0\n\
                    259 1 nvme0n1p1 1 0 1000 0 1 0 2000 0 0 0 0\n259 2 nvme0n10 1 0 7 0 1 0 9 0 0 0 0\n\
                    259 3 nvme0c1n1 1 0 1000 0 1 0 2000 0 0 0 0\n 202 1 xvda1 1 0 3 0 1 0 4 0 0 0 0\n\
                    253 0 dm-0 1 0 1 0 1 0 1 0 0 0 0\n 9 127 md127 1 0 1 0 1 0 1 0 0 0 0\n\
                    251 0 zram0 1 0 1 0 1 0 1 0 0 0 0\n 8 32 sdb 1 0\n 8 48 sdc 1 0 x 0 1 0 1\n";
        let all: Vec<_> = disks(text).collect();
        let expected = [
            ("sda", [100 * 512, 200 * 512]),
            ("sdaa", [10 * 512, 20 * 512]),
            ("nvme0n1", [1000 * 512, 2000 * 512]),
            ("nvme0n10", [7 * 512, 9 * 512]),
            // A virtual disk that appears as a partition without its disk.
            ("xvda1", [3 * 512, 4 * 512]),
        ];
        assert_eq!(all, expected);
    }
}
