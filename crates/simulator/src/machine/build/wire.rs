//! A message on a wire: headers, packets and bytes, and the time they take.

use stormeter_site::PortKind;

use crate::machine::step::Takes;

/// Ethernet: preamble and start 8, header 14, checksum 4, gap 12 (IEEE 802.3-2018, sections 3.1.1 and
/// 4.4.2); IPv4 20 (RFC 791, section 3.1), TCP 20 (RFC 9293, section 3.1) and its timestamps 12 with
/// padding (RFC 7323, section 3.2 and appendix A).
const ETHERNET_PER_PACKET_BYTES: u32 = 8 + 14 + 4 + 12 + TCP_HEADERS_BYTES;
/// The part of an MTU that is not payload: IPv4, TCP, timestamps.
const TCP_HEADERS_BYTES: u32 = 20 + 20 + 12;
/// Fibre Channel: start 4, header 24, checksum 4, end 4, six idle words between frames (FC-FS-3,
/// sections 9 and 11).
const FC_PER_FRAME_BYTES: u32 = 4 + 24 + 4 + 4 + 24;
/// The most payload per frame (FC-FS-3, section 11).
const FC_FRAME_BYTES: u32 = 2112;

/// A message, without the link's own headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// Headers that are sent once.
    pub(super) header_bytes: u32,
    /// Whether payload goes with it.
    pub(super) with_payload: bool,
    /// Payload per PDU and the header of each.
    pub(super) segments: Option<(u32, u32)>,
    /// A separate unit that follows: the response after Fibre Channel's data.
    pub(super) behind_bytes: Option<u32>,
}

impl Message {
    /// Without payload.
    pub(super) fn bare(header_bytes: u32) -> Self {
        Self { header_bytes, ..Self::default() }
    }

    /// With payload after a header.
    pub(super) fn loaded(header_bytes: u32) -> Self {
        Self { header_bytes, with_payload: true, ..Self::default() }
    }
}

/// How messages are split into packets or frames between two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Framing {
    /// Capacity of one packet.
    pub(super) packet_bytes: u32,
    /// Overhead of one packet.
    each_bytes: u32,
}

impl Framing {
    /// Between two ports. If their MTUs differ, as a client's may, TCP segments fit the smaller one
    /// (RFC 9293, section 3.7.1).
    pub(super) fn between(one: PortKind, other: PortKind) -> Self {
        let mtu = |kind| match kind {
            PortKind::Ethernet { mtu_bytes } => Some(mtu_bytes),
            PortKind::FibreChannel { .. } => None,
        };
        match (mtu(one), mtu(other)) {
            (Some(one), other) => Self {
                packet_bytes: one
                    .min(other.unwrap_or(one))
                    .saturating_sub(TCP_HEADERS_BYTES)
                    .clamp(64, 65535),
                each_bytes: ETHERNET_PER_PACKET_BYTES,
            },
            (None, _) => Self { packet_bytes: FC_FRAME_BYTES, each_bytes: FC_PER_FRAME_BYTES },
        }
    }

    /// Packets of a message without payload.
    fn packets(self, message: Message) -> u32 {
        message.header_bytes.div_ceil(self.packet_bytes).max(1)
    }

    /// The time of a full packet with its overhead, at this line rate.
    pub(super) fn full_packet_ns(self, rate_bytes_per_s: f64) -> f64 {
        f64::from(self.packet_bytes + self.each_bytes) / rate_bytes_per_s * 1e9
    }

    /// The time of a message on a port or line with this rate; `label_bytes` are added to each
    /// packet.
    ///
    /// TCP's own acknowledgements are left out: they travel against the stream, one per two
    /// packets, on lines that carry little in that direction.
    pub(super) fn takes(self, message: Message, rate_bytes_per_s: f64, label_bytes: u32) -> Takes {
        let byte_ns = 1e9 / rate_bytes_per_s;
        let each = self.each_bytes + label_bytes;
        let ns = |bytes: u32| f64::from(bytes) * byte_ns;
        let mut fixed_bytes = message.header_bytes;
        if let Some(bytes) = message.behind_bytes {
            fixed_bytes += bytes + each;
        }
        if !message.with_payload {
            fixed_bytes += self.packets(message) * each;
            let head_bytes = message.header_bytes.min(self.packet_bytes) + each;
            return Takes {
                fixed_ns: ns(fixed_bytes),
                head_ns: ns(head_bytes) as u32,
                ..Takes::default()
            };
        }
        Takes {
            fixed_ns: ns(fixed_bytes),
            per_byte_ns: byte_ns as f32,
            head_ns: ns(self.packet_bytes + each) as u32,
            ..self.counted(message, ns(each), ns(message.segments.map_or(0, |(_, bytes)| bytes)))
        }
    }

    /// The time of its packets if each takes this long: for frame credits, and for CPUs.
    pub(super) fn per_packet(self, message: Message, packet_ns: f64) -> Takes {
        let alone = f64::from(u32::from(message.behind_bytes.is_some()));
        match message.with_payload {
            true => Takes { fixed_ns: alone * packet_ns, ..self.counted(message, packet_ns, 0.0) },
            false => {
                let packets = f64::from(self.packets(message));
                Takes { fixed_ns: (packets + alone) * packet_ns, ..Takes::default() }
            }
        }
    }

    /// Full packets, with TCP/IP headers, in this many bytes.
    pub(super) fn packets_in(self, bytes: u32) -> u32 {
        bytes / (self.packet_bytes + TCP_HEADERS_BYTES)
    }

    /// The part that depends on the number of packets and segments of the payload.
    fn counted(self, message: Message, packet_ns: f64, segment_ns: f64) -> Takes {
        let (segment_bytes, segment_header_bytes) = message.segments.unwrap_or((0, 0));
        Takes {
            per_packet_ns: packet_ns as f32,
            per_segment_ns: segment_ns as f32,
            packet_bytes: self.packet_bytes as u16,
            header_bytes: message.header_bytes as u16,
            segment_bytes,
            segment_header_bytes: segment_header_bytes as u16,
            ..Takes::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANDARD: PortKind = PortKind::Ethernet { mtu_bytes: 1500 };
    const JUMBO: PortKind = PortKind::Ethernet { mtu_bytes: 9000 };
    const FC: PortKind = PortKind::FibreChannel { credits: 16 };

    /// At 1e9 bytes a second a byte takes a nanosecond, so times are bytes on the wire.
    fn bytes(framing: Framing, message: Message, payload: u32, labels: u32) -> u64 {
        framing.takes(message, 1e9, labels).ns(payload)
    }

    #[test]
    fn bytes_on_the_wire_are_those_counted_by_hand() {
        let standard = Framing::between(STANDARD, STANDARD);
        let loaded = Message { segments: Some((8192, 48)), ..Message::loaded(0) };
        // 4096 + 48 = 4144 bytes in packets of 1448: three, each with 38 + 52 around.
        assert_eq!(bytes(standard, loaded, 4096, 0), 4144 + 3 * 90);
        // Three PDUs for 20000 bytes: 20144 bytes, 14 packets.
        assert_eq!(bytes(standard, loaded, 20000, 0), 20144 + 14 * 90);
        assert_eq!(bytes(standard, Message::bare(48), 4096, 0), 48 + 90);
        // Two labels of MPLS, 4 bytes each, on each packet.
        assert_eq!(bytes(standard, loaded, 4096, 8), 4144 + 3 * 98);
        let jumbo = Framing::between(JUMBO, JUMBO);
        assert_eq!(bytes(jumbo, loaded, 4096, 0), 4144 + 90);
        // The smaller MTU counts.
        assert_eq!(Framing::between(JUMBO, STANDARD), standard);
        // 4096 bytes are two frames; the response is a separate one.
        let fc = Framing::between(FC, FC);
        let data = Message { behind_bytes: Some(24), ..Message::loaded(0) };
        assert_eq!(bytes(fc, data, 4096, 0), 4096 + 2 * 60 + 24 + 60);
        assert_eq!(bytes(fc, Message::bare(32), 4096, 0), 32 + 60);
    }
}
