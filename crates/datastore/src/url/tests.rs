//! URLs as people write them, and the errors of those that are refused.

use super::*;

fn location(text: &str) -> Location {
    DatastoreUrl::parse(text).unwrap().location
}

#[test]
fn paths_are_directories() {
    let directory = |path: &str| Location::Directory(path.into());
    assert_eq!(location("/srv/vm"), directory("/srv/vm"));
    assert_eq!(location("./vm"), directory("./vm"));
    assert_eq!(location("./nas1:vm"), directory("./nas1:vm"));
    assert_eq!(location("vm/disks"), directory("vm/disks"));
    assert_eq!(location("file:///srv/my%20vm"), directory("/srv/my vm"));
    assert_eq!(location("file://localhost/srv"), directory("/srv"));
    assert_eq!(location("null:"), Location::Null);
}

#[test]
fn below_dev_only_devices_are_devices() {
    assert_eq!(location("/dev/shm"), Location::Directory("/dev/shm".into()));
    assert_eq!(location("/dev/shm/nobody"), Location::Directory("/dev/shm/nobody".into()));
    assert_eq!(location("/dev"), Location::Directory("/dev".into()));
    assert_eq!(location("/dev/no-such"), Location::Device("/dev/no-such".into()));
    assert_eq!(location("file:///dev/no-such"), Location::Device("/dev/no-such".into()));
    assert_eq!(location("/dev/null"), Location::Device("/dev/null".into()));
    assert_eq!(location("/developer"), Location::Directory("/developer".into()));
}

#[test]
fn options_are_read_and_written() {
    let url = DatastoreUrl::parse("/srv?direct=0&engine=positional").unwrap();
    assert!(!url.direct);
    assert_eq!(url.engine, EngineChoice::Positional);
    assert_eq!(url.to_string(), "/srv?direct=0&engine=positional");
    for text in ["/srv", "./vm?engine=uring", "null:", "/srv?direct=0", "file:///a%3Fb%2525"] {
        let url = DatastoreUrl::parse(text).unwrap();
        assert_eq!(url.to_string(), text);
        let json = serde_json::to_string(&url).unwrap();
        assert_eq!(serde_json::from_str::<DatastoreUrl>(&json).unwrap(), url);
    }
    assert_eq!(DatastoreUrl::parse("/srv?direct=1&engine=auto").unwrap().to_string(), "/srv");
}

#[test]
fn an_unknown_scheme_lists_the_known_ones() {
    let error = DatastoreUrl::parse("gopher://x/y").unwrap_err().to_string();
    for word in ["gopher:", "file:///path", "null:", "/dev/", "nfs:", "iscsi:"] {
        assert!(error.contains(word), "{word} is not in: {error}");
    }
    let error = DatastoreUrl::parse("nas1:/export").unwrap_err().to_string();
    assert!(error.contains("./nas1:"), "{error}");
}

#[test]
fn a_planned_scheme_says_so_and_keeps_the_password() {
    let error = DatastoreUrl::parse("nbd://u:secret@h/x").unwrap_err();
    assert!(matches!(error, UrlError::NotYet { .. }));
    assert!(error.to_string().contains("mount"), "{error}");
    for text in ["nbd://u:secret@h/x", "ftp://u:secret@h/x"] {
        let error = DatastoreUrl::parse(text).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[test]
fn exports_are_read_and_written() {
    let url = DatastoreUrl::parse("nfs://nas1/export/vm").unwrap();
    let Location::Nfs(export) = &url.location else { panic!("{url:?}") };
    assert_eq!((export.host.name.as_str(), export.path.as_str()), ("nas1", "/export/vm"));
    assert_eq!((export.sync, export.connections), (NfsSync::File, 1));
    assert_eq!(url.to_string(), "nfs://nas1/export/vm");

    let text = "nfs://127.0.0.1:2049/srv/my%20vm?mountport=20048&connections=4&uid=1000&gid=100\
                &sync=unstable&timeout=5s&engine=positional";
    let url = DatastoreUrl::parse(text).unwrap();
    let Location::Nfs(export) = &url.location else { panic!("{url:?}") };
    assert_eq!((export.path.as_str(), export.mount_port), ("/srv/my vm", Some(20_048)));
    assert_eq!((export.uid, export.gid, export.connections), (Some(1000), Some(100), 4));
    assert_eq!((export.sync, export.timeout.as_secs()), (NfsSync::Unstable, 5));
    assert_eq!(url.to_string(), text);
    assert_eq!(DatastoreUrl::parse(&url.to_string()).unwrap(), url);

    for text in ["nfs:nas1/x", "nfs://nas1", "nfs://", "nfs:///x", "nfs://nas1/a/../b"] {
        let error = DatastoreUrl::parse(text).unwrap_err().to_string();
        assert!(error.contains("nfs://host"), "{text}: {error}");
    }
    for (option, words) in [
        ("version=4", "version=3"),
        ("connections=0", "1 to 16"),
        ("sync=maybe", "sync=unstable"),
        ("timeout=0s", "100ms to 1h"),
        ("direct=0", "connections=N"),
    ] {
        let error = DatastoreUrl::parse(&format!("nfs://h/x?{option}")).unwrap_err().to_string();
        assert!(error.contains(words), "{option}: {error}");
    }
}

#[test]
fn luns_are_read_and_written_without_their_password() {
    let url = DatastoreUrl::parse("iscsi://vm%s3cr%25t@127.0.0.1:3260/iqn.2026-01.example:vm/1");
    let mut url = url.unwrap();
    let Location::Iscsi(lun) = &url.location else { panic!("{url:?}") };
    assert_eq!((lun.target.as_str(), lun.lun), ("iqn.2026-01.example:vm", 1));
    assert_eq!(lun.user.as_deref(), Some("vm"));
    assert_eq!(lun.password, Some(Secret::new("s3cr%25t")));
    let shown = "iscsi://vm@127.0.0.1:3260/iqn.2026-01.example:vm/1";
    assert_eq!(url.to_string(), shown);
    assert!(!serde_json::to_string(&url).unwrap().contains("s3cr"));
    assert!(!format!("{url:?}").contains("s3cr"), "{url:?}");
    let secret = url.take_secret().unwrap();
    assert_eq!(DatastoreUrl::parse(shown).unwrap(), url);
    url.set_secret(secret.clone());
    assert_eq!(url.take_secret(), Some(secret));

    let text = "iscsi://nas1/iqn.2026-01.example:vm/0?portals=nas2,[::1]:3261&sessions=4\
                &policy=round-robin&header-digest=crc32c&data-digest=crc32c&initial-r2t=yes\
                &immediate-data=no&initiator=iqn.2026-01.example:me&password-file=/etc/p%20w\
                &target-user=t&target-password-file=t&timeout=1s";
    let url = DatastoreUrl::parse(text).unwrap();
    let Location::Iscsi(lun) = &url.location else { panic!("{url:?}") };
    assert_eq!((lun.portals.len(), lun.sessions), (3, Some(4)));
    assert_eq!(lun.policy, PathPolicy::RoundRobin);
    assert_eq!(lun.password_file.as_deref(), Some(Path::new("/etc/p w")));
    assert_eq!(url.to_string(), text);
}

#[test]
fn a_bad_lun_says_what_to_write_and_never_the_password() {
    for text in [
        "iscsi://u%secret@h",
        "iscsi://u%secret@h/iqn.x:y",
        "iscsi://u%secret@h/notaname/1",
        "iscsi://u%secret@h/iqn.x:y/16384",
        "iscsi://u%secret@h:0/iqn.x:y/1",
        "iscsi://u%sec/ret@h/iqn.x:y/1",
        "iscsi:u%secret@h/iqn.x:y/1",
        "iscsi://%secret@h/iqn.x:y/1",
        "iscsi://u%secret@h/iqn.x:y/1?policy=secretive",
        "iscsi://u%secret@h/iqn.x:y/1?polcy=fixed",
    ] {
        let error = DatastoreUrl::parse(text).unwrap_err().to_string().replace("secretive", "");
        assert!(error.contains("iscsi://") || error.contains("policy="), "{text}: {error}");
        assert!(!error.contains("sec"), "{text}: {error}");
    }
}

#[test]
fn pools_are_read_and_written() {
    let url = DatastoreUrl::parse("rbd:vms").unwrap();
    let Location::Rbd(pool) = &url.location else { panic!("{url:?}") };
    assert_eq!((pool.pool.as_str(), pool.name.as_str(), pool.id.as_str()), ("vms", "vm", "admin"));
    assert_eq!((pool.cache, pool.stripe_unit(), pool.features), (false, None, None));
    assert_eq!(url.to_string(), "rbd:vms");
    assert!(url.path().is_none());

    let text = "rbd:vms/test?conf=/etc/my%20ceph.conf&id=me&namespace=a&object-size=1MiB&stripes=4\
                &stripe-unit=16KiB&features=layering,exclusive-lock&cache=1&timeout=5s";
    let url = DatastoreUrl::parse(text).unwrap();
    let Location::Rbd(pool) = &url.location else { panic!("{url:?}") };
    assert_eq!(pool.conf.as_deref(), Some(Path::new("/etc/my ceph.conf")));
    assert_eq!((pool.object_bytes, pool.stripes, pool.features), (Some(1 << 20), Some(4), Some(5)));
    assert_eq!((pool.stripe_unit(), pool.cache, pool.timeout.as_secs()), (Some(16 << 10), true, 5));
    assert_eq!(url.to_string(), text);
    // Stripes alone have a unit that small requests reach.
    let url = DatastoreUrl::parse("rbd:vms?stripes=3").unwrap();
    let Location::Rbd(pool) = &url.location else { panic!("{url:?}") };
    assert_eq!(pool.stripe_unit(), Some(64 << 10));

    for text in ["rbd:", "rbd:/x", "rbd:a/", "rbd:a/b/c", "rbd:a@snap", "rbd://h/x"] {
        let error = DatastoreUrl::parse(text).unwrap_err().to_string();
        assert!(error.contains("rbd:pool"), "{text}: {error}");
    }
    for (option, words) in [
        ("object-size=3MiB", "power of two"),
        ("stripes=0", "1 to 1024"),
        ("stripe-unit=100", "power of two"),
        ("features=fast", "exclusive-lock"),
        ("cache=maybe", "0 or cache=1"),
        ("engine=uring", "conf=FILE"),
        ("direct=0", "conf=FILE"),
    ] {
        let error = DatastoreUrl::parse(&format!("rbd:vms?{option}")).unwrap_err().to_string();
        assert!(error.contains(words), "{option}: {error}");
    }
}

#[test]
fn bad_options_say_what_to_write() {
    let message = |text: &str| DatastoreUrl::parse(text).unwrap_err().to_string();
    assert!(message("/srv?dirct=0").contains("direct=0|1"));
    assert!(message("/srv?direct=no").contains("direct=0 or direct=1"));
    assert!(message("/srv?engine=aio").contains("auto, uring or positional"));
    assert!(message("null:?direct=0").contains("no options"));
    assert!(message("null:x").contains("just null:"));
    assert!(message("file:srv").contains("file:///path"));
    assert!(message("file://nas/srv").contains("file:///path"));
    assert!(message("file:///a%zz").contains("file:///path"));
    assert!(message("  ").contains("empty"));
}
