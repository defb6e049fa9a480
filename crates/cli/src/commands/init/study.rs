//! A study to begin with: every part of a study file, the usual choices, and the other ones in comments.

use std::fmt::Write;

use stormeter_study::parse_study;
use stormeter_units::format_bytes;

use super::place::{Kind, Place};
use super::words::{comment, key, text as quoted};
use crate::exit::Failure;

/// The most VMs of the load below.
const VMS: u64 = 4;
/// The size of each disk, where there is room.
const DISK_BYTES: u64 = 1 << 30;

/// The study of these datastores.
///
/// # Errors
/// A study cannot have one of them; the message is that of the study file.
pub(super) fn text(places: &[Place]) -> Result<String, Failure> {
    let plain = written(places, |name| name.to_owned());
    if parse_study(&plain).is_ok() {
        return Ok(plain);
    }
    // A name such as "is" has a meaning in questions, unless it is in quotes.
    let careful = written(places, |name| format!("\"{name}\""));
    match parse_study(&careful) {
        Ok(_) => Ok(careful),
        Err(errors) => Err(Failure::Usage(errors.to_string())),
    }
}

fn written(places: &[Place], name: impl Fn(&str) -> String) -> String {
    let mut text = String::from(
        "\
# A study: what is compared, under which load, and what is asked. It is complete; change what does not fit.
#
#   stormeter run FILE --plan               trials, time and space; nothing is written
#   stormeter run FILE --html study.html    run it; the same command again resumes it
#   stormeter predict FILE --site SITE      the same on modelled hardware (stormeter init site)
#
# docs/study-file.md explains every key. `stormeter schema study` is for editors, `stormeter profile` lists workloads.

# The decision that has to be made: the title of the report.
",
    );
    let names: Vec<String> = places.iter().map(|place| place.name.clone()).collect();
    let names = if names.is_empty() { "the disk of this machine".into() } else { names.join(", ") };
    let _ = writeln!(text, "study: {}\n", quoted(&format!("Where should the VMs live: {names}?")));
    datastores(&mut text, places);
    load(&mut text, disk_bytes(places));
    questions(&mut text, places, name);
    text
}

fn datastores(text: &mut String, places: &[Place]) {
    text.push_str(
        "\
# What is compared, each name with its URL. Directories and exports get a folder of Stormeter's own, which is removed at
# the end; nothing else in them is touched, and a tenth of the space stays free.
datastores:
",
    );
    for place in places {
        if let Some(remark) = &place.remark {
            let _ = writeln!(text, "  # {}", comment(remark));
        }
        if let Some(danger) = place.danger() {
            let _ = writeln!(text, "  # {} {danger}.", place.name);
        }
        if place.had_password {
            text.push_str(
                "  # The password is not written here: ?password-file=FILE, or STORMETER_ISCSI_PASSWORD.\n",
            );
        }
        let _ = writeln!(text, "  {}: {}", key(&place.name), quoted(&place.url));
    }
    if places.is_empty() {
        text.push_str(
            "  # No file system here has 4 GiB free and can be written to; name yours.\n  local: embedded:local\n",
        );
    }
    text.push_str(
        "  # Other forms:
  # nas: \"nfs://nas1/export/vm\"   # an NFS export, without a mount
  # san: \"iscsi://san1/iqn.2026-01.example:vm/1\"   # a LUN, which is overwritten
  # disk: /dev/sdx   # a device, which is overwritten
  # ceph: \"rbd:vms\"   # a pool of a Ceph cluster

",
    );
    if let Some(first) = places.first() {
        let _ = writeln!(
            text,
            "# The others are relative to this one.\nbaseline: {}\n",
            key(&first.name)
        );
    }
}

fn load(text: &mut String, disk_bytes: u64) {
    let _ = write!(
        text,
        "\
# What the VMs do. vm-4k: 4 KiB, 75 % reads, random.
workloads: [vm-4k]
# workloads: [vm-4k, vm-8k, wal, seq-read-1m]   # several, each a table of its own
# workloads: [{{profile: vm-4k, read: 60%, random: 80%}}]   # another mix
# workloads: [{{profile: vm-4k, durable: true}}]   # every write on stable storage

# How many VMs, with how many outstanding I/Os each. Each combination is measured.
load: {{vms: [1, {VMS}], outstanding: 4}}
# load: {{vms: [1, 8, 64], outstanding: [1, 4]}}
# load: {{vms: 16, equal: auto}}   # all datastores at one rate: compares latency and CPU

# One disk for each VM, written in full before the first trial, so that nothing is allocated while it is measured.
# Larger than the caches on the way, or the caches are measured; the report says if it is not.
disk: {{size: {}}}

# A warm-up and the measured window of each trial.
measure: {{ramp: 1s, duration: 4s}}
# measure: {{ramp: 5s, duration: 20s}}   # for storage with large caches or tiers

# A block measures each datastore at each load once, in random order. It ends when the intervals are narrow enough, or
# with the time limit.
design: {{blocks: auto, precision: 5%, margin: 5%, time-limit: 15m}}
# design: {{blocks: 12}}   # a fixed number

",
        format_bytes(disk_bytes)
    );
}

fn questions(text: &mut String, places: &[Place], name: impl Fn(&str) -> String) {
    text.push_str(
        "\
# What the decision depends on, before anything is measured; docs/questions.md lists the forms. With `must`, the answer
# \"no\" makes `stormeter run` exit with code 3.
questions:
",
    );
    let first = places.first().map_or("local", |place| place.name.as_str());
    let mut ask = |question: String| {
        let _ = writeln!(text, "  - {}", single(&question));
    };
    ask(format!("p99 latency of {} is at most 20ms", name(first)));
    for place in places.iter().skip(1) {
        ask(format!("{} is within 10% of {} in iops", name(&place.name), name(first)));
        ask(format!("p99 latency of {} is at most 20ms", name(&place.name)));
    }
    if let Some(other) = places.get(1) {
        text.push_str("  # Others:\n");
        let (a, b) = (name(first), name(&other.name));
        for question in [
            format!("{b} must be at most 20% slower than {a} in iops"),
            format!("{b} costs more cpu per io than {a}"),
            "iops depends on datastore, vms and their interaction".into(),
        ] {
            let _ = writeln!(text, "  # - {}", single(&question));
        }
    }
}

/// A question in single quotes if it has double ones.
fn single(question: &str) -> String {
    if question.contains('"') { format!("'{question}'") } else { question.into() }
}

/// The size of a disk such that all of them fit, for directories of which it can be seen: each may be on the same
/// file system.
fn disk_bytes(places: &[Place]) -> u64 {
    let directories = places.iter().filter(|place| place.kind == Kind::Directory);
    let room = directories.filter_map(|place| room_bytes(&place.url)).min();
    let Some(room) = room else { return DISK_BYTES };
    let each = room / (VMS * places.len() as u64);
    // A power of two, at least what one trial needs to be more than a cache line's worth of a disk.
    let power = 1_u64 << each.max(1).ilog2();
    power.clamp(16 << 20, DISK_BYTES)
}

/// What a run may use there: free space beyond a tenth of the file system.
// The types of the fields differ between C libraries.
#[allow(clippy::unnecessary_cast)]
fn room_bytes(url: &str) -> Option<u64> {
    let path = url.strip_prefix("file://").unwrap_or(url);
    let path = path.split('?').next().unwrap_or(path);
    let stat = nix::sys::statvfs::statvfs(path).ok()?;
    let unit = stat.fragment_size() as u64;
    let free = (stat.blocks_available() as u64).saturating_mul(unit);
    let reserve = (stat.blocks() as u64).saturating_mul(unit) / 10;
    (stat.blocks() > 0).then(|| free.saturating_sub(reserve))
}
