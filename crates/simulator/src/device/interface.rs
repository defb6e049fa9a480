//! What is between a controller and a device: bytes go over it one access after the other.

/// The interface of a device at work.
#[derive(Debug, Default)]
pub(super) struct Interface {
    ns_per_byte: f64,
    free_ns: u64,
    busy_ns: u64,
}

impl Interface {
    /// So many nanoseconds a byte from now on.
    pub(super) fn set_ns_per_byte(&mut self, ns_per_byte: f64) {
        self.ns_per_byte = ns_per_byte;
    }

    /// Bytes go over it, not before `from_ns`; gives when they are over.
    #[inline]
    pub(super) fn send(&mut self, from_ns: u64, length_bytes: u32) -> u64 {
        let takes_ns = self.sending_ns(length_bytes);
        self.busy_ns += takes_ns;
        self.free_ns = self.free_ns.max(from_ns) + takes_ns;
        self.free_ns
    }

    /// Bytes that are there by now go over it, the first of them since `first_ns`: what they found of
    /// its time since then, they have used. The last of them are that many and came just now. Gives
    /// when all are over.
    #[inline]
    pub(super) fn pass_on(
        &mut self,
        (first_ns, now_ns): (u64, u64),
        length_bytes: u32,
        last_bytes: u32,
    ) -> u64 {
        let takes_ns = self.sending_ns(length_bytes);
        self.busy_ns += takes_ns;
        let sent_ns = self.free_ns.max(first_ns) + takes_ns;
        self.free_ns = sent_ns.max(now_ns + self.sending_ns(last_bytes));
        self.free_ns
    }

    /// What so many bytes take.
    #[inline]
    pub(super) fn sending_ns(&self, length_bytes: u32) -> u64 {
        (f64::from(length_bytes) * self.ns_per_byte) as u64
    }

    /// How long it was busy until now; what was promised for later is not.
    pub(super) fn busy_until(&self, now_ns: u64) -> u64 {
        self.busy_ns.saturating_sub(self.free_ns.saturating_sub(now_ns))
    }
}
