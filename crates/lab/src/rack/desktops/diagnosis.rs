//! Why a disk could not be made, from what is found where it lies: the tool that makes disks says it in words only.

use std::time::Duration;

use nix::sys::statvfs::statvfs;
use stormeter_disk::{DeviceError, Kind};

use super::place::Place;
use crate::error::LabError;
use crate::qemu::Backend;

/// ENOENT.
const NOT_THERE: DeviceError = DeviceError(2);
/// ETIMEDOUT.
pub(super) const TIMED_OUT: DeviceError = DeviceError(110);
/// Storage with less room than this is full: no request of a copy is larger.
const LEAST_FREE_BYTES: u64 = 4 << 20;
/// How long a storage guest may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is found at both ends of a copy that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    has_template: bool,
    free_bytes: u64,
}

/// The direction and the error of the I/O that is most likely to have failed.
pub(super) fn why_not_copied(
    template: &Place,
    to: &Place,
    error: &LabError,
) -> (Kind, DeviceError) {
    let closest = (Kind::Write, closest(error));
    if !matches!(error, LabError::ToolFailed { .. }) {
        return closest;
    }
    match found(template, to) {
        Some(Found { has_template: false, .. }) => (Kind::Read, NOT_THERE),
        Some(Found { free_bytes, .. }) if free_bytes < LEAST_FREE_BYTES => {
            (Kind::Write, DeviceError::NO_SPACE)
        }
        _ => closest,
    }
}

/// `None` if it cannot be told: a LUN has neither files nor an end before that of the place.
fn found(template: &Place, to: &Place) -> Option<Found> {
    match (&template.disk.backend, &to.disk.backend) {
        (Backend::File { path: template, .. }, Backend::File { path: to, .. }) => {
            let room = statvfs(to.parent()?).ok()?;
            let free_bytes = room.blocks_available() * room.fragment_size();
            Some(Found { has_template: template.exists(), free_bytes })
        }
        (Backend::Nfs { path, .. }, Backend::Nfs { .. }) => {
            let folder = path.rsplit_once('/').map_or("/", |(folder, _)| folder);
            let script =
                format!("[ -e {path} ] && echo 1 || echo 0\nstat -f -c '%f %S' {folder}\n");
            let server = template.server.as_ref()?;
            let said = server.control_port().ok()?.ask(&script, PATIENCE).ok()?;
            read(&said)
        }
        _ => None,
    }
}

/// What a storage guest answers: whether the template is there, free blocks, and their size.
fn read(said: &str) -> Option<Found> {
    let numbers: Option<Vec<u64>> = said.split_whitespace().map(|word| word.parse().ok()).collect();
    let [has_template, blocks, size] = numbers?[..] else { return None };
    Some(Found { has_template: has_template == 1, free_bytes: blocks.checked_mul(size)? })
}

/// The closest error of the operating system.
pub(super) fn closest(error: &LabError) -> DeviceError {
    let of_system = match error {
        LabError::Io { source, .. }
        | LabError::Tool { source, .. }
        | LabError::QmpSocket { source, .. } => source.raw_os_error(),
        LabError::NoTool { .. } => Some(NOT_THERE.0),
        _ => None,
    };
    of_system.map_or(DeviceError::IO, DeviceError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_or_is_none() {
        let found = Found { has_template: true, free_bytes: 40_960 };
        assert_eq!(read("1\n10 4096\n"), Some(found));
        assert_eq!(read("0\n10 4096\n"), Some(Found { has_template: false, ..found }));
        for other in ["", "1\n", "1\nstat: no such file\n", "1\n-1 4096\n", "1 2 3 4\n"] {
            assert_eq!(read(other), None, "{other:?}");
        }
    }
}
