//! The way of a request through the machine, step by step.
//!
//! A route is a run of steps; every request of one VM and one kind goes the same way. What a step
//! takes is affine in the request's size and its packets, so a step is a few numbers and carrying it
//! out needs no table and no call.

/// A step of a route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) what: What,
    /// Whose time it is.
    pub(crate) component: u32,
    /// What it takes at its station.
    pub(crate) takes: Takes,
    /// From the end of the step to the begin of the next, without queueing.
    pub(crate) latency_ns: u64,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Waits for a server of a station and is served: a CPU.
    Serve(Pick),
    /// A message goes over a port or line: its head may be at the next one while its tail is here.
    Send(Pick),
    /// The storage with this number has it until it is done.
    Store(u32),
    /// Parts go their own ways; the request goes on when the last is back.
    Fork,
    /// The request is done.
    End,
}

/// Which station of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    /// This one.
    One(u32),
    /// Of `count` from `first`, one after the other. The counter is that of the step's first station.
    Rotate {
        /// The first of them.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Of `count` from `first`, the one that this request took at its last rotation, so that an
    /// answer comes back on the path of its request.
    Same {
        /// The first of them.
        first: u32,
    },
}

/// Time at a station, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Takes {
    /// Always.
    pub(crate) fixed_ns: f64,
    /// Of each byte of payload.
    pub(crate) per_byte_ns: f64,
    /// Of each packet of payload.
    pub(crate) per_packet_ns: f64,
    /// Payload of a packet; 0: packets do not count.
    pub(crate) packet_bytes: u32,
    /// Of a [`What::Send`], until its first packet is on the next line.
    pub(crate) head_ns: u64,
}

impl Takes {
    /// For a request of so many bytes.
    #[inline]
    pub(crate) fn ns(&self, length_bytes: u32) -> u64 {
        let mut ns = self.fixed_ns + self.per_byte_ns * f64::from(length_bytes);
        if self.packet_bytes > 0 {
            ns += self.per_packet_ns * f64::from(length_bytes.div_ceil(self.packet_bytes));
        }
        ns as u64
    }
}

/// The ways of a VM's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// First step of a read.
    pub(crate) read: u32,
    /// First step of a write.
    pub(crate) write: u32,
}
