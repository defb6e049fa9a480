//! The iSCSI target that answers at once, with the tools of libiscsi and QEMU.

#![allow(clippy::unwrap_used)]

mod common;

use common::{run, succeed};
use stormeter_server::{NullIscsi, Running};

fn iscsi() -> (Running, String, String) {
    let server = NullIscsi::bind(0).unwrap();
    let portal = format!("iscsi://127.0.0.1:{}", server.port());
    let unit = format!("{portal}/{}/0", server.target());
    (server.spawn().unwrap(), portal, unit)
}

/// Reads and writes of several sizes, deep queues, and a sync after some of the writes.
fn bench(url: &str) {
    for (size, count, more) in [
        ("512", "300", &[][..]),
        ("4096", "5000", &[]),
        ("4096", "5000", &["-w"]),
        ("4096", "500", &["-w", "--flush-interval=100"]),
        ("300K", "100", &["-w"]),
        ("300K", "100", &[]),
        ("4M", "20", &["-w"]),
        ("4M", "20", &[]),
    ] {
        let arguments = ["bench", "-f", "raw", "-t", "none", "-d", "64", "-s", size, "-c", count];
        let said = succeed("qemu-img", &[&arguments[..], more, &[url]].concat());
        assert!(said.contains("Run completed"), "{said}");
    }
}

#[test]
fn iscsi_is_found() {
    let (_running, portal, unit) = iscsi();
    let said = succeed("iscsi-ls", &["-s", &portal]);
    assert!(said.contains("org.stormeter:null") && said.contains("Lun:0"), "{said}");
    assert!(said.contains("(Size:63G)") || said.contains("(Size:64G)"), "{said}");
    let said = succeed("iscsi-inq", &[&unit]);
    assert!(said.contains("Vendor:STORMETR"), "{said}");
    for page in ["0", "0x80", "0x83", "0xb0"] {
        succeed("iscsi-inq", &["-e", "1", "-c", page, &unit]);
    }
}

#[test]
fn a_unit_that_is_not_there_is_refused() {
    let (_running, _, unit) = iscsi();
    let other = format!("{}7", unit.strip_suffix('0').unwrap());
    let output = run("qemu-img", &["info", "-f", "raw", &other]);
    assert!(!output.status.success());
}

#[test]
fn iscsi_bears_load() {
    let (_running, _, unit) = iscsi();
    bench(&unit);
    let said = succeed("iscsi-perf", &["-t", "1", "-b", "8", "-m", "32", &unit]);
    assert!(!said.to_lowercase().contains("fail"), "{said}");
}

#[test]
fn iscsi_reads_zeros_of_the_right_length() {
    let (_running, _, unit) = iscsi();
    let commands = ["-c", "read -P 0 512 10M", "-c", "write 512 5M", "-c", "flush", "-c", "length"];
    let said = succeed("qemu-io", &[&["-f", "raw"][..], &commands, &[&unit]].concat());
    assert!(said.contains("64 GiB") && !said.contains("failed"), "{said}");
}
