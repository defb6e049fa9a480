//! Faults between NFS-Ganesha and libnfs.

use stormeter_peers::{
    Direction, Fault, Framing, Ganesha, GaneshaOptions, Proxy, libnfs_read, libnfs_url,
    libnfs_write, nfs_procedure,
};

use crate::pattern;

/// A server, a proxy in front of its NFS program, and a file's URL through it.
fn start() -> (Ganesha, Proxy, String) {
    let ganesha = Ganesha::start(&GaneshaOptions::default()).unwrap();
    let proxy = Proxy::start(ganesha.nfs_address(), Framing::Rpc, 1).unwrap();
    let path = ganesha.export_path().join("file");
    let url = libnfs_url(proxy.address(), ganesha.mount_port(), &path);
    (ganesha, proxy, url)
}

#[test]
fn without_a_fault_nothing_is_different() {
    let (_ganesha, proxy, url) = start();
    let bytes = pattern(2_000_000);
    libnfs_write(&url, &bytes).unwrap();
    assert_eq!(libnfs_read(&url).unwrap(), bytes);
    assert_eq!(proxy.fired(), 0);
    assert!(proxy.connections() >= 2);
}

#[test]
fn a_foreign_client_meets_the_status() {
    for (procedure, status) in [
        (nfs_procedure::WRITE, 28),
        (nfs_procedure::WRITE, 70),
        (nfs_procedure::READ, 5),
        (nfs_procedure::CREATE, 13),
    ] {
        let (_ganesha, proxy, url) = start();
        let is_read = procedure == nfs_procedure::READ;
        if is_read {
            libnfs_write(&url, b"before").unwrap();
        }
        proxy.plan(Fault::NfsStatus { procedure, status }).unwrap();
        let done =
            if is_read { libnfs_read(&url).map(|_| ()) } else { libnfs_write(&url, b"after") };
        // The tool's own failure, not the time limit.
        let error = done.unwrap_err().to_string();
        assert!(error.contains("exit status: 10") && error.contains("Failed to "), "{error}");
        assert_eq!(proxy.fired(), 1);
    }
}

#[test]
fn a_foreign_client_survives_a_broken_connection_and_a_doubled_reply() {
    let (_ganesha, proxy, url) = start();
    let bytes = pattern(3_000_000);
    libnfs_write(&url, &bytes).unwrap();
    // Within a request: libnfs 4.0 cannot handle a truncated reply.
    let direction = Direction::ToServer;
    proxy.plan(Fault::Reset { direction, after_bytes: 900 }).unwrap();
    assert_eq!(libnfs_read(&url).unwrap(), bytes);
    assert_eq!(proxy.fired(), 1);
    proxy.plan_after(Fault::DuplicateReply, 5, 1).unwrap();
    assert_eq!(libnfs_read(&url).unwrap(), bytes);
    assert_eq!(proxy.fired(), 2);
}
