//! What a flush promises: every byte that was written before it, unless something writes to it meanwhile.

use stormeter_disk::Operation;

#[derive(Clone)]
pub(crate) struct Covered {
    file: usize,
    /// `None` where another write may come before or after.
    bytes: Vec<Option<u8>>,
}

impl Covered {
    pub(crate) fn new(file: u32, content: &[u8]) -> Self {
        Self { file: file as usize, bytes: content.iter().copied().map(Some).collect() }
    }

    /// Leaves out what a write touches that is under way or comes later.
    pub(crate) fn except(&mut self, write: &Operation) {
        if write.disk as usize == self.file && write.kind.is_write() {
            let begin = write.offset_bytes as usize;
            self.bytes[begin..begin + write.length_bytes as usize].fill(None);
        }
    }

    /// The first place at which what is stable differs.
    pub(crate) fn difference(&self, stable: &[Vec<u8>]) -> Option<usize> {
        let pairs = self.bytes.iter().zip(&stable[self.file]);
        pairs.into_iter().position(|(covered, stable)| covered.is_some_and(|it| it != *stable))
    }
}
