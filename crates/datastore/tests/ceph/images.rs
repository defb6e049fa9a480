//! I/O on images.

use stormeter_datastore::OpenDisks;
use stormeter_disk::{
    Acknowledged, Completion, DatastoreFact, DeviceError, Disks, Kind, PromiseEvidence,
};

use crate::Bench;
use crate::fixture::*;
use crate::ownership::image_names;

pub(crate) const MEMORY: OpenDisks =
    OpenDisks { buffers: 16, buffer_bytes: 256 << 10, in_flight: 16 };

pub(crate) fn round_trips(bench: &Bench) {
    for options in
        ["", "cache=1", "object-size=1MiB&stripes=4&stripe-unit=16KiB", "features=layering"]
    {
        let url = bench.url(options);
        let datastore = prepared(&url, 2, 8 * MIB);
        let mut set = disks(&datastore, 2, MEMORY);
        // What was prepared is there, at places that touch several objects and stripes.
        for (disk, offset) in [(0, 0), (1, 0), (0, 4 * MIB - 4096), (1, 8 * MIB - (256 << 10))] {
            let read = operation(Kind::Read, disk, 3, offset, 256 << 10);
            assert_eq!(drive(&mut set, &[read]), [Completion::moved(3, 256 << 10)], "{url}");
            let mut expected = vec![0; 256 << 10];
            content(disk, offset, &mut expected);
            assert!(set.buffer(3).unwrap()[..] == expected, "{url}: disk {disk} at {offset}");
        }
        for kind in [Kind::Write, Kind::DurableWrite] {
            let writes: Vec<_> = (0..8)
                .map(|slot| {
                    set.buffer(slot).unwrap().fill(slot as u8 + 40 * kind as u8);
                    operation(kind, slot % 2, slot, u64::from(slot) * 512 * 1023, 64 << 10)
                })
                .collect();
            let mut done = drive(&mut set, &writes);
            done.sort_by_key(|completion| completion.slot);
            let all: Vec<_> = (0..8).map(|slot| Completion::moved(slot, 64 << 10)).collect();
            assert_eq!(done, all, "{url}");
            let flush = operation(Kind::Flush, 1, 8, 0, 0);
            assert_eq!(drive(&mut set, &[flush]), [Completion::moved(8, 0)], "{url}");
            for slot in 0..8 {
                let read =
                    operation(Kind::Read, slot % 2, 9, u64::from(slot) * 512 * 1023, 64 << 10);
                assert_eq!(drive(&mut set, &[read]), [Completion::moved(9, 64 << 10)]);
                let found = &set.buffer(9).unwrap()[..64 << 10];
                assert!(found.iter().all(|&byte| byte == slot as u8 + 40 * kind as u8), "{url}");
            }
        }
        assert_eq!(finish(set), [], "{url}");
        assert_eq!(datastore.remove(), None, "{url}");
    }
    let left = image_names(bench);
    assert!(left.is_empty(), "{left:?}");
}

pub(crate) fn promises(bench: &Bench) {
    let replicas = PromiseEvidence::Replicas { size: 2, least: 1, erasure_coded: false };
    for (options, acknowledged, evidence) in [
        ("", Acknowledged::Stable, vec![replicas.clone()]),
        ("cache=1", Acknowledged::Memory, vec![PromiseEvidence::ClientCache, replicas.clone()]),
    ] {
        let datastore = open(&bench.url(options)).unwrap();
        let description = datastore.description();
        let promise = description.promise.unwrap();
        assert_eq!((promise.acknowledged, promise.evidence), (acknowledged, evidence));
        assert_eq!((description.kind.as_str(), description.engine.as_str()), ("rbd", "librbd"));
        assert!(datastore.space().is_some_and(|space| space.free_bytes > 64 * MIB));
        assert_eq!(datastore.remove(), None);
    }
}

pub(crate) fn bounds(bench: &Bench) {
    let datastore = prepared(&bench.url(""), 1, MIB);
    let mut set = disks(&datastore, 1, MEMORY);
    let beyond = [
        operation(Kind::Write, 0, 0, MIB - 4096, 8192),
        operation(Kind::Read, 1, 1, 0, 4096),
        operation(Kind::Read, 0, 2, u64::MAX, 4096),
    ];
    let mut done = drive(&mut set, &beyond);
    done.sort_by_key(|completion| completion.slot);
    assert_eq!(done, [0, 1, 2].map(|slot| Completion::failed(slot, DeviceError(22))));
    // A buffer in use is refused loudly, and the operation that uses it ends as it should.
    set.submit(&[operation(Kind::Read, 0, 5, 0, 4096)]).unwrap();
    let error = set.submit(&[operation(Kind::Read, 0, 5, 0, 4096)]).unwrap_err();
    assert!(error.to_string().contains("buffer"), "{error}");
    assert_eq!(wait(&mut set, 1), [Completion::moved(5, 4096)]);
    finish(set);
    assert_eq!(datastore.remove(), None);
}

pub(crate) fn fresh_disks(bench: &Bench) {
    let mut datastore = prepared(&bench.url(""), 2, MIB);
    assert_eq!(datastore.make_fresh(1..2).unwrap(), Vec::<DatastoreFact>::new());
    let mut set = disks(&datastore, 2, MEMORY);
    for (disk, is_fresh) in [(0, false), (1, true)] {
        let read = operation(Kind::Read, disk, 0, 4096, 4096);
        assert_eq!(drive(&mut set, &[read]), [Completion::moved(0, 4096)]);
        let is_empty = set.buffer(0).unwrap()[..4096].iter().all(|&byte| byte == 0);
        assert_eq!(is_empty, is_fresh, "disk {disk}");
    }
    finish(set);
    assert_eq!(datastore.remove(), None);
}
