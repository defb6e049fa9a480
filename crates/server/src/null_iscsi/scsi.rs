//! The disk: executes SCSI commands and describes itself (SPC-4, SBC-3).

/// The length of a block in bytes.
pub(super) const BLOCK_BYTES: u32 = 512;
/// Number of blocks: 64 GiB.
const BLOCKS: u64 = (64 << 30) / BLOCK_BYTES as u64;
/// The longest recommended transfer, in blocks: 1 MiB. There is no other limit.
const OPTIMAL_BLOCKS: u32 = (1 << 20) / BLOCK_BYTES;

const VENDOR: &[u8; 8] = b"STORMETR";
const PRODUCT: &[u8; 16] = b"NULL DISK       ";
const REVISION: &[u8; 4] = b"1   ";
const SERIAL: &[u8; 16] = b"stormeter-null-0";

/// The disk's designation: locally assigned (SPC-4 section 7.8.6.6).
const NAA: [u8; 8] = [0x30, 0, 0, 0, 0x53, 0x54, 0x4d, 0x00];

/// The result of a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// This many bytes of zeros for the initiator.
    Read { bytes: u64 },
    /// This many bytes from the initiator.
    Write { bytes: u64 },
    /// Data for the initiator.
    Data(Vec<u8>),
    /// Success without data.
    Good,
    /// CHECK CONDITION with a sense key of ILLEGAL REQUEST and this code and qualifier.
    Illegal(u8, u8),
}

const INVALID_OPCODE: Outcome = Outcome::Illegal(0x20, 0);
const OUT_OF_RANGE: Outcome = Outcome::Illegal(0x21, 0);
const INVALID_FIELD: Outcome = Outcome::Illegal(0x24, 0);
const NO_SUCH_UNIT: Outcome = Outcome::Illegal(0x25, 0);

/// The sense data for an illegal request, fixed format (SPC-4 section 4.5.3), after its length
/// field.
pub(super) fn sense(code: u8, qualifier: u8) -> [u8; 20] {
    let mut sense = [0; 20];
    sense[1] = 18;
    sense[2] = 0x70;
    sense[4] = 0x05;
    sense[9] = 10;
    sense[14] = code;
    sense[15] = qualifier;
    sense
}

/// What the disk says about a cache of its own; in truth it keeps nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cache {
    /// There is none that could lose anything: flushes succeed, and FUA is supported.
    None,
    /// There is a volatile one, which cannot be flushed, nor written past.
    NeverFlushed,
}

/// Executes a command for the unit with this LUN field.
#[inline]
pub(super) fn execute(unit: [u8; 8], cache: Cache, command: &[u8; 16]) -> Outcome {
    let long = |at: usize| {
        u32::from_be_bytes([command[at], command[at + 1], command[at + 2], command[at + 3]])
    };
    let short = |at: usize| u16::from_be_bytes([command[at], command[at + 1]]);
    if unit != [0; 8] {
        return elsewhere(cache, command);
    }
    let (address, blocks) = match command[0] {
        0x28 | 0x2a => (u64::from(long(2)), u32::from(short(7))),
        0x88 | 0x8a => ((u64::from(long(2)) << 32) | u64::from(long(6)), long(10)),
        _ => return rare(cache, command),
    };
    if address.checked_add(u64::from(blocks)).is_none_or(|end| end > BLOCKS) {
        return OUT_OF_RANGE;
    }
    let bytes = u64::from(blocks) * u64::from(BLOCK_BYTES);
    match command[0] {
        0x28 | 0x88 => Outcome::Read { bytes },
        _ => Outcome::Write { bytes },
    }
}

#[cold]
fn rare(cache: Cache, command: &[u8; 16]) -> Outcome {
    let short = |at: usize| usize::from(u16::from_be_bytes([command[at], command[at + 1]]));
    let long = |at: usize| {
        u32::from_be_bytes([command[at], command[at + 1], command[at + 2], command[at + 3]])
            as usize
    };
    let (data, allowed) = match command[0] {
        // TEST UNIT READY, START STOP UNIT.
        0x00 | 0x1b => return Outcome::Good,
        // SYNCHRONIZE CACHE (10) and (16).
        0x35 | 0x91 if cache == Cache::None => return Outcome::Good,
        // REQUEST SENSE: there is nothing to report.
        0x03 => (no_sense(), usize::from(command[4])),
        0x12 => match inquiry(command) {
            Some(data) => (data, short(3)),
            None => return INVALID_FIELD,
        },
        // MODE SENSE.
        0x1a => match mode_pages(cache, command[2]) {
            Some(pages) => {
                let header = [(pages.len() + 3) as u8, 0, cache.device_specific(), 0];
                ([&header[..], &pages].concat(), usize::from(command[4]))
            }
            None => return INVALID_FIELD,
        },
        0x5a => match mode_pages(cache, command[2]) {
            Some(pages) => {
                let header = [0, (pages.len() + 6) as u8, 0, cache.device_specific(), 0, 0, 0, 0];
                ([&header[..], &pages].concat(), short(7))
            }
            None => return INVALID_FIELD,
        },
        // READ CAPACITY (10) and (16).
        0x25 => {
            let last = u32::try_from(BLOCKS - 1).unwrap_or(u32::MAX);
            ([last.to_be_bytes(), BLOCK_BYTES.to_be_bytes()].concat(), 8)
        }
        0x9e if command[1] & 0x1f == 0x10 => (long_capacity(), long(10)),
        0xa0 => (units(), long(6)),
        _ => return INVALID_OPCODE,
    };
    Outcome::Data(cut(data, allowed))
}

/// Answers for units that do not exist (SPC-4 section 5.8): only INQUIRY and REPORT LUNS succeed.
#[cold]
fn elsewhere(cache: Cache, command: &[u8; 16]) -> Outcome {
    let allowed = usize::from(u16::from_be_bytes([command[3], command[4]]));
    match command[0] {
        0x12 if command[1] & 1 == 0 => {
            let mut data = standard_inquiry();
            // No such peripheral, of no type.
            if let Some(first) = data.first_mut() {
                *first = 0x7f;
            }
            Outcome::Data(cut(data, allowed))
        }
        0xa0 => rare(cache, command),
        _ => NO_SUCH_UNIT,
    }
}

fn cut(mut data: Vec<u8>, allowed: usize) -> Vec<u8> {
    data.truncate(allowed);
    data
}

fn no_sense() -> Vec<u8> {
    let mut sense = vec![0; 18];
    sense[0] = 0x70;
    sense[7] = 10;
    sense
}

fn inquiry(command: &[u8; 16]) -> Option<Vec<u8>> {
    let page = command[2];
    if command[1] & 1 == 0 {
        return (page == 0).then(standard_inquiry);
    }
    let body = match page {
        // The supported pages.
        0x00 => vec![0x00, 0x80, 0x83, 0xb0],
        0x80 => SERIAL.to_vec(),
        // One designator: binary, of the unit, NAA, and its length.
        0x83 => [&[0x01, 0x03, 0, NAA.len() as u8][..], &NAA].concat(),
        0xb0 => block_limits(),
        _ => return None,
    };
    Some([&[0, page, 0, body.len() as u8][..], &body].concat())
}

/// A disk that conforms to SPC-4 and supports command queuing.
fn standard_inquiry() -> Vec<u8> {
    let head = [0, 0, 6, 2, 31, 0, 0, 2];
    [&head[..], VENDOR, PRODUCT, REVISION].concat()
}

fn block_limits() -> Vec<u8> {
    let mut body = vec![0; 60];
    // Granularity: 4 KiB.
    body[3] = 8;
    body[8..12].copy_from_slice(&OPTIMAL_BLOCKS.to_be_bytes());
    body
}

impl Cache {
    /// The device-specific parameter: DPOFUA (SBC-3 section 6.4.1), and nothing is write-protected.
    fn device_specific(self) -> u8 {
        if self == Cache::None { 0x10 } else { 0 }
    }
}

/// The caching page, with WCE (SBC-3 section 6.4.5).
fn mode_pages(cache: Cache, wanted: u8) -> Option<Vec<u8>> {
    let mut page = vec![0; 20];
    page[0] = 0x08;
    page[1] = 18;
    page[2] = if cache == Cache::None { 0 } else { 0x04 };
    matches!(wanted & 0x3f, 0x08 | 0x3f).then_some(page)
}

fn long_capacity() -> Vec<u8> {
    let mut data = vec![0; 32];
    data[..8].copy_from_slice(&(BLOCKS - 1).to_be_bytes());
    data[8..12].copy_from_slice(&BLOCK_BYTES.to_be_bytes());
    // A physical block has eight logical blocks.
    data[13] = 3;
    data
}

/// One unit, number 0.
fn units() -> Vec<u8> {
    let mut data = vec![0; 16];
    data[3] = 8;
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: [u8; 8] = [0; 8];
    const CACHE: Cache = Cache::None;

    fn command(bytes: &[u8]) -> [u8; 16] {
        let mut command = [0; 16];
        command[..bytes.len()].copy_from_slice(bytes);
        command
    }

    #[test]
    fn transfers_stay_on_the_disk() {
        let last = [0x28, 0, 0x07, 0xff, 0xff, 0xff, 0, 0, 1];
        assert_eq!(execute(UNIT, CACHE, &command(&last)), Outcome::Read { bytes: 512 });
        let beyond = [0x2a, 0, 0x07, 0xff, 0xff, 0xff, 0, 0, 2];
        assert_eq!(execute(UNIT, CACHE, &command(&beyond)), OUT_OF_RANGE);
        let overflow = [0x8a, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 1];
        assert_eq!(execute(UNIT, CACHE, &command(&overflow)), OUT_OF_RANGE);
        let long = [0x8a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0];
        assert_eq!(execute(UNIT, CACHE, &command(&long)), Outcome::Write { bytes: 32 << 20 });
    }

    #[test]
    fn answers_are_no_longer_than_allowed() {
        let Outcome::Data(data) = execute(UNIT, CACHE, &command(&[0x12, 0, 0, 0, 5])) else {
            panic!()
        };
        assert_eq!(data, [0, 0, 6, 2, 31]);
    }

    #[test]
    fn a_cache_that_cannot_be_flushed_says_so() {
        let mode = |cache| match execute(UNIT, cache, &command(&[0x1a, 0, 0x08, 0, 255])) {
            Outcome::Data(data) => (data[2], data[4 + 2]),
            other => panic!("{other:?}"),
        };
        assert_eq!((mode(Cache::None), mode(Cache::NeverFlushed)), ((0x10, 0), (0, 0x04)));
        for code in [0x35, 0x91] {
            assert_eq!(execute(UNIT, Cache::None, &command(&[code])), Outcome::Good);
            assert_eq!(execute(UNIT, Cache::NeverFlushed, &command(&[code])), INVALID_OPCODE);
        }
    }

    #[test]
    fn there_is_one_unit() {
        let other = [0, 1, 0, 0, 0, 0, 0, 0];
        assert_eq!(execute(other, CACHE, &command(&[0x00])), NO_SUCH_UNIT);
        let Outcome::Data(data) = execute(other, CACHE, &command(&[0x12, 0, 0, 0, 36])) else {
            panic!()
        };
        assert_eq!(data[0], 0x7f);
        assert_eq!(execute(UNIT, CACHE, &command(&[0x42])), INVALID_OPCODE);
    }
}
