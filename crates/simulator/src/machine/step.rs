//! The steps of a request's path through the machine.
//!
//! A program is a sequence of steps; every request of one host and one kind takes the same one. The
//! time of a step follows from the bytes that are sent, the packets that they fill and the headers
//! that are repeated with each segment, so a step is a few numbers and executing it needs no table and
//! no call.

use stormeter_disk::Kind;

use super::mix::mixed;

/// A step of a program. One cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Step {
    pub(crate) what: What,
    /// The component that the time is charged to.
    pub(crate) component: u32,
    /// The time at its station.
    pub(crate) takes: Takes,
    /// Time from the end of the step to the start of the next, without queueing. For a
    /// [`What::Credit`]: by how much its credits let a message run ahead. At most 4 seconds.
    pub(crate) latency_ns: u32,
}

/// The action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Waits for a server of a station and is served: a CPU.
    Serve(Pick),
    /// A message goes over a port or line: its head may be at the next one while its tail is here.
    Send(Pick),
    /// As `Send`, over a line in front of which only that much may wait: what finds more is lost and
    /// goes again.
    Queue {
        /// The line.
        station: u32,
        /// The most that may wait, as microseconds of the line.
        buffer_us: u32,
    },
    /// Waits until there are credits for its frames.
    Credit(Pick),
    /// The target requests the next bytes of a write: at most this many.
    Solicit(u32),
    /// Back to this step while there are bytes that were not requested.
    Again(u32),
    /// The storage with this number processes it.
    Store(u32),
    /// As `Store`, of the request's node: the number of the first node's storage.
    NodeStore(u32),
    /// Parts take their own paths, by the fork with this number; the request continues when the
    /// last one is back.
    Fork(u32),
    /// The request is complete.
    End,
}

/// How one of several stations is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    /// This one.
    One(u32),
    /// The next of `paths` paths, each of which uses one of `ports` stations from `first`. The
    /// counter is that of the first station.
    Rotate {
        /// The first of the ports.
        first: u32,
        /// Number of ports.
        ports: u16,
        /// Number of paths.
        paths: u16,
    },
    /// As `Rotate`, but only over paths that stand.
    Standing {
        /// The first of the ports.
        first: u32,
        /// Number of ports.
        ports: u16,
        /// Index of the set of working paths.
        set: u16,
    },
    /// The port of the path that this request took at its last rotation, so that an answer returns on
    /// the path of its request.
    Same {
        /// The first of the ports.
        first: u32,
        /// Number of ports.
        ports: u16,
    },
    /// As `Same`, of the request's node; `first` is the first node's first port.
    Node {
        /// The first port of the first node.
        first: u32,
        /// Number of ports per node.
        ports: u16,
    },
    /// The port of the flow with the request's node, by the sender's hash; another working one if
    /// this one is known to be down.
    Flow {
        /// The first of the ports.
        first: u32,
        /// Number of ports.
        ports: u16,
        /// Salt of the sender's hash, and the other end of the flow.
        salt: u16,
    },
    /// As `Flow`, of the request's node; `first` is the first node's first port.
    NodeFlow {
        /// The first port of the first node.
        first: u32,
        /// Number of ports per node.
        ports: u16,
        /// Salt of the sender's hash, and the other end of the flow.
        salt: u16,
    },
}

/// Working paths: a bit each, and the total number of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) paths: u16,
    pub(crate) up: u64,
}

/// The most paths that are distinguished.
pub(crate) const PATHS: u32 = 64;

/// The port that a path uses.
#[inline]
pub(crate) fn port_of(path: u16, ports: u16) -> u32 {
    // Usually there are as many ports as paths; a division is not free.
    u32::from(if path < ports { path } else { path % ports })
}

/// The station of a flow with a node, among `ports` from `first`: by a hash; ports that are known to
/// be down are left out.
#[inline]
pub(crate) fn of_flow(first: u32, (ports, salt): (u16, u16), node: u16, down: &[bool]) -> u32 {
    let ports = u32::from(ports.max(1));
    let chosen = mixed(u32::from(salt) << 16 | u32::from(node)) % ports;
    let all = (0..ports).map(|next| first + (chosen + next) % ports);
    let mut standing = all.filter(|&station| !down[station as usize]);
    standing.next().unwrap_or(first + chosen)
}

/// Time at a station, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Takes {
    /// The constant part.
    pub(crate) fixed_ns: f64,
    /// Per byte of payload.
    pub(crate) per_byte_ns: f32,
    /// Per packet of headers and payload.
    pub(crate) per_packet_ns: f32,
    /// Per segment of payload.
    pub(crate) per_segment_ns: f32,
    /// Per batch of packets, for a CPU that handles several at once.
    pub(crate) per_batch_ns: f32,
    /// Payload per segment (PDU); 0: no segments.
    pub(crate) segment_bytes: u32,
    /// For a [`What::Send`], until its first packet is on the next line.
    pub(crate) head_ns: u32,
    /// Headers in the packets of the payload, per segment.
    pub(crate) segment_header_bytes: u16,
    /// Headers in the packets of the payload, once.
    pub(crate) header_bytes: u16,
    /// Capacity of a packet; 0: packets do not count.
    pub(crate) packet_bytes: u16,
    /// The most packets of a batch. For a [`What::Send`] not 0: a port with moderated interrupts receives.
    pub(crate) batch_packets: u8,
}

impl Takes {
    /// The time for this many bytes of payload.
    #[inline]
    pub(crate) fn ns(&self, payload_bytes: u32) -> u64 {
        let mut ns = self.fixed_ns + f64::from(self.per_byte_ns) * f64::from(payload_bytes);
        if self.packet_bytes > 0 {
            let (segments, packets) = self.segments_and_packets(payload_bytes);
            ns += f64::from(self.per_segment_ns) * f64::from(segments);
            ns += f64::from(self.per_packet_ns) * f64::from(packets);
        }
        ns as u64
    }

    /// As [`Takes::ns`], for a CPU: with the batches of a message that took this many interrupts.
    #[inline]
    pub(crate) fn cpu_ns(&self, payload_bytes: u32, interrupts: u8) -> u64 {
        let ns = self.ns(payload_bytes);
        if self.per_batch_ns <= 0.0 {
            return ns;
        }
        let (_, packets) = self.segments_and_packets(payload_bytes);
        let full = packets.div_ceil(u32::from(self.batch_packets.max(1)));
        let batches = full.max(u32::from(interrupts)).min(packets.max(1));
        ns + (f64::from(self.per_batch_ns) * f64::from(batches)) as u64
    }

    /// Number of segments of the payload, and of packets with it and its headers.
    #[inline]
    fn segments_and_packets(&self, payload_bytes: u32) -> (u32, u32) {
        let mut bytes = u32::from(self.header_bytes) + payload_bytes;
        let mut segments = 0;
        if self.segment_bytes > 0 {
            segments = payload_bytes.div_ceil(self.segment_bytes);
            bytes += segments * u32::from(self.segment_header_bytes);
        }
        (segments, bytes.div_ceil(u32::from(self.packet_bytes)))
    }

    /// Whether it is always zero.
    pub(crate) fn is_nothing(&self) -> bool {
        let repeated = self.per_byte_ns.max(self.per_packet_ns).max(self.per_batch_ns);
        self.fixed_ns <= 0.0 && repeated <= 0.0
    }
}

/// The programs of a VM's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// First step of a read, and of one longer than `read_bytes`.
    pub(crate) read: [u32; 2],
    /// First step of a write, and of one longer than `write_bytes`.
    pub(crate) write: [u32; 2],
    /// First step of a flush.
    pub(crate) flush: u32,
    /// The most that a read moves at once.
    pub(crate) read_bytes: u32,
    /// The most that a write moves at once.
    pub(crate) write_bytes: u32,
    /// Whether every write is requested as a durable one.
    pub(crate) writes_durably: bool,
}

impl Route {
    /// What the storage is requested to do.
    #[inline]
    pub(crate) fn requested(&self, kind: Kind) -> Kind {
        match kind {
            Kind::Write if self.writes_durably => Kind::DurableWrite,
            Kind::Read | Kind::Write | Kind::DurableWrite | Kind::Flush => kind,
        }
    }

    /// Where a request starts, and how many of its bytes are sent first.
    #[inline]
    pub(crate) fn begin(&self, kind: Kind, length_bytes: u32) -> (u32, u32) {
        let (starts, at_once) = match kind {
            Kind::Read => (self.read, self.read_bytes),
            Kind::Write | Kind::DurableWrite => (self.write, self.write_bytes),
            Kind::Flush => return (self.flush, 0),
        };
        (starts[usize::from(length_bytes > at_once)], length_bytes.min(at_once))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_one_cache_line() {
        assert_eq!(size_of::<Step>(), 64);
    }

    #[test]
    fn batches_are_at_least_the_interrupts_and_at_most_the_packets() {
        let takes = Takes {
            fixed_ns: 100.0,
            per_packet_ns: 1.0,
            per_batch_ns: 1000.0,
            packet_bytes: 1448,
            header_bytes: 48,
            batch_packets: 4,
            ..Takes::default()
        };
        // 4144 bytes are three packets, 8240 are six.
        assert_eq!(takes.cpu_ns(4096, 1), 100 + 3 + 1000);
        assert_eq!(takes.cpu_ns(4096, 2), 100 + 3 + 2000);
        assert_eq!(takes.cpu_ns(4096, 200), 100 + 3 + 3000);
        assert_eq!(takes.cpu_ns(8192, 1), 100 + 6 + 2000);
        assert_eq!(takes.cpu_ns(8192, 3), 100 + 6 + 3000);
        assert_eq!(Takes { per_batch_ns: 0.0, ..takes }.cpu_ns(8192, 3), takes.ns(8192));
    }

    #[test]
    fn a_flow_keeps_its_port_until_that_is_known_to_be_down() {
        let mut down = vec![false; 8];
        let mut counts = [0; 3];
        for node in 0..300 {
            let port = of_flow(4, (3, 77), node, &down);
            assert_eq!(port, of_flow(4, (3, 77), node, &down));
            counts[port as usize - 4] += 1;
        }
        assert!(counts.iter().all(|count| (70..130).contains(count)), "{counts:?}");
        let before: Vec<u32> = (0..300).map(|node| of_flow(4, (3, 77), node, &down)).collect();
        down[5] = true;
        for (node, &before) in (0..300).zip(&before) {
            let port = of_flow(4, (3, 77), node, &down);
            assert!(port != 5 && (port == before || before == 5), "{before} {port}");
        }
        // If none works, it is as if all did.
        down.fill(true);
        assert_eq!(of_flow(4, (3, 77), 9, &down), before[9]);
    }
}
