//! The processes of a cluster: started in sessions of their own, found again, ended.
//!
//! They are found by their command line, which names the program and the cluster's configuration
//! file. A file with a process id would be wrong as soon as the id is used again.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use crate::CephError;
use crate::directory::Directory;
use crate::error::at;
use crate::program::{MGR, MON, OSD, Program, SETSID, SHELL};

/// `$0` is where the output goes, the rest is the daemon's command line. The shell ends at once, so
/// that the daemon is nobody's child and leaves nothing behind when it ends.
const START: &str = "\"$@\" </dev/null >>\"$0\" 2>&1 &
echo $!";

/// How long a process may take to disappear after SIGKILL.
const GONE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(10);

/// A daemon of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Daemon {
    Monitor,
    Manager,
    Osd(u32),
    /// The process that serves the disk of an OSD.
    Disk(u32),
}

impl Daemon {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Monitor => "mon.a".into(),
            Self::Manager => "mgr.x".into(),
            Self::Osd(id) => format!("osd.{id}"),
            Self::Disk(id) => format!("disk.{id}"),
        }
    }

    fn id(self) -> String {
        let name = self.name();
        name.split_once('.').map(|(_, id)| id.to_owned()).unwrap_or_default()
    }

    /// Its program, if that is one of Ceph's.
    fn program(self) -> Option<Program> {
        match self {
            Self::Monitor => Some(MON),
            Self::Manager => Some(MGR),
            Self::Osd(_) => Some(OSD),
            Self::Disk(_) => None,
        }
    }

    /// Its command line.
    fn command_line(self, directory: &Directory) -> Result<Vec<OsString>, CephError> {
        match (self, self.program()) {
            (Self::Disk(id), _) => crate::disk_server::command_line(directory, id),
            (_, None) => Ok(Vec::new()),
            (_, Some(program)) => {
                let mut words = vec![program.path()?.into_os_string()];
                words.extend(self.arguments(directory).map(OsString::from));
                words.push("-f".into());
                Ok(words)
            }
        }
    }

    /// Its command line without the program.
    pub(crate) fn arguments(self, directory: &Directory) -> [String; 4] {
        ["-c".into(), directory.conf().display().to_string(), "-i".into(), self.id()]
    }

    /// Starts it, and returns as soon as it runs; whether it serves is another matter.
    pub(crate) fn start(self, directory: &Directory) -> Result<(), CephError> {
        let failed = |source| CephError::Start { program: self.name(), source };
        let mut shell = SETSID
            .command()?
            .arg(SHELL.path()?)
            .args(["-c", START])
            .arg(directory.output(&self.name()))
            .args(self.command_line(directory)?)
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let mut line = String::new();
        if let Some(output) = shell.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(failed)?;
        }
        shell.wait().map_err(failed)?;
        let pid: u32 = line.trim().parse().map_err(|_| {
            failed(std::io::Error::other(format!("the shell printed '{line}', not a process id")))
        })?;
        // Between fork and exec it is still a shell.
        let end = Instant::now() + GONE;
        while Path::new(&format!("/proc/{pid}")).exists()
            && of_command_line(pid, &directory.conf()) != Some(self)
            && Instant::now() < end
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// A process of the cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    pub(crate) daemon: Daemon,
    pub(crate) pid: u32,
}

impl Running {
    /// Whether it is still the same process.
    fn is_there(self, directory: &Directory) -> bool {
        of_command_line(self.pid, &directory.conf()) == Some(self.daemon)
    }

    pub(crate) fn signal(self, directory: &Directory, what: Signal) {
        // Its id may be another's by now.
        if self.is_there(directory)
            && let Ok(pid) = i32::try_from(self.pid)
        {
            let _ = signal::kill(Pid::from_raw(pid), what);
        }
    }
}

/// The daemons of the cluster that run, in no order.
pub(crate) fn running(directory: &Directory) -> Result<Vec<Running>, CephError> {
    let conf = directory.conf();
    let proc = Path::new("/proc");
    let entries = std::fs::read_dir(proc).map_err(at(proc))?;
    Ok(entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some(Running { daemon: of_command_line(pid, &conf)?, pid }))
        .collect())
}

/// Which daemon of the cluster a process is.
fn of_command_line(pid: u32, conf: &Path) -> Option<Daemon> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let program = words.next()?;
    let program = Path::new(program.as_ref()).file_name()?.to_str()?.to_owned();
    let words: Vec<_> = words.collect();
    if let Some(id) = crate::disk_server::served(&words, conf) {
        // Before it is executed, the words are those of the shell.
        return (!words.iter().any(|word| word == START)).then_some(Daemon::Disk(id));
    }
    let is_daemon = words.first()? == "-c"
        && Path::new(words.get(1)?.as_ref()) == conf
        && words.get(2)? == "-i"
        && words.get(4)? == "-f";
    let id = words.get(3)?.as_ref();
    match program.as_str() {
        _ if !is_daemon => None,
        name if name == MON.name => Some(Daemon::Monitor),
        name if name == MGR.name => Some(Daemon::Manager),
        name if name == OSD.name => Some(Daemon::Osd(id.parse().ok()?)),
        _ => None,
    }
}

/// Ends processes: first politely for as long as `patience`, if that is not zero, then by SIGKILL.
///
/// # Errors
/// One of them cannot be killed.
pub(crate) fn end(
    directory: &Directory,
    processes: &[Running],
    patience: Duration,
) -> Result<(), CephError> {
    let rounds: &[(Signal, Duration)] = &[(Signal::SIGTERM, patience), (Signal::SIGKILL, GONE)];
    for &(what, patience) in rounds.iter().filter(|(_, patience)| !patience.is_zero()) {
        for process in processes {
            process.signal(directory, what);
            // A frozen one does not hear SIGTERM.
            process.signal(directory, Signal::SIGCONT);
        }
        let end = Instant::now() + patience;
        loop {
            if !processes.iter().any(|process| process.is_there(directory)) {
                return Ok(());
            }
            if Instant::now() >= end {
                break;
            }
            std::thread::sleep(LOOK);
        }
    }
    match processes.iter().find(|process| process.is_there(directory)) {
        None => Ok(()),
        Some(process) => {
            Err(CephError::DoesNotEnd { daemon: process.daemon.name(), pid: process.pid })
        }
    }
}
