//! The transport's buffers, as a session sees them.

/// A run of bytes within one of the transport's buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Index of the buffer.
    pub buffer: u32,
    /// Start of the run within the buffer, in bytes.
    pub offset: u32,
    /// Length in bytes.
    pub length: u32,
}

impl Span {
    /// The part that starts `from` bytes in and is `length` bytes long, cut off at the span's end.
    #[must_use]
    pub fn part(self, from: u32, length: u32) -> Self {
        let from = from.min(self.length);
        Self {
            buffer: self.buffer,
            offset: self.offset + from,
            length: length.min(self.length - from),
        }
    }
}

/// Buffers that operations refer to by index. The transport owns them.
pub trait Memory {
    /// The bytes of a span; `None` if there is no such span, or while the kernel writes to it.
    fn bytes(&self, span: Span) -> Option<&[u8]>;

    /// The bytes of a span, to be written; `None` also while the kernel reads them.
    fn bytes_mut(&mut self, span: Span) -> Option<&mut [u8]>;
}

/// Buffers on the heap: for control connections and tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heap {
    /// The buffers.
    pub buffers: Vec<Vec<u8>>,
}

impl Heap {
    /// `count` buffers of `bytes` each, zeroed.
    pub fn new(count: usize, bytes: usize) -> Self {
        Self { buffers: vec![vec![0; bytes]; count] }
    }
}

impl Memory for Heap {
    fn bytes(&self, span: Span) -> Option<&[u8]> {
        let start = span.offset as usize;
        self.buffers.get(span.buffer as usize)?.get(start..start + span.length as usize)
    }

    fn bytes_mut(&mut self, span: Span) -> Option<&mut [u8]> {
        let start = span.offset as usize;
        self.buffers.get_mut(span.buffer as usize)?.get_mut(start..start + span.length as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stay_within_their_span() {
        let span = Span { buffer: 1, offset: 100, length: 50 };
        assert_eq!(span.part(10, 20), Span { buffer: 1, offset: 110, length: 20 });
        assert_eq!(span.part(40, 20), Span { buffer: 1, offset: 140, length: 10 });
        assert_eq!(span.part(60, 20).length, 0);
    }

    #[test]
    fn the_heap_gives_what_it_has() {
        let mut heap = Heap::new(2, 8);
        let span = Span { buffer: 1, offset: 2, length: 4 };
        heap.bytes_mut(span).unwrap().copy_from_slice(b"wire");
        assert_eq!(heap.buffers[1], b"\0\0wire\0\0");
        assert_eq!(heap.bytes(span).unwrap(), b"wire");
        assert!(heap.bytes(Span { length: 7, ..span }).is_none());
        assert!(heap.bytes(Span { buffer: 2, ..span }).is_none());
    }
}
