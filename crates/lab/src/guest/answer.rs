//! What the guest answers on its port: `hello`, with what it is and what it sees.
//!
//! It speaks only when it is asked. A guest that was frozen and cloned cannot know that somebody new
//! listens, and a write to a port that nobody holds would block.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// How long to rest when nobody holds the other end: reading then ends at once.
const NOBODY: Duration = Duration::from_millis(5);

/// Answers for ever.
pub(super) fn answer(port: &mut (impl Read + Write)) -> Result<(), String> {
    let mut line = Vec::new();
    loop {
        let mut byte = [0];
        match port.read(&mut byte) {
            Ok(0) => {
                // What was begun is not finished by whoever comes next.
                line.clear();
                std::thread::sleep(NOBODY);
            }
            Ok(_) if byte[0] == b'\n' => {
                if line == b"hello" {
                    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
                    let _ =
                        port.write_all(hello(&uptime, &disks(Path::new("/sys/block"))).as_bytes());
                }
                line.clear();
            }
            // No line that is asked is long.
            Ok(_) if line.len() < 4096 => line.push(byte[0]),
            Ok(_) => line.clear(),
            Err(error) => return Err(format!("the port cannot be read: {error}")),
        }
    }
}

/// `hello worker VERSION uptime SECONDS disks NAME=BYTES…`
fn hello(uptime: &str, disks: &[(String, u64)]) -> String {
    let seconds = uptime.split(' ').next().unwrap_or_default();
    let mut line = format!("hello worker {} uptime {seconds} disks", env!("CARGO_PKG_VERSION"));
    for (name, bytes) in disks {
        line += &format!(" {name}={bytes}");
    }
    line.push('\n');
    line
}

/// The guest's disks with their sizes.
fn disks(blocks: &Path) -> Vec<(String, u64)> {
    let mut disks = Vec::new();
    for entry in fs::read_dir(blocks).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let sectors = fs::read_to_string(entry.path().join("size")).unwrap_or_default();
        // Memory and loops are not the host's.
        if !name.starts_with("loop")
            && !name.starts_with("ram")
            && let Ok(sectors) = sectors.trim().parse::<u64>()
        {
            disks.push((name, sectors * 512));
        }
    }
    disks.sort();
    disks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hello_tells_version_uptime_and_disks() {
        let blocks = tempfile::tempdir().unwrap();
        for (name, sectors) in [("vda", "2048\n"), ("loop0", "0\n"), ("sda", "4096\n")] {
            fs::create_dir(blocks.path().join(name)).unwrap();
            fs::write(blocks.path().join(name).join("size"), sectors).unwrap();
        }
        let line = hello("2.13 1.00\n", &disks(blocks.path()));
        let version = env!("CARGO_PKG_VERSION");
        let expected =
            format!("hello worker {version} uptime 2.13 disks sda=2097152 vda=1048576\n");
        assert_eq!(line, expected);
    }

    /// A port that gives what it was given, and then fails.
    struct Port {
        from: std::io::Cursor<Vec<u8>>,
        said: Vec<u8>,
    }

    impl Read for Port {
        fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
            match self.from.read(bytes)? {
                0 => Err(std::io::Error::other("over")),
                count => Ok(count),
            }
        }
    }

    impl Write for Port {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.said.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_hello_is_answered_and_lines_without_end_are_forgotten() {
        let mut asked = b"what\nhello\nhel".to_vec();
        asked.extend(vec![b'x'; 10_000]);
        asked.extend(b"\nhello\n");
        let mut port = Port { from: std::io::Cursor::new(asked), said: Vec::new() };
        assert!(answer(&mut port).unwrap_err().contains("over"));
        let said = String::from_utf8(port.said).unwrap();
        assert_eq!(said.matches("hello worker").count(), 2, "{said}");
        assert_eq!(said.lines().count(), 2);
    }
}
