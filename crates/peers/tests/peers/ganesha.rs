//! NFS-Ganesha, used by libnfs.

use stormeter_peers::{
    Ganesha, GaneshaOptions, Storage, libnfs_list, libnfs_read, libnfs_url, libnfs_write,
};

use crate::{exists, is_on_loopback_only, pattern};

fn start(options: GaneshaOptions) -> Ganesha {
    Ganesha::start(&options).unwrap()
}

#[test]
fn files_go_in_and_out_and_lie_in_its_directory() {
    let ganesha = start(GaneshaOptions::default());
    let (url, bytes) = (ganesha.libnfs_url("file"), pattern(100_000));
    libnfs_write(&url, &bytes).unwrap();
    assert_eq!(std::fs::read(ganesha.directory().unwrap().join("file")).unwrap(), bytes);
    assert_eq!(libnfs_read(&url).unwrap(), bytes);
    assert!(libnfs_list(&ganesha.libnfs_url("")).unwrap().contains("file"));
    let port = ganesha.nfs_port();
    assert!(ganesha.url().starts_with(&format!("nfs://127.0.0.1:{port}/")), "{}", ganesha.url());
}

#[test]
fn it_listens_on_loopback_only_and_is_gone_after_drop() {
    let ganesha = start(GaneshaOptions::default());
    let name = std::fs::read_to_string(format!("/proc/{}/comm", ganesha.pid())).unwrap();
    assert_eq!(name, "ganesha.nfsd\n");
    assert!(is_on_loopback_only(ganesha.nfs_port()));
    assert!(is_on_loopback_only(ganesha.mount_port()));
    let (pid, directory) = (ganesha.pid(), ganesha.directory().unwrap().to_owned());
    drop(ganesha);
    assert!(!exists(pid));
    assert!(!directory.exists());
}

#[test]
fn killed_it_is_away_and_restarted_it_has_its_files() {
    let mut ganesha = start(GaneshaOptions::default());
    let (url, bytes) = (ganesha.libnfs_url("file"), pattern(5000));
    let (nfs_port, pid) = (ganesha.nfs_port(), ganesha.pid());
    libnfs_write(&url, &bytes).unwrap();
    ganesha.kill();
    assert!(!exists(pid));
    assert!(std::net::TcpStream::connect(ganesha.nfs_address()).is_err());
    ganesha.restart().unwrap();
    assert_eq!(ganesha.nfs_port(), nfs_port);
    assert_ne!(ganesha.pid(), pid);
    assert_eq!(libnfs_read(&url).unwrap(), bytes);
}

#[test]
fn a_directory_given_is_served_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("there"), b"before").unwrap();
    let storage = Storage::Directory(directory.path().to_owned());
    let ganesha = start(GaneshaOptions { storage, ..GaneshaOptions::default() });
    assert_eq!(libnfs_read(&ganesha.libnfs_url("there")).unwrap(), b"before");
    drop(ganesha);
    assert!(directory.path().join("there").exists());
}

#[test]
fn memory_serves_and_forgets() {
    let storage = Storage::Memory;
    let mut ganesha = start(GaneshaOptions { storage, ..GaneshaOptions::default() });
    assert_eq!(ganesha.directory(), None);
    let url = ganesha.libnfs_url("file");
    libnfs_write(&url, b"soon forgotten").unwrap();
    assert_eq!(libnfs_read(&url).unwrap(), b"soon forgotten");
    ganesha.restart().unwrap();
    assert!(libnfs_read(&url).is_err());
}

#[test]
fn two_serve_side_by_side() {
    let servers = [start(GaneshaOptions::default()), start(GaneshaOptions::default())];
    for (server, bytes) in servers.iter().zip([b"one", b"two"]) {
        libnfs_write(&server.libnfs_url("file"), bytes).unwrap();
    }
    assert_eq!(libnfs_read(&servers[0].libnfs_url("file")).unwrap(), b"one");
    assert_eq!(libnfs_read(&servers[1].libnfs_url("file")).unwrap(), b"two");
}

#[test]
fn what_may_not_be_written_is_refused_in_words() {
    let read_only = start(GaneshaOptions { read_only: true, ..GaneshaOptions::default() });
    let error = libnfs_write(&read_only.libnfs_url("file"), b"x").unwrap_err().to_string();
    assert!(error.contains("ROFS"), "{error}");
    let squashed = start(GaneshaOptions { squash_root: true, ..GaneshaOptions::default() });
    let error = libnfs_write(&squashed.libnfs_url("file"), b"x").unwrap_err().to_string();
    assert!(error.contains("ACCES"), "{error}");
}

#[test]
fn a_server_that_cannot_serve_says_so_with_its_log() {
    let storage = Storage::Directory("/no/such/directory".into());
    let options = GaneshaOptions { storage, ..GaneshaOptions::default() };
    let error = Ganesha::start(&options).unwrap_err().to_string();
    assert!(error.contains("/no/such/directory"), "{error}");
    assert!(error.contains("Errors processing block (EXPORT)"), "{error}");
}

#[test]
fn an_address_names_both_ports() {
    let url = libnfs_url("127.0.0.1:20001".parse().unwrap(), 20_002, "/export/file".as_ref());
    assert_eq!(url, "nfs://127.0.0.1/export/file?nfsport=20001&mountport=20002");
}
