//! Every procedure's call and reply as bytes, written by hand from the layouts of RFC 1813, 1833
//! and 5531.

#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]

mod data;
mod ends;
mod flushes;
mod hex;
mod metadata;
mod refusals;
mod streams;

use hex::{REPLY_HEAD, call_head, hex};
use stormeter_nfs::{Auth, FileHandle, NfsError, Procedure, call_bytes, decode_reply};

const XID: u32 = 0x1122_3344;

fn handle() -> FileHandle {
    FileHandle::new(b"\x01\x02\x03\x04\x05").unwrap()
}

/// The handle on the wire.
const HANDLE: &str = "00000005 0102030405 000000 ";

/// Checks that a call has these arguments, and the matching header and mark.
fn assert_call<P: Procedure>(procedure: &P, arguments: &str) {
    let auth = Auth::sys(1000, 1001, &[4], "vm").unwrap();
    let body = hex(&(call_head(P::PROGRAM, P::VERSION, P::NUMBER) + arguments));
    let mut expected = (0x8000_0000 | body.len() as u32).to_be_bytes().to_vec();
    expected.extend(body);
    let found = call_bytes(XID, &auth, procedure);
    assert!(found == expected, "found    {found:02x?}\nexpected {expected:02x?}");
}

/// Decodes the reply with these results; every shorter one must be an error.
fn reply<P: Procedure>(results: &str) -> Result<P::Reply, NfsError> {
    let bytes = hex(&format!("{REPLY_HEAD} {results}"));
    let full = decode_reply::<P>(&bytes, XID);
    if full.is_ok() && bytes.len() > 24 {
        for length in 0..bytes.len() {
            let short = decode_reply::<P>(&bytes[..length], XID);
            assert!(matches!(short, Err(NfsError::Xdr(_))), "{length} bytes of {}", bytes.len());
        }
    }
    full
}
