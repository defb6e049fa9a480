//! READ, WRITE, COMMIT as single calls.

use stormeter_nfs::{Commit, NfsError, Read, Stability, Write};

use crate::hex::ATTRIBUTES;
use crate::{HANDLE, assert_call, handle, reply};

#[test]
fn read() {
    let call = Read { file: handle(), offset_bytes: 1 << 33, length_bytes: 5 };
    assert_call(&call, &format!("{HANDLE} 0000000200000000 00000005"));
    let ok = format!("00000000 00000001 {ATTRIBUTES} 00000005 00000001 00000005 \"bytes\" 000000");
    let read = reply::<Read>(&ok).unwrap();
    assert_eq!((&read.data[..], read.end_of_file), (&b"bytes"[..], true));
    let differs = "00000000 00000000 00000004 00000000 00000005 \"bytes\" 000000";
    assert_eq!(reply::<Read>(differs), Err(NfsError::CountDiffers { count: 4, carried: 5 }));
    assert!(reply::<Read>("00000000 00000000 ffffffff 00000000 ffffffff \"bytes\"").is_err());
}

#[test]
fn write() {
    for (stability, number) in
        [(Stability::Unstable, 0), (Stability::DataSync, 1), (Stability::FileSync, 2)]
    {
        let call = Write { file: handle(), offset_bytes: 4096, stability, data: b"bytes!" };
        assert_call(
            &call,
            &format!("{HANDLE} 0000000000001000 00000006 0000000{number} 00000006 \"bytes!\" 0000"),
        );
        let ok = format!(
            "00000000 00000001 0000000000002000 65000002 00000002 65000003 00000003
             00000001 {ATTRIBUTES} 00000006 0000000{number} \"life-one\""
        );
        let written = reply::<Write<'_>>(&ok).unwrap();
        assert_eq!((written.count, written.stability), (6, stability));
        assert_eq!(&written.verifier, b"life-one");
    }
    assert!(
        reply::<Write<'_>>("00000000 00000000 00000000 00000006 00000003 \"life-one\"").is_err()
    );
}

#[test]
fn commit() {
    let call = Commit { file: handle(), offset_bytes: 4096, length_bytes: 8192 };
    assert_call(&call, &format!("{HANDLE} 0000000000001000 00002000"));
    let ok = "00000000 00000000 00000000 \"life-one\"";
    assert_eq!(reply::<Commit>(ok), Ok(*b"life-one"));
}
