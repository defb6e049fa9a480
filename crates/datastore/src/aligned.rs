//! Memory that direct I/O accepts, without `unsafe`: a piece of a larger allocation.

/// Bytes whose address is a multiple of [`AlignedBuffer::ALIGNMENT`].
pub(crate) struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    /// The largest logical block and page size that Linux file systems require on x86 and ARM servers.
    const ALIGNMENT: usize = 65_536;

    /// A buffer of `length` zero bytes.
    pub(crate) fn new(length: usize) -> Self {
        let bytes = vec![0; length + Self::ALIGNMENT];
        // The documentation allows `align_offset` to fail; the buffer is then merely unaligned.
        let start = bytes.as_ptr().align_offset(Self::ALIGNMENT).min(Self::ALIGNMENT);
        Self { bytes, start, length }
    }
}

impl std::ops::Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

impl std::ops::DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_aligned_and_as_long_as_asked() {
        for length in [0, 1, 4096, 1 << 20] {
            let mut buffer = AlignedBuffer::new(length);
            assert_eq!(buffer.len(), length);
            assert_eq!(buffer.as_ptr() as usize % AlignedBuffer::ALIGNMENT, 0);
            buffer.fill(7);
        }
    }
}
