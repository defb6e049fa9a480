//! The initiator's part of a session identifier (RFC 7143 §11.12.5).

/// Six bytes that, together with the initiator's name and the target's portal group, identify a
/// session. A login with the same value replaces what is left of the previous session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isid(pub [u8; 6]);

impl Isid {
    /// An ISID of the type "random": 24 bits of `random`, and `qualifier` to distinguish the
    /// sessions of one program.
    pub fn random(random: u64, qualifier: u16) -> Self {
        let [a, b, c, ..] = random.to_be_bytes();
        let [high, low] = qualifier.to_be_bytes();
        Self([0x80, a, b, c, high, low])
    }
}

impl std::fmt::Display for Isid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
