//! The directory server with libnfs's tools. (QEMU's NFS driver has no port option.)

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use common::{run, succeed};
use stormeter_server::{DirectoryServer, Running};

fn serve(directory: &Path) -> (Running, String, String) {
    let server = DirectoryServer::bind(directory, 0).unwrap();
    let port = server.port();
    let base = format!("nfs://127.0.0.1{}", server.export());
    (server.spawn().unwrap(), base, format!("?nfsport={port}&mountport={port}&version=3"))
}

/// Bytes in which no two parts are alike.
fn content(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

#[test]
fn files_go_in_and_out_unchanged() {
    let shared = tempfile::tempdir().unwrap();
    let local = tempfile::tempdir().unwrap();
    fs::create_dir(shared.path().join("folder")).unwrap();
    let (_running, base, options) = serve(shared.path());
    for (name, length) in [("empty", 0), ("odd", 4097), ("large", (9 << 20) + 3)] {
        let original = local.path().join(name);
        fs::write(&original, content(length)).unwrap();
        let url = format!("{base}/folder/{name}{options}");
        succeed("nfs-cp", &[original.to_str().unwrap(), &url]);
        assert!(fs::read(shared.path().join("folder").join(name)).unwrap() == content(length));
        let back = local.path().join(format!("{name}.back"));
        succeed("nfs-cp", &[&url, back.to_str().unwrap()]);
        assert!(fs::read(back).unwrap() == content(length));
    }
    let listed = succeed("nfs-ls", &[&format!("{base}/folder{options}")]);
    for name in ["empty", "odd", "large"] {
        assert!(listed.contains(name), "{listed}");
    }
    assert!(listed.contains("4097"), "{listed}");
}

#[test]
fn what_lies_outside_is_not_shown() {
    let all = tempfile::tempdir().unwrap();
    let shared = all.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::write(all.path().join("outside"), b"secret").unwrap();
    fs::write(shared.join("inside"), b"public").unwrap();
    symlink("/etc/passwd", shared.join("passwd")).unwrap();
    symlink("../outside", shared.join("link")).unwrap();
    let (_running, base, options) = serve(&shared);
    let shown = |name: &str| {
        let output = run("nfs-cat", &[&format!("{base}/{name}{options}")]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(shown("inside").contains("public"));
    for name in ["passwd", "link", "../outside", "/../outside", "../../../../../../etc/passwd"] {
        let said = shown(name);
        assert!(!said.contains("secret") && !said.contains("root:"), "{name}: {said}");
    }
}
