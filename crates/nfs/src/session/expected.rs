//! What the next received bytes are, so that a reply may arrive in any pieces.

use stormeter_wire::Span;

/// What the next bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inbound {
    /// A record's mark and the head of a reply.
    Head,
    /// Payload of a READ.
    Payload {
        xid: u32,
        /// Where the remaining payload belongs.
        span: Span,
        /// What follows in the record: padding.
        rest: u32,
        count: u32,
        end_of_file: bool,
    },
    /// Bytes to ignore.
    Skip { left: u32 },
    /// A record in several fragments.
    Assembling,
}

impl Inbound {
    /// `left` bytes to ignore, and then the next record.
    pub(super) fn skip(left: u32) -> Self {
        if left == 0 { Self::Head } else { Self::Skip { left } }
    }
}
