//! The interface between a controller and a device: accesses send their bytes over it one after
//! another.

/// The interface of a device.
#[derive(Debug, Default)]
pub(super) struct Interface {
    ns_per_byte: f64,
    free_ns: u64,
    busy_ns: u64,
}

impl Interface {
    /// Sets the time per byte from now on.
    pub(super) fn set_ns_per_byte(&mut self, ns_per_byte: f64) {
        self.ns_per_byte = ns_per_byte;
    }

    /// Sends bytes, not before `from_ns`; returns when they have been sent.
    #[inline]
    pub(super) fn send(&mut self, from_ns: u64, length_bytes: u32) -> u64 {
        let takes_ns = self.sending_ns(length_bytes);
        self.busy_ns += takes_ns;
        self.free_ns = self.free_ns.max(from_ns) + takes_ns;
        self.free_ns
    }

    /// Sends bytes that are available by now, the first of them since `first_ns`: they may have used
    /// free interface time since then. The last `last_bytes` have only just arrived. Returns when all
    /// have been sent.
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

    /// Time to send this many bytes.
    #[inline]
    pub(super) fn sending_ns(&self, length_bytes: u32) -> u64 {
        (f64::from(length_bytes) * self.ns_per_byte) as u64
    }

    /// How long it was busy until now; reservations for later do not count.
    pub(super) fn busy_until(&self, now_ns: u64) -> u64 {
        self.busy_ns.saturating_sub(self.free_ns.saturating_sub(now_ns))
    }
}
