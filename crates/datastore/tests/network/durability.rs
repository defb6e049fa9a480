//! What a target says about its cache, and flushes and durable writes carried out by it.

use stormeter_datastore::OpenDisks;
use stormeter_disk::{
    Acknowledged, Completion, DatastoreFact, Disks, Kind, Promise, PromiseEvidence,
};
use stormeter_peers::{Tgt, TgtOptions};

use crate::fixture::*;

const MEMORY: OpenDisks = OpenDisks { buffers: 4, buffer_bytes: 64 << 10, in_flight: 4 };

fn promise(acknowledged: Acknowledged, write_cache: bool) -> Option<Promise> {
    let evidence = vec![
        PromiseEvidence::ModePage { write_cache },
        PromiseEvidence::ForcedUnitAccess { supported: true },
    ];
    Some(Promise { acknowledged, evidence })
}

/// Writes durably, flushes and reads back; then the file below must have the bytes.
fn write_durably(tgt: &Tgt, url: &str, expected: Option<Promise>) {
    let datastore = prepared(url, 2, 8 * MIB);
    let description = datastore.description();
    assert_eq!(description.promise, expected);
    assert!(!description.notes.contains(&DatastoreFact::WriteCache), "{:?}", description.notes);
    let mut set = disks(&datastore, 2, MEMORY);
    let mut bytes = Vec::new();
    for round in 0..8u32 {
        bytes = vec![round as u8 | 0x80; 65_536];
        set.buffer(0).unwrap().copy_from_slice(&bytes);
        let kind = if round % 2 == 0 { Kind::Write } else { Kind::DurableWrite };
        let offset = u64::from(round) * 65_536;
        let write = operation(kind, round % 2, 0, offset, 65_536);
        assert_eq!(drive(&mut set, &[write]), [Completion::moved(0, 65_536)], "{url}, {kind}");
        let flush = operation(Kind::Flush, round % 2, 1, 0, 0);
        assert_eq!(drive(&mut set, &[flush]), [Completion::moved(1, 0)], "{url}");
        let read = operation(Kind::Read, round % 2, 2, offset, 65_536);
        assert_eq!(drive(&mut set, &[read]), [Completion::moved(2, 65_536)]);
        assert!(set.buffer(2).unwrap() == bytes);
    }
    let incidents = finish(set);
    assert!(incidents.is_empty(), "{incidents:?}");
    let file = std::fs::read(tgt.unit_file(1)).unwrap();
    assert!(file.windows(65_536).any(|window| window == bytes));
    assert_eq!(datastore.remove(), None);
}

#[test]
fn tgt_with_and_without_a_write_cache() {
    for write_cache in [true, false] {
        let tgt = Tgt::start(&TgtOptions { write_cache, ..TgtOptions::default() }).unwrap();
        let acknowledged =
            if write_cache { Acknowledged::VolatileCache } else { Acknowledged::Stable };
        let expected = promise(acknowledged, write_cache);
        write_durably(&tgt, &tgt.url(1), expected.clone());
        let paths = format!("{}?sessions=3&policy=round-robin", tgt.url(1));
        write_durably(&tgt, &paths, expected);
    }
}
