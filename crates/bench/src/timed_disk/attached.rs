//! The disk as both sides use it: a loop device on a file that a separate process serves.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::FILE;
use super::schedule::Service;
use crate::failure::Failure;
use crate::process;

/// An attached disk; detached and removed when this is dropped, and also when its process is
/// killed.
pub(crate) struct TimedDisk {
    device: PathBuf,
    /// The kernel detaches a device with a pending detach when its last user closes it.
    held: Option<fs::File>,
    server: Child,
    directory: TempDir,
}

impl TimedDisk {
    /// Starts the server on a CPU and attaches a loop device with direct I/O.
    ///
    /// # Errors
    /// Without root, FUSE or loop devices.
    pub(crate) fn attach(service: Service, bytes: u64, cpu: &str) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| format!("the timed disk: {error}");
        let directory = TempDir::with_prefix("stormeter-timed-disk").map_err(failed)?;
        let program = std::env::current_exe().map_err(failed)?;
        let Service { servers, mean_ns, spread, flush_ns } = service;
        let server = Command::new("taskset")
            .args(["-c", cpu])
            .arg(program)
            .arg("serve-timed-disk")
            .args([servers.to_string(), mean_ns.to_string(), spread.name().into()])
            .args([flush_ns.to_string(), bytes.to_string()])
            .arg(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("taskset could not be started ({error}): is it installed?"))?;
        // Created first, so that it is ended whatever happens.
        let mut disk = Self { device: PathBuf::new(), held: None, server, directory };
        let mut line = String::new();
        if let Some(output) = disk.server.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(failed)?;
        }
        if line.trim() != "ready" {
            return Err("the timed disk could not be served: are there root and FUSE?".into());
        }
        let file = disk.directory.path().join(FILE).display().to_string();
        let words = ["losetup", "--find", "--show", "--direct-io=on", file.as_str()];
        let device = process::run(&words.map(str::to_owned))?.output.trim().to_owned();
        disk.held = Some(fs::File::open(&device).map_err(failed)?);
        process::run(&["losetup", "--detach", device.as_str()].map(str::to_owned))?;
        disk.device = PathBuf::from(device);
        let name = disk.device.file_name().unwrap_or_default();
        let direct = Path::new("/sys/block").join(name).join("loop/dio");
        match fs::read_to_string(&direct).map_err(failed)?.trim() {
            "1" => Ok(disk),
            _ => Err("the loop device of the timed disk has no direct I/O".into()),
        }
    }

    /// The block device.
    pub(crate) fn device(&self) -> &Path {
        &self.device
    }
}

impl Drop for TimedDisk {
    fn drop(&mut self) {
        drop(self.held.take());
        // It unmounts at the end of its input.
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::timed_disk::schedule::Spread;
    use crate::timed_disk::serve;

    /// The server as a thread of the test, with what `attach` passes to its process.
    #[test]
    fn what_is_written_is_read_back_and_the_mount_goes_with_its_owner() {
        if !nix::unistd::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
            assert!(std::env::var_os("CI").is_none(), "CI has root and FUSE");
            let _ = writeln!(std::io::stderr(), "NOT RUN: only root may mount a FUSE file system");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let spread = Spread::Exponential;
        let service = Service { servers: 2, mean_ns: 100_000, spread, flush_ns: 100_000 };
        let (until, keep) = std::io::pipe().unwrap();
        let (ready, output) = std::io::pipe().unwrap();
        std::thread::scope(|scope| {
            let path = directory.path();
            let served = scope.spawn(move || serve(service, 1 << 20, path, until, output));
            let mut line = String::new();
            BufReader::new(ready).read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n");
            let file = fs::File::options().read(true).write(true).open(path.join(FILE)).unwrap();
            assert_eq!(file.metadata().unwrap().len(), 1 << 20);
            let block = |of: u8| [of; 4096];
            for number in 0..20u8 {
                file.write_all_at(&block(number), u64::from(number) * 8192).unwrap();
            }
            for number in 0..20u8 {
                let mut bytes = block(0xff);
                file.read_exact_at(&mut bytes, u64::from(number) * 8192).unwrap();
                assert_eq!(bytes, block(number));
            }
            assert!(file.write_all_at(&block(1), 1 << 20).is_err(), "beyond its end");
            file.sync_data().unwrap();
            drop(file);
            drop(keep);
            assert_eq!(served.join().unwrap(), Ok(()));
        });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "it is unmounted");
    }
}
