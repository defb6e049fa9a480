//! tgt, used by libiscsi.

use stormeter_peers::{
    Backing, Chap, Tgt, TgtOptions, iscsi_inquiry, iscsi_list, iscsi_read, iscsi_verify_pattern,
    iscsi_write, iscsi_write_pattern,
};

use crate::{exists, is_on_loopback_only, pattern};

fn start(options: TgtOptions) -> Tgt {
    Tgt::start(&options).unwrap()
}

fn url(tgt: &Tgt) -> String {
    tgt.libiscsi_url(tgt.address(), 1)
}

#[test]
fn blocks_go_in_and_out_and_lie_in_its_file() {
    for backing in [Backing::ReadWrite, Backing::Asynchronous] {
        let tgt = start(TgtOptions { backing, ..TgtOptions::default() });
        let bytes = pattern(8192);
        iscsi_write(&url(&tgt), 4096, &bytes).unwrap();
        assert_eq!(std::fs::read(tgt.unit_file(1)).unwrap()[4096..12_288], bytes);
        assert_eq!(iscsi_read(&url(&tgt), 4096, 8192).unwrap(), bytes);
        iscsi_write_pattern(&url(&tgt), 0, 4096, 0x5a).unwrap();
        iscsi_verify_pattern(&url(&tgt), 0, 4096, 0x5a).unwrap();
        assert!(iscsi_verify_pattern(&url(&tgt), 0, 4096, 0x5b).is_err());
    }
}

#[test]
fn it_serves_from_a_directory_of_any_depth() {
    let parent = tempfile::tempdir().unwrap();
    let mut deep = parent.path().to_owned();
    (0..4).for_each(|_| deep.push("x".repeat(60)));
    std::fs::create_dir_all(&deep).unwrap();
    let mut tgt = start(TgtOptions { directory: Some(deep.clone()), ..TgtOptions::default() });
    assert!(tgt.unit_file(1).starts_with(&deep));
    iscsi_write_pattern(&url(&tgt), 0, 4096, 0x5a).unwrap();
    tgt.restart().unwrap();
    iscsi_verify_pattern(&url(&tgt), 0, 4096, 0x5a).unwrap();
}

#[test]
fn it_listens_on_loopback_only_and_is_gone_after_drop() {
    let tgt = start(TgtOptions { two_portals: true, ..TgtOptions::default() });
    let name = std::fs::read_to_string(format!("/proc/{}/comm", tgt.pid())).unwrap();
    assert_eq!(name, "tgtd\n");
    assert_eq!(tgt.addresses().len(), 2);
    for address in tgt.addresses() {
        assert!(is_on_loopback_only(address.port()));
        iscsi_write_pattern(&tgt.libiscsi_url(address, 1), 0, 512, 1).unwrap();
    }
    let (pid, file) = (tgt.pid(), tgt.unit_file(1));
    drop(tgt);
    assert!(!exists(pid));
    assert!(!file.exists());
}

#[test]
fn killed_it_is_away_and_restarted_it_has_its_units() {
    let mut tgt = start(TgtOptions::default());
    assert_eq!(tgt.add_unit(8 << 20).unwrap(), 2);
    let second = tgt.libiscsi_url(tgt.address(), 2);
    iscsi_write_pattern(&second, 0, 4096, 0xa5).unwrap();
    tgt.set_parameter("InitialR2T", "No").unwrap();
    let (address, pid) = (tgt.address(), tgt.pid());
    tgt.kill();
    assert!(!exists(pid));
    assert!(std::net::TcpStream::connect(address).is_err());
    tgt.restart().unwrap();
    assert_eq!(tgt.address(), address);
    iscsi_verify_pattern(&second, 0, 4096, 0xa5).unwrap();
    assert!(tgt.parameters().unwrap().contains("InitialR2T=No"));
}

#[test]
fn it_stops_in_order_when_asked() {
    let mut tgt = start(TgtOptions::default());
    let pid = tgt.pid();
    tgt.stop().unwrap();
    assert!(!exists(pid));
    tgt.restart().unwrap();
    iscsi_write_pattern(&url(&tgt), 0, 512, 1).unwrap();
}

#[test]
fn units_have_the_sizes_and_blocks_asked_for() {
    let tgt = start(TgtOptions {
        name: "sizes".into(),
        units_bytes: vec![16 << 20, 32 << 20],
        block_bytes: 4096,
        ..TgtOptions::default()
    });
    let list = iscsi_list(&tgt.libiscsi_portal(tgt.address())).unwrap();
    assert!(list.contains("iqn.2026-01.test.stormeter:sizes"), "{list}");
    assert!(list.contains("Lun:1") && list.contains("Lun:2") && !list.contains("Lun:3"), "{list}");
    assert_eq!(std::fs::metadata(tgt.unit_file(2)).unwrap().len(), 32 << 20);
    assert!(tgt.url(2).ends_with("/iqn.2026-01.test.stormeter:sizes/2"));
}

#[test]
fn parameters_are_set_and_unknown_ones_refused() {
    let parameters =
        [("ImmediateData", "No"), ("HeaderDigest", "CRC32C"), ("MaxRecvDataSegmentLength", "4096")];
    let parameters: Vec<_> = parameters.map(|(n, v)| (n.to_owned(), v.to_owned())).into();
    let tgt = start(TgtOptions { parameters: parameters.clone(), ..TgtOptions::default() });
    let shown = tgt.parameters().unwrap();
    for (name, value) in parameters {
        assert!(shown.lines().any(|line| line == format!("{name}={value}")), "{shown}");
    }
    let parameters = vec![("NoSuchKey".to_owned(), "No".to_owned())];
    let refused = Tgt::start(&TgtOptions { parameters, ..TgtOptions::default() });
    assert!(refused.unwrap_err().to_string().contains("NoSuchKey"));
}

#[test]
fn only_who_knows_the_secret_may_log_in() {
    let account = |user: &str, secret: &str| Chap { user: user.into(), secret: secret.into() };
    let tgt = start(TgtOptions {
        chap: Some(account("in", "secret-of-twelve")),
        chap_outgoing: Some(account("out", "another-secret-1")),
        ..TgtOptions::default()
    });
    iscsi_write_pattern(&url(&tgt), 0, 512, 1).unwrap();
    assert!(!tgt.url(1).contains("secret"));
    let wrong = url(&tgt).replace("secret-of-twelve", "secret-of-thirteen");
    assert!(iscsi_write_pattern(&wrong, 0, 512, 1).is_err());
    assert!(iscsi_write_pattern(&tgt.url(1), 0, 512, 1).is_err());
    // Mutual CHAP: the target authenticates with the outgoing account, and with no other.
    let mutual = |secret: &str| {
        let options = format!("?target_user=out&target_password={secret}");
        iscsi_inquiry(&format!("{}{options}", url(&tgt)))
    };
    mutual("another-secret-1").unwrap();
    assert!(mutual("another-secret-2").is_err());
}
