//! Bytes written as in a dump: hexadecimal digits in groups of any size, `;` starts a remark up to
//! the end of the line, `"text"` for letters.

/// The bytes of a dump.
pub(crate) fn hex(dump: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in dump.lines() {
        let line = line.split(';').next().unwrap();
        for (index, part) in line.split('"').enumerate() {
            if index % 2 == 1 {
                bytes.extend_from_slice(part.as_bytes());
                continue;
            }
            let digits: Vec<u8> = part.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            for pair in digits.chunks(2) {
                let pair = std::str::from_utf8(pair).unwrap();
                bytes.push(u8::from_str_radix(pair, 16).unwrap());
            }
        }
    }
    bytes
}

/// `fattr3` of a file of 0x2000 bytes with id 77: 84 bytes.
pub(crate) const ATTRIBUTES: &str = "
    00000001 000001a4 00000001 000003e8 000003e9  ; regular, 0644, 1 link, uid 1000, gid 1001
    0000000000002000 0000000000003000             ; size, used
    00000008 00000001                             ; device 8:1
    00000000deadbeef 000000000000004d             ; file system, file number 77
    65000001 00000001 65000002 00000002 65000003 00000003
";

/// The header of a call: XID 0x11223344, the given program, version and procedure, AUTH_SYS of uid
/// 1000, gid 1001, group 4 on machine \"vm\".
pub(crate) fn call_head(program: u32, version: u32, procedure: u32) -> String {
    format!(
        "11223344 00000000 00000002 {program:08x} {version:08x} {procedure:08x}
         00000001 0000001c                            ; AUTH_SYS, 28 bytes
         00000000 00000002 \"vm\" 0000 000003e8 000003e9 00000001 00000004
         00000000 00000000                            ; no verifier
        "
    )
}

/// The header of a reply to XID 0x11223344 that was accepted and executed.
pub(crate) const REPLY_HEAD: &str = "11223344 00000001 00000000 00000000 00000000 00000000 ";
