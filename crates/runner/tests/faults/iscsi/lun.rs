//! LUNs that must not be touched.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use stormeter_peers::{Tgt, TgtOptions};

use super::login::refused;
use crate::fixture::{Load, compare};

fn mark(tgt: &Tgt, offset: u64, bytes: &[u8]) {
    let unit = OpenOptions::new().write(true).open(tgt.unit_file(1)).unwrap();
    unit.write_all_at(bytes, offset).unwrap();
}

#[test]
fn a_lun_that_holds_data_is_refused_and_stays_as_it_is() {
    let size = 64 << 20;
    let marks: [(u64, &[u8], &str); 4] = [
        (0, b"XFSB", "XFS"),
        (1080, &[0x53, 0xef], "ext"),
        ((1 << 20) - 1, b"x", "data"),
        (size - 1, b"x", "data"),
    ];
    for (offset, bytes, word) in marks {
        let options = TgtOptions { units_bytes: vec![size], ..TgtOptions::default() };
        let tgt = Tgt::start(&options).unwrap();
        mark(&tgt, offset, bytes);
        let before = fs::read(tgt.unit_file(1)).unwrap();
        let message = refused(vec![tgt.url(1), "null:".into()], &[]);
        assert!(message.contains(word) && message.contains("be destroyed"), "{message}");
        let named = PathBuf::from(tgt.url(0));
        let message = refused(vec![tgt.url(1), "null:".into()], &[named]);
        assert!(message.contains("names another"), "{message}");
        assert!(fs::read(tgt.unit_file(1)).unwrap() == before, "{word} at {offset} was touched");
    }
}

#[test]
fn data_that_may_be_destroyed_is_reported_and_gone() {
    let tgt = Tgt::start(&TgtOptions::default()).unwrap();
    mark(&tgt, 0, b"XFSB");
    let outcome = compare(&tgt.url(1), Load::default(), |_| {});
    outcome.assert_valid();
    let is_reported = |note: &String| note.contains("XFS") && note.contains("HeldData");
    assert!(outcome.notes.iter().any(is_reported), "{:?}", outcome.notes);
    assert!(fs::read(tgt.unit_file(1)).unwrap()[..1 << 20].iter().all(|byte| *byte == 0));
}

#[test]
fn a_lun_named_twice_is_refused() {
    let tgt = Tgt::start(&TgtOptions { two_portals: true, ..TgtOptions::default() }).unwrap();
    let before = fs::read(tgt.unit_file(1)).unwrap();
    let by_other_portal = format!("iscsi://{}/{}/1", tgt.addresses()[1], tgt.target_name());
    let same = [format!("{}?sessions=2", tgt.url(1)), by_other_portal];
    for other in same {
        let message = refused(vec![tgt.url(1), other], &[]);
        assert!(message.contains("is named twice"), "{message}");
    }
    assert!(fs::read(tgt.unit_file(1)).unwrap() == before);
}
