//! As much of an ELF file as tells whether it is statically linked.
//!
//! A position-independent static program has a dynamic section too (it relocates itself), so the
//! sections' presence says nothing: what counts is whether an interpreter is asked for (PT_INTERP)
//! and whether a library is (DT_NEEDED). Layout: System V ABI, chapters 4 and 5, 64-bit
//! little-endian.

const PROGRAM_HEADER_BYTES: usize = 56;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;

/// Why the program is not a static one.
///
/// # Errors
/// It is not a 64-bit little-endian ELF file, or is cut off.
pub(crate) fn dynamic_parts(file: &[u8]) -> Result<Vec<&'static str>, String> {
    if file.get(..6) != Some(b"\x7fELF\x02\x01") {
        return Err("not a 64-bit little-endian ELF file".into());
    }
    let table = number(file, 32, 8)?;
    let entry_bytes = number(file, 54, 2)?;
    let entries = number(file, 56, 2)?;
    if entry_bytes < PROGRAM_HEADER_BYTES as u64 {
        return Err(format!("program headers of {entry_bytes} bytes are too short"));
    }
    let mut parts = Vec::new();
    for entry in 0..entries {
        let header = place(table.saturating_add(entry * entry_bytes))?;
        let kind = number(file, header, 4)? as u32;
        if kind == PT_INTERP {
            parts.push("an interpreter (PT_INTERP)");
        }
        if kind == PT_DYNAMIC {
            let start = place(number(file, header + 8, 8)?)?;
            let bytes = place(number(file, header + 32, 8)?)?;
            for tag in (start..start.saturating_add(bytes)).step_by(16) {
                match number(file, tag, 8)? {
                    DT_NULL => break,
                    DT_NEEDED => parts.push("a shared library (DT_NEEDED)"),
                    _ => {}
                }
            }
        }
    }
    Ok(parts)
}

fn place(offset: u64) -> Result<usize, String> {
    usize::try_from(offset).map_err(|_| cut_off(offset))
}

fn number(file: &[u8], offset: usize, bytes: usize) -> Result<u64, String> {
    let end = offset.checked_add(bytes);
    let slice = end.and_then(|end| file.get(offset..end)).ok_or_else(|| cut_off(offset as u64))?;
    Ok(slice.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

fn cut_off(offset: u64) -> String {
    format!("the file ends before byte {offset}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one program header, and dynamic entries behind it.
    fn elf(kind: u32, tags: &[u64]) -> Vec<u8> {
        let mut file = vec![0_u8; 64 + 56];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[32] = 64;
        file[54] = 56;
        file[56] = 1;
        file[64..68].copy_from_slice(&kind.to_le_bytes());
        file[72] = 120;
        file[96] = u8::try_from(tags.len() * 16).unwrap();
        for tag in tags {
            file.extend(tag.to_le_bytes());
            file.extend([0; 8]);
        }
        file
    }

    #[test]
    fn an_interpreter_or_a_library_makes_it_dynamic() {
        assert_eq!(dynamic_parts(&elf(PT_INTERP, &[])).unwrap().len(), 1);
        assert_eq!(dynamic_parts(&elf(PT_DYNAMIC, &[5, DT_NEEDED, 0])).unwrap().len(), 1);
    }

    #[test]
    fn self_relocation_does_not() {
        assert!(dynamic_parts(&elf(1, &[])).unwrap().is_empty());
        assert!(dynamic_parts(&elf(PT_DYNAMIC, &[5, 6, 0, DT_NEEDED])).unwrap().is_empty());
    }

    #[test]
    fn this_very_test_is_dynamic() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let expected = cfg!(not(target_feature = "crt-static"));
        assert_eq!(!dynamic_parts(&file).unwrap().is_empty(), expected);
    }

    #[test]
    fn other_files_and_pieces_are_refused() {
        assert!(dynamic_parts(b"#!/bin/sh").is_err());
        let whole = elf(PT_DYNAMIC, &[DT_NEEDED, 0]);
        for length in 0..whole.len() - 16 {
            assert!(dynamic_parts(&whole[..length]).is_err(), "{length}");
        }
    }
}
