//! Signatures on plain files: each magic written by hand at its place, and the gaps between.

use super::*;

const SIZE: u64 = 128 << 20;

/// A sparse file with bytes at some places; negative places count from the end.
fn inspect_with(size: u64, writes: &[(i64, &[u8])]) -> Finding {
    let file = tempfile::tempfile().unwrap();
    file.set_len(size).unwrap();
    for &(place, bytes) in writes {
        let offset = if place >= 0 { place as u64 } else { size - place.unsigned_abs() };
        file.write_all_at(bytes, offset).unwrap();
    }
    inspect(&file, size).unwrap()
}

fn names(writes: &[(i64, &[u8])]) -> Vec<&'static str> {
    match inspect_with(SIZE, writes) {
        Finding::Recognised(names) => names,
        other => panic!("{other:?} instead of a name"),
    }
}

#[test]
fn zeros_are_blank() {
    for size in [0, 512, 4096, 1 << 20, (1 << 20) + 512, 3 << 20, SIZE] {
        assert_eq!(inspect_with(size, &[]), Finding::Blank, "{size}");
    }
    // Data that neither end shows is not searched for.
    assert_eq!(inspect_with(SIZE, &[(32 << 20, b"data")]), Finding::Blank);
}

#[test]
fn any_byte_at_either_end_is_data() {
    let at = |place: i64| inspect_with(SIZE, &[(place, b"\x01")]);
    for place in [0, 1, 777, (1 << 20) - 1] {
        assert_eq!(at(place), Finding::Unrecognised { offset: place as u64 });
    }
    for place in [-(1 << 20), -777, -1] {
        let offset = SIZE - i64::unsigned_abs(place);
        assert_eq!(at(place), Finding::Unrecognised { offset });
    }
    assert_eq!(at(1 << 20), Finding::Blank);
    assert_eq!(at(-(1 << 20) - 1), Finding::Blank);
    let text = at(-1).to_string();
    assert_eq!(text, format!("unrecognised data at offset {}", SIZE - 1));
}

#[test]
fn every_magic_of_the_table_is_found_at_its_place_only() {
    for &(name, place, magic) in MAGICS {
        assert!(names(&[(place, magic)]).contains(&name), "{name} at {place}");
        // One byte further on it is just data, where no shorter magic happens to match.
        let moved = inspect_with(SIZE, &[(place + 1, &magic[..magic.len() - 1])]);
        assert_ne!(moved, Finding::Recognised(vec![name]), "{name} at {place} + 1");
    }
}

#[test]
fn formats_with_conditions_are_named() {
    let ext = |compat: u8, incompat: u8| {
        names(&[(1080, b"\x53\xef"), (1024 + 0x5c, &[compat]), (1024 + 0x60, &[incompat])])
    };
    assert_eq!(ext(0, 0x02), ["ext2"]);
    assert_eq!(ext(0x04, 0x02), ["ext3"]);
    assert_eq!(ext(0x04, 0x42), ["ext4"]);
    for page in [4096, 8192, 16_384, 32_768, 65_536] {
        assert_eq!(names(&[(page - 10, b"SWAPSPACE2")]), ["swap"], "{page}");
    }
    for sector in 0..4 {
        let place = sector * 512;
        assert_eq!(
            names(&[(place, b"LABELONE"), (place + 24, b"LVM2 001")]),
            ["LVM2 physical volume"]
        );
    }
    assert_eq!(names(&[(-65_536, b"\xfc\x4e\x2b\xa9")]), ["Linux RAID (md)"]);
    assert_eq!(names(&[(-65_536, b"\xa9\x2b\x4e\xfc")]), ["Linux RAID (md)"]);
    assert_eq!(names(&[(-8192, b"\xfc\x4e\x2b\xa9")]), ["Linux RAID (md)"]);
    let zfs = 0x00ba_b10c_u64.to_le_bytes();
    for place in [128 << 10, 255 << 10, 384 << 10, -(384 << 10), -(128 << 10)] {
        assert_eq!(names(&[(place, &zfs)]), ["ZFS"], "{place}");
    }
    let mbr = "MBR partition table or boot sector";
    assert_eq!(names(&[(510, b"\x55\xaa")]), [mbr]);
    assert_eq!(names(&[(510, b"\x55\xaa"), (3, b"NTFS    ")]), ["NTFS"]);
    let gpt: &[(i64, &[u8])] = &[(510, b"\x55\xaa"), (512, b"EFI PART")];
    assert_eq!(names(gpt), ["GPT partition table"]);
}

#[test]
fn several_formats_are_all_named() {
    let both = names(&[(0, b"XFSB"), (1080, b"\x53\xef")]);
    assert_eq!(both, ["XFS", "ext2"]);
    assert_eq!(Finding::Recognised(both).to_string(), "XFS, ext2");
}

#[test]
fn our_own_mark_is_known_and_only_where_nothing_else_is() {
    let header = header::encode(&Owner::here("0123456789abcdef"));
    let Finding::Ours(signature) = inspect_with(SIZE, &[(0, &header)]) else { panic!() };
    assert_eq!(signature.run_id(), "0123456789abcdef");
    // Our content between the ends does not matter.
    let with_content = inspect_with(SIZE, &[(0, &header), (1 << 20, &[7; 4096])]);
    assert!(matches!(with_content, Finding::Ours(_)));
    // Anything else at the ends does: the device was used after us.
    assert_eq!(
        inspect_with(SIZE, &[(0, &header), (-5, b"x")]),
        Finding::Unrecognised { offset: 0 }
    );
    let later = inspect_with(SIZE, &[(0, &header), (0x8000, b"JFS1")]);
    assert_eq!(later, Finding::Recognised(vec!["JFS"]));
}
