//! What cannot be done is refused before anything is written, with words that say what to do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use crate::loop_device::Mount;
use crate::place::{Outcome, Place, SHORT, SURE};
use crate::results::change;

/// Arguments, exit code, and words that the message must have.
type Case = (&'static str, i32, &'static [&'static str]);

const CASES: &[Case] = &[
    // Names of datastores.
    ("compare", 2, &["DATASTORE"]),
    ("compare a", 2, &["at least two", "same one twice"]),
    ("compare gopher:x a", 2, &["unknown scheme", "gopher", "file:///path", "null:"]),
    ("compare nbd://nas/x a", 2, &["not in this version", "mount"]),
    ("compare nfs://nas a", 2, &["nfs://host[:port]/export"]),
    ("compare iscsi://u%secret@nas/x a", 2, &["iscsi://[user", "\"iscsi://u@nas/x\""]),
    ("compare nsf://nas/export/vm a", 2, &["unknown scheme", "did you mean nfs:?"]),
    ("compare nfs://nas/vm?mountprt=1 a", 2, &["unknown option", "did you mean mountport=?"]),
    ("compare a?direct=maybe b", 2, &["direct=0"]),
    ("compare a?speed=9 b", 2, &["unknown option", "engine="]),
    ("compare a b --baseline c", 2, &["baseline", "a, b"]),
    ("compare a missing", 1, &["missing does not exist", "mkdir -p"]),
    ("compare a file", 1, &["not a directory"]),
    ("compare a /dev/no-such-device", 1, &["does not exist", "lsblk"]),
    ("compare a /dev/null", 1, &["not a block device", "lsblk"]),
    ("compare a /proc", 1, &["/proc", "give a place"]),
    // Sizes.
    ("compare a b --size 4096TiB", 1, &["must stay free", "--size"]),
    ("compare a b --size 1KiB", 2, &["no room", "--size"]),
    ("compare a b --size nonsense", 2, &["nonsense"]),
    ("compare a b --size 64", 2, &["has no unit", "64MiB"]),
    ("compare a b --time-limit 10", 2, &["has no unit", "10s", "10m (minutes)"]),
    (
        "compare a b --request-size 1000B",
        1,
        &["block size", "multiple", "logical block", "direct=0"],
    ),
    ("compare a b --request-size 0", 2, &["512"]),
    ("compare a b --request-size 4KiB:0", 2, &["share"]),
    ("compare a b --metric target-cpu-per-io", 2, &["a has no target", "host-cpu-per-io"]),
    ("compare a b --align 100B", 2, &["alignment", "512"]),
    // Loads.
    ("compare a b --rate 0", 2, &["rate of 0", "above 0"]),
    ("compare a b --rate -5", 2, &["-5"]),
    ("compare a b --rate 10 --outstanding 4", 2, &["--rate", "--outstanding"]),
    ("compare a b --rate 10 --metric iops", 2, &["equal by construction", "latency-mean"]),
    ("compare a b --rate 10 --equal-load 10", 2, &["--rate", "--equal-load"]),
    ("compare a b --equal-load 0", 2, &["above 0", "auto"]),
    ("compare a b --equal-load fast", 2, &["fast", "auto"]),
    ("compare a b --outstanding 0", 2, &["at least 1"]),
    ("compare a b --vms 0", 2, &["at least 1"]),
    ("compare a b --workload vm-5k", 2, &["vm-5k", "vm-4k"]),
    ("compare a b --read 101%", 2, &["101"]),
    ("compare a b --zipf 9", 2, &["zipf"]),
    ("compare a b --durable --read 100%", 2, &["leave out durable"]),
    ("compare a b --flush 8", 2, &["every 8 of what", "every 8 writes"]),
    ("compare a b --flush every-wirte", 2, &["did you mean every write"]),
    ("compare a b --metric flush-p99", 2, &["never flushes", "--flush"]),
    (
        "compare a b --metric durable-write-p99",
        2,
        &["no write of this workload is durable", "--durable"],
    ),
    ("compare a b --burst 4", 2, &["--burst-delay"]),
    ("compare a b --rate 10 --burst 4 --burst-delay 1ms", 2, &["closed loop"]),
    // What cannot be verified.
    ("compare null: a --verify", 2, &["null: stores nothing", "--verify"]),
    ("compare a b --verify --dedupable 10%", 2, &["copy of another", "--dedupable"]),
    ("compare a b --verify --request-size 1000B", 2, &["multiples of 512 bytes", "--request-size"]),
    ("compare a b --verify --read 0%", 2, &["what reads return", "--read"]),
    ("compare a b --verify --size 16KiB --outstanding 5", 2, &["at most 4 outstanding", "--size"]),
    ("compare a b --verify --size 4096TiB", 1, &["must stay free", "--size"]),
    // The measurement.
    ("compare a b --precision 0", 2, &["precision of 0%", "such as 2%"]),
    ("compare a b --precision 101%", 2, &["precision of 101%", "at most 100%"]),
    ("compare a b --margin 0", 2, &["margin of 0%"]),
    ("compare a b --max-blocks 4", 2, &["allow 5 or more", "--max-blocks"]),
    ("compare a b --duration 1ms", 2, &["--duration"]),
    ("compare a b --duration 2s --time-limit 1s", 2, &["--time-limit"]),
    ("compare a b --metric speed", 2, &["latency-p99"]),
    // Files.
    ("compare a b --output no/such/r.db", 1, &["no/such/r.db", "--output"]),
    ("compare a b --output file", 1, &["exists already", "--output"]),
    ("compare a b --html no/such/page.html", 2, &["page", "directory that exists"]),
    ("compare a b --output file --resume", 1, &["not a stormeter results file"]),
    ("report missing.db", 2, &["no results file missing.db"]),
    ("report file", 1, &["not a stormeter results file"]),
    ("report a", 1, &["a"]),
    // The rest.
    ("", 2, &["Usage"]),
    ("improve", 2, &["improve"]),
    ("ceiling --duration 0", 2, &["duration"]),
    ("ceiling --vms 0", 2, &["at least 1"]),
    ("ceiling --workload nothing", 2, &["vm-4k"]),
    ("completions tcl", 2, &["bash"]),
];

#[track_caller]
fn assert_says(outcome: &Outcome, words: &[&str]) {
    for word in words {
        assert!(outcome.stderr.contains(word), "{word:?} is not in {outcome:#?}");
    }
    assert_eq!(outcome.stdout, "", "an error is no result");
}

#[test]
fn bad_arguments_are_refused_with_advice_and_leave_nothing() {
    let place = Place::on_disk();
    fs::write(place.path("file"), "some text").unwrap();
    for (arguments, code, words) in CASES {
        let outcome = place.run(arguments).expect(&[*code]);
        assert_says(&outcome, words);
        assert!(place.folders("a").is_empty() && place.folders("b").is_empty(), "{arguments}");
    }
    let databases = fs::read_dir(place.root()).unwrap().flatten();
    let databases: Vec<_> = databases
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name.contains(".db"))
        .collect();
    assert!(databases.is_empty(), "{databases:?}");
}

#[test]
fn a_directory_without_permission_is_refused() {
    let place = Place::on_disk();
    let locked = place.make("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    let arguments = format!("compare locked a {SHORT} {SURE}");
    let outcome = if nix::unistd::geteuid().is_root() {
        // Root may write anywhere, so another user tries: "nobody" on every Linux.
        const NOBODY: u32 = 65_534;
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(place.root(), open).unwrap();
        let program = place.path("stormeter");
        // By a process of its own: a child forked here meanwhile inherits the files that this process writes to,
        // and a program that is open for writing cannot be started.
        let mut copy = std::process::Command::new("cp");
        copy.arg(env!("CARGO_BIN_EXE_stormeter")).arg(&program);
        assert!(copy.status().unwrap().success());
        let mut command = std::process::Command::new(program);
        command.args(arguments.split_whitespace()).current_dir(place.root());
        place.at_home(&mut command);
        command.uid(NOBODY).gid(NOBODY);
        place.spawn(command).wait()
    } else {
        place.run(&arguments)
    };
    assert_says(&outcome.expect(&[1]), &["no permission", "locked", "a user who may"]);
}

#[test]
fn a_read_only_file_system_is_refused() {
    let place = Place::on_disk();
    let path = place.path("readonly");
    let Some(_mount) = Mount::new(&["-t", "tmpfs", "-o", "ro,size=1m"], "none", &path) else {
        return;
    };
    let outcome = place.run(&format!("compare a readonly {SHORT} {SURE}")).expect(&[1]);
    assert_says(&outcome, &["readonly is on a read-only file system", "remount,rw"]);
}

#[test]
fn a_full_file_system_is_refused_before_anything_is_written() {
    let place = Place::on_disk();
    let small = place.path("small");
    let Some(_mount) = Mount::new(&["-t", "tmpfs", "-o", "size=8m"], "none", &small) else {
        return;
    };
    let outcome = place.run(&format!("compare a small {SHORT} {SURE}")).expect(&[1]);
    assert_says(&outcome, &["need 8MiB", "10 %", "--size", "--vms"]);
    assert_eq!(fs::read_dir(small).unwrap().count(), 0);
}

#[test]
fn a_working_folder_that_another_process_has_taken_stops_a_resumption() {
    let place = Place::on_disk();
    let compare = format!("compare a b {SHORT} --rate 300 --output r.db");
    let mut running = place.start(&compare);
    let folder = place.wait_for_disk(&mut running, "b").parent().unwrap().to_path_buf();
    running.kill();
    fs::write(folder.join("owner.json"), "not a mark").unwrap();
    fs::write(folder.join("disk-00000"), "not ours").unwrap();
    let outcome = place.run(&format!("{compare} --resume")).expect(&[1]);
    assert_says(&outcome, &["was not made by this version of stormeter", "move it away"]);
    assert_eq!(fs::read_to_string(folder.join("disk-00000")).unwrap(), "not ours");
}

#[test]
fn damaged_and_newer_results_files_are_refused_by_report_and_resume() {
    let place = Place::on_disk();
    let compare = format!("compare a b {SHORT} {SURE} --output");
    place.run_until(&[0], &format!("{compare} r.db"));
    type Damage = fn(&Path);
    let damages: [(&str, &str, Damage); 4] = [
        ("newer.db", "update stormeter", |path| change(path, "PRAGMA user_version = 99")),
        ("other.db", "not a stormeter results file", |path| {
            change(path, "PRAGMA application_id = 7");
        }),
        ("damaged.db", "is damaged", |path| change(path, "DELETE FROM meta")),
        ("cut.db", "is damaged", |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        }),
    ];
    for (name, words, damage) in damages {
        fs::copy(place.path("r.db"), place.path(name)).unwrap();
        damage(&place.path(name));
        let before = fs::read(place.path(name)).unwrap();
        for arguments in [format!("report {name}"), format!("{compare} {name} --resume")] {
            let outcome = place.run(&arguments).expect(&[1]);
            assert_says(&outcome, &[name, words]);
        }
        // Opening a file of ours to resume it adds a log; nothing else may be touched.
        let is_ours = words == "is damaged";
        assert!(is_ours || fs::read(place.path(name)).unwrap() == before, "{name} was changed");
    }
}
