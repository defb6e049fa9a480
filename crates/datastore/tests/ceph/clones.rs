//! Disks that are clones of a template: what they hold, what they leave alone, and how they are removed.

use std::time::Duration;

use stormeter_datastore::{Datastore, DatastoreError, DiskReset, DiskSet, DiskSpec, Preparation};
use stormeter_disk::{Completion, DatastoreFact, DeviceError, Disks, Kind};
use stormeter_rbd::{CloneSource, ImageOptions, RbdDisks, RbdMemory};

use crate::Bench;
use crate::fixture::*;
use crate::images::MEMORY;
use crate::ownership::{OTHER_RUN, connection, image_names, open_as, seem_ended};

/// Number of the template: the disk after those of the VMs.
const TEMPLATE: u32 = 2;
const SIZE: u64 = 8 * MIB;

/// Whether a disk of the set holds, at an offset, what was written to this disk when it was prepared.
#[track_caller]
fn holds(set: &mut DiskSet, disk: u32, offset: u64, prepared: u32) -> bool {
    let read = operation(Kind::Read, disk, 0, offset, 4096);
    assert_eq!(drive(set, &[read]), [Completion::moved(0, 4096)]);
    let mut expected = vec![0; 4096];
    content(prepared, offset, &mut expected);
    set.buffer(0).unwrap()[..4096] == expected
}

/// Makes all disks of the VMs as clones.
fn cloned(datastore: &mut Datastore) -> DiskSet {
    datastore.check_clones().unwrap();
    datastore.ready_to_clone(TEMPLATE, 0..TEMPLATE).unwrap();
    let mut set = datastore.disks_to_clone(0..TEMPLATE, TEMPLATE, MEMORY).unwrap();
    for disk in 0..TEMPLATE {
        set.clone_disk(TEMPLATE, disk, disk).unwrap();
    }
    let mut done = wait(&mut set, TEMPLATE as usize);
    done.sort_by_key(|completion| completion.slot);
    assert_eq!(done, [0, 1].map(|slot| Completion::moved(slot, 0)));
    set
}

fn write(set: &mut DiskSet, disk: u32, offset: u64) {
    set.buffer(3).unwrap().fill(0xa5);
    let write = operation(Kind::Write, disk, 3, offset, 4096);
    assert_eq!(drive(set, &[write]), [Completion::moved(3, 4096)]);
}

pub(crate) fn contents(bench: &Bench) {
    for options in ["", "stripes=4&stripe-unit=16KiB&object-size=1MiB&cache=1"] {
        let mut datastore = prepared(&bench.url(options), TEMPLATE + 1, SIZE);
        let mut set = cloned(&mut datastore);
        // What was not written comes from the template, also next to and below what was.
        write(&mut set, 0, 4 * MIB);
        for offset in [0, 4 * MIB - 4096, 4 * MIB, 4 * MIB + 4096, SIZE - 4096] {
            let is_written = offset == 4 * MIB;
            assert_eq!(holds(&mut set, 0, offset, TEMPLATE), !is_written, "{options}: at {offset}");
            assert!(holds(&mut set, 1, offset, TEMPLATE), "{options}: another clone at {offset}");
        }
        assert_eq!(finish(set), [], "{options}");
        // Every trial starts with new clones of the same template, which nobody wrote to.
        let mut set = cloned(&mut datastore);
        assert!(holds(&mut set, 0, 4 * MIB, TEMPLATE), "{options}");
        finish(set);
        // Written again, a disk is its own.
        let reset = datastore.reset(
            DiskReset::Recreate,
            Preparation {
                disks: DiskSpec { count: TEMPLATE + 1, size_bytes: SIZE, granularity_bytes: 512 },
                content_id: 7,
                fill: &content,
                progress: &mut |_, _| {},
                cancelled: &|| false,
            },
        );
        reset.unwrap();
        let mut set = disks(&datastore, TEMPLATE + 1, MEMORY);
        assert!((0..=TEMPLATE).all(|disk| holds(&mut set, disk, 4 * MIB, disk)), "{options}");
        finish(set);
        finish(cloned(&mut datastore));
        assert_eq!(datastore.remove(), None, "{options}");
        assert!(image_names(bench).is_empty(), "{options}");
    }
}

pub(crate) fn refusals(bench: &Bench) {
    let reason = |datastore: &Datastore| match datastore.check_clones() {
        Err(DatastoreError::NoClones { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let no_layering = open(&bench.url("features=exclusive-lock")).unwrap();
    assert!(reason(&no_layering).contains("layering"));
    assert_eq!(no_layering.remove(), None);
    let folder = bench.directory.path().display().to_string();
    let mut elsewhere = prepared(&folder, 2, MIB);
    assert!(reason(&elsewhere).contains("rbd:"));
    assert!(matches!(elsewhere.ready_to_clone(1, 0..1), Err(DatastoreError::NoClones { .. })));
    assert!(matches!(
        elsewhere.disks_to_clone(0..1, 1, MEMORY),
        Err(DatastoreError::NoClones { .. })
    ));
    let error = disks(&elsewhere, 2, MEMORY).clone_disk(1, 0, 0).unwrap_err();
    assert!(error.to_string().contains("no clones"), "{error}");

    let datastore = prepared(&bench.url(""), TEMPLATE + 1, MIB);
    let mut set = datastore.disks_to_clone(0..TEMPLATE, TEMPLATE, MEMORY).unwrap();
    // There is no disk yet, a disk is no template, and there is no snapshot of it.
    let early = drive(&mut set, &[operation(Kind::Read, 0, 4, 0, 4096)]);
    assert_eq!(early, [Completion::failed(4, DeviceError(22))]);
    assert!(set.clone_disk(1, 0, 0).is_err());
    set.clone_disk(TEMPLATE, 0, 5).unwrap();
    let [done] = wait(&mut set, 1)[..] else { panic!() };
    assert_eq!((done.slot, done.outcome()), (5, Err(DeviceError(2))));
    finish(set);
    assert_eq!(datastore.remove(), None);
}

/// Clones of a killed run go before their template; a clone of it that is not ours stays, with what it needs.
pub(crate) fn leftovers(bench: &Bench) {
    let rbd = connection(bench);
    let mut left = prepared(&bench.url(""), TEMPLATE + 1, SIZE);
    let mut set = cloned(&mut left);
    write(&mut set, 1, 0);
    finish(set);
    left.keep();
    drop(left);
    let template = format!("test.stormeter-{RUN}-0.disk-0000{TEMPLATE}");
    let source = CloneSource {
        cluster: rbd.clone(),
        template: template.clone(),
        snapshot: "stormeter".into(),
        options: ImageOptions::default(),
        names: vec!["foreign".into()],
    };
    let memory = RbdMemory { buffers: 1, buffer_bytes: 4096, in_flight: 1 };
    let limit = Duration::from_secs(20);
    let mut foreign = RbdDisks::to_clone(source, SIZE, false, memory, limit);
    foreign.clone_disk(1, 0, 0).unwrap();
    let mut done = Vec::new();
    while done.is_empty() {
        foreign.reap(stormeter_disk::Wait::AtMost(50_000_000), &mut done).unwrap();
    }
    assert_eq!(done, [Completion::moved(0, 0)]);
    drop(foreign);

    seem_ended(&rbd);
    let other = open_as(bench, OTHER_RUN).unwrap();
    let notes = other.description().notes;
    assert!(notes.iter().any(|it| matches!(it, DatastoreFact::NotRemoved { .. })), "{notes:?}");
    assert_eq!(other.remove(), None);
    let mut there = rbd.images().unwrap();
    there.sort();
    let anchor = format!("test.stormeter-{RUN}-0");
    assert_eq!(there, ["foreign".to_owned(), anchor, template]);

    rbd.remove("foreign").unwrap();
    let other = open_as(bench, OTHER_RUN).unwrap();
    let notes = other.description().notes;
    let is_removed = |it: &DatastoreFact| matches!(it, DatastoreFact::LeftoverRemoved { run_id, .. } if run_id == RUN);
    assert!(notes.iter().any(is_removed), "{notes:?}");
    assert_eq!(other.remove(), None);
    assert!(rbd.images().unwrap().is_empty());
}
