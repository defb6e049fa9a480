//! Whether a program runs on another machine without this machine's libraries.

use std::io::{self, Read};
use std::path::Path;

use object::LittleEndian;
use object::elf::{FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader, ProgramHeader};

/// The program headers of real programs end long before this.
const MOST_BYTES: u64 = 1 << 16;

/// Whether the program at `path` needs no loader and therefore no libraries: a 64-bit little-endian
/// ELF file without a PT_INTERP header. A static program that is position-independent has a dynamic
/// section too, so that section proves nothing.
///
/// # Errors
/// It cannot be read.
pub fn is_static(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    std::fs::File::open(path)?.take(MOST_BYTES).read_to_end(&mut start)?;
    Ok(has_no_loader(&start).unwrap_or(false))
}

/// `None` if it is not such a file. The sections, at the end of the file, are not needed.
fn has_no_loader(elf: &[u8]) -> Option<bool> {
    let header = FileHeader64::<LittleEndian>::parse(elf).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, elf).ok()?;
    Some(segments.iter().all(|segment| segment.p_type(endian) != PT_INTERP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::elf::{PT_DYNAMIC, PT_LOAD, PT_PHDR, ProgramType};

    /// The smallest file that has segments of these types.
    fn elf(kinds: &[ProgramType]) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56 * kinds.len()];
        // 64-bit, little-endian, version 1.
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        bytes[32..40].copy_from_slice(&64u64.to_le_bytes());
        bytes[54..56].copy_from_slice(&56u16.to_le_bytes());
        bytes[56..58].copy_from_slice(&(kinds.len() as u16).to_le_bytes());
        for (header, kind) in kinds.iter().enumerate() {
            bytes[64 + 56 * header..][..4].copy_from_slice(&kind.0.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_loader_is_found() {
        assert_eq!(has_no_loader(&elf(&[PT_LOAD, PT_LOAD, PT_DYNAMIC])), Some(true));
        assert_eq!(has_no_loader(&elf(&[PT_PHDR, PT_INTERP, PT_LOAD])), Some(false));
        assert_eq!(has_no_loader(b"#!/bin/sh"), None);
        assert_eq!(has_no_loader(&elf(&[PT_LOAD, PT_LOAD])[..70]), None, "cut short");
        let mut big_endian = elf(&[PT_LOAD]);
        big_endian[5] = 2;
        assert_eq!(has_no_loader(&big_endian), None);
    }
}
