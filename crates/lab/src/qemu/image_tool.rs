//! QEMU's tool for images, which is stopped when what it makes is no longer wanted.
//!
//! Each run works in the folder of what it makes, so that those which a killed process has left are found and ended: they
//! would wait for storage that is gone for as long as they live.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};

use crate::error::{LabError, tool};
use crate::image::last_words;

const PROGRAM: &str = "qemu-img";
/// How often a run looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(5);

/// Runs the tool in `folder` until it ends or is no longer wanted. `false` is its exit code 1 where it says nothing else.
///
/// # Errors
/// It cannot be started or fails, or is not wanted any longer ([`LabError::Interrupted`]).
pub(crate) fn run(words: &[&str], folder: &Path, leaving: &AtomicBool) -> Result<bool, LabError> {
    // Signals from the terminal are for us, who end it.
    let mut child = Command::new(PROGRAM)
        .args(words)
        .current_dir(folder)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| not_started(folder, source))?;
    loop {
        if leaving.load(Ordering::Relaxed) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(LabError::Interrupted);
        }
        if child.try_wait().map_err(|source| tool(PROGRAM, source))?.is_some() {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let output = child.wait_with_output().map_err(|source| tool(PROGRAM, source))?;
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) if output.stderr.is_empty() => Ok(false),
        _ => {
            Err(LabError::ToolFailed { program: PROGRAM.into(), said: last_words(&output.stderr) })
        }
    }
}

/// A missing folder would otherwise look like a missing program.
fn not_started(folder: &Path, source: io::Error) -> LabError {
    match fs::metadata(folder) {
        Ok(_) => tool(PROGRAM, source),
        Err(source) => crate::error::at(folder)(source),
    }
}

/// Ends the runs that killed processes of this user have left in `folder` or below it.
pub(crate) fn end_below(folder: &Path) {
    // As the system names working directories.
    let Ok(folder) = folder.canonicalize() else { return };
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = number else { continue };
        let is_own = entry.metadata().is_ok_and(|it| it.uid() == Uid::effective().as_raw());
        let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        let works_there = || fs::read_link(entry.path().join("cwd"));
        if is_own
            && name.trim_end() == PROGRAM
            && works_there().is_ok_and(|found| found.starts_with(&folder))
        {
            // It may end in between, which is fine.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_was_left_in_a_folder_is_ended_and_others_are_not() {
        let (ours, others) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = ours.path().to_owned();
        let program = folder.join(PROGRAM);
        fs::copy("/bin/sleep", &program).unwrap();
        let start = |folder: &Path, program: &Path| {
            Command::new(program).arg("1000").current_dir(folder).spawn().unwrap()
        };
        let below = folder.join("below");
        fs::create_dir(&below).unwrap();
        let mut left = [start(&folder, &program), start(&below, &program)];
        let mut survivors = [start(others.path(), &program), start(&folder, Path::new("sleep"))];
        end_below(&folder);
        for left in &mut left {
            assert!(!left.wait().unwrap().success());
        }
        for survivor in &mut survivors {
            assert!(survivor.try_wait().unwrap().is_none());
            survivor.kill().unwrap();
            survivor.wait().unwrap();
        }
    }
}
