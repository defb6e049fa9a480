//! Samples the host's accounts: what happened between two readings.
//!
//! The files stay open and are read from the start into one buffer: opening and allocating would cost more than
//! reading. Counters belong to devices that come and go and restart from 0, so differences are computed per device and
//! never of sums. If a counter went backwards or is new, the amount in that interval is unknown and counts as nothing,
//! since a gap misleads less than a spike.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use stormeter_trial::MonitorRow;

use crate::monitor_text::{Ticks, cpu_times, disks, interfaces, memory_used_bytes};

/// Reads the host's accounts and remembers the last reading.
#[derive(Debug)]
pub(crate) struct Sampler {
    stat: Option<File>,
    memory: Option<File>,
    networks: Option<File>,
    disks: Option<File>,
    /// Interfaces stacked on others, which count the same bytes.
    stacked: HashSet<String>,
    buffer: Vec<u8>,
    last: Reading,
}

/// What was read last.
#[derive(Debug, Default)]
struct Reading {
    at_ns: u64,
    cpu: Ticks,
    /// By number; `None`: offline.
    cores: Vec<Option<Ticks>>,
    networks: Meter,
    loopback: Meter,
    disks: Meter,
}

impl Sampler {
    /// Opens the files below `proc` (`/proc`) and `sys` (`/sys`), and reads them a first time, at `now_ns`. Also returns
    /// the files that cannot be read: their figures stay 0, and without `stat` there are no rows.
    pub(crate) fn open(proc: &Path, sys: &Path, now_ns: u64) -> (Self, Vec<&'static str>) {
        let open = |name: &str| File::open(proc.join(name)).ok();
        let mut sampler = Sampler {
            stat: open("stat"),
            memory: open("meminfo"),
            networks: open("net/dev"),
            disks: open("diskstats"),
            stacked: stacked_interfaces(&sys.join("class/net")),
            buffer: vec![0; 16 << 10],
            last: Reading { at_ns: now_ns, ..Reading::default() },
        };
        let mut missing = Vec::new();
        if sampler.cpu().is_none() {
            (sampler.stat, missing) = (None, vec!["/proc/stat"]);
        }
        if sampler.memory_used_bytes().is_none() {
            sampler.memory = None;
            missing.push("/proc/meminfo");
        }
        if sampler.network_bytes().is_none() {
            sampler.networks = None;
            missing.push("/proc/net/dev");
        }
        if sampler.disk_bytes().is_none() {
            sampler.disks = None;
            missing.push("/proc/diskstats");
        }
        (sampler, missing)
    }

    /// What happened since the last reading, which was earlier than `now_ns`. `None` if CPU time cannot be read, or no
    /// time has passed.
    pub(crate) fn row(&mut self, now_ns: u64) -> Option<MonitorRow> {
        let at_ns = self.last.at_ns;
        let length_ns = now_ns.checked_sub(at_ns).filter(|&length_ns| length_ns > 0)?;
        let (cpu_busy, cores_busy) = self.cpu()?;
        self.last.at_ns = now_ns;
        let per_s = |bytes: u64| bytes as f64 * 1e9 / length_ns as f64;
        let [receive, transmit, loopback] = self.network_bytes().unwrap_or_default();
        let [read, written] = self.disk_bytes().unwrap_or_default();
        Some(MonitorRow {
            at_ns,
            length_ns,
            cpu_busy,
            cores_busy,
            memory_used_bytes: self.memory_used_bytes().unwrap_or_default(),
            network_receive_bytes_per_s: per_s(receive),
            network_transmit_bytes_per_s: per_s(transmit),
            loopback_bytes_per_s: per_s(loopback),
            disk_read_bytes_per_s: per_s(read),
            disk_write_bytes_per_s: per_s(written),
        })
    }

    /// Busy share of all CPUs, and of each by its number (0 while it is offline).
    fn cpu(&mut self) -> Option<(f64, Vec<f64>)> {
        let text = read(self.stat.as_ref()?, &mut self.buffer).ok()?;
        let last = &mut self.last;
        let (mut all, mut shares) = (None, Vec::with_capacity(last.cores.len()));
        let mut cores = Vec::with_capacity(last.cores.len());
        for (cpu, ticks) in cpu_times(&text) {
            let Some(cpu) = cpu else {
                all = Some(busy_share(&last.cpu, &ticks));
                last.cpu = ticks;
                continue;
            };
            if cpu >= cores.len() {
                cores.resize(cpu + 1, None);
                shares.resize(cpu + 1, 0.0);
            }
            // A CPU that just came online may have counted before it went offline.
            let before = last.cores.get(cpu).copied().flatten().unwrap_or(ticks);
            shares[cpu] = busy_share(&before, &ticks);
            cores[cpu] = Some(ticks);
        }
        last.cores = cores;
        Some((all?, shares))
    }

    fn memory_used_bytes(&mut self) -> Option<u64> {
        memory_used_bytes(&read(self.memory.as_ref()?, &mut self.buffer).ok()?)
    }

    /// Bytes received and sent, and those over loopback.
    fn network_bytes(&mut self) -> Option<[u64; 3]> {
        let text = read(self.networks.as_ref()?, &mut self.buffer).ok()?;
        // Bytes of ifb devices are those that another interface receives (they shape it).
        let counts = |name: &str| !self.stacked.contains(name) && !name.starts_with("ifb");
        let is_loopback = |name: &str| name == "lo";
        let networks = interfaces(&text).filter(|(name, _)| !is_loopback(name) && counts(name));
        let [receive, transmit] = self.last.networks.advance(networks);
        let loopback = interfaces(&text).filter(|(name, _)| is_loopback(name));
        let [looped, _] = self.last.loopback.advance(loopback);
        Some([receive, transmit, looped])
    }

    /// Bytes read and written.
    fn disk_bytes(&mut self) -> Option<[u64; 2]> {
        let text = read(self.disks.as_ref()?, &mut self.buffer).ok()?;
        Some(self.last.disks.advance(disks(&text)))
    }
}

/// Pairs of counters by the names of their devices.
#[derive(Debug, Default)]
struct Meter {
    devices: Vec<(String, [u64; 2])>,
}

impl Meter {
    /// Takes the counters and returns what was counted since the last reading, over all devices.
    fn advance<'t>(&mut self, counters: impl Iterator<Item = (&'t str, [u64; 2])>) -> [u64; 2] {
        let mut moved = [0u64; 2];
        let mut count = 0;
        for (number, (name, now)) in counters.enumerate() {
            count = number + 1;
            // The kernel lists devices in the same order as long as none comes or goes.
            match self.devices[number..].iter().position(|(n, _)| n == name) {
                Some(ahead) => {
                    self.devices.swap(number, number + ahead);
                    let before = &mut self.devices[number].1;
                    for ((moved, before), now) in moved.iter_mut().zip(before).zip(now) {
                        *moved = moved.saturating_add(now.saturating_sub(*before));
                        *before = now;
                    }
                }
                None => self.devices.insert(number, (name.to_owned(), now)),
            }
        }
        // Devices that are gone: if they come back, they count from the start.
        self.devices.truncate(count);
        moved
    }
}

/// The busy share of the time between two readings. Each kind of time by itself: some run backwards a little in the
/// kernel (iowait), and all restart when a CPU does.
fn busy_share(before: &Ticks, now: &Ticks) -> f64 {
    let passed = |before: &[u64], now: &[u64]| -> u64 {
        now.iter().zip(before).map(|(now, before)| now.saturating_sub(*before)).sum()
    };
    let busy = passed(&before.busy, &now.busy);
    let all = busy + passed(&before.idle, &now.idle);
    if all == 0 { 0.0 } else { busy as f64 / all as f64 }
}

/// The interfaces stacked on others, which count the same bytes: bonds, bridges, VLANs. The kernel links each to those
/// below it.
fn stacked_interfaces(class: &Path) -> HashSet<String> {
    let Ok(interfaces) = fs::read_dir(class) else { return HashSet::new() };
    let stands_on_another = |path: &Path| {
        fs::read_dir(path).is_ok_and(|links| {
            links.flatten().any(|link| link.file_name().to_string_lossy().starts_with("lower_"))
        })
    };
    interfaces
        .flatten()
        .filter(|interface| stands_on_another(&interface.path()))
        .map(|interface| interface.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The whole file, from its start. Such files have no length, and the kernel returns them in pieces.
fn read<'b>(file: &File, buffer: &'b mut Vec<u8>) -> io::Result<std::borrow::Cow<'b, str>> {
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize(2 * length.max(4096), 0);
        }
        match file.read_at(&mut buffer[length..], length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(String::from_utf8_lossy(&buffer[..length]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// A /proc and a /sys for the test.
    struct Host(tempfile::TempDir);

    impl Host {
        fn new(files: &[(&str, &str)]) -> Host {
            let host = Host(tempfile::tempdir().unwrap());
            for (name, text) in files {
                host.say(name, text);
            }
            host
        }

        fn say(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // Overwritten and not replaced: it stays the open file.
            fs::write(path, text).unwrap();
        }

        fn open(&self) -> (Sampler, Vec<&'static str>) {
            Sampler::open(self.0.path(), self.0.path(), 5 * S)
        }
    }

    const NET: &str = "lo: 10 0 0 0 0 0 0 0 10 0\neth0: 100 0 0 0 0 0 0 0 200 0\n";
    const MEMORY: &str = "MemTotal: 9 kB\nMemAvailable: 4 kB\n";

    fn sound() -> Host {
        Host::new(&[
            ("stat", "cpu  10 0 0 90 0 0 0\ncpu0 5 0 0 45\ncpu1 5 0 0 45\nintr 0\n"),
            ("meminfo", MEMORY),
            ("net/dev", NET),
            ("diskstats", "8 0 sda 1 0 10 0 1 0 20 0\n"),
        ])
    }

    #[test]
    fn a_row_is_what_happened_between_two_readings() {
        let host = sound();
        let (mut sampler, missing) = host.open();
        assert_eq!(missing, Vec::<&str>::new());
        host.say("stat", "cpu  40 0 0 160 0 0 0\ncpu0 30 0 0 70\ncpu1 10 0 0 90\nintr 0\n");
        host.say("net/dev", "lo: 30 0 0 0 0 0 0 0 30 0\neth0: 300 0 0 0 0 0 0 0 1200 0\n");
        host.say("diskstats", "8 0 sda 1 0 14 0 1 0 220 0\n");
        let row = sampler.row(7 * S).unwrap();
        let expected = MonitorRow {
            at_ns: 5 * S,
            length_ns: 2 * S,
            cpu_busy: 0.3,
            cores_busy: vec![0.5, 0.1],
            memory_used_bytes: 5 * 1024,
            network_receive_bytes_per_s: 100.0,
            network_transmit_bytes_per_s: 500.0,
            loopback_bytes_per_s: 10.0,
            disk_read_bytes_per_s: 4.0 * 512.0 / 2.0,
            disk_write_bytes_per_s: 200.0 * 512.0 / 2.0,
        };
        assert_eq!(row, expected);
        // The next begins where this one ended; nothing has happened since.
        let quiet = sampler.row(8 * S).unwrap();
        assert_eq!((quiet.at_ns, quiet.length_ns, quiet.cpu_busy), (7 * S, S, 0.0));
        assert_eq!((quiet.disk_write_bytes_per_s, quiet.network_receive_bytes_per_s), (0.0, 0.0));
        assert_eq!(sampler.row(8 * S), None, "no time has passed");
    }

    #[test]
    fn cpus_come_and_go() {
        let host = sound();
        let (mut sampler, _) = host.open();
        // Number 1 goes offline; number 3 comes online and has counted before.
        host.say("stat", "cpu  20 0 0 100\ncpu0 10 0 0 50\ncpu3 900 0 0 100\n");
        assert_eq!(sampler.row(6 * S).unwrap().cores_busy, [0.5, 0.0, 0.0, 0.0]);
        // Number 1 is back with its old counters, and 3 restarts.
        host.say("stat", "cpu  20 0 0 200\ncpu0 10 0 0 60\ncpu1 5 0 0 45\ncpu3 3 0 0 101\n");
        assert_eq!(sampler.row(7 * S).unwrap().cores_busy, [0.0; 4]);
        host.say("stat", "cpu  20 0 0 200\ncpu0 10 0 0 60\ncpu1 8 0 0 46\ncpu3 4 0 0 101\n");
        assert_eq!(sampler.row(8 * S).unwrap().cores_busy, [0.0, 0.75, 0.0, 1.0]);
    }

    #[test]
    fn counters_that_restart_and_devices_that_come_make_no_spike() {
        let host = sound();
        let (mut sampler, _) = host.open();
        host.say(
            "net/dev",
            "eth1: 7000000 0 0 0 0 0 0 0 8000000 0\neth0: 90 0 0 0 0 0 0 0 230 0\n",
        );
        host.say("diskstats", "8 16 sdb 1 0 9000 0 1 0 9000 0\n8 0 sda 1 0 12 0 1 0 20 0\n");
        let row = sampler.row(6 * S).unwrap();
        assert_eq!(row.network_receive_bytes_per_s, 0.0, "eth0 went backwards, eth1 is new");
        assert_eq!(row.network_transmit_bytes_per_s, 30.0);
        assert_eq!((row.disk_read_bytes_per_s, row.disk_write_bytes_per_s), (1024.0, 0.0));
        // From then on they count.
        host.say(
            "net/dev",
            "eth1: 7000005 0 0 0 0 0 0 0 8000000 0\neth0: 92 0 0 0 0 0 0 0 230 0\n",
        );
        assert_eq!(sampler.row(7 * S).unwrap().network_receive_bytes_per_s, 7.0);
    }

    #[test]
    fn interfaces_on_others_do_not_count_twice() {
        let host = sound();
        host.say("class/net/br0/lower_eth0/x", "");
        host.say("class/net/eth0/upper_br0/x", "");
        let net = |n: u64| {
            ["eth0", "br0", "ifb0"]
                .map(|name| format!("{name}: {n} 0 0 0 0 0 0 0 {n} 0\n"))
                .concat()
        };
        host.say("net/dev", &net(0));
        let (mut sampler, _) = host.open();
        host.say("net/dev", &net(100));
        let row = sampler.row(6 * S).unwrap();
        assert_eq!(row.network_receive_bytes_per_s, 100.0);
        assert_eq!(row.network_transmit_bytes_per_s, 100.0);
    }

    #[test]
    fn what_a_container_hides_is_named() {
        let host =
            Host::new(&[("stat", "cpu  1 0 0 9\ncpu0 1 0 0 9\n"), ("meminfo", "MemFree: 1\n")]);
        let (mut sampler, missing) = host.open();
        assert_eq!(missing, ["/proc/meminfo", "/proc/net/dev", "/proc/diskstats"]);
        host.say("stat", "cpu  2 0 0 9\ncpu0 2 0 0 9\n");
        let row = sampler.row(6 * S).unwrap();
        assert_eq!((row.cpu_busy, row.memory_used_bytes, row.loopback_bytes_per_s), (1.0, 0, 0.0));

        let (mut sampler, missing) = Host::new(&[("net/dev", NET), ("meminfo", MEMORY)]).open();
        assert_eq!(missing, ["/proc/stat", "/proc/diskstats"]);
        assert_eq!(sampler.row(6 * S), None);
    }

    #[test]
    fn a_file_longer_than_the_buffer_is_read_whole() {
        let host = sound();
        let mut text = "x0: 1 0 0 0 0 0 0 0 1 0\n".repeat(3000);
        text.push_str(NET);
        host.say("net/dev", &text);
        let (mut sampler, _) = host.open();
        host.say("net/dev", &text.replace("eth0: 100", "eth0: 107"));
        assert_eq!(sampler.row(6 * S).unwrap().network_receive_bytes_per_s, 7.0);
    }

    /// This machine, as far as it can be read.
    #[test]
    fn the_real_host_is_read() {
        let (mut sampler, missing) = Sampler::open(Path::new("/proc"), Path::new("/sys"), 0);
        assert!(!missing.contains(&"/proc/stat") && !missing.contains(&"/proc/meminfo"));
        let row = sampler.row(S).unwrap();
        assert!((0.0..=1.0).contains(&row.cpu_busy), "{row:?}");
        assert!(!row.cores_busy.is_empty() && row.memory_used_bytes > 1 << 20, "{row:?}");
    }
}
