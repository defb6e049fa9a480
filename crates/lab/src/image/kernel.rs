//! Extracts the kernel as an ELF file from the compressed image that a distribution ships.
//!
//! QEMU starts an ELF kernel at its PVH entry (xen/include/public/arch-x86/hvm/start_info.h), which
//! saves the guest the decompression, which takes seconds where instructions are emulated.
//!
//! Our own reader: it needs four fields of the boot header; unpacking is left to programs that every
//! distribution has.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::error::{LabError, tool};

/// Offsets in the boot protocol's header (Linux, Documentation/arch/x86/boot.rst): number of
/// 512-byte sectors of set-up code after the first, the signature, and the position of the payload
/// behind them.
const SETUP_SECTORS: usize = 0x1f1;
const SIGNATURE: usize = 0x202;
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;

/// The compressed kernel in an image.
fn payload(image: &[u8]) -> Option<&[u8]> {
    let word = |at: usize| {
        let bytes = image.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    if image.get(SIGNATURE..SIGNATURE + 4)? != b"HdrS" {
        return None;
    }
    // Zero means four, in very old kernels.
    let sectors = match *image.get(SETUP_SECTORS)? {
        0 => 4,
        sectors => usize::from(sectors),
    };
    let start = (sectors + 1) * 512 + word(PAYLOAD_OFFSET)?;
    // The last four bytes are the uncompressed size and not part of the compressed format.
    image.get(start..start.checked_add(word(PAYLOAD_LENGTH)?)?.checked_sub(4)?)
}

/// Magic bytes of the formats, and the program that unpacks each.
const FORMATS: [(&[u8], &str); 4] = [
    (b"\xfd7zXZ\0", "xz"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x02\x21\x4c\x18", "lz4"),
];

/// The ELF file in a bzImage.
///
/// # Errors
/// The file is not such an image, or the program that unpacks it is missing or fails.
pub(crate) fn elf_of(image: &[u8]) -> Result<Vec<u8>, LabError> {
    let payload = payload(image).ok_or(LabError::Kernel("it has no boot header"))?;
    if payload.starts_with(b"\x7fELF") {
        return Ok(payload.to_vec());
    }
    elf_in(payload)
}

/// The ELF file that was compressed: a kernel, or a module of a kernel since Debian 13.
///
/// # Errors
/// The compression is unknown, or the program that unpacks it is missing or fails.
pub(super) fn elf_in(compressed: &[u8]) -> Result<Vec<u8>, LabError> {
    let format = FORMATS.iter().find(|(magic, _)| compressed.starts_with(magic));
    let (_, program) = format.ok_or(LabError::Kernel("its compression is unknown"))?;
    let elf = unpacked(program, compressed)?;
    if elf.starts_with(b"\x7fELF") {
        Ok(elf)
    } else {
        Err(LabError::Kernel("what it holds is not an ELF file"))
    }
}

fn unpacked(program: &'static str, payload: &[u8]) -> Result<Vec<u8>, LabError> {
    let mut child = Command::new(program)
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|source| tool(program, source))?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // The program may stop reading early; the caller judges its output.
            stdin.map(|mut stdin| stdin.write_all(payload))
        });
        child.wait_with_output()
    });
    Ok(output.map_err(|source| tool(program, source))?.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image with one sector of set-up code and this payload.
    fn image(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 1024 + 16];
        image[SETUP_SECTORS] = 1;
        image[SIGNATURE..SIGNATURE + 4].copy_from_slice(b"HdrS");
        image[PAYLOAD_OFFSET..PAYLOAD_OFFSET + 4].copy_from_slice(&16u32.to_le_bytes());
        let length = payload.len() as u32 + 4;
        image[PAYLOAD_LENGTH..PAYLOAD_LENGTH + 4].copy_from_slice(&length.to_le_bytes());
        image.extend_from_slice(payload);
        image.extend_from_slice(&[9; 4]);
        image
    }

    #[test]
    fn the_payload_is_found_and_unpacked() {
        let elf = b"\x7fELF and more";
        assert_eq!(elf_of(&image(elf)).unwrap(), elf);
        let mut gzip = Command::new("gzip")
            .arg("-c")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        gzip.stdin.take().unwrap().write_all(elf).unwrap();
        let packed = gzip.wait_with_output().unwrap().stdout;
        assert_eq!(elf_of(&image(&packed)).unwrap(), elf);
    }

    #[test]
    fn what_is_no_kernel_is_refused_wherever_it_ends() {
        let whole = image(b"\x7fELF and more");
        // The last four bytes are ignored.
        for length in 0..whole.len() - 4 {
            assert!(elf_of(&whole[..length]).is_err(), "{length}");
        }
        assert!(elf_of(&image(b"something else")).is_err());
        let mut wild = whole;
        wild[PAYLOAD_OFFSET..PAYLOAD_OFFSET + 8].fill(0xff);
        assert!(elf_of(&wild).is_err());
    }
}
