//! Watches the guests of a running lab from outside: what this machine's kernel counts of their processes.
//!
//! This costs the guests nothing, works for guests without an agent and for paused ones, and shows what no guest can
//! see: that it was ready to run and this machine had no CPU for it. Bytes on the guests' links cannot be seen from
//! outside: they are sockets between processes, whose bytes the kernel does not count, and QEMU 7.2 has no counters of
//! its network devices (its `query-stats` are KVM's).

use std::fs;
use std::path::{Path, PathBuf};

use nix::unistd::{SysconfVar, sysconf};

use super::directory::{guest, started};
use crate::error::LabError;
use crate::qemu::{Guest, Process};

/// The guests of a running lab, for watching them.
#[derive(Debug)]
pub struct Watch {
    guests: Vec<Watched>,
    /// Where the kernel shows processes.
    proc: PathBuf,
    units: Units,
}

/// A guest, and its process as it was found last.
#[derive(Debug)]
struct Watched {
    guest: Guest,
    part: GuestPart,
    process: Option<Process>,
}

/// The part that a guest has in the lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestPart {
    /// Under `routers`.
    Router,
    /// Under `storage`.
    Storage,
    /// Under `hosts`.
    Host,
    /// Under `vms`.
    Vm,
}

/// The units of proc(5) on this machine.
#[derive(Debug, Clone, Copy)]
struct Units {
    ticks_per_s: u64,
    page_bytes: u64,
}

/// What the kernel counted of a guest's process since it was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters {
    /// The guest's name.
    pub name: String,
    /// Its part in the lab.
    pub part: GuestPart,
    /// When the process was started, in ticks since this machine was: differs for each process of a guest.
    pub started: u64,
    /// CPU time of all its threads, also of those that have ended.
    pub cpu_ns: u64,
    /// For each thread its id, how long it was ready to run and waited for a CPU in nanoseconds, and how often it was
    /// given one.
    pub threads: Vec<(u64, u64, u64)>,
    /// Resident memory.
    pub resident_bytes: u64,
    /// Bytes read and written by system calls on files and devices, from the page cache or past it; network traffic of
    /// guests is not among them. `None` if this kernel does not count them.
    pub file_bytes: Option<[u64; 2]>,
}

impl Watch {
    /// Opens the lab in `directory`.
    ///
    /// # Errors
    /// There is no lab, or it belongs to another user.
    pub fn open(directory: &Path) -> Result<Self, LabError> {
        let (directory, state) = started(directory)?;
        let lab = &state.lab;
        let parts = (lab.routers.iter().map(|it| (&it.name, GuestPart::Router)))
            .chain(lab.storage.iter().map(|it| (&it.name, GuestPart::Storage)))
            .chain(lab.hosts.iter().map(|it| (&it.name, GuestPart::Host)))
            .chain(lab.vms.iter().map(|it| (&it.name, GuestPart::Vm)));
        let watched = |(name, part): (&String, _)| Watched {
            guest: guest(&directory, name),
            part,
            process: None,
        };
        let guests = parts.map(watched).collect();
        Ok(Self { guests, proc: "/proc".into(), units: Units::of_this_machine() })
    }

    /// Reads the counters of all guests that run. One that does not, or that ends meanwhile, is left out.
    pub fn read(&mut self) -> Vec<Counters> {
        let Self { guests, proc, units } = self;
        guests.iter_mut().filter_map(|watched| watched.read(proc, *units)).collect()
    }
}

impl Watched {
    fn read(&mut self, proc: &Path, units: Units) -> Option<Counters> {
        // Looking for it among all processes would cost more than reading it.
        if !self.process.as_ref().is_some_and(Process::is_alive) {
            self.process = named_in_pid_file(&self.guest);
        }
        let process = self.process.as_ref()?;
        counters(&proc.join(process.pid.to_string()), &self.guest.name, self.part, units)
    }
}

/// The process that the guest's pid file names, if it is the guest's.
fn named_in_pid_file(guest: &Guest) -> Option<Process> {
    let pid_file = guest.pid_file();
    let pid = fs::read_to_string(&pid_file).ok()?.trim().parse().ok()?;
    Some(Process { pid, pid_file }).filter(Process::is_alive)
}

impl Units {
    fn of_this_machine() -> Self {
        let value = |variable, usual| match sysconf(variable) {
            Ok(Some(value)) if value > 0 => value as u64,
            _ => usual,
        };
        Self {
            ticks_per_s: value(SysconfVar::CLK_TCK, 100),
            page_bytes: value(SysconfVar::PAGE_SIZE, 4096),
        }
    }
}

/// The counters of a process from its folder in /proc; `None` if it is gone.
fn counters(folder: &Path, name: &str, part: GuestPart, units: Units) -> Option<Counters> {
    let Stat { cpu_ticks, started, resident_pages } =
        stat(&fs::read_to_string(folder.join("stat")).ok()?)?;
    let mut threads = Vec::new();
    for task in fs::read_dir(folder.join("task")).ok()?.flatten() {
        let id = task.file_name().to_str().and_then(|id| id.parse().ok());
        // A thread may end meanwhile.
        let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        if let (Some(id), Some((waited_ns, slices))) = (id, waits(&text)) {
            threads.push((id, waited_ns, slices));
        }
    }
    let file_bytes = fs::read_to_string(folder.join("io")).ok();
    let ns_per_tick = 1_000_000_000 / units.ticks_per_s;
    Some(Counters {
        name: name.into(),
        part,
        started,
        cpu_ns: cpu_ticks.saturating_mul(ns_per_tick),
        threads,
        resident_bytes: resident_pages.saturating_mul(units.page_bytes),
        file_bytes: file_bytes.and_then(|text| moved(&text)),
    })
}

/// Of /proc/pid/stat (proc(5)).
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    /// User and system time.
    cpu_ticks: u64,
    started: u64,
    resident_pages: u64,
}

fn stat(text: &str) -> Option<Stat> {
    // The program's name, in parentheses, may contain spaces and parentheses. After it comes the third field.
    let fields: Vec<&str> = text.rsplit_once(") ")?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Stat {
        cpu_ticks: field(14)?.saturating_add(field(15)?),
        started: field(22)?,
        resident_pages: field(24)?,
    })
}

/// How long a thread waited for a CPU and how often it got one, from its schedstat (Linux,
/// Documentation/scheduler/sched-stats.rst).
fn waits(text: &str) -> Option<(u64, u64)> {
    let mut fields = text.split_whitespace().skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Bytes read and written, from /proc/pid/io (proc(5)).
fn moved(text: &str) -> Option<[u64; 2]> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
        line.trim().parse().ok()
    };
    Some([value("rchar")?, value("wchar")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: Units = Units { ticks_per_s: 100, page_bytes: 4096 };

    /// Of a guest of a lab; its name is made up.
    const STAT: &str = "4711 (qemu) (x 86) S 1 4711 4711 0 -1 138412352 22033 0 3 0 1234 66 0 0 20 0 5 0 \
        918273 1503186944 31250 18446744073709551615 1 1 0 0 0 0 0 4096 16963 0 0 0 17 1 0 0 0 0 0";

    #[test]
    fn a_process_is_read_from_what_the_kernel_shows() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let read = || counters(folder.path(), "pe1", GuestPart::Router, UNITS);
        assert_eq!(read(), None, "a process that is gone");
        write("stat", STAT);
        write("task/4711/schedstat", "1000 20 3\n");
        write("task/4712/schedstat", "5000 400 70\n");
        write("task/4713/schedstat", "");
        let mut found = read().unwrap();
        found.threads.sort_unstable();
        let mut expected = Counters {
            name: "pe1".into(),
            part: GuestPart::Router,
            started: 918_273,
            cpu_ns: 13_000_000_000,
            threads: vec![(4711, 20, 3), (4712, 400, 70)],
            resident_bytes: 128_000_000,
            file_bytes: None,
        };
        assert_eq!(found, expected, "on a kernel without accounts of I/O");
        let io = "rchar: 700\nwchar: 30\nsyscr: 5\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 0\n\
                  cancelled_write_bytes: 0\n";
        write("io", io);
        expected.file_bytes = Some([700, 30]);
        let mut found = read().unwrap();
        found.threads.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn texts_of_another_form_are_no_counters() {
        for text in ["", "4711 (qemu", "4711 (qemu) S 1 2", &STAT.replace("918273", "-1")] {
            assert_eq!(stat(text), None, "{text}");
        }
        assert_eq!(waits("1 2"), None);
        assert_eq!(waits("1 2 x"), None);
        assert_eq!(moved("rchar: 1\nwchar: \n"), None);
        assert_eq!(moved("rchar: 1\n"), None);
    }

    #[test]
    fn this_process_has_counters() {
        let found =
            counters(Path::new("/proc/self"), "me", GuestPart::Vm, Units::of_this_machine());
        let found = found.unwrap();
        assert!(found.started > 0 && found.resident_bytes > 1 << 20, "{found:?}");
        assert!(found.threads.iter().any(|(id, ..)| *id == u64::from(std::process::id())));
    }

    #[test]
    fn only_the_process_that_was_started_with_the_pid_file_is_a_guests() {
        let directory = tempfile::tempdir().unwrap();
        let guest = guest(directory.path(), "vm1");
        assert_eq!(named_in_pid_file(&guest), None);
        fs::create_dir_all(&guest.folder).unwrap();
        // The number of a process that has ended may be another's by now: here it is this test's.
        fs::write(guest.pid_file(), format!("{}\n", std::process::id())).unwrap();
        assert_eq!(named_in_pid_file(&guest), None);
        let mut child = std::process::Command::new("sh")
            .args(["-c", "echo; read line", "guest", "-pidfile"])
            .arg(guest.pid_file())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        fs::write(guest.pid_file(), format!("{}\n", child.id())).unwrap();
        assert_eq!(named_in_pid_file(&guest).map(|it| it.pid as u32), Some(child.id()));
        let part = GuestPart::Vm;
        let watched = Watched { guest, part, process: None };
        let mut watch =
            Watch { guests: vec![watched], proc: "/proc".into(), units: Units::of_this_machine() };
        assert_eq!(watch.read().len(), 1);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(watch.read(), [], "it has ended");
    }
}
