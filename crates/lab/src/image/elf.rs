//! Reads from a program's ELF file what must be loaded with it, and how much of it is loaded
//! (ELF-64 object file format, version 1.5; System V ABI, chapter 5, "Dynamic Section").

use object::elf::{
    DT_NEEDED, DT_NULL, DT_STRSZ, DT_STRTAB, Dyn64, EM_X86_64, FileHeader64, PT_LOAD,
    ProgramHeader64, SHN_UNDEF,
};
use object::read::StringTable;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{LittleEndian, U16, U64, pod};

type Header = FileHeader64<LittleEndian>;
type Segment = ProgramHeader64<LittleEndian>;

/// What a 64-bit ELF file for x86 needs: its interpreter, by path, and its libraries, by name.
/// `None` if it is not such a file, or is broken.
pub(super) fn needs(file: &[u8]) -> Option<Vec<String>> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (_, segments) = parts(file)?;
    let mut found = Vec::new();
    let mut dynamic: Vec<&Dyn64<LittleEndian>> = Vec::new();
    for segment in segments {
        let interpreter = segment.interpreter(LittleEndian, file).ok()?;
        found.extend(interpreter.map(text));
        let entries = segment.dynamic(LittleEndian, file).ok()?.unwrap_or_default();
        dynamic.extend(entries.iter().take_while(|entry| entry.tag(LittleEndian) != DT_NULL));
    }
    let mut needed = dynamic.iter().filter(|entry| entry.tag(LittleEndian) == DT_NEEDED).peekable();
    if needed.peek().is_none() {
        return Some(found);
    }
    let value = |tag| {
        let entry = dynamic.iter().find(|entry| entry.tag(LittleEndian) == tag)?;
        Some(entry.val(LittleEndian))
    };
    let (address, length) = (value(DT_STRTAB)?, value(DT_STRSZ)?);
    // Segments that are not loaded may have the same addresses.
    let strings = segments
        .iter()
        .filter(|segment| segment.p_type(LittleEndian) == PT_LOAD)
        .find_map(|segment| segment.data_range(LittleEndian, file, address, length).ok()?)?;
    let strings = StringTable::new(strings, 0, length);
    for entry in needed {
        found.push(text(entry.string(LittleEndian, strings).ok()?));
    }
    Some(found)
}

/// The file without what is never loaded and comes at the end: symbols and debugging information, which a guest
/// would have to keep in memory. The unchanged file if it cannot be parsed.
pub(super) fn loaded(file: &[u8]) -> Vec<u8> {
    let Some((header, segments)) = parts(file) else { return file.to_vec() };
    let headers = header.e_phoff.get(LittleEndian).saturating_add(size_of_val(segments) as u64);
    let ends = segments.iter().map(|segment| {
        let (start, length) = segment.file_range(LittleEndian);
        start.saturating_add(length)
    });
    let end = ends.fold(headers, u64::max);
    if segments.is_empty() || end >= file.len() as u64 {
        return file.to_vec();
    }
    // The sections are gone.
    let mut header = *header;
    header.e_shoff = U64::new(LittleEndian, 0);
    header.e_shnum = U16::new(LittleEndian, 0);
    header.e_shstrndx = U16::new(LittleEndian, SHN_UNDEF);
    let mut bytes = pod::bytes_of(&header).to_vec();
    bytes.extend_from_slice(file.get(bytes.len()..end as usize).unwrap_or_default());
    bytes
}

/// The header and the segments of an ELF file for this machine type.
fn parts(file: &[u8]) -> Option<(&Header, &[Segment])> {
    let header = Header::parse(file).ok()?;
    let is_ours = header.is_little_endian() && header.e_machine(LittleEndian) == EM_X86_64;
    is_ours.then_some((header, header.program_headers(LittleEndian, file).ok()?))
}

/// The smallest file without dependencies: a header for this machine type, without program headers.
#[cfg(test)]
pub(super) const STATIC: [u8; 64] = {
    let mut header = [0; 64];
    let (start, _) = header.split_at_mut(7);
    start.copy_from_slice(b"\x7fELF\x02\x01\x01");
    header[18] = EM_X86_64.0 as u8;
    header
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    fn this_test() -> Vec<u8> {
        fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    #[test]
    fn a_program_of_this_machine_names_its_c_library() {
        let needs = needs(&this_test()).unwrap();
        assert!(needs.iter().any(|name| name.starts_with("libc.")), "{needs:?}");
    }

    #[test]
    fn what_is_never_loaded_is_left_out_and_the_rest_still_runs() {
        let whole = this_test();
        let short = loaded(&whole);
        assert!(short.len() < whole.len(), "tests have symbols");
        assert_eq!(needs(&short), needs(&whole));
        assert_eq!(loaded(&short), short);
        let folder = tempfile::tempdir().unwrap();
        let (text, program) = (folder.path().join("text"), folder.path().join("program"));
        fs::write(&text, short).unwrap();
        // Done by a separate process: a child forked here meanwhile would inherit the file open for writing,
        // and a file that is open for writing cannot be executed.
        let install = Command::new("install").arg("-m700").args([&text, &program]).status();
        assert!(install.unwrap().success());
        let output = Command::new(&program).arg("--list").output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("what_is_never_loaded"));
        assert_eq!(loaded(b"#!/bin/sh"), b"#!/bin/sh");
    }

    #[test]
    fn broken_files_are_answered() {
        let file = this_test();
        for length in (0..4096).step_by(7) {
            let _ = (needs(&file[..length]), loaded(&file[..length]));
        }
        let mut wild = file[..8192].to_vec();
        for at in (16..4096).step_by(5) {
            wild[at] ^= 0xff;
            let _ = (needs(&wild), loaded(&wild));
        }
        assert_eq!(needs(b"#!/bin/sh"), None);
    }
}
