//! Sends several runs of bytes with as few system calls as possible.

use std::io::{self, IoSlice, Write};

/// Number of runs per call (Linux allows UIO_MAXIOV, 1024); more would only use up the stack.
const RUNS: usize = 128;

/// The source of payload zeros. It is small enough to stay in a processor's cache.
pub(crate) static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Sends all runs in order.
pub(crate) fn send_all(mut to: impl Write, runs: &mut [IoSlice<'_>]) -> io::Result<()> {
    let mut left = runs;
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match to.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(sent) => IoSlice::advance_slices(&mut left, sent),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Answers that wait to be sent together: their own bytes, each run followed by zeros.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    bytes: Vec<u8>,
    /// End of the bytes to send, and how many zeros follow.
    runs: Vec<(usize, usize)>,
}

impl Answers {
    /// The vector to which bytes are appended.
    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Appends zeros.
    #[inline]
    pub(crate) fn zeros(&mut self, length: usize) {
        self.runs.push((self.bytes.len(), length));
    }

    /// Sends everything and clears the buffer.
    pub(crate) fn send(&mut self, mut to: impl Write) -> io::Result<()> {
        if self.runs.is_empty() {
            to.write_all(&self.bytes)?;
            self.bytes.clear();
            return Ok(());
        }
        self.zeros(0);
        let mut slices = [IoSlice::new(&[]); RUNS];
        let mut used = 0;
        let mut from = 0;
        for &(end, zeros) in &self.runs {
            let own = self.bytes.get(from..end).unwrap_or_default();
            from = end;
            let whole = zeros / ZEROS.len();
            let parts = std::iter::once(own)
                .chain(std::iter::repeat_n(&ZEROS[..], whole))
                .chain(std::iter::once(&ZEROS[..zeros % ZEROS.len()]));
            for part in parts.filter(|part| !part.is_empty()) {
                if used == RUNS {
                    send_all(&mut to, &mut slices)?;
                    used = 0;
                }
                slices[used] = IoSlice::new(part);
                used += 1;
            }
        }
        send_all(&mut to, &mut slices[..used])?;
        self.bytes.clear();
        self.runs.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts a few bytes at a time.
    struct Narrow(Vec<u8>);

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(1000);
            self.0.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn everything_is_sent_in_order() {
        let mut answers = Answers::default();
        let mut expected = Vec::new();
        for (number, zeros) in [3, 0, 70_000, 1, 200_000].repeat(30).into_iter().enumerate() {
            answers.bytes().extend_from_slice(&[number as u8 + 1; 5]);
            answers.zeros(zeros);
            expected.extend_from_slice(&[number as u8 + 1; 5]);
            expected.resize(expected.len() + zeros, 0);
        }
        answers.bytes().push(200);
        expected.push(200);
        let mut narrow = Narrow(Vec::new());
        answers.send(&mut narrow).unwrap();
        assert!(narrow.0 == expected);
        answers.bytes().push(7);
        narrow.0.clear();
        answers.send(&mut narrow).unwrap();
        assert_eq!(narrow.0, [7]);
    }
}
