//! Makes the lab's disk names available as `/dev/lab/NAME`. There is no udev that would create links.
//!
//! A disk carries its name as its serial number, which every kind of controller passes on, each in a
//! different place.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

/// The kernel parameter that lists the disks.
const WANTED: &str = "stormeter.disks=";
/// The directory of the links.
const LINKS: &str = "/dev/lab";

const LOOK: Duration = Duration::from_millis(10);
const LOOKS: u32 = 3000;

/// Links the disks from the command line once they exist: buses are scanned in the background.
pub(super) fn link() -> Result<(), String> {
    let line = fs::read_to_string("/proc/cmdline").unwrap_or_default();
    fs::create_dir_all(LINKS).map_err(|error| format!("{LINKS} cannot be made: {error}"))?;
    for name in wanted(&line) {
        let mut looks = 0;
        let device = loop {
            match named(Path::new("/sys/block"), name) {
                Some(device) => break device,
                None if looks == LOOKS => return Err(format!("there is no disk {name}")),
                None => std::thread::sleep(LOOK),
            }
            looks += 1;
        };
        symlink(Path::new("/dev").join(device), Path::new(LINKS).join(name))
            .map_err(|error| format!("the disk {name} cannot be linked: {error}"))?;
    }
    Ok(())
}

fn wanted(line: &str) -> impl Iterator<Item = &str> {
    let names = line.split_whitespace().find_map(|word| word.strip_prefix(WANTED)).unwrap_or("");
    names.split(',').filter(|name| !name.is_empty())
}

/// The device with this serial number.
fn named(blocks: &Path, name: &str) -> Option<String> {
    fs::read_dir(blocks).ok()?.flatten().find_map(|entry| {
        (serial(&entry.path()).as_deref() == Some(name))
            .then(|| entry.file_name().to_string_lossy().into_owned())
    })
}

/// A disk's serial number, from wherever its driver shows it.
fn serial(block: &Path) -> Option<String> {
    // virtio-blk; NVMe; and SCSI, whose page 80h (SPC-4, 7.8.15) has a header of four bytes.
    let plain = ["serial", "device/serial"].iter().find_map(|at| fs::read(block.join(at)).ok());
    let page = || Some(fs::read(block.join("device/vpd_pg80")).ok()?.get(4..)?.to_vec());
    let bytes = plain.or_else(page)?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_found_by_its_serial_number_wherever_that_is() {
        let blocks = tempfile::tempdir().unwrap();
        for (device, at, bytes) in [
            ("vda", "serial", b"fast".to_vec()),
            ("nvme0n1", "device/serial", b"middle              \n".to_vec()),
            ("sda", "device/vpd_pg80", [b"\0\x80\0\x04".to_vec(), b"slow".to_vec()].concat()),
            ("loop0", "size", b"0\n".to_vec()),
        ] {
            let file = blocks.path().join(device).join(at);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        let find = |name| named(blocks.path(), name);
        assert_eq!(find("fast").as_deref(), Some("vda"));
        assert_eq!(find("middle").as_deref(), Some("nvme0n1"));
        assert_eq!(find("slow").as_deref(), Some("sda"));
        assert_eq!(find("other"), None);
    }

    #[test]
    fn the_command_line_says_which_disks_there_are() {
        let names = |line| wanted(line).collect::<Vec<_>>();
        assert_eq!(names("quiet stormeter.disks=a,b-1 panic=-1"), ["a", "b-1"]);
        assert_eq!(names("quiet"), [""; 0]);
    }
}
