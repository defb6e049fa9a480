//! What a program's file says of itself: what must be loaded with it, and how much of it is loaded
//! (ELF-64 object file format, version 1.5; System V ABI, chapter 5, "Dynamic Section").

/// Program headers (ELF-64, section 6).
const LOAD: u64 = 1;
const DYNAMIC: u64 = 2;
const INTERPRETER: u64 = 3;
/// Dynamic tags (ELF-64, section 8).
const NEEDED: u64 = 1;
const STRINGS: u64 = 5;
/// The machine of the header's field (System V ABI, AMD64 supplement).
const X86_64: u64 = 62;

/// A segment of a file.
#[derive(Debug, Clone, Copy)]
struct Segment {
    kind: u64,
    /// Its place in the file.
    at: usize,
    /// Its place in memory.
    memory: u64,
    /// Its length in the file.
    length: u64,
}

/// What a 64-bit ELF file for x86 wants to be loaded with it: its interpreter, by its path, and its
/// libraries, by their names. Nothing for what is no such file, or is broken.
pub(super) fn needs(file: &[u8]) -> Option<Vec<String>> {
    let text = |at: usize| -> Option<String> {
        let rest = file.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    };
    let segments = segments(file)?;
    let mut found = Vec::new();
    if let Some(interpreter) = segments.iter().find(|segment| segment.kind == INTERPRETER) {
        found.push(text(interpreter.at)?);
    }
    let Some(dynamic) = segments.iter().find(|segment| segment.kind == DYNAMIC) else {
        return Some(found);
    };
    let mut tags = Vec::new();
    for index in 0..(dynamic.length / 16) as usize {
        let at = dynamic.at.checked_add(index * 16)?;
        tags.push((number(file, at, 8)?, number(file, at.checked_add(8)?, 8)?));
    }
    let needed: Vec<u64> =
        tags.iter().filter(|(tag, _)| *tag == NEEDED).map(|(_, offset)| *offset).collect();
    if needed.is_empty() {
        return Some(found);
    }
    let address = tags.iter().find(|(tag, _)| *tag == STRINGS)?.1;
    let strings = segments.iter().find_map(|segment| {
        let Segment { kind, at, memory, length } = *segment;
        let inside = kind == LOAD && (memory..memory.saturating_add(length)).contains(&address);
        inside.then(|| at.saturating_add((address - memory) as usize))
    })?;
    for offset in needed {
        found.push(text(strings.checked_add(offset as usize)?)?);
    }
    Some(found)
}

/// The file without what is never loaded and lies behind the rest: symbols and what debuggers read, which a guest
/// would have to keep in its memory. The file itself where it is not understood.
pub(super) fn loaded(file: &[u8]) -> Vec<u8> {
    /// Fields of the header that say where the sections are, how many, and which has their names.
    const SECTIONS: std::ops::Range<usize> = 40..48;
    const SECTION_COUNTS: std::ops::Range<usize> = 60..64;
    let mut bytes = file.to_vec();
    let Some(segments) = segments(file) else { return bytes };
    let end =
        segments.iter().map(|segment| segment.at.saturating_add(segment.length as usize)).max();
    let headers = number(file, 32, 8).zip(number(file, 54, 2)).zip(number(file, 56, 2));
    if let (Some(end), Some(((start, size), count))) = (end, headers) {
        let end = end.max(start as usize + (size * count) as usize);
        if end < file.len() {
            bytes.truncate(end);
            bytes[SECTIONS].fill(0);
            bytes[SECTION_COUNTS].fill(0);
        }
    }
    bytes
}

fn segments(file: &[u8]) -> Option<Vec<Segment>> {
    if !file.starts_with(b"\x7fELF\x02\x01") || number(file, 18, 2)? != X86_64 {
        return None;
    }
    let (start, size) = (number(file, 32, 8)? as usize, number(file, 54, 2)? as usize);
    let mut segments = Vec::new();
    for index in 0..number(file, 56, 2)? as usize {
        let header = start.checked_add(index.checked_mul(size)?)?;
        let field = |at: usize, length| number(file, header.checked_add(at)?, length);
        segments.push(Segment {
            kind: field(0, 4)?,
            at: field(8, 8)? as usize,
            memory: field(16, 8)?,
            length: field(32, 8)?,
        });
    }
    Some(segments)
}

/// A number of so many bytes at a place in the file, the lowest first.
fn number(file: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = file.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The smallest file that asks for nothing: a header for this machine, without program headers.
#[cfg(test)]
pub(super) const STATIC: [u8; 64] = {
    let mut header = [0; 64];
    let mut at = 0;
    while at < 6 {
        header[at] = b"\x7fELF\x02\x01"[at];
        at += 1;
    }
    header[18] = X86_64 as u8;
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
        // By a process of its own: what is forked here meanwhile inherits whatever this one writes to, and what
        // anybody writes to cannot be started.
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
