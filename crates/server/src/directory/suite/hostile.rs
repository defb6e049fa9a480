//! Requests that no proper client sends, and directories larger than a reply.

use std::collections::BTreeSet;
use std::fs;

use nix::sys::statvfs::statvfs;

use super::super::service::Reply;
use super::client::{Arguments, Client, record};

/// Requests of every kind, as a client sends them.
fn requests(client: &Client<super::super::storage::Kernel>) -> Vec<Vec<u8>> {
    let file = client.create(&client.root, b"disk").handle(4);
    let of = |handle: &[u8]| Arguments::default().data(handle);
    let at = of(&client.root).data(b"disk");
    let all = [
        (1, of(&file)),
        (2, of(&file).keep_all().number(0)),
        (3, at.clone()),
        (4, of(&file).number(0x3f)),
        (5, of(&file)),
        (6, of(&file).wide(0).number(4096)),
        (7, of(&file).wide(0).number(5).number(2).data(b"hello")),
        (8, at.clone().number(0).keep_all()),
        (9, at.clone().keep_all()),
        (13, at.clone()),
        (14, at.clone().data(&client.root).data(b"disk")),
        (16, of(&client.root).wide(0).wide(0).number(4096)),
        (17, of(&client.root).wide(0).wide(0).number(4096).number(4096)),
        (18, of(&client.root)),
        (19, of(&client.root)),
        (20, of(&client.root)),
        (21, of(&file).wide(0).number(0)),
    ];
    let mut records: Vec<Vec<u8>> =
        all.iter().map(|(number, arguments)| record(100_003, *number, arguments)).collect();
    records.push(record(100_005, 1, &Arguments::default().data(b"/export")));
    records
}

/// Answers any request with a complete reply.
fn survives(client: &Client<super::super::storage::Kernel>, record: &[u8]) {
    let mut reply = Reply::default();
    if client.service.answer(record, &mut reply).is_err() {
        return;
    }
    let mark = u32::from_be_bytes(reply.head[..4].try_into().unwrap());
    assert_eq!((mark & !(1 << 31)) as usize, reply.head.len() - 4 + reply.payload().len());
    assert_eq!(reply.head[4..8], record[..4]);
}

#[test]
fn whatever_comes_is_answered() {
    let shared = tempfile::tempdir().unwrap();
    let client = Client::of(shared.path());
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize
    };
    for request in requests(&client) {
        for length in 0..request.len() {
            survives(&client, &request[..length]);
        }
        for _ in 0..500 {
            let mut changed = request.clone();
            for _ in 0..=random() % 4 {
                // The first four words identify the record as a call.
                let at = 12 + random() % (changed.len() - 12);
                changed[at] = [0, 1, 0x7f, 0x80, 0xff, random() as u8][random() % 6];
            }
            survives(&client, &changed);
        }
    }
}

#[test]
fn extremes_are_refused() {
    let shared = tempfile::tempdir().unwrap();
    let client = Client::of(shared.path());
    let disk = client.create(&client.root, b"disk").handle(4);
    assert_eq!(client.write(&disk, u64::MAX, b"x", 0).status, 27);
    assert_eq!(client.write(&disk, i64::MAX as u64, b"x", 0).status, 27);
    assert_ne!(client.read(&disk, u64::MAX, u32::MAX).status, 0);
    assert_eq!(client.content(&disk, u32::MAX), b"");
    assert_eq!(client.read(&client.root, 0, 1).status, 22);
    assert_eq!(client.write(&client.root, 0, b"x", 0).status, 22);
    assert_eq!(client.read(&disk[1..], 0, 1).status, 10001);
    assert_eq!(client.lookup(&disk, b"x").status, 20);
    let long = [b'x'; 256];
    assert_eq!(client.create(&client.root, &long).status, 63);
}

#[test]
fn a_long_directory_is_listed_in_parts() {
    let shared = tempfile::tempdir().unwrap();
    let expected: BTreeSet<String> = (0..300).map(|number| format!("name{number:04}")).collect();
    for name in &expected {
        fs::write(shared.path().join(name), b"").unwrap();
    }
    let client = Client::of(shared.path());
    for (procedure, entry_words) in [(16, 8), (17, 8 + 28)] {
        let (mut found, mut cookie, mut parts) = (Vec::new(), 0, 0);
        loop {
            parts += 1;
            let list = Arguments::default().data(&client.root).wide(cookie).wide(0).number(2000);
            let list = if procedure == 17 { list.number(2000) } else { list };
            let answer = client.call(procedure, &list);
            assert_eq!(answer.status, 0);
            assert!(answer.body.len() <= 2000);
            // After the directory's attributes and the verifier.
            let mut at = 22 + 2;
            while answer.word(at) == 1 {
                assert_eq!(answer.word(at + 3), 8);
                let name = &answer.body[4 * (at + 4)..][..8];
                found.push(String::from_utf8(name.to_vec()).unwrap());
                cookie = (u64::from(answer.word(at + 6)) << 32) | u64::from(answer.word(at + 7));
                at += entry_words;
            }
            if answer.word(at + 1) == 1 {
                break;
            }
        }
        assert!(parts > 3, "{parts} parts, {} names", found.len());
        assert_eq!(found.len(), 300);
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }
    let small = Arguments::default().data(&client.root).wide(0).wide(0).number(100);
    assert_eq!(client.call(16, &small).status, 10005);
}

#[test]
fn space_is_that_of_the_file_system() {
    let shared = tempfile::tempdir().unwrap();
    let client = Client::of(shared.path());
    let answer = client.call(18, &Arguments::default().data(&client.root));
    let total = (u64::from(answer.word(22)) << 32) | u64::from(answer.word(23));
    let space = statvfs(shared.path()).unwrap();
    assert_eq!(total, space.blocks() * space.fragment_size());
}
