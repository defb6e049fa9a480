//! The interrupts of a port that receives: how many of them a message takes.
//!
//! An adapter raises one at the first packet that finds it idle, and the next one not before some time has
//! passed (interrupt throttling, Intel 82575EB data sheet, EITR). Packets that arrive meanwhile wait for it.

/// The interrupts of one port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Interrupts {
    /// The least time between two.
    pub(crate) apart_ns: u64,
    /// Not before this time is there another one.
    next_ns: u64,
}

impl Interrupts {
    pub(crate) fn new(apart_ns: u64) -> Self {
        Self { apart_ns, next_ns: 0 }
    }

    /// The number of interrupts that a message takes whose first packet is here at `first_ns` and whose last
    /// one at `last_ns`. Other messages may be in them too.
    #[inline]
    pub(crate) fn of_message(&mut self, first_ns: u64, last_ns: u64) -> u8 {
        let apart_ns = self.apart_ns.max(1);
        let at_ns = first_ns.max(self.next_ns);
        let further = last_ns.saturating_sub(at_ns).div_ceil(apart_ns);
        self.next_ns = at_ns + (further + 1) * apart_ns;
        u8::try_from(further + 1).unwrap_or(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_packet_finds_an_idle_port_and_the_others_wait() {
        let mut port = Interrupts::new(50);
        // A single packet; then three, of which two wait; then six over more than 50.
        assert_eq!(port.of_message(100, 100), 1);
        assert_eq!(port.of_message(200, 225), 2);
        assert_eq!(port.of_message(1000, 1061), 3);
    }

    #[test]
    fn a_busy_port_has_one_interrupt_for_all_that_wait() {
        let mut port = Interrupts::new(50);
        assert_eq!(port.of_message(100, 100), 1);
        // The next one is at 150, and the one after it at 200.
        assert_eq!(port.of_message(110, 140), 1);
        assert_eq!(port.of_message(141, 200), 1);
        assert_eq!(port.of_message(201, 201), 1);
        assert_eq!(port.of_message(202, 251), 1);
        assert_eq!(port.of_message(260, 301), 1);
    }

    #[test]
    fn a_message_of_any_length_fits() {
        assert_eq!(Interrupts::new(10).of_message(0, 1 << 40), u8::MAX);
        assert_eq!(Interrupts::new(0).of_message(7, 7), 1);
    }
}
