//! Starts a guest: QEMU daemonizes once its machine has been created, so every error is reported
//! before that.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stormeter_agent::{connect, find_agent};

use super::accelerator::Accelerator;
use super::folder::{self, PID_FILE};
use super::hardware::{Hardware, Kind};
use super::log::{kernel_report, tail};
use super::port::Port;
use super::process::Process;
use super::qmp::Qmp;
use super::version::QEMU;
use crate::error::{LabError, at, tool};
use crate::guest::{ADDRESS_WANTED, AGENT_PORT};
use crate::image::{Images, last_words};

/// Speeds up Linux in an emulated guest that needs no protection against attacks. A kernel that crashes ends its
/// guest at once, which is detected and reported, instead of hanging.
const COMMAND_LINE: &str = "console=ttyS0 quiet oops=panic panic=-1 mitigations=off nopti no_timer_check \
                            tsc=reliable lpj=4000000 cryptomgr.notests audit=0 \
                            random.trust_cpu=on 8250.nr_uarts=1 rcupdate.rcu_expedited=1";

/// Translation cache for a worker guest (QEMU's `tb-size`). The loop of a trial fits; with QEMU's default size, each
/// guest fills 20 MiB with code that ran once. With 6 MiB, a guest that had done work used 37.5 to 40.3 MiB of its
/// own memory, with 4 it uses 35.3 to 37.4; the test with two working guests takes 25.5 s instead of 21.
const WORKER_CODE_MIB: u32 = 4;
/// The same for other guests. By default it takes up to a gibibyte, and guests that start many programs fill it: after
/// twenty minutes a router of 210 MiB had 990.
const CODE_MIB: u32 = 128;

/// The guest's address in QEMU's user-mode network, to which ports are forwarded (option
/// `dhcpstart`).
const UPLINK_ADDRESS: &str = "10.0.2.15/24";

/// The port over which a guest with a shell receives commands.
const CONTROL_PORT: &str = "stormeter.control";

/// The files of a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guest {
    /// Its name.
    pub(crate) name: String,
    /// Its folder, an absolute path.
    pub(crate) folder: PathBuf,
}

impl Guest {
    /// QEMU's control socket.
    pub(crate) fn qmp(&self) -> PathBuf {
        self.folder.join("qmp")
    }

    /// The serial console's socket.
    pub(crate) fn console(&self) -> PathBuf {
        self.folder.join("console")
    }

    /// The log of the console.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("console.log")
    }

    /// The socket of the control port.
    pub(crate) fn control(&self) -> PathBuf {
        self.folder.join("control")
    }

    /// The socket of the agent's port.
    pub(crate) fn agent(&self) -> PathBuf {
        self.folder.join("agent")
    }

    pub(crate) fn pid_file(&self) -> PathBuf {
        self.folder.join(PID_FILE)
    }

    /// Its process, if it runs.
    pub(crate) fn process(&self) -> Option<Process> {
        let pid_file = self.pid_file();
        Process::below(&self.folder)
            .into_iter()
            .find(|process| process.pid_file == pid_file && process.is_alive())
    }

    pub(crate) fn connect(&self) -> Result<Qmp, LabError> {
        Qmp::connect(&self.name, &self.qmp(), &self.log()).map_err(|error| {
            // QEMU removes its sockets a little before it has ended.
            let runs = self.qmp().exists() && self.process().is_some();
            if runs { error } else { self.failed("does not run") }
        })
    }

    /// Waits until the guest answers. `keep_going` is polled ten times a second.
    pub(crate) fn wait_for(
        &self,
        kind: Kind,
        patience: Duration,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Result<(), LabError> {
        let heard = match kind {
            Kind::Storage | Kind::Host | Kind::Router => {
                self.control_port()?.hello(patience, keep_going).map(|_| ())
            }
            Kind::Worker => self.find_agent(patience, keep_going),
        };
        match heard {
            Ok(()) => Ok(()),
            Err(_) if !keep_going() => Err(LabError::Interrupted),
            Err(error) => Err(self.failed(&format!("is not ready: {error}"))),
        }
    }

    /// Opens the control port.
    pub(crate) fn control_port(&self) -> Result<Port, LabError> {
        Port::connect(&self.control()).map_err(at(&self.control()))
    }

    /// Waits until its agent answers, and leaves the connection to the next client.
    fn find_agent(
        &self,
        patience: Duration,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> std::io::Result<()> {
        let mut line = connect(&self.agent())?;
        line.set_read_timeout(Some(Duration::from_millis(100)))?;
        // A guest that never comes up reads nothing, and the socket's buffer fills up eventually.
        line.set_write_timeout(Some(patience))?;
        let end = Instant::now() + patience;
        let mut in_time = || Instant::now() < end && keep_going();
        find_agent(&mut line, &format!("lab-{}", std::process::id()), &mut in_time).map(|_| ())
    }

    /// An error about this guest, with the end of its console log.
    pub(crate) fn failed(&self, what: &str) -> LabError {
        let bytes = fs::read(self.log()).unwrap_or_default();
        let said = String::from_utf8_lossy(&bytes);
        let (guest, what, console) = (self.name.clone(), what.into(), self.log());
        match kernel_report(&said) {
            Some(report) => LabError::KernelFailed { guest, what, console, report },
            None => LabError::Guest { guest, what, console, tail: tail(&said) },
        }
    }
}

/// What a guest's memory is backed by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ram {
    /// Anonymous memory.
    Own,
    /// This file, which keeps what the guest writes: the guest will be frozen.
    Kept(PathBuf),
    /// A private mapping of this file: each page is copied when the guest writes to it.
    Copied(PathBuf),
}

/// How a guest starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) ram: Ram,
    /// Waits for the state of a frozen guest instead of booting.
    pub(crate) waits: bool,
}

/// Starts a guest. `forwards` are ports of the host that are forwarded to the guest, in QEMU's syntax.
///
/// # Errors
/// QEMU is missing or fails; the error contains its message.
pub(crate) fn spawn(
    guest: &Guest,
    hardware: &Hardware,
    images: &Images,
    accelerator: Accelerator,
    memory: &Memory,
    forwards: &[String],
) -> Result<(), LabError> {
    folder::make(&guest.folder)?;
    let folders = folder::Opened::around(&guest.folder)?;
    let socket = |path: &Path| escaped(&folders.name(path));
    let mut command = Command::new(QEMU);
    command.args(["-name", &guest.name, "-nodefaults", "-no-user-config", "-display", "none"]);
    command.args(["-no-reboot", "-cpu", "max", "-daemonize"]);
    command.arg("-pidfile").arg(guest.pid_file());
    let mut accel = String::from(accelerator.name());
    if accelerator == Accelerator::Tcg {
        let code_mib = if hardware.kind == Kind::Worker { WORKER_CODE_MIB } else { CODE_MIB };
        accel += &format!(",tb-size={code_mib}");
    }
    command.args(["-accel", &accel]);
    let mut machine = String::from("q35");
    let size = hardware.memory_bytes;
    command.arg("-m").arg(format!("{}K", size / 1024));
    if let Ram::Kept(path) | Ram::Copied(path) = &memory.ram {
        let share = if matches!(memory.ram, Ram::Kept(_)) { "on" } else { "off" };
        command.arg("-object").arg(format!(
            "memory-backend-file,id=ram,size={size},mem-path={},share={share}",
            escaped(path)
        ));
        machine += ",memory-backend=ram";
    }
    command.args(["-machine", &machine]);
    let mut line = COMMAND_LINE.to_owned();
    let (kernel, image): (&Path, &Path) = match hardware.kind {
        Kind::Storage => (&images.kernel, &images.storage),
        Kind::Router => (&images.kernel, &images.router),
        Kind::Host => images.host_files(hardware.suite.as_deref(), hardware.services),
        Kind::Worker => {
            let (modules, disks) = (hardware.modules(), hardware.disk_names());
            line += &format!(" stormeter.modules={modules} stormeter.disks={disks}");
            // A tmpfs takes at most half of the memory, and a debug build does not fit in it. Guests that export their
            // files over NFS need one, because a ramfs cannot be exported.
            line += " rootfstype=ramfs";
            if hardware.uplink {
                line += &format!(" {ADDRESS_WANTED}{UPLINK_ADDRESS}");
            }
            (&images.kernel, &images.worker)
        }
    };
    command.arg("-kernel").arg(kernel).arg("-initrd").arg(image).args(["-append", &line]);
    command.arg("-qmp").arg(format!("unix:{},server=on,wait=off", socket(&guest.qmp())));
    command.arg("-chardev").arg(format!(
        "socket,id=console,path={},server=on,wait=off,logfile={}",
        socket(&guest.console()),
        escaped(&guest.log())
    ));
    command.args(["-serial", "chardev:console"]);
    command.args(["-device", "virtio-serial-pci"]);
    let ports: &[(&str, PathBuf)] = match hardware.kind {
        Kind::Storage | Kind::Router => &[(CONTROL_PORT, guest.control())],
        Kind::Host => &[(CONTROL_PORT, guest.control()), (AGENT_PORT, guest.agent())],
        Kind::Worker => &[(AGENT_PORT, guest.agent())],
    };
    for (number, (name, path)) in ports.iter().enumerate() {
        let socket = socket(path);
        let port = format!("port{number}");
        command.arg("-chardev").arg(format!("socket,id={port},path={socket},server=on,wait=off"));
        command.arg("-device").arg(format!("virtserialport,chardev={port},name={name}"));
    }
    if hardware.uplink {
        // Nothing in a worker guest connects to other machines.
        let restrict = if hardware.kind == Kind::Worker { ",restrict=on" } else { "" };
        let forwards: String =
            forwards.iter().map(|forward| format!(",hostfwd={forward}")).collect();
        command.arg("-netdev").arg(format!("user,id=net{restrict}{forwards}"));
        // A network boot ROM would only cost time.
        command.args(["-device", "virtio-net-pci,netdev=net,romfile="]);
    }
    command.args(hardware.arguments(&|path| folders.name(path)));
    if memory.waits {
        command.args(["-incoming", "defer"]);
    }
    // Signals from the terminal must not reach QEMU: we end it ourselves, in order.
    let output = command
        .process_group(0)
        .current_dir(&guest.folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| tool(QEMU, source))?;
    if output.status.success() {
        return Ok(());
    }
    let said = format!("{} (for {})", last_words(&output.stderr), guest.name);
    Err(LabError::ToolFailed { program: QEMU.into(), said })
}

/// Escapes a path in a QEMU option: commas are doubled.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_paths_do_not_end_them() {
        assert_eq!(escaped(Path::new("/a,b/c")), "/a,,b/c");
    }
}
