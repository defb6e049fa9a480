//! Finding, mounting, creating, listing.

use stormeter_nfs::{
    Attributes, Create, Cursor, Export, ExportEntry, FileSystemLimits, FileSystemSpace, FileType,
    GetAttributes, GetPort, Lookup, MOUNT_PROGRAM, MakeDirectory, Mnt, Null, Place, Procedure,
    ReadDirectory, Remove, RemoveDirectory, Rename, Time, Umnt,
};

use crate::hex::ATTRIBUTES;
use crate::{HANDLE, assert_call, handle, reply};

const NO_CHANGE: &str = "00000000 00000000 "; // wcc_data without attributes

fn attributes() -> Attributes {
    let time = |number| Time { seconds: 0x6500_0000 + number, nanoseconds: number };
    Attributes {
        file_type: FileType::Regular,
        mode: 0o644,
        links: 1,
        uid: 1000,
        gid: 1001,
        size_bytes: 0x2000,
        used_bytes: 0x3000,
        device: (8, 1),
        file_system: 0xdead_beef,
        file_number: 77,
        accessed: time(1),
        modified: time(2),
        changed: time(3),
    }
}

fn place(name: &[u8]) -> Place<'_> {
    Place { directory: handle(), name }
}

#[test]
fn numbers_are_those_of_the_standards() {
    fn number<P: Procedure>() -> [u32; 3] {
        [P::PROGRAM, P::VERSION, P::NUMBER]
    }
    assert_eq!(number::<GetPort>(), [100_000, 2, 3]);
    assert_eq!(number::<Mnt<'_>>(), [100_005, 3, 1]);
    assert_eq!(number::<Umnt<'_>>(), [100_005, 3, 3]);
    assert_eq!(number::<Export>(), [100_005, 3, 5]);
    assert_eq!(number::<Null>(), [100_003, 3, 0]);
    assert_eq!(number::<GetAttributes>(), [100_003, 3, 1]);
    assert_eq!(number::<Lookup<'_>>(), [100_003, 3, 3]);
    assert_eq!(number::<stormeter_nfs::Read>(), [100_003, 3, 6]);
    assert_eq!(number::<stormeter_nfs::Write<'_>>(), [100_003, 3, 7]);
    assert_eq!(number::<Create<'_>>(), [100_003, 3, 8]);
    assert_eq!(number::<MakeDirectory<'_>>(), [100_003, 3, 9]);
    assert_eq!(number::<Remove<'_>>(), [100_003, 3, 12]);
    assert_eq!(number::<RemoveDirectory<'_>>(), [100_003, 3, 13]);
    assert_eq!(number::<Rename<'_>>(), [100_003, 3, 14]);
    assert_eq!(number::<ReadDirectory>(), [100_003, 3, 16]);
    assert_eq!(number::<FileSystemSpace>(), [100_003, 3, 18]);
    assert_eq!(number::<FileSystemLimits>(), [100_003, 3, 19]);
    assert_eq!(number::<stormeter_nfs::Commit>(), [100_003, 3, 21]);
}

#[test]
fn port() {
    assert_call(
        &GetPort { program: MOUNT_PROGRAM, version: 3 },
        "000186a5 00000003 00000006 00000000",
    );
    assert_eq!(reply::<GetPort>("00000801"), Ok(Some(2049)));
    assert_eq!(reply::<GetPort>("00000000"), Ok(None));
    assert!(reply::<GetPort>("00010000").is_err());
}

#[test]
fn mounting() {
    assert_call(&Mnt { path: "/exp" }, "00000004 \"/exp\"");
    let mounted =
        reply::<Mnt<'_>>("00000000 00000005 0102030405 000000 00000002 00000001 00000006");
    let mounted = mounted.unwrap();
    assert_eq!((mounted.directory, mounted.flavors), (handle(), vec![1, 6]));
    assert!(reply::<Mnt<'_>>("00000000 00000041").is_err(), "a handle of 65 bytes");
    assert!(reply::<Mnt<'_>>("00000000 00000000 ffffffff").is_err(), "4 billion flavors");
    assert_call(&Umnt { path: "/a" }, "00000002 \"/a\" 0000");
    assert_eq!(reply::<Umnt<'_>>(""), Ok(()));
    assert_call(&Export, "");
    let exports = reply::<Export>(
        "00000001 00000004 \"/exp\"
             00000001 0000000a \"10.0.0.0/8\" 0000  00000001 00000001 \"*\" 000000  00000000
         00000001 00000002 \"/b\" 0000 00000000
         00000000",
    );
    let entry = |path: &str, groups: &[&str]| ExportEntry {
        path: path.into(),
        groups: groups.iter().map(|group| (*group).into()).collect(),
    };
    assert_eq!(exports, Ok(vec![entry("/exp", &["10.0.0.0/8", "*"]), entry("/b", &[])]));
}

#[test]
fn one_file() {
    assert_call(&Null, "");
    assert_eq!(reply::<Null>(""), Ok(()));
    assert_call(&GetAttributes { file: handle() }, HANDLE);
    let ok = format!("00000000 {ATTRIBUTES}");
    assert_eq!(reply::<GetAttributes>(&ok), Ok(attributes()));
    assert!(reply::<GetAttributes>(&ok.replacen("00000001", "00000008", 1)).is_err());

    assert_call(&Lookup { place: place(b"disk0") }, &format!("{HANDLE} 00000005 \"disk0\" 000000"));
    let found = reply::<Lookup<'_>>(&format!(
        "00000000 {HANDLE} 00000001 {ATTRIBUTES} 00000001 {ATTRIBUTES}"
    ))
    .unwrap();
    assert_eq!((found.file, found.attributes), (handle(), Some(attributes())));
}

#[test]
fn making_and_removing() {
    let sattr = "00000001 00000180 00000000 00000000 00000000 00000000 00000000 ";
    let name = format!("{HANDLE} 00000003 \"new\" 00");
    assert_call(&Create { place: place(b"new"), mode: 0o600 }, &format!("{name} 00000001 {sattr}"));
    let full = format!("00000000 00000001 {HANDLE} 00000001 {ATTRIBUTES} {NO_CHANGE}");
    let created = reply::<Create<'_>>(&full).unwrap();
    assert_eq!((created.file, created.attributes), (Some(handle()), Some(attributes())));
    let bare = reply::<Create<'_>>(&format!("00000000 00000000 00000000 {NO_CHANGE}")).unwrap();
    assert_eq!((bare.file, bare.attributes), (None, None));

    assert_call(&MakeDirectory { place: place(b"new"), mode: 0o600 }, &format!("{name} {sattr}"));
    assert_eq!(reply::<MakeDirectory<'_>>(&full).unwrap().file, Some(handle()));
    assert_call(&Remove { place: place(b"new") }, &name);
    assert_eq!(reply::<Remove<'_>>(&format!("00000000 {NO_CHANGE}")), Ok(()));
    let before = "00000001 0000000000001000 65000001 00000001 65000001 00000001";
    let changed = format!("00000000 {before} 00000001 {ATTRIBUTES}");
    assert_eq!(reply::<Remove<'_>>(&changed), Ok(()));
    assert_call(&RemoveDirectory { place: place(b"new") }, &name);
    assert_eq!(reply::<RemoveDirectory<'_>>(&format!("00000000 {NO_CHANGE}")), Ok(()));
    assert_call(
        &Rename { from: place(b"new"), to: place(b"old!") },
        &format!("{name} {HANDLE} 00000004 \"old!\""),
    );
    assert_eq!(reply::<Rename<'_>>(&format!("00000000 {NO_CHANGE} {NO_CHANGE}")), Ok(()));
}

#[test]
fn listing() {
    let cursor = Cursor { cookie: 9, verifier: *b"dir-veri" };
    let place = format!("{HANDLE} 0000000000000009 \"dir-veri\"");
    assert_call(
        &ReadDirectory { directory: handle(), cursor, most_bytes: 4096 },
        &format!("{place} 00001000"),
    );
    let listing = reply::<ReadDirectory>(
        "00000000 00000000 \"dir-veri\"
         00000001 0000000000000004 00000001 \".\" 000000 0000000000000001
         00000001 0000000000000005 00000002 fffe 0000 0000000000000002
         00000000 00000000",
    )
    .unwrap();
    assert_eq!(listing.next, Some(Cursor { cookie: 2, verifier: *b"dir-veri" }));
    let names: Vec<_> =
        listing.entries.iter().map(|one| (one.file_number, &one.name[..])).collect();
    assert_eq!(names, [(4, &b"."[..]), (5, &b"\xff\xfe"[..])]);

    let last = reply::<ReadDirectory>(&format!(
        "00000000 00000001 {ATTRIBUTES} \"dir-veri\"
         00000001 0000000000000004 00000001 \"a\" 000000 0000000000000001
         00000000 00000001"
    ))
    .unwrap();
    assert_eq!((last.entries.len(), last.next), (1, None));
    let empty = reply::<ReadDirectory>("00000000 00000000 \"dir-veri\" 00000000 00000000").unwrap();
    assert_eq!(empty.next, None, "neither entries nor an end is an end");
}

#[test]
fn file_systems() {
    assert_call(&FileSystemSpace { file: handle() }, HANDLE);
    let space = reply::<FileSystemSpace>(&format!(
        "00000000 00000001 {ATTRIBUTES}
         0000000000000006 0000000000000005 0000000000000004
         0000000000000003 0000000000000002 0000000000000001 00000007"
    ))
    .unwrap();
    assert_eq!((space.total_bytes, space.free_bytes, space.available_bytes), (6, 5, 4));
    assert_eq!((space.total_files, space.free_files, space.available_files), (3, 2, 1));
    assert_eq!(space.unchanged_seconds, 7);

    assert_call(&FileSystemLimits { file: handle() }, HANDLE);
    // Linux: 1 MiB, multiples of a page, the largest file of ext4, all properties.
    let linux = reply::<FileSystemLimits>(&format!(
        "00000000 00000001 {ATTRIBUTES}
         00100000 00100000 00001000 00100000 00100000 00001000 00001000
         00000ffffffff000 00000000 00000001 0000001b"
    ))
    .unwrap();
    assert_eq!((linux.read_max_bytes, linux.write_max_bytes), (1 << 20, 1 << 20));
    assert_eq!((linux.read_multiple_bytes, linux.properties), (4096, 0x1b));
    assert_eq!(linux.file_max_bytes, 0xfff_ffff_f000);
    // Ganesha: 64 MiB, no attributes, files up to the largest 64-bit size.
    let ganesha = reply::<FileSystemLimits>(
        "00000000 00000000
         04000000 04000000 00000000 04000000 02000000 00000000 00004000
         7fffffffffffffff 00000000 00000001 0000001b",
    )
    .unwrap();
    assert_eq!((ganesha.read_max_bytes, ganesha.read_multiple_bytes), (64 << 20, 0));
    assert_eq!(
        (ganesha.write_preferred_bytes, ganesha.directory_preferred_bytes),
        (32 << 20, 16384)
    );
}
