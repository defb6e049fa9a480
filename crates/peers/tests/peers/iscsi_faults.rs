//! Faults between tgt and libiscsi.

use stormeter_peers::{
    Fault, Framing, Proxy, Tgt, TgtOptions, iscsi_verify_pattern, iscsi_write_pattern,
};

/// A target, a proxy before it, and a unit's address through it.
fn start(parameters: &[(&str, &str)]) -> (Tgt, Proxy, String) {
    let parameters = parameters.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let tgt = Tgt::start(&TgtOptions { parameters, ..TgtOptions::default() }).unwrap();
    let proxy = Proxy::start(tgt.address(), Framing::Iscsi, 1).unwrap();
    let url = tgt.libiscsi_url(proxy.address(), 1);
    (tgt, proxy, url)
}

const MIB: u64 = 1 << 20;

#[test]
fn without_a_fault_nothing_is_different() {
    let (_tgt, proxy, url) = start(&[]);
    iscsi_write_pattern(&url, 0, MIB, 7).unwrap();
    iscsi_verify_pattern(&url, 0, MIB, 7).unwrap();
    assert_eq!((proxy.fired(), proxy.connections()), (0, 2));
}

#[test]
fn a_foreign_client_gets_the_corrupted_data() {
    let (_tgt, proxy, url) = start(&[]);
    iscsi_write_pattern(&url, 0, MIB, 7).unwrap();
    proxy.plan(Fault::CorruptData { min_bytes: 4096 }).unwrap();
    assert!(iscsi_verify_pattern(&url, 0, MIB, 7).is_err());
    assert_eq!(proxy.fired(), 1);
    iscsi_verify_pattern(&url, 0, MIB, 7).unwrap();
}

#[test]
fn a_foreign_client_tries_again_when_the_target_is_busy() {
    let (_tgt, proxy, url) = start(&[]);
    for status in [0x08, 0x28] {
        proxy.plan_after(Fault::ScsiStatus { status }, 12, 1).unwrap();
        iscsi_write_pattern(&url, 0, MIB, status).unwrap();
        iscsi_verify_pattern(&url, 0, MIB, status).unwrap();
    }
    assert_eq!(proxy.fired(), 2);
}

#[test]
fn the_window_stands_still_between_real_peers() {
    // The client waits for the window, and the target sends it again with its ping.
    let (_tgt, proxy, url) = start(&[("nop_interval", "1"), ("nop_count", "60")]);
    proxy.plan(Fault::FreezeMaxCmdSn).unwrap();
    iscsi_write_pattern(&url, 0, MIB, 3).unwrap();
    assert_eq!(proxy.fired(), 1);
}

#[test]
fn a_real_targets_r2t_asks_for_something_else() {
    let (_tgt, proxy, url) = start(&[("InitialR2T", "Yes"), ("ImmediateData", "No")]);
    proxy.plan(Fault::R2t { offset_bytes: 512, length_bytes: 512 }).unwrap();
    // How the client handles it does not matter here.
    let _ = iscsi_write_pattern(&url, 0, 4096, 3);
    assert_eq!(proxy.fired(), 1);
}

#[test]
fn digests_settled_at_login_are_known_to_the_proxy() {
    let (_tgt, proxy, url) = start(&[("HeaderDigest", "CRC32C")]);
    let url = format!("{url}?header_digest=crc32c");
    stormeter_peers::iscsi_inquiry(&url).unwrap();
    proxy.plan(Fault::StatSn { add: 0 }).unwrap();
    stormeter_peers::iscsi_inquiry(&url).unwrap();
    assert_eq!(proxy.fired(), 1);
    let login = String::from_utf8_lossy(&proxy.recordings()[0].to_client).into_owned();
    assert!(login.contains("HeaderDigest=CRC32C"), "{login}");
}
