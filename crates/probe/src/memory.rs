//! Memory that receives payloads.
//!
//! A window of fixed size that is reused cyclically: large enough that received data leaves most
//! second-level caches, and never enlarged because of a claimed length.

/// The most bytes that are returned at once.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;

/// The size of the window.
pub(crate) const WINDOW_BYTES: usize = 4 << 20;

/// The memory of one connection.
pub(crate) struct Memory {
    window: Vec<u8>,
    at: usize,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self { window: vec![0; WINDOW_BYTES], at: 0 }
    }

    /// The next part, no longer than requested and no longer than a chunk.
    pub(crate) fn next(&mut self, wanted_bytes: u64) -> &mut [u8] {
        let length = usize::try_from(wanted_bytes).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        if self.at + length > self.window.len() {
            self.at = 0;
        }
        let start = self.at;
        self.at += length;
        self.window.get_mut(start..start + length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claimed_length_makes_it_no_larger() {
        let mut memory = Memory::new();
        for _ in 0..100 {
            assert_eq!(memory.next(u64::MAX).len(), CHUNK_BYTES);
            assert_eq!(memory.next(3).len(), 3);
        }
        assert_eq!(memory.window.len(), WINDOW_BYTES);
    }
}
