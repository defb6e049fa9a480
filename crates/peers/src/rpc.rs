//! Just enough of ONC RPC to ask a server whether it is there, and to be a portmapper.
//!
//! Independent of the client under test, so that both sides cannot share a mistake.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::PeerError;

pub(crate) const PORTMAP: u32 = 100_000;
pub(crate) const NFS: u32 = 100_003;
pub(crate) const MOUNT: u32 = 100_005;

/// RFC 5531 section 11: the last fragment has the highest bit.
pub(crate) const LAST_FRAGMENT: u32 = 1 << 31;

/// More than any message of these programs except a READ of a megabyte.
const RECORD_MAX_BYTES: usize = 2 << 20;
const PATIENCE: Duration = Duration::from_secs(5);

/// A program's procedure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Procedure {
    pub(crate) program: u32,
    pub(crate) version: u32,
    pub(crate) number: u32,
}

/// The word at an offset of a message.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// Words in wire format.
pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Appends a string (RFC 4506 section 4.11).
pub(crate) fn put_string(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend(text.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// Removes a string from the front.
pub(crate) fn take_string<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let length = usize::try_from(word(bytes, 0)?).ok()?;
    let text = bytes.get(4..length.checked_add(4)?)?;
    *bytes = bytes.get(4 + length.checked_next_multiple_of(4)?..)?;
    std::str::from_utf8(text).ok()
}

/// Reads one message, which may be split into fragments; `None` at the end of the stream, or if it
/// is invalid.
pub(crate) fn read_record(from: &mut impl Read) -> Option<Vec<u8>> {
    let mut record = Vec::new();
    loop {
        let mut marker = [0; 4];
        from.read_exact(&mut marker).ok()?;
        let marker = u32::from_be_bytes(marker);
        let length = usize::try_from(marker & !LAST_FRAGMENT).ok()?;
        let begin = record.len();
        if begin + length > RECORD_MAX_BYTES {
            return None;
        }
        record.resize(begin + length, 0);
        from.read_exact(record.get_mut(begin..)?).ok()?;
        if marker & LAST_FRAGMENT != 0 {
            return Some(record);
        }
    }
}

/// A message in one fragment.
pub(crate) fn framed(record: &[u8]) -> Vec<u8> {
    let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
    [&(length | LAST_FRAGMENT).to_be_bytes(), record].concat()
}

/// Makes a call with the credentials of root (AUTH_SYS); returns the bytes of the results.
pub(crate) fn call(
    address: SocketAddr,
    procedure: Procedure,
    arguments: &[u8],
) -> Result<Vec<u8>, PeerError> {
    const XID: u32 = 0x5350_4545;
    const CALL: u32 = 0;
    let failed = |what: String| PeerError::Rpc { address, what };
    let lost = |error: std::io::Error| failed(error.to_string());
    let mut message = words(&[XID, CALL, 2]);
    message.extend(words(&[procedure.program, procedure.version, procedure.number]));
    // Flavor, length; stamp, no machine name, uid, gid, no more groups; no verifier.
    message.extend(words(&[1, 20, 0, 0, 0, 0, 0, 0, 0]));
    message.extend(arguments);
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(lost)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(lost)?;
    stream.write_all(&framed(&message)).map_err(lost)?;
    let reply = read_record(&mut stream).ok_or_else(|| failed("no whole record".into()))?;
    results(&reply, XID).ok_or_else(|| failed(format!("{reply:02x?} is no accepted reply")))
}

/// The results in an accepted and successful reply.
fn results(reply: &[u8], xid: u32) -> Option<Vec<u8>> {
    let verifier_bytes = usize::try_from(word(reply, 16)?).ok()?.checked_next_multiple_of(4)?;
    let status_at = verifier_bytes.checked_add(20)?;
    let is_accepted = [word(reply, 0)?, word(reply, 4)?, word(reply, 8)?] == [xid, 1, 0];
    if !is_accepted || word(reply, status_at)? != 0 {
        return None;
    }
    reply.get(status_at + 4..).map(<[u8]>::to_vec)
}
