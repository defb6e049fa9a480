//! Reads as much of an ELF file as shows whether it is statically linked.
//!
//! A position-independent static program has a dynamic section too (it relocates itself), so the
//! presence of sections proves nothing: what counts is whether it requests an interpreter
//! (PT_INTERP) or a library (DT_NEEDED). Layout: System V ABI, chapters 4 and 5.

use object::LittleEndian;
use object::elf::{DT_NEEDED, DT_NULL, FileHeader64, PT_INTERP};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

/// The reasons why the program is not static; empty if it is.
///
/// # Errors
/// The file is not a 64-bit little-endian ELF file, or is truncated.
pub(crate) fn dynamic_parts(file: &[u8]) -> Result<Vec<&'static str>, String> {
    parts(file).map_err(|error| format!("no ELF file that can be read: {error}"))
}

fn parts(file: &[u8]) -> object::Result<Vec<&'static str>> {
    let header = FileHeader64::<LittleEndian>::parse(file)?;
    let endian = header.endian()?;
    let mut parts = Vec::new();
    for segment in header.program_headers(endian, file)? {
        if segment.p_type(endian) == PT_INTERP {
            parts.push("an interpreter (PT_INTERP)");
        }
        let entries = segment.dynamic(endian, file)?.unwrap_or_default().iter();
        let mut tags = entries.map(|entry| entry.tag(endian)).take_while(|tag| *tag != DT_NULL);
        if tags.any(|tag| tag == DT_NEEDED) {
            parts.push("a shared library (DT_NEEDED)");
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::elf::{DT_STRTAB, DT_SYMTAB, DynamicTag, PT_DYNAMIC, PT_LOAD, ProgramType};

    /// A file with one program header, followed by dynamic entries.
    fn elf(kind: ProgramType, tags: &[DynamicTag]) -> Vec<u8> {
        let mut file = vec![0_u8; 64 + 56];
        file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        file[32] = 64;
        file[54] = 56;
        file[56] = 1;
        file[64..68].copy_from_slice(&kind.0.to_le_bytes());
        file[72] = 120;
        file[96] = u8::try_from(tags.len() * 16).unwrap();
        for tag in tags {
            file.extend(tag.0.to_le_bytes());
            file.extend([0; 8]);
        }
        file
    }

    #[test]
    fn an_interpreter_or_a_library_makes_it_dynamic() {
        assert_eq!(dynamic_parts(&elf(PT_INTERP, &[])).unwrap().len(), 1);
        assert_eq!(
            dynamic_parts(&elf(PT_DYNAMIC, &[DT_STRTAB, DT_NEEDED, DT_NULL])).unwrap().len(),
            1
        );
    }

    #[test]
    fn self_relocation_does_not() {
        assert!(dynamic_parts(&elf(PT_LOAD, &[])).unwrap().is_empty());
        assert!(
            dynamic_parts(&elf(PT_DYNAMIC, &[DT_STRTAB, DT_SYMTAB, DT_NULL, DT_NEEDED]))
                .unwrap()
                .is_empty()
        );
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
        let whole = elf(PT_DYNAMIC, &[DT_NEEDED, DT_NULL]);
        for length in 0..whole.len() - 16 {
            assert!(dynamic_parts(&whole[..length]).is_err(), "{length}");
        }
    }
}
