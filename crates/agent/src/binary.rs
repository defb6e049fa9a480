//! Whether a program runs on another machine without this machine's libraries.

use std::io::{self, Read};
use std::path::Path;

/// The program header that names a dynamic loader (ELF specification 1.2, "Program Header": PT_INTERP).
const PT_INTERP: u32 = 3;
/// The program headers of real programs end long before this.
const MOST_BYTES: u64 = 1 << 16;

/// Whether the program at `path` needs no loader and therefore no libraries: a 64-bit little-endian
/// ELF file without a PT_INTERP header.
///
/// # Errors
/// It cannot be read.
pub fn is_static(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    std::fs::File::open(path)?.take(MOST_BYTES).read_to_end(&mut start)?;
    Ok(has_no_loader(&start).unwrap_or(false))
}

/// `None` if it is not such a file.
fn has_no_loader(elf: &[u8]) -> Option<bool> {
    // e_ident: magic, ELFCLASS64, ELFDATA2LSB; then e_phoff, e_phentsize and e_phnum of Elf64_Ehdr.
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let half = |at: usize| Some(u16::from_le_bytes(elf.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_le_bytes(elf.get(at..at + 4)?.try_into().ok()?));
    let offset = u64::from_le_bytes(elf.get(32..40)?.try_into().ok()?);
    let (size, count) = (usize::from(half(54)?), usize::from(half(56)?));
    let offset = usize::try_from(offset).ok()?;
    for header in 0..count {
        if word(offset.checked_add(header * size)?)? == PT_INTERP {
            return Some(false);
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56 * kinds.len()];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[32..40].copy_from_slice(&64u64.to_le_bytes());
        bytes[54..56].copy_from_slice(&56u16.to_le_bytes());
        bytes[56..58].copy_from_slice(&(kinds.len() as u16).to_le_bytes());
        for (header, kind) in kinds.iter().enumerate() {
            bytes[64 + 56 * header..][..4].copy_from_slice(&kind.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_loader_is_found() {
        assert_eq!(has_no_loader(&elf(&[1, 1, 2])), Some(true));
        assert_eq!(has_no_loader(&elf(&[6, PT_INTERP, 1])), Some(false));
        assert_eq!(has_no_loader(b"#!/bin/sh"), None);
        assert_eq!(has_no_loader(&elf(&[1, 1])[..70]), None, "cut short");
    }
}
