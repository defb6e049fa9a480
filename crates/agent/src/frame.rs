//! Frames: a length of four bytes (unsigned, little-endian), then that many bytes of JSON.
//!
//! JSON, so that people can read messages and fields can be added; bounded, because the other end may
//! not be an agent at all but a login banner, whose first letters would be a length of a gigabyte.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest body, in bytes. The end of a trial with its histograms, a thousand disks and an hour of
/// intervals takes a few megabytes.
pub const MOST_BYTES: u32 = 64 << 20;
/// How much of an invalid frame is shown, in bytes.
const SHOWN_BYTES: usize = 200;

/// Why no message could be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The stream ended between two frames.
    #[error("the connection ended")]
    Ended,
    /// The stream ended within a frame.
    #[error("the connection ended in the middle of a message, after {got} of {expected} bytes")]
    Truncated {
        /// Bytes of the frame that were received, including its length.
        got: u64,
        /// Bytes of the whole frame.
        expected: u64,
    },
    /// A length that no frame has.
    #[error(
        "the received data is not a message of an agent (it would have {length} bytes, at most {MOST_BYTES} are \
         allowed){}; does a login script print something?",
        seen(start)
    )]
    TooLong {
        /// The length that was given.
        length: u32,
        /// The start of what was received, as far as it is text.
        start: String,
    },
    /// A body that is not a valid message.
    #[error("a message is not understood ({reason}){}", seen(start))]
    Garbage {
        /// The decoder's reason.
        reason: String,
        /// The start of the body.
        start: String,
    },
    /// A message that cannot be encoded.
    #[error("a message cannot be encoded: {0}")]
    Encode(String),
    /// The stream failed.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
}

fn seen(start: &str) -> String {
    if start.is_empty() { String::new() } else { format!(": \"{start}\"") }
}

/// Writes one message and flushes it.
///
/// # Errors
/// The message is too long or cannot be encoded, or the stream is broken.
pub fn write_frame<T: Serialize>(output: &mut impl Write, message: &T) -> Result<(), FrameError> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)
        .map_err(|error| FrameError::Encode(error.to_string()))?;
    let length = u32::try_from(frame.len() - 4).ok().filter(|length| *length <= MOST_BYTES);
    let Some(length) = length else {
        let reason = format!("it has {} bytes, more than {MOST_BYTES}", frame.len() - 4);
        return Err(FrameError::Encode(reason));
    };
    frame[..4].copy_from_slice(&length.to_le_bytes());
    output.write_all(&frame)?;
    output.flush()?;
    Ok(())
}

/// Reads one message.
///
/// # Errors
/// The stream ended ([`FrameError::Ended`] between two frames), broke, or contained something other
/// than a message.
pub fn read_frame<T: DeserializeOwned>(input: &mut impl Read) -> Result<T, FrameError> {
    let mut head = [0; 4];
    let got = fill(input, &mut head)?;
    if got == 0 {
        return Err(FrameError::Ended);
    }
    if got < head.len() {
        return Err(FrameError::Truncated { got: got as u64, expected: 4 });
    }
    let length = u32::from_le_bytes(head);
    if length > MOST_BYTES {
        return Err(FrameError::TooLong { length, start: banner(&head, input) });
    }
    // Grows as bytes arrive: a claimed length alone must not allocate memory.
    let mut body = Vec::new();
    let read = input.by_ref().take(u64::from(length)).read_to_end(&mut body)?;
    if (read as u64) < u64::from(length) {
        return Err(FrameError::Truncated {
            got: 4 + read as u64,
            expected: 4 + u64::from(length),
        });
    }
    serde_json::from_slice(&body).map_err(|error| FrameError::Garbage {
        reason: error.to_string(),
        start: text(&body[..body.len().min(SHOWN_BYTES)]),
    })
}

/// Reads until the buffer is full or the stream ends; returns the number of bytes read.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match input.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// What was received instead of a frame, if it is text: reads at most once more, so as not to wait
/// for what may never come.
fn banner(head: &[u8], input: &mut impl Read) -> String {
    if text(head).chars().count() < head.len() {
        return String::new();
    }
    let mut bytes = head.to_vec();
    let mut more = [0; SHOWN_BYTES];
    if let Ok(read) = input.read(&mut more) {
        bytes.extend(&more[..read]);
    }
    text(&bytes)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(message: &impl Serialize) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, message).unwrap();
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = frame(&"one");
        bytes.extend(frame(&"two"));
        let mut input = bytes.as_slice();
        assert_eq!(read_frame::<String>(&mut input).unwrap(), "one");
        assert_eq!(read_frame::<String>(&mut input).unwrap(), "two");
        assert!(matches!(read_frame::<String>(&mut input), Err(FrameError::Ended)));
    }

    #[test]
    fn a_frame_cut_anywhere_is_told_from_an_end() {
        let bytes = frame(&vec!["a text of some length", "another"]);
        for cut in 1..bytes.len() {
            let error = read_frame::<Vec<String>>(&mut &bytes[..cut]).unwrap_err();
            let FrameError::Truncated { got, expected } = error else { panic!("{cut}: {error}") };
            assert_eq!(got, cut as u64);
            assert_eq!(expected, if cut < 4 { 4 } else { bytes.len() as u64 });
        }
    }

    #[test]
    fn a_length_alone_takes_no_memory_and_too_long_a_one_is_refused() {
        let error = read_frame::<String>(&mut MOST_BYTES.to_le_bytes().as_slice()).unwrap_err();
        assert!(matches!(error, FrameError::Truncated { got: 4, .. }), "{error}");
        let beyond = (MOST_BYTES + 1).to_le_bytes();
        let error = read_frame::<String>(&mut beyond.as_slice()).unwrap_err();
        assert!(matches!(error, FrameError::TooLong { .. }), "{error}");
        let much = vec![0u8; MOST_BYTES as usize];
        assert!(matches!(write_frame(&mut Vec::new(), &much), Err(FrameError::Encode(_))));
    }

    #[test]
    fn a_banner_is_shown() {
        let error = read_frame::<String>(&mut b"Welcome to esx1\n".as_slice()).unwrap_err();
        assert!(error.to_string().contains("\"Welcome to esx1\""), "{error}");
        let mut garbage = 5u32.to_le_bytes().to_vec();
        garbage.extend(b"{oops");
        let error = read_frame::<String>(&mut garbage.as_slice()).unwrap_err();
        assert!(error.to_string().contains("{oops"), "{error}");
    }
}
