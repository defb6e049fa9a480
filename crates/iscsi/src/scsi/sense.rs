//! Sense data (SPC-4 §4.5): why a command failed, in words, as an `errno`, and what to do about it.

use stormeter_disk::DeviceError;

use crate::bytes::byte;

/// Sense key, additional sense code and its qualifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sense {
    /// Sense key, 0 to 15.
    pub key: u8,
    /// Additional sense code.
    pub asc: u8,
    /// Additional sense code qualifier.
    pub ascq: u8,
}

/// What to do with a command that ended with sense data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// The command was executed after all.
    Done,
    /// Send it again at once: the condition concerned the unit, not the command.
    Again,
    /// Send it again after a while.
    Later,
    /// The command failed.
    Fail,
}

const EPERM: DeviceError = DeviceError(1);
const ENXIO: DeviceError = DeviceError(6);
const EINVAL: DeviceError = DeviceError(22);
const EROFS: DeviceError = DeviceError(30);
const EOPNOTSUPP: DeviceError = DeviceError(95);
const ENOMEDIUM: DeviceError = DeviceError(123);
const EILSEQ: DeviceError = DeviceError(84);

impl Sense {
    /// Parses fixed (70h, 71h) or descriptor format (72h, 73h).
    pub fn parse(data: &[u8]) -> Option<Self> {
        match byte(data, 0)? & 0x7f {
            // Short sense data may end before the additional codes (SPC-4 §4.5.3).
            0x70 | 0x71 => Some(Self {
                key: byte(data, 2)? & 0x0f,
                asc: byte(data, 12).unwrap_or(0),
                ascq: byte(data, 13).unwrap_or(0),
            }),
            0x72 | 0x73 => Some(Self {
                key: byte(data, 1)? & 0x0f,
                asc: byte(data, 2).unwrap_or(0),
                ascq: byte(data, 3).unwrap_or(0),
            }),
            _ => None,
        }
    }

    /// What to do with the command.
    pub fn advice(&self) -> Advice {
        match (self.key, self.asc, self.ascq) {
            // RECOVERED ERROR.
            (0x1, ..) => Advice::Done,
            // Becoming ready, or temporarily busy (14h: allocating space, SBC-3 §4.7.3.6).
            (0x2, 0x04, 0x01 | 0x04 | 0x07..=0x09 | 0x0a | 0x14) => Advice::Later,
            (0x6 | 0xb, ..) => Advice::Again,
            _ => Advice::Fail,
        }
    }

    /// Whether it reports that the unit was switched on or reset (ASC 29h), which may have emptied
    /// a volatile cache. Changed transceivers (05h, 06h) and a lost nexus (07h) do not.
    pub fn is_reset(&self) -> bool {
        (self.key, self.asc) == (0x6, 0x29) && self.ascq <= 0x04
    }

    /// ILLEGAL REQUEST for the command's operation code: the unit does not know it.
    pub fn is_unknown_command(&self) -> bool {
        (self.key, self.asc) == (0x5, 0x20)
    }

    /// ILLEGAL REQUEST for a field of the command: the unit does not take it in this form.
    pub fn is_invalid_field(&self) -> bool {
        (self.key, self.asc) == (0x5, 0x24)
    }

    /// ILLEGAL REQUEST for what kind of command it is, its fields or its range.
    pub fn is_refusal(&self) -> bool {
        self.key == 0x5 && matches!(self.asc, 0x20 | 0x21 | 0x24)
    }

    /// The closest error of the operating system.
    pub fn errno(&self) -> DeviceError {
        match (self.key, self.asc, self.ascq) {
            // A thin unit is out of space: hard or soft threshold (SBC-3 §4.7.3.7), whatever the
            // key.
            (_, 0x27, 0x07) | (0xd, ..) => DeviceError::NO_SPACE,
            (0x2, 0x3a, _) => ENOMEDIUM,
            (0x2 | 0x5, 0x25, _) => ENXIO,
            (0x2, ..) => DeviceError::IO,
            (0x5, 0x20, _) => EOPNOTSUPP,
            (0x5, 0x27, _) | (0x7, 0x27, _) => EROFS,
            (0x7, ..) => EPERM,
            (0x5, ..) => EINVAL,
            (0x3 | 0xb, 0x10, _) => EILSEQ,
            _ => DeviceError::IO,
        }
    }

    /// The sense key in words.
    fn key_words(&self) -> &'static str {
        match self.key {
            0x0 => "no sense",
            0x1 => "recovered error",
            0x2 => "not ready",
            0x3 => "medium error",
            0x4 => "hardware error",
            0x5 => "illegal request",
            0x6 => "unit attention",
            0x7 => "data protect",
            0x8 => "blank check",
            0xa => "copy aborted",
            0xb => "aborted command",
            0xd => "volume overflow",
            0xe => "miscompare",
            _ => "unknown sense key",
        }
    }

    /// The additional codes in words, for the common ones.
    fn code_words(&self) -> Option<&'static str> {
        Some(match (self.asc, self.ascq) {
            (0x03, _) => "write fault",
            (0x04, 0x00) => "cause not reportable",
            (0x04, 0x01) => "becoming ready",
            (0x04, 0x02) => "start command needed",
            (0x04, 0x03) => "manual intervention needed",
            (0x04, 0x04) => "format in progress",
            (0x04, 0x0a) => "asymmetric access in transition",
            (0x04, 0x0b) => "port in standby",
            (0x04, 0x0c) => "port unavailable",
            (0x04, 0x14) => "space allocation in progress",
            (0x04, _) => "not ready",
            (0x08, _) => "communication failure",
            (0x0c, _) => "write error",
            (0x10, _) => "protection information error",
            (0x11, _) => "unrecovered read error",
            (0x1a, _) => "parameter list length error",
            (0x20, _) => "command not supported",
            (0x21, _) => "block address out of range",
            (0x24, _) => "invalid field in the command",
            (0x25, _) => "logical unit not supported",
            (0x26, _) => "invalid field in the parameter list",
            (0x27, 0x07) => "space allocation failed: the thin unit's pool is full",
            (0x27, _) => "write protected",
            (0x28, _) => "medium may have changed",
            (0x29, _) => "power on, reset or bus reset",
            (0x2a, 0x09) => "capacity has changed",
            (0x2a, _) => "parameters changed",
            (0x2f, _) => "commands cleared by another initiator",
            (0x38, 0x07) => "thin provisioning soft threshold reached",
            (0x3a, _) => "no medium",
            (0x3e, 0x01) => "logical unit failure",
            (0x3f, 0x0e) => "the list of logical units changed",
            (0x3f, _) => "operating conditions changed",
            (0x44, _) => "internal target failure",
            (0x47, _) => "transfer parity error",
            (0x4b, _) => "data phase error",
            (0x55, _) => "system resource failure",
            (0x5d, _) => "failure prediction",
            _ => return None,
        })
    }
}

impl std::fmt::Display for Sense {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key_words())?;
        if let Some(words) = self.code_words() {
            write!(f, ", {words}")?;
        }
        write!(f, " ({:02x}/{:02x}/{:02x})", self.key, self.asc, self.ascq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_give_the_same() {
        let fixed = [0xf0, 0, 3, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x11, 0x04, 0, 0, 0, 0];
        let descriptor = [0x72, 3, 0x11, 0x04, 0, 0, 0, 0];
        let expected = Some(Sense { key: 3, asc: 0x11, ascq: 4 });
        assert_eq!(Sense::parse(&fixed), expected);
        assert_eq!(Sense::parse(&descriptor), expected);
        assert_eq!(Sense::parse(&fixed[..8]), Some(Sense { key: 3, asc: 0, ascq: 0 }));
        for data in [&[][..], &[0x70, 0], &[0x72], &[0x60, 0, 3], &[0x7f; 18]] {
            assert_eq!(Sense::parse(data), None);
        }
    }

    #[test]
    fn each_kind_of_failure_has_its_errno_and_advice() {
        let of = |key, asc, ascq| Sense { key, asc, ascq };
        for (sense, errno, advice) in [
            (of(3, 0x11, 0), 5, Advice::Fail),
            (of(4, 0x44, 0), 5, Advice::Fail),
            (of(7, 0x27, 0), 30, Advice::Fail),
            (of(7, 0x20, 2), 1, Advice::Fail),
            (of(7, 0x27, 7), 28, Advice::Fail),
            (of(5, 0x21, 0), 22, Advice::Fail),
            (of(5, 0x20, 0), 95, Advice::Fail),
            (of(5, 0x25, 0), 6, Advice::Fail),
            (of(2, 0x3a, 0), 123, Advice::Fail),
            (of(2, 0x04, 3), 5, Advice::Fail),
            (of(2, 0x04, 1), 5, Advice::Later),
            (of(6, 0x29, 0), 5, Advice::Again),
            (of(0xb, 0x47, 0), 5, Advice::Again),
            (of(1, 0x17, 0), 5, Advice::Done),
        ] {
            assert_eq!((sense.errno().0, sense.advice()), (errno, advice), "{sense}");
        }
    }

    #[test]
    fn only_what_may_empty_a_cache_is_a_reset() {
        let of = |key, asc, ascq| Sense { key, asc, ascq }.is_reset();
        assert!(of(6, 0x29, 0) && of(6, 0x29, 1) && of(6, 0x29, 4));
        assert!(!of(6, 0x29, 7) && !of(6, 0x2a, 0) && !of(0xb, 0x29, 0));
    }

    #[test]
    fn it_reads_as_a_sentence() {
        assert_eq!(
            Sense { key: 6, asc: 0x29, ascq: 0 }.to_string(),
            "unit attention, power on, reset or bus reset (06/29/00)"
        );
        assert_eq!(Sense { key: 4, asc: 0xee, ascq: 1 }.to_string(), "hardware error (04/ee/01)");
    }
}
