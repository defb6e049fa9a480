//! File handles remain valid across a restart, and never come to refer to something else.

use std::fs;

use super::client::Client;

#[test]
fn handles_survive_a_restart() {
    let shared = tempfile::tempdir().unwrap();
    let before = Client::of(shared.path());
    let folder = shared.path().join("a/b/c");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("disk"), b"content").unwrap();
    let mut at = before.root.clone();
    for name in ["a", "b", "c"] {
        at = before.lookup(&at, name.as_bytes()).handle(0);
    }
    let disk = before.lookup(&at, b"disk").handle(0);
    // The restarted server has seen none of these names.
    let after = Client::of(shared.path());
    assert_eq!(after.content(&disk, 100), b"content");
    assert_eq!(after.write(&disk, 0, b"C", 2).status, 0);
    assert_eq!(fs::read(folder.join("disk")).unwrap(), b"Content");
    assert_eq!(after.lookup(&at, b"disk").handle(0), disk);
    assert_eq!(after.root, before.root);
}

#[test]
fn a_moved_file_is_found_again() {
    let shared = tempfile::tempdir().unwrap();
    fs::create_dir(shared.path().join("old")).unwrap();
    fs::create_dir(shared.path().join("new")).unwrap();
    fs::write(shared.path().join("old/disk"), b"content").unwrap();
    let client = Client::of(shared.path());
    let old = client.lookup(&client.root, b"old").handle(0);
    let disk = client.lookup(&old, b"disk").handle(0);
    fs::rename(shared.path().join("old/disk"), shared.path().join("new/other")).unwrap();
    assert_eq!(client.content(&disk, 100), b"content");
}

#[test]
fn what_is_gone_is_stale() {
    let shared = tempfile::tempdir().unwrap();
    let path = shared.path().join("disk");
    fs::write(&path, b"old").unwrap();
    let client = Client::of(shared.path());
    let disk = client.lookup(&client.root, b"disk").handle(0);
    // The server has it open when another file takes its name.
    assert_eq!(client.content(&disk, 100), b"old");
    fs::write(shared.path().join("another"), b"new").unwrap();
    fs::rename(shared.path().join("another"), &path).unwrap();
    for client in [&client, &Client::of(shared.path())] {
        assert_eq!(client.read(&disk, 0, 100).status, 70);
        assert_eq!(client.write(&disk, 0, b"x", 0).status, 70);
    }
    assert_eq!(fs::read(&path).unwrap(), b"new");
}
