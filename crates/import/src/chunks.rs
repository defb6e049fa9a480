//! Bytes in pieces: they grow without being copied, so that nothing is in memory twice while they do.

/// The length of a piece.
const PIECE: usize = 4096;

/// Bytes that are written once and read from the start.
#[derive(Debug, Clone, Default)]
pub struct Chunks {
    full: Vec<Box<[u8]>>,
    open: Vec<u8>,
}

impl Chunks {
    /// How many bytes.
    pub fn len(&self) -> usize {
        self.full.len() * PIECE + self.open.len()
    }

    /// Adds a byte.
    pub fn byte(&mut self, byte: u8) {
        if self.open.len() == PIECE {
            self.full.push(std::mem::take(&mut self.open).into_boxed_slice());
        }
        self.open.push(byte);
    }

    /// Adds a number in groups of 7 bits, the lowest first.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    /// Adds those of others, which are freed piece by piece.
    pub fn append(&mut self, other: Self) {
        for piece in other.full {
            self.bytes(&piece);
        }
        self.bytes(&other.open);
    }

    /// From the first byte.
    pub fn reader(&self) -> Reader<'_> {
        Reader { now: &[], full: self.full.iter(), open: &self.open }
    }
}

/// A place in bytes.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    now: &'a [u8],
    full: std::slice::Iter<'a, Box<[u8]>>,
    open: &'a [u8],
}

impl Reader<'_> {
    /// The next byte; 0 behind the last one, where a reader of what was written does not get.
    pub fn byte(&mut self) -> u8 {
        loop {
            if let Some((first, rest)) = self.now.split_first() {
                self.now = rest;
                return *first;
            }
            self.now = match self.full.next() {
                Some(piece) => piece,
                None => std::mem::take(&mut self.open),
            };
            if self.now.is_empty() {
                return 0;
            }
        }
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    /// The next bytes.
    pub fn chunks(&mut self, length: usize) -> Chunks {
        let mut chunks = Chunks::default();
        for _ in 0..length {
            chunks.byte(self.byte());
        }
        chunks
    }
}
