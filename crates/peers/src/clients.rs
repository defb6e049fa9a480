//! Clients from other projects, for cross-checks: what one implementation writes, the other must
//! read.
//!
//! The tools of libnfs, libiscsi and QEMU, each run once per transfer.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::PeerError;
use crate::error::at;
use crate::program::{ISCSI_INQ, ISCSI_LS, NFS_CP, NFS_LS, Program, QEMU_IMG, QEMU_IO, QEMU_ISCSI};

/// The URL of a file or export in libnfs's syntax.
#[must_use]
pub fn libnfs_url(nfs: SocketAddr, mount_port: u16, path: &Path) -> String {
    let (ip, port) = (nfs.ip(), nfs.port());
    format!("nfs://{ip}{}?nfsport={port}&mountport={mount_port}", path.display())
}

/// Lists a directory with libnfs; `url` from [`libnfs_url`].
///
/// # Errors
/// The tool is not installed or fails.
pub fn libnfs_list(url: &str) -> Result<String, PeerError> {
    run(NFS_LS, &[url])
}

/// Writes a new file with libnfs; `url` from [`libnfs_url`].
///
/// # Errors
/// The tool is not installed or fails; it does not overwrite an existing file.
pub fn libnfs_write(url: &str, bytes: &[u8]) -> Result<(), PeerError> {
    let scratch = Scratch::new()?;
    let file = scratch.write(bytes)?;
    run(NFS_CP, &[&file, url])?;
    Ok(())
}

/// Reads a file with libnfs; `url` from [`libnfs_url`].
///
/// # Errors
/// The tool is not installed or fails.
pub fn libnfs_read(url: &str) -> Result<Vec<u8>, PeerError> {
    let scratch = Scratch::new()?;
    run(NFS_CP, &[url, &scratch.file()])?;
    scratch.read()
}

/// Lists a portal's targets and their logical units with libiscsi; `url` is
/// `iscsi://[user%secret@]host:port`.
///
/// # Errors
/// The tool is not installed or fails.
pub fn iscsi_list(url: &str) -> Result<String, PeerError> {
    run(ISCSI_LS, &["-s", url])
}

/// Queries a logical unit with libiscsi; `url` is
/// `iscsi://[user%secret@]host:port/target/lun[?target_user=user&target_password=secret]`, the latter
/// for mutual authentication, which the other tools do not support.
///
/// # Errors
/// The tool is not installed or fails.
pub fn iscsi_inquiry(url: &str) -> Result<String, PeerError> {
    run(ISCSI_INQ, &[url])
}

/// Writes bytes at an offset with libiscsi (in QEMU); both in whole sectors of 512 bytes. `url` is
/// `iscsi://[user%secret@]host:port/target/lun`.
///
/// # Errors
/// The tool is not installed or fails.
pub fn iscsi_write(url: &str, offset_bytes: u64, bytes: &[u8]) -> Result<(), PeerError> {
    let scratch = Scratch::new()?;
    let file = scratch.write(bytes)?;
    qemu_io(url, &format!("write -s {file} {offset_bytes} {}", bytes.len()))
}

/// Reads bytes at an offset with libiscsi (in QEMU); both in whole sectors of 512 bytes.
///
/// # Errors
/// The tool is not installed or fails.
pub fn iscsi_read(url: &str, offset_bytes: u64, length_bytes: u64) -> Result<Vec<u8>, PeerError> {
    const SECTOR_BYTES: u64 = 512;
    QEMU_ISCSI.check()?;
    let scratch = Scratch::new()?;
    let (from, to) = (format!("if={url}"), format!("of={}", scratch.file()));
    let skip_sectors = offset_bytes / SECTOR_BYTES;
    // dd's count applies to its input, including what is skipped.
    let count_sectors = skip_sectors + length_bytes / SECTOR_BYTES;
    let (skip, count) = (format!("skip={skip_sectors}"), format!("count={count_sectors}"));
    run(QEMU_IMG, &["dd", "-f", "raw", "-O", "raw", "bs=512", &skip, &count, &from, &to])?;
    scratch.read()
}

/// Fills a range with one byte value.
///
/// # Errors
/// The tool is not installed or fails.
pub fn iscsi_write_pattern(
    url: &str,
    offset_bytes: u64,
    length_bytes: u64,
    value: u8,
) -> Result<(), PeerError> {
    qemu_io(url, &format!("write -P {value} {offset_bytes} {length_bytes}"))
}

/// Reads a range and checks that it contains one byte value only.
///
/// # Errors
/// The tool is not installed or fails, or the range contains something else.
pub fn iscsi_verify_pattern(
    url: &str,
    offset_bytes: u64,
    length_bytes: u64,
    value: u8,
) -> Result<(), PeerError> {
    qemu_io(url, &format!("read -P {value} {offset_bytes} {length_bytes}"))
}

fn qemu_io(url: &str, command: &str) -> Result<(), PeerError> {
    QEMU_ISCSI.check()?;
    // Errors of the transfer are printed on standard output, and not always reflected in the exit
    // code.
    let output = run(QEMU_IO, &["-f", "raw", "-t", "none", "-c", command, url])?;
    if output.contains("failed") || output.contains("Pattern verification") {
        return Err(PeerError::Command {
            command: format!("{} -c '{command}' {url}", QEMU_IO.name),
            status: "succeeded in name only".into(),
            said: output,
        });
    }
    Ok(())
}

/// Runs a tool to its end, with a time limit.
pub(crate) fn run(program: Program, arguments: &[&str]) -> Result<String, PeerError> {
    run_with(program, arguments, &[], None)
}

/// Runs a tool with an environment, and in a folder.
pub(crate) fn run_with(
    program: Program,
    arguments: &[&str],
    environment: &[(&str, &str)],
    folder: Option<&Path>,
) -> Result<String, PeerError> {
    // These tools retry forever when a server is away.
    const LIMIT: [&str; 3] = ["-k", "5", "60"];
    let spelled = || format!("{} {}", program.name, arguments.join(" "));
    let mut command = Command::new("timeout");
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let output = command
        .args(LIMIT)
        .arg(program.path()?)
        .args(arguments)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .map_err(|source| PeerError::Start { program: spelled(), source })?;
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    let status = output.status.to_string();
    Err(PeerError::Command { command: spelled(), status, said })
}

/// A file for one transfer.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Result<Self, PeerError> {
        tempfile::tempdir().map(Self).map_err(at(&std::env::temp_dir()))
    }

    fn file(&self) -> String {
        self.0.path().join("bytes").to_string_lossy().into_owned()
    }

    fn write(&self, bytes: &[u8]) -> Result<String, PeerError> {
        let file = self.file();
        std::fs::write(&file, bytes).map_err(at(Path::new(&file)))?;
        Ok(file)
    }

    fn read(&self) -> Result<Vec<u8>, PeerError> {
        let file = self.file();
        std::fs::read(&file).map_err(at(Path::new(&file)))
    }
}
