//! Nothing outside the shared directory can be reached, whatever is requested.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::super::handle::Handle;
use super::client::{Arguments, Client};

const SECRET: &[u8] = b"secret";

/// A directory that contains the shared one, next to what must not be reached.
fn surroundings() -> tempfile::TempDir {
    let all = tempfile::tempdir().unwrap();
    let at = all.path();
    fs::create_dir(at.join("shared")).unwrap();
    fs::create_dir(at.join("outside")).unwrap();
    fs::write(at.join("outside/secret"), SECRET).unwrap();
    fs::create_dir(at.join("shared/inner")).unwrap();
    fs::write(at.join("shared/inner/file"), b"inner").unwrap();
    symlink("../outside/secret", at.join("shared/file-link")).unwrap();
    symlink(at.join("outside"), at.join("shared/directory-link")).unwrap();
    symlink("inner", at.join("shared/harmless-link")).unwrap();
    mkfifo(&at.join("shared/pipe"), Mode::S_IRWXU).unwrap();
    all
}

fn untouched(all: &tempfile::TempDir) {
    assert_eq!(fs::read(all.path().join("outside/secret")).unwrap(), SECRET);
    assert_eq!(fs::read_dir(all.path().join("outside")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(all.path()).unwrap().count(), 2);
}

const NAMES: [&[u8]; 14] = [
    b"",
    b".",
    b"..",
    b"/",
    b"../outside",
    b"../outside/secret",
    b"inner/../../outside/secret",
    b"inner/file",
    b"/etc/passwd",
    b"inner\0",
    b"file-link",
    b"directory-link",
    b"harmless-link",
    b"pipe",
];

#[test]
fn names_lead_nowhere_else() {
    let all = surroundings();
    let client = Client::of(&all.path().join("shared"));
    for name in NAMES {
        let at = |directory: &[u8]| Arguments::default().data(directory).data(name);
        let shown = String::from_utf8_lossy(name);
        assert_ne!(client.lookup(&client.root, name).status, 0, "LOOKUP {shown}");
        for how in [0, 1] {
            let create = at(&client.root).number(how).keep_all();
            assert_ne!(client.call(8, &create).status, 0, "CREATE {shown}");
        }
        assert_ne!(client.call(9, &at(&client.root).keep_all()).status, 0, "MKDIR {shown}");
        assert_ne!(client.call(12, &at(&client.root)).status, 0, "REMOVE {shown}");
        assert_ne!(client.call(13, &at(&client.root)).status, 0, "RMDIR {shown}");
        let inner = client.lookup(&client.root, b"inner").handle(0);
        let onto = Arguments::default().data(&inner).data(b"file").data(&client.root).data(name);
        assert_ne!(client.call(14, &onto).status, 0, "RENAME to {shown}");
        let away = at(&client.root).data(&inner).data(b"new");
        assert_ne!(client.call(14, &away).status, 0, "RENAME from {shown}");
    }
    untouched(&all);
    assert_eq!(fs::read_dir(all.path().join("shared")).unwrap().count(), 5);
}

#[test]
fn paths_of_mounts_lead_nowhere_else() {
    let all = surroundings();
    let client = Client::of(&all.path().join("shared"));
    for path in [
        "/",
        "",
        "export",
        "/exports",
        "/exportinner",
        "/export/..",
        "/export/../outside",
        "/export/directory-link",
        "/export/harmless-link",
        "/export/inner/file",
        "/etc",
    ] {
        assert_ne!(client.mount(path).status, 0, "{path}");
    }
    assert_eq!(client.mount("/export/inner/").status, 0);
}

#[test]
fn links_and_devices_are_not_made() {
    let all = surroundings();
    let client = Client::of(&all.path().join("shared"));
    let link = Arguments::default().data(&client.root).data(b"new").keep_all().data(b"/etc/passwd");
    assert_eq!(client.call(10, &link).status, 10004);
    let device = Arguments::default().data(&client.root).data(b"new").number(4).keep_all();
    assert_eq!(client.call(11, &device).status, 10004);
    let inner = client.lookup(&client.root, b"inner").handle(0);
    let file = client.lookup(&inner, b"file").handle(0);
    let hard = Arguments::default().data(&file).data(&client.root).data(b"new");
    assert_eq!(client.call(15, &hard).status, 10004);
    assert!(!all.path().join("shared/new").exists());
}

#[test]
fn forged_handles_lead_nowhere_else() {
    let all = surroundings();
    let client = Client::of(&all.path().join("shared"));
    for path in ["outside/secret", "outside", "shared/file-link", "shared/pipe"] {
        let metadata = fs::symlink_metadata(all.path().join(path)).unwrap();
        let forged = Handle::of(&metadata).encode();
        assert_eq!(client.read(&forged, 0, 10).status, 70, "{path}");
        assert_eq!(client.lookup(&forged, b"secret").status, 70, "{path}");
        assert_eq!(client.write(&forged, 0, b"x", 2).status, 70, "{path}");
    }
    untouched(&all);
}

/// A directory whose handle a client has is replaced by a link that leads outside.
#[test]
fn an_exchanged_directory_leads_nowhere_else() {
    let all = surroundings();
    let shared = all.path().join("shared");
    let client = Client::of(&shared);
    let inner = client.lookup(&client.root, b"inner").handle(0);
    fs::rename(shared.join("inner"), all.path().join("taken")).unwrap();
    symlink(all.path().join("outside"), shared.join("inner")).unwrap();
    assert_eq!(client.lookup(&inner, b"secret").status, 70);
    assert_ne!(client.create(&inner, b"planted").status, 0);
    assert_eq!(fs::read_dir(all.path().join("outside")).unwrap().count(), 1);
}

#[test]
fn only_files_and_directories_are_listed() {
    let all = surroundings();
    let client = Client::of(&all.path().join("shared"));
    let list = Arguments::default().data(&client.root).wide(0).wide(0);
    for (procedure, arguments) in
        [(16, list.clone().number(8192)), (17, list.number(8192).number(8192))]
    {
        let body = client.call(procedure, &arguments).body;
        assert!(body.windows(5).any(|part| part == b"inner"));
        assert!(!body.windows(4).any(|part| part == b"link" || part == b"pipe"));
    }
}

#[test]
fn no_client_is_given_other_rights() {
    let all = surroundings();
    let shared = all.path().join("shared");
    let client = Client::of(&shared);
    let file = client.create(&client.root, b"tool").handle(4);
    let owner = File::open(shared.join("tool")).unwrap().metadata().unwrap();
    // The mode with all bits, including set-user-id; then another owner.
    let mode = Arguments::default().data(&file).number(1).number(0o7777);
    let mode = (0..5).fold(mode, |all, _| all.number(0)).number(0);
    assert_eq!(client.call(2, &mode).status, 0);
    let now = fs::metadata(shared.join("tool")).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&now) & 0o7777, 0o777);
    let other = std::os::unix::fs::MetadataExt::uid(&owner) + 1;
    let give = Arguments::default().data(&file).number(0).number(1).number(other);
    let give = (0..4).fold(give, |all, _| all.number(0)).number(0);
    assert_eq!(client.call(2, &give).status, 1);
}
