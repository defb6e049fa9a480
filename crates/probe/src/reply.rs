//! The answer to a request or to a payload: a code and a number, in 16 bytes.

pub(crate) const REPLY_BYTES: usize = 16;

/// The answer to a request or to a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) code: u8,
    pub(crate) value: u64,
}

impl Reply {
    pub(crate) fn done(value: u64) -> Self {
        Self { code: 0, value }
    }

    pub(crate) fn to_bytes(self) -> [u8; REPLY_BYTES] {
        let [v0, v1, v2, v3, v4, v5, v6, v7] = self.value.to_be_bytes();
        [self.code, 0, 0, 0, 0, 0, 0, 0, v0, v1, v2, v3, v4, v5, v6, v7]
    }

    pub(crate) fn from_bytes(bytes: [u8; REPLY_BYTES]) -> Self {
        let [code, _, _, _, _, _, _, _, v0, v1, v2, v3, v4, v5, v6, v7] = bytes;
        Self { code, value: u64::from_be_bytes([v0, v1, v2, v3, v4, v5, v6, v7]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_read_back() {
        let reply = Reply { code: 4, value: 0x0102_0304_0506_0708 };
        assert_eq!(Reply::from_bytes(reply.to_bytes()), reply);
    }
}
