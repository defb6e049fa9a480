//! The numbers of a session (RFC 7143 §4.2.2): CmdSN and the target's window for it, StatSN.

use super::error::Error;
use crate::serial::{before, not_after};

/// The current numbers of a session.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sequence {
    /// Number of the next command.
    pub(super) cmd_sn: u32,
    /// Number of the next answer.
    pub(super) exp_stat_sn: u32,
    exp_cmd_sn: u32,
    max_cmd_sn: u32,
}

impl Sequence {
    /// The numbers after a login.
    pub(super) fn begin(cmd_sn: u32, exp_stat_sn: u32, exp_cmd_sn: u32, max_cmd_sn: u32) -> Self {
        // Closed until the target opens it, should its first values be invalid.
        let closed = cmd_sn.wrapping_sub(1);
        let mut sequence = Self { cmd_sn, exp_stat_sn, exp_cmd_sn: cmd_sn, max_cmd_sn: closed };
        sequence.update(exp_cmd_sn, max_cmd_sn);
        sequence
    }

    /// Whether the target accepts one more command.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        not_after(self.cmd_sn, self.max_cmd_sn)
    }

    /// Takes a number for a command.
    #[inline]
    pub(super) fn take(&mut self) -> u32 {
        let taken = self.cmd_sn;
        self.cmd_sn = taken.wrapping_add(1);
        taken
    }

    /// Applies the target's window. Values from an older answer are ignored (RFC 7143 §4.2.2.1).
    #[inline]
    pub(super) fn update(&mut self, exp_cmd_sn: u32, max_cmd_sn: u32) {
        if before(max_cmd_sn, exp_cmd_sn.wrapping_sub(1)) {
            return;
        }
        if before(self.exp_cmd_sn, exp_cmd_sn) {
            self.exp_cmd_sn = exp_cmd_sn;
        }
        if before(self.max_cmd_sn, max_cmd_sn) {
            self.max_cmd_sn = max_cmd_sn;
        }
    }

    /// Checks an answer's StatSN: `false` if it was received before.
    ///
    /// # Errors
    /// A gap.
    #[inline]
    pub(super) fn status(&mut self, stat_sn: u32) -> Result<bool, Error> {
        if stat_sn == self.exp_stat_sn {
            self.exp_stat_sn = stat_sn.wrapping_add(1);
            return Ok(true);
        }
        if before(stat_sn, self.exp_stat_sn) {
            return Ok(false);
        }
        Err(Error::StatusLost { found: stat_sn, expected: self.exp_stat_sn })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_opens_and_only_opens() {
        let mut sequence = Sequence::begin(u32::MAX, 5, u32::MAX, u32::MAX);
        assert!(sequence.is_open());
        assert_eq!(sequence.take(), u32::MAX);
        assert!(!sequence.is_open());
        sequence.update(0, 1);
        assert_eq!((sequence.take(), sequence.take()), (0, 1));
        assert!(!sequence.is_open());
        // An answer that was sent before the last one.
        sequence.update(0, 0);
        // An invalid window.
        sequence.update(10, 5);
        assert!(!sequence.is_open());
        sequence.update(2, 1);
        assert!(!sequence.is_open());
        sequence.update(2, 2);
        assert!(sequence.is_open());
    }

    #[test]
    fn a_gap_in_answers_is_an_error_and_a_repetition_is_not() {
        let mut sequence = Sequence::begin(1, u32::MAX, 1, 1);
        assert_eq!(sequence.status(u32::MAX), Ok(true));
        assert_eq!(sequence.status(u32::MAX), Ok(false));
        assert_eq!(sequence.status(1), Err(Error::StatusLost { found: 1, expected: 0 }));
        assert_eq!(sequence.status(0), Ok(true));
    }
}
