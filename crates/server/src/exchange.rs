//! The loop of a server that answers at once: reads what has arrived, answers all of it, sends the
//! answers together.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;

use crate::send::Answers;
use crate::xdr::Garbage;

/// More than the longest message, so that one fits completely, along with several small ones.
const BUFFER_BYTES: usize = 2 << 20;

/// Serves a connection until it ends or `take` fails. `take` receives the available bytes, answers
/// the complete messages among them and returns how many bytes those were.
pub(crate) fn exchange(
    mut stream: &TcpStream,
    mut take: impl FnMut(&[u8], &mut Answers) -> Result<usize, Garbage>,
) {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut answers = Answers::default();
    let mut filled = 0;
    while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
        match stream.read(room) {
            Ok(0) => return,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        let taken = take(buffer.get(..filled).unwrap_or_default(), &mut answers);
        // Answers from before the violation are still sent: they may explain it.
        if answers.send(stream).is_err() {
            return;
        }
        let Ok(taken) = taken else { return };
        if taken > 0 {
            buffer.copy_within(taken.min(filled)..filled, 0);
            filled = filled.saturating_sub(taken);
        }
    }
}
