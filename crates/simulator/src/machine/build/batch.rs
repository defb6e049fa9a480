//! Batches: packets of one message that a CPU handles at once.
//!
//! When sending, one pass through the stack makes a segment that the adapter cuts into packets (TSO; Linux,
//! Documentation/networking/segmentation-offloads). When receiving, packets that arrive in time for the same
//! interrupt are merged before they go up the stack (GRO, LRO), at most those of one message: its last packet
//! ends the batch (the PSH flag of RFC 9293, section 3.8.6.1, which Linux's GRO follows). How many interrupts
//! a message takes follows from the port, the lines and what else arrives.

use stormeter_site::{Adapter, Cost};

use super::wire::{Framing, Message};
use crate::machine::step::Takes;

/// Whether an adapter's interrupts are apart, and what arrives in between is handled at once.
pub(super) fn moderates(adapter: &Adapter) -> bool {
    adapter.coalescing.bytes > 0 && adapter.coalescing.moderation_ns >= 1.0
}

/// The most packets of a batch; 1: each is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Batch(u8);

impl Batch {
    /// Of what an adapter sends.
    pub(super) fn sent(by: &Adapter, framing: Framing) -> Self {
        Self(framing.packets_in(by.coalescing.bytes).clamp(1, u8::MAX.into()) as u8)
    }

    /// Of what an adapter receives.
    pub(super) fn received(by: &Adapter, framing: Framing) -> Self {
        if moderates(by) { Self::sent(by, framing) } else { Self(1) }
    }

    /// The CPU work of an end for a message's payload, packets and batches.
    pub(super) fn work(
        self,
        message: Message,
        framing: Framing,
        (cost, clock_hz): (&Cost, f64),
    ) -> Takes {
        let ns = |cycles: f64| cycles / clock_hz * 1e9;
        let Self(batch_packets) = self;
        // A message without payload is a packet, and a batch; so is each packet that is alone.
        let alone = batch_packets == 1 || !message.with_payload;
        let with_each = if alone { cost.per_batch_cycles } else { 0.0 };
        let mut takes = framing.per_packet(message, ns(cost.per_packet_cycles + with_each));
        if message.with_payload {
            takes.per_byte_ns = ns(cost.per_byte_cycles) as f32;
        }
        if !alone {
            takes.per_batch_ns = ns(cost.per_batch_cycles) as f32;
            takes.batch_packets = batch_packets;
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use stormeter_site::{Aggregation, Coalescing, PortKind};

    use super::*;

    fn adapter(mtu_bytes: u32, bytes: u32, moderation_ns: f64) -> Adapter {
        Adapter {
            name: "nic".into(),
            kind: PortKind::Ethernet { mtu_bytes },
            rate_bytes_per_s: 125e6,
            count: 1,
            aggregation: Aggregation::ActiveBackup,
            latency_ns: 0.0,
            coalescing: Coalescing { bytes, moderation_ns },
        }
    }

    fn framing(adapter: &Adapter) -> Framing {
        Framing::between(adapter.kind, adapter.kind)
    }

    #[test]
    fn a_batch_is_as_many_full_packets_as_its_bytes() {
        let sent = |adapter: Adapter| Batch::sent(&adapter, framing(&adapter));
        let received = |adapter: Adapter| Batch::received(&adapter, framing(&adapter));
        assert_eq!(sent(adapter(1500, 65536, 0.0)), Batch(43));
        assert_eq!(sent(adapter(9000, 65536, 0.0)), Batch(7));
        assert_eq!(sent(adapter(1500, 0, 50e3)), Batch(1));
        assert_eq!(sent(adapter(1500, 1000, 50e3)), Batch(1));
        assert_eq!(received(adapter(1500, 65536, 50e3)), Batch(43));
        // Without moderation an interrupt follows each packet.
        assert_eq!(received(adapter(1500, 65536, 0.0)), Batch(1));
    }

    #[test]
    fn a_packet_costs_the_cpu_whether_it_is_full_or_not() {
        let cost = Cost { per_packet_cycles: 1000.0, per_byte_cycles: 2.0, ..Cost::default() };
        let loaded = Message { segments: Some((8192, 48)), ..Message::loaded(0) };
        let work = |mtu_bytes, message, payload| {
            let framing = framing(&adapter(mtu_bytes, 0, 0.0));
            Batch(1).work(message, framing, (&cost, 1e9)).cpu_ns(payload, 9)
        };
        assert_eq!(work(1500, loaded, 4096), 3000 + 8192);
        assert_eq!(work(9000, loaded, 4096), 1000 + 8192);
        assert_eq!(work(1500, Message::bare(48), 4096), 1000);
    }

    #[test]
    fn batches_are_in_the_work_of_a_message() {
        let cost = Cost { per_packet_cycles: 500.0, per_batch_cycles: 4000.0, ..Cost::default() };
        let loaded = Message { segments: Some((8192, 48)), ..Message::loaded(0) };
        let framing = framing(&adapter(1500, 0, 0.0));
        let work = |most, message, payload, interrupts| {
            Batch(most).work(message, framing, (&cost, 1e9)).cpu_ns(payload, interrupts)
        };
        // 4144 bytes are three packets, 8240 are six.
        assert_eq!(work(43, loaded, 4096, 1), 3 * 500 + 4000);
        assert_eq!(work(43, loaded, 8192, 2), 6 * 500 + 2 * 4000);
        assert_eq!(work(3, loaded, 8192, 1), 6 * 500 + 2 * 4000);
        assert_eq!(work(43, Message::bare(48), 0, 1), 500 + 4000);
        // Each alone.
        assert_eq!(work(1, loaded, 8192, 1), 6 * 4500);
    }
}
