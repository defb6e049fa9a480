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
