//! Logical unit numbers (SAM-5 §4.7): eight bytes, of which disks use the first two.

/// A logical unit number in wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Lun(pub u64);

impl Lun {
    /// The LUN for a number as people write it: peripheral addressing below 256, flat addressing up
    /// to 16383; `None` beyond.
    pub fn of_number(number: u32) -> Option<Self> {
        match number {
            0..=0xff => Some(Self(u64::from(number) << 48)),
            0x100..=0x3fff => Some(Self(u64::from(0x4000 | number) << 48)),
            _ => None,
        }
    }

    /// The number as people write it, if it has one.
    pub fn number(self) -> Option<u32> {
        let first = (self.0 >> 48) as u32;
        let single = self.0 << 16 == 0;
        match first >> 14 {
            0 if single && first < 0x100 => Some(first),
            1 if single => Some(first & 0x3fff),
            _ => None,
        }
    }
}

impl std::fmt::Display for Lun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.number() {
            Some(number) => write!(f, "{number}"),
            None => write!(f, "{:#018x}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_there_and_back() {
        for number in [0, 1, 255, 256, 16_383] {
            assert_eq!(Lun::of_number(number).unwrap().number(), Some(number));
        }
        assert_eq!(Lun::of_number(16_384), None);
        assert_eq!(Lun::of_number(1), Some(Lun(0x0001_0000_0000_0000)));
        assert_eq!(Lun::of_number(256), Some(Lun(0x4100_0000_0000_0000)));
        assert_eq!(Lun(0x0001_0001_0000_0000).number(), None);
    }
}
