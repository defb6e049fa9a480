//! Finds a virtio-serial port by name. There is no udev that would create named links.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PORTS: &str = "/sys/class/virtio-ports";
const LOOK: Duration = Duration::from_millis(10);
const LOOKS: u32 = 3000;

/// Waits for the port's device, which appears a moment after the driver is loaded, when the host
/// has announced it.
///
/// # Errors
/// It does not appear within half a minute.
pub fn wait_for(name: &str) -> Result<PathBuf, String> {
    for _ in 0..LOOKS {
        if let Some(device) = named(Path::new(PORTS), name) {
            return Ok(Path::new("/dev").join(device));
        }
        std::thread::sleep(LOOK);
    }
    Err(format!("there is no virtio-serial port {name}"))
}

fn named(ports: &Path, name: &str) -> Option<String> {
    fs::read_dir(ports).ok()?.flatten().find_map(|entry| {
        let found = fs::read_to_string(entry.path().join("name")).ok()?;
        (found.trim() == name).then(|| entry.file_name().to_string_lossy().into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_found_by_its_name() {
        let ports = tempfile::tempdir().unwrap();
        for (device, name) in [("vport0p1", "other\n"), ("vport0p2", "wanted\n")] {
            fs::create_dir(ports.path().join(device)).unwrap();
            fs::write(ports.path().join(device).join("name"), name).unwrap();
        }
        assert_eq!(named(ports.path(), "wanted").as_deref(), Some("vport0p2"));
        assert_eq!(named(ports.path(), "missing"), None);
    }
}
