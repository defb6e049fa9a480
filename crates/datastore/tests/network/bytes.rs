//! What is written is read back at the same place, by any client.

use stormeter_datastore::OpenDisks;
use stormeter_disk::{Completion, Disks, Kind, Operation};
use stormeter_peers::{Chap, Ganesha, GaneshaOptions, Tgt, TgtOptions};
use stormeter_server::DirectoryServer;

use crate::fixture::*;

const SLOTS: u32 = 64;
const MEMORY: OpenDisks = OpenDisks { buffers: SLOTS, buffer_bytes: 2 << 20, in_flight: SLOTS };

/// Reads what was prepared, overwrites a part in all sizes, reads everything again.
fn write_and_read(url: &str) {
    let datastore = prepared(url, 2, 8 * MIB);
    let mut set = disks(&datastore, 2, MEMORY);
    let (mut expected, mut found) = (vec![vec![0; 8 << 20]; 2], vec![0; 2 << 20]);
    for disk in 0..2 {
        content(disk, 0, &mut expected[disk as usize]);
    }
    // Many at once, in sizes from one block to more than any protocol moves in one request.
    let lengths = [512, 4096, 8192, 65_536, 12_288, 1 << 20, 2 << 20, 1536];
    for round in 0..12u64 {
        let mut operations: Vec<Operation> = Vec::new();
        for slot in 0..8u32 {
            let length = lengths[(u64::from(slot) + round) as usize % lengths.len()];
            let disk = (slot + round as u32) % 2;
            // Places apart, so that the order of completion does not matter.
            let offset = if length > 1 << 19 { 4 * MIB } else { u64::from(slot) * 512 * 1024 };
            if length > 1 << 19
                && operations
                    .iter()
                    .any(|o: &stormeter_disk::Operation| o.length_bytes > 1 << 19 && o.disk == disk)
            {
                continue;
            }
            let bytes = &mut set.buffer(slot).unwrap()[..length as usize];
            bytes.fill((round * 8 + u64::from(slot)) as u8 ^ 0x5a);
            let place = offset as usize..offset as usize + length as usize;
            expected[disk as usize][place].copy_from_slice(bytes);
            operations.push(operation(Kind::Write, disk, slot, offset, length));
        }
        let mut done = drive(&mut set, &operations);
        done.sort_by_key(|completion| completion.slot);
        let all: Vec<_> =
            operations.iter().map(|o| Completion::moved(o.slot, o.length_bytes)).collect();
        assert_eq!(done, all, "round {round}");
    }
    for (disk, expected) in expected.iter().enumerate() {
        for (index, expected) in expected.chunks(2 << 20).enumerate() {
            let offset = index as u64 * 2 * MIB;
            let read = operation(Kind::Read, disk as u32, 9, offset, 2 << 20);
            assert_eq!(drive(&mut set, &[read]), [Completion::moved(9, 2 << 20)]);
            found.copy_from_slice(set.buffer(9).unwrap());
            assert!(found == expected, "disk {disk} at {offset}");
        }
    }
    // Beyond the disk, and a disk that is not ours, nothing is touched.
    let beyond = operation(Kind::Write, 0, 1, 8 * MIB - 512, 1024);
    assert!(drive(&mut set, &[beyond])[0].outcome().is_err());
    let none = operation(Kind::Read, 2, 1, 0, 512);
    assert!(drive(&mut set, &[none])[0].outcome().is_err());
    let incidents = finish(set);
    assert!(incidents.is_empty(), "{incidents:?}");
    assert_eq!(datastore.remove(), None);
}

#[test]
fn on_ganesha() {
    let ganesha = Ganesha::start(&GaneshaOptions::default()).unwrap();
    write_and_read(&ganesha.url());
    write_and_read(&format!("{}&connections=3&sync=unstable&engine=positional", ganesha.url()));
    let left: Vec<_> = std::fs::read_dir(ganesha.directory().unwrap()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn on_our_own_server() {
    let directory = tempfile::tempdir().unwrap();
    let server = DirectoryServer::bind(directory.path(), 0).unwrap();
    let url = format!("nfs://127.0.0.1:{0}/export?mountport={0}", server.port());
    let _running = server.spawn().unwrap();
    write_and_read(&url);
    write_and_read(&format!("{url}&connections=3&sync=unstable&engine=positional"));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_target_that_is_not_there_brings_a_list_of_those_that_are() {
    let tgt = Tgt::start(&TgtOptions::default()).unwrap();
    let wrong = tgt.url(1).replace(":disk/", ":disc/");
    let error = open(&wrong).err().unwrap().to_string();
    assert!(error.contains(&format!("available: {}", tgt.target_name())), "{error}");
}

#[test]
fn a_target_that_is_there_and_refuses_brings_no_list() {
    let chap = Chap { user: "user".into(), secret: "pass-of-twelve".into() };
    let tgt = Tgt::start(&TgtOptions { chap: Some(chap), ..TgtOptions::default() }).unwrap();
    // Discovery needs no password, so the list would be had.
    let error = open(&tgt.url(1)).err().unwrap().to_string();
    assert!(error.contains("CHAP") && !error.contains("available:"), "{error}");
}

#[test]
fn on_tgt() {
    let tgt = Tgt::start(&TgtOptions::default()).unwrap();
    write_and_read(&tgt.url(1));
    let digests = ["HeaderDigest", "DataDigest"].map(|name| (name.into(), "CRC32C".into()));
    let options = TgtOptions { parameters: digests.to_vec(), ..TgtOptions::default() };
    let tgt = Tgt::start(&options).unwrap();
    write_and_read(&format!(
        "{}?sessions=3&policy=round-robin&header-digest=crc32c&data-digest=crc32c&engine=positional",
        tgt.url(1)
    ));
}
