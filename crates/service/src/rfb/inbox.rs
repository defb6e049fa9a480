//! Received bytes that have not been read yet.

/// Bytes that were read are kept up to this number, because moving the others costs time.
const MOST_READ_BYTES: usize = 64 << 10;

/// Bytes in the order in which they arrived. What nobody needs is skipped without being kept.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    read: usize,
    to_skip: u64,
}

impl Inbox {
    /// Adds received bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let skipped = self.to_skip.min(bytes.len() as u64);
        self.to_skip -= skipped;
        // What was read is let go of now and then, also if a part of a message is always left.
        if self.read == self.bytes.len() || self.read > MOST_READ_BYTES {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend_from_slice(&bytes[skipped as usize..]);
    }

    /// Takes `N` bytes; `None`, and takes nothing, if they have not arrived.
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = self.peek()?;
        self.read += N;
        Some(taken)
    }

    /// The next bytes, without taking them.
    pub(crate) fn peek<const N: usize>(&self) -> Option<[u8; N]> {
        self.bytes.get(self.read..self.read + N)?.try_into().ok()
    }

    /// Takes `count` bytes as a vector; `None`, and takes nothing, if they have not arrived.
    pub(crate) fn take_all(&mut self, count: usize) -> Option<Vec<u8>> {
        let taken = self.bytes.get(self.read..self.read.checked_add(count)?)?.to_vec();
        self.read += count;
        Some(taken)
    }

    /// Leaves out `count` bytes, whether they have arrived or not.
    pub(crate) fn skip(&mut self, count: u64) {
        let here = count.min((self.bytes.len() - self.read) as u64);
        self.read += here as usize;
        self.to_skip += count - here;
    }

    /// Whether bytes that are left out are still to come.
    pub(crate) fn is_skipping(&self) -> bool {
        self.to_skip > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_let_go_of_even_if_something_is_always_left() {
        let mut inbox = Inbox::default();
        inbox.add(&[0]);
        for _ in 0..10_000 {
            inbox.add(&[0; 100]);
            inbox.take::<100>().unwrap();
        }
        assert!(inbox.bytes.len() < 2 * MOST_READ_BYTES, "{}", inbox.bytes.len());
        assert_eq!(inbox.take::<1>(), Some([0]));
    }

    #[test]
    fn bytes_are_taken_whole_and_left_out_whenever_they_come() {
        let mut inbox = Inbox::default();
        inbox.add(&[1, 2, 3]);
        assert_eq!(inbox.take::<4>(), None);
        assert_eq!(inbox.take::<2>(), Some([1, 2]));
        inbox.skip(4);
        assert!(inbox.is_skipping());
        inbox.add(&[4, 5]);
        assert!(inbox.is_skipping() && inbox.peek::<1>().is_none());
        inbox.add(&[6, 7, 8]);
        assert!(!inbox.is_skipping());
        assert_eq!(inbox.take_all(3), None);
        assert_eq!(inbox.take_all(2), Some(vec![7, 8]));
        assert_eq!(inbox.take_all(usize::MAX), None);
    }
}
