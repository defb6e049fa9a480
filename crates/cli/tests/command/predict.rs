//! A study predicted as users predict it: from its file and a site's to its answers, and what is
//! refused on the way.
//!
//! Nothing here depends on the machine: all time is virtual, and a seed says all the rest.

use std::path::Path;

use serde_json::Value;

use crate::place::{Outcome, Place};
use crate::results::{one, rows, trials};

const SITE: &str = "\
site: A desk
hosts:
  pc: {count: 2, cores: 4, clock: 2GHz, vms-per-host: 4, adapters: {nic: {rate: 1GbE}}}
stacks:
  disk: {protocol: local, per-read: 20000 cycles, per-write: 20000 cycles}
  nfs: {protocol: nfs, per-read: 40000 cycles, per-write: 40000 cycles, per-byte: 1 cycles}
networks: {lan: {latency: 5us}}
disk-groups:
  own: {device: {kind: queue, servers: 2, read: 100us, write: 100us, spread: exponential}}
  raid: {raid: 5, disks: 4, device: {kind: queue, servers: 64, read: 20us, write: 20us}}
controllers:
  filer:
    cores: 8
    clock: 2GHz
    ports: {e0: {rate: 10GbE}}
    costs: {nfs: {per-read: 20000 cycles, per-write: 20000 cycles}}
    cache: {write: 1GiB}
    disks: raid
datastores:
  local: {hosts: pc, stack: disk, disks: own}
  filer: {hosts: pc, stack: nfs, adapter: nic, networks: [lan], controller: filer, also: [nas]}
";

/// Reads of 64 KiB, so that a gigabit is what holds the second datastore back.
const STUDY: &str = "\
study: Is the filer as quick as a disk of one's own?
datastores: {local: /srv/vm, nas: nfs://filer/vm}
workloads: [{name: large, request-size: 64KiB, read: 100%, random: 100%, outstanding: 8}]
load: {vms: [1, 8]}
disk: {size: 64MiB}
measure: {ramp: 100ms, duration: 500ms, interval: 100ms}
design: {blocks: 3}
seed: 4711
questions:
- nas is slower than local in iops at 8 vms
";

/// A place with the study, the site and what they are changed to.
fn place(study: &str, site: &str) -> Place {
    let place = Place::new();
    write(&place, "s.yaml", study);
    write(&place, "site.yaml", site);
    place
}

fn write(place: &Place, name: &str, text: &str) {
    std::fs::write(place.path(name), text).unwrap();
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from} is not in the text");
    text.replacen(from, to, 1)
}

/// What is predicted of the same files twice, without what tells one time from the other.
fn without_times(outcome: &Outcome) -> Value {
    let mut json = outcome.json();
    let object = json.as_object_mut().unwrap();
    for key in ["run_id", "created_unix_ms", "environment", "command", "repeat_command"] {
        assert!(object.remove(key).is_some(), "{key}");
    }
    json
}

fn datastores(path: &Path) -> Vec<String> {
    rows(path, "SELECT DISTINCT datastore FROM trial ORDER BY datastore", |row| {
        row.get::<_, i64>(0).map(|number| number.to_string())
    })
}

fn exists(place: &Place, end: &str) -> bool {
    let entries = std::fs::read_dir(place.root()).unwrap().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().ends_with(end))
}

#[test]
fn a_study_is_predicted_and_shown_again() {
    let place = place(STUDY, SITE);
    let outcome = place.run("predict s.yaml --html s.html").expect(&[0]);
    let said = outcome.said();
    for words in ["Is the filer as quick", "A desk", "nas", "local", "pc nic is full"] {
        assert!(said.contains(words), "{words}: {}", outcome.stdout);
    }
    assert!(outcome.stderr.contains("stormeter report s-predicted.db"), "{outcome:?}");
    assert!(place.path("s.html").exists());
    // Nothing is where the study's URLs lead; nothing was asked.
    let all = trials(&place.path("s-predicted.db"));
    assert_eq!(all.len(), 2 * 2 * 3, "{all:?}");
    assert!(all.iter().all(|trial| trial.outcome == "measured"), "{all:?}");
    let again = place.run("report s-predicted.db").expect(&[0]);
    assert_eq!(again.stdout, outcome.stdout);
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_does_not() {
    let place = place(STUDY, SITE);
    let first = place.run("predict s.yaml --json --quiet").expect(&[0]);
    assert_eq!(first.stderr, "");
    // Over the earlier prediction, which is replaced.
    let second = place.run("predict s.yaml --json --quiet").expect(&[0]);
    assert_eq!(without_times(&first), without_times(&second));
    let reported = place.run("report s-predicted.db --json").expect(&[0]);
    assert_eq!(reported.json(), second.json());
    let numbers = trials(&place.path("s-predicted.db"));

    write(&place, "s.yaml", &replaced(STUDY, "seed: 4711", "seed: 4712"));
    place.run("predict s.yaml --json --quiet").expect(&[0]);
    let others = trials(&place.path("s-predicted.db"));
    assert!(numbers.iter().zip(&others).any(|(own, other)| own.iops != other.iops));
}

#[test]
fn what_holds_a_cell_back_is_named() {
    let place = place(STUDY, SITE);
    let json = place.run("predict s.yaml --json --quiet").expect(&[0]).json();
    let cells = json["prediction"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    let of = |datastore: &str, vms: u64| {
        let is_this = |cell: &&Value| cell["datastore"] == datastore && cell["vms"] == vms;
        let index = json["cells"].as_array().unwrap().iter().position(|cell| is_this(&cell));
        let index = index.unwrap_or_else(|| panic!("{datastore} {vms}: {json:#}"));
        cells.iter().find(|cell| cell["cell"] == index).unwrap()
    };
    let nas = of("nas", 8);
    assert!(nas["bottleneck"].as_str().unwrap().contains("nic"), "{nas:#}");
    assert_eq!(nas["saturated"], true, "{nas:#}");
    let local = of("local", 8);
    assert_eq!(local["bottleneck"], "own", "{local:#}");
}

/// The local disk decides, and how quick it is is unknown. The filer's destaging is a default, which reads do not
/// rest on.
#[test]
fn an_answer_that_rests_on_an_assumed_value_names_it_and_what_it_would_be() {
    let assumed = "assumed:\n- {parameter: disk-groups.own.device.read, plausible: [90us, 10ms]}\n";
    let place = place(STUDY, &format!("{SITE}{assumed}"));
    let outcome = place.run("predict s.yaml --html s.html").expect(&[0]);
    let words = "Rests on the assumption disk-groups.own.device.read = 100us; with 10ms: no (";
    let said = outcome.said();
    assert!(said.contains(words), "{}", outcome.stdout);
    assert!(!said.contains("with 90us: "), "{}", outcome.stdout);
    assert!(std::fs::read_to_string(place.path("s.html")).unwrap().contains("Rests on the"));
    let json = place.run("report s-predicted.db --json").expect(&[0]).json();
    let own = json["answers"][0]["assumed"].as_array().unwrap();
    assert_eq!(own.len(), 1, "{own:#?}");
    assert_eq!((&own[0]["reply"], &own[0]["is_default"]), (&"no".into(), &false.into()));
    assert_eq!((&json["answers"][0]["reply"], &own[0]["other"]), (&"yes".into(), &"10ms".into()));
    let ratio = |answer: &Value| answer["estimate"].as_f64().unwrap();
    let before = json["answers"][0]["estimate"]["value"].as_f64().unwrap();
    let times = ratio(&own[0]) / before;
    assert!((80.0..120.0).contains(&times), "a disk 100 times as slow: {times}");
    let cells = json["prediction"]["cells"].as_array().unwrap();
    let rests = cells.iter().filter(|cell| cell["assumed"] != serde_json::json!([])).count();
    assert_eq!(rests, 2, "the cells of the disk: {cells:#?}");

    // What a change from outside sets is not assumed any more.
    let command =
        "predict s.yaml --json --quiet --output set.db --what-if disk-groups.own.device.read=100ms";
    let json = place.run(command).expect(&[0]).json();
    let cells = json["prediction"]["cells"].as_array().unwrap();
    let rests: Vec<&Value> =
        cells.iter().filter(|cell| cell["assumed"] != serde_json::json!([])).collect();
    assert_eq!(rests.len(), 2, "the cells of the site as it is: {rests:#?}");
}

#[test]
fn exit_codes_follow_the_answers() {
    let place = place(STUDY, SITE);
    for (question, code) in [
        ("nas must be slower than local in iops at 8 vms", 0),
        ("nas must be faster than local in iops at 8 vms", 3),
        ("nas is faster than local in iops at 8 vms", 0),
    ] {
        let asked = replaced(STUDY, "nas is slower than local in iops at 8 vms", question);
        write(&place, "s.yaml", &asked);
        place.run("predict s.yaml --quiet --no-elasticity").expect(&[code]);
        place.run("report s-predicted.db").expect(&[code]);
    }
    // One block has no spread to judge by.
    let open = replaced(&replaced(STUDY, "nas is", "nas must be"), "blocks: 3", "blocks: 1");
    write(&place, "s.yaml", &open);
    place.run("predict s.yaml --quiet --no-elasticity").expect(&[4]);
    let outcome = place.run("predict s.yaml --output no/such/p.db").expect(&[1]);
    assert!(outcome.stderr.contains("no/such/p.db"), "{outcome:?}");
    let outcome = place.run("predict s.yaml --html no/such/p.html").expect(&[2]);
    assert!(outcome.stderr.contains("directory that exists"), "{outcome:?}");
}

/// Study, site, arguments behind `predict s.yaml`, and words that the message must have.
type Case = (
    &'static [[&'static str; 2]],
    &'static [[&'static str; 2]],
    &'static str,
    &'static [&'static str],
);

const CASES: &[Case] = &[
    // Files.
    (
        &[],
        &[],
        "--site nowhere.yaml",
        &["there is no site file nowhere.yaml", "--site", "site library"],
    ),
    (&[], &[], "--site a", &["the site file a", "not a text file"]),
    // What the site lacks.
    (
        &[["{local:", "{mine:"], ["than local", "than mine"]],
        &[],
        "",
        &["A desk has no datastore mine", "filer (also nas)", "also"],
    ),
    (
        &[["vms: [1, 8]", "vms: [1, 8, 9]"]],
        &[],
        "",
        &["9 VMs do not fit on 2 hosts", "raise vms-per-host", "large"],
    ),
    (CACHED, &[], "", &["the site says nothing of it", "hosts.pc", "page-cache"]),
    (
        CACHED,
        &[["vms-per-host: 4,", "vms-per-host: 4, page-cache: {memory: 3MiB},"]],
        "",
        &["files of one host take 4MiB", "page cache has 3MiB", "smaller files"],
    ),
    // A bad site: where, what, and what to do.
    (
        &[],
        &[["networks: [lan]", "networks: [wan]"]],
        "",
        &["site.yaml:21:59: ", "wan", "lan", "^^^"],
    ),
    (
        &[],
        &[["raid: 5, disks: 4", "raid: 5, disks: 2"]],
        "",
        &["site.yaml:10:26: ", "RAID 5", "at least 3", "^"],
    ),
    (&[], &[["rate: 1GbE", "rate: -1GbE"]], "", &["site.yaml:3:81: ", "-1GbE", "^^^^^"]),
    (&[], &[["cores: 4", "coers: 4"]], "", &["site.yaml:3:", "cores", "^^^^^"]),
    // Changes.
    (&[], &[], "--what-if nic", &["nic", "changes nothing", "nic=40GbE"]),
    (&[], &[], "--what-if nick=40GbE", &["nick", "did you mean nic?"]),
    (&[], &[], "--what-if nic=fast", &["fast", "^^^^"]),
    (&[], &[], "--what-if hosts.pc.coers=9", &["coers", "^"]),
    // Sweeps.
    (
        &[["questions:\n- nas is slower than local in iops at 8 vms", "site: {nicks: [1, 2]}"]],
        &[],
        "",
        &["nicks", "did you mean nics?"],
    ),
];

/// The study with a file test through the client's page cache.
const CACHED: &[[&str; 2]] = &[
    [
        "workloads: [{name: large, request-size: 64KiB, read: 100%, random: 100%, outstanding: 8}]",
        "workloads: [{name: f, file-test: write, size: 1MiB, client-cache: true, flush-at-end: true}]",
    ],
    ["slower than local in iops at 8 vms", "slower than local in throughput at 8 vms"],
];

/// Through the cache, larger requests pass the line, and the flush is part of the time.
#[test]
fn a_file_test_through_the_clients_cache_is_quicker_than_past_it_and_no_quicker_than_the_line() {
    let site = replaced(SITE, "vms-per-host: 4,", "vms-per-host: 4, page-cache: {memory: 1GiB},");
    let throughput = |study: &str, output: &str| {
        let place = place(study, &site);
        let command = format!("predict s.yaml --json --quiet --no-elasticity --output {output}");
        let json = place.run(&command).expect(&[0, 3, 4]).json();
        let cells = json["cells"].as_array().unwrap();
        let cell =
            cells.iter().find(|cell| cell["datastore"] == "nas" && cell["vms"] == 1).unwrap();
        let metrics = cell["metrics"].as_array().unwrap();
        let own = metrics.iter().find(|metric| metric["metric"] == "throughput").unwrap();
        own["value"].as_f64().unwrap()
    };
    let cached = CACHED.iter().fold(STUDY.to_owned(), |text, [from, to]| replaced(&text, from, to));
    let past = replaced(&cached, "client-cache: true", "client-cache: false");
    let unflushed = replaced(&cached, "flush-at-end: true", "flush-at-end: false");
    let (cached, past) = (throughput(&cached, "c.db"), throughput(&past, "p.db"));
    // A host with a gigabit.
    assert!(cached < 125e6 && cached > 1.5 * past, "{cached} {past}");
    let unflushed = throughput(&unflushed, "u.db");
    assert!(unflushed > 250e6, "into memory: {unflushed}");
}

#[test]
fn what_cannot_be_predicted_is_refused_with_its_place_and_advice() {
    let mut missing = Vec::new();
    for (study, site, arguments, words) in CASES {
        let changed = |text: &str, changes: &[[&str; 2]]| {
            changes.iter().fold(text.to_owned(), |text, [from, to]| replaced(&text, from, to))
        };
        let place = place(&changed(STUDY, study), &changed(SITE, site));
        let outcome = place.run(&format!("predict s.yaml {arguments}")).expect(&[2]);
        for word in *words {
            if !outcome.stderr.contains(word) {
                missing.push(format!("{word:?} is not in {}", outcome.stderr));
            }
        }
        assert_eq!(outcome.stdout, "", "an error is no result");
        assert!(!exists(&place, ".db"), "{arguments}: nothing is left");
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn a_site_is_looked_for_next_to_the_study_and_may_be_elsewhere() {
    let place = Place::new();
    place.make("of");
    write(&place, "of/s.yaml", STUDY);
    let outcome = place.run("predict of/s.yaml").expect(&[2]);
    assert!(outcome.stderr.contains("of/site.yaml"), "{outcome:?}");
    write(&place, "mine.yaml", SITE);
    place.run("predict of/s.yaml --site mine.yaml --no-elasticity --quiet").expect(&[0]);
    write(&place, "of/site.yaml", SITE);
    place.run("predict of/s.yaml --no-elasticity --quiet --output t.db").expect(&[0]);
    assert_eq!(trials(&place.path("s-predicted.db")), trials(&place.path("t.db")));
}

#[test]
fn what_if_makes_a_second_level_of_each_datastore() {
    let place = place(STUDY, SITE);
    let command = "predict s.yaml --quiet --json --no-elasticity --what-if nic=10GbE";
    let json = place.run(command).expect(&[0]).json();
    let names = |json: &Value| -> Vec<String> {
        let all = json["datastores"].as_array().unwrap().iter();
        all.map(|datastore| datastore["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&json), ["local", "nas", "local nic=10GbE", "nas nic=10GbE"]);
    assert_eq!(datastores(&place.path("s-predicted.db")).len(), 4);
    let iops = |datastore: u32| {
        let query = format!("SELECT avg(iops) FROM trial WHERE datastore = {datastore}");
        one::<f64>(&place.path("s-predicted.db"), &query)
    };
    // A port ten times as quick carries far more, and a disk in the host does not ask it.
    assert!(iops(3) > 2.0 * iops(1), "{} {}", iops(3), iops(1));
    assert!((iops(2) / iops(0) - 1.0).abs() < 0.02, "{} {}", iops(2), iops(0));
    let both = format!("{command} --what-if cores=8");
    let json = place.run(&both).expect(&[0]).json();
    assert_eq!(names(&json)[3], "nas nic=10GbE cores=8");
}

#[test]
fn a_question_on_the_command_line_names_the_level_that_a_change_brings() {
    let place = place(STUDY, SITE);
    let ask = |questions: &[&str], arguments: &str| {
        let arguments = format!("predict s.yaml --quiet --no-elasticity {arguments}");
        let mut command = place.command(&arguments);
        command.args(questions.iter().flat_map(|question| ["--ask", question]));
        place.spawn(command).wait()
    };
    let faster = r#""nas nic=10GbE" must be at least 50% faster than nas in iops at 8 vms"#;
    let equal = r#""local nic=10GbE" is equal to local"#;
    let json = ask(&[faster, equal], "--what-if nic=10GbE --json").expect(&[0]).json();
    let answers = json["answers"].as_array().unwrap();
    let reply_of = |question: &str| {
        let found = answers.iter().find(|answer| answer["question"] == question);
        found.unwrap_or_else(|| panic!("{question}: {answers:#?}"))["reply"].clone()
    };
    assert_eq!(answers.len(), 3, "behind the study's own: {answers:#?}");
    assert_eq!(reply_of(faster), "yes");
    // They stay with the results.
    let shown = place.run("report s-predicted.db").expect(&[0]).said();
    assert!(shown.contains("at least 50% faster"), "{shown}");
    // The other way round, `must` ends it with a no.
    ask(&[&faster.replace("at least 50% faster", "slower")], "--what-if nic=10GbE").expect(&[3]);
    let plan = ask(&[equal], "--what-if nic=10GbE --plan").expect(&[0]).stdout;
    assert!(plan.contains(equal), "{plan}");
    // Without the change there is no such level, and without quotes the error says what is missing.
    std::fs::remove_file(place.path("s-predicted.db")).unwrap();
    let bare = faster.replace('"', "");
    for (question, arguments, words) in [
        (faster, "", "column 1: \"nas nic=10GbE\" is not understood here"),
        (bare.as_str(), "--what-if nic=10GbE", "did you mean `\"nas nic=10GbE\"`?"),
        ("nas is faster", "--what-if nic=10GbE", "what can be asked"),
    ] {
        let outcome = ask(&[question], arguments).expect(&[2]);
        assert!(outcome.stderr.contains(words), "{question}: {}", outcome.stderr);
        assert!(!exists(&place, ".db"), "{question}: nothing is left");
    }
}

#[test]
fn a_sweep_of_the_site_is_a_factor_that_questions_name() {
    let study = replaced(STUDY, "seed: 4711", "site: {nic: [1GbE, 10GbE]}\nseed: 4711");
    let asked =
        r#"- '"nas nic=10GbE" must be at least 50% faster than "nas nic=1GbE" in iops at 8 vms'"#;
    let study = replaced(&study, "- nas is slower than local in iops at 8 vms", asked);
    let place = place(&study, SITE);
    let outcome = place.run("predict s.yaml --quiet --no-elasticity").expect(&[0]);
    assert!(outcome.stdout.contains("nas nic=10GbE"), "{outcome:?}");
    // The other way round it is not so: the levels are not each other's.
    let turned = asked.replace("at least 50% faster", "slower");
    write(&place, "s.yaml", &replaced(&study, asked, &turned));
    place.run("predict s.yaml --quiet --no-elasticity").expect(&[3]);
    // Such a study is for predictions.
    let outcome = place.run("run s.yaml").expect(&[2]);
    assert!(outcome.stderr.contains("site:"), "{outcome:?}");
    assert!(outcome.stderr.contains("stormeter predict"), "{outcome:?}");
    assert!(!place.path("s.db").exists());
}

#[test]
fn a_datastore_that_exists_on_paper_is_not_measured() {
    let place = place(&replaced(STUDY, "nfs://filer/vm", "'sim:site.yaml#filer'"), SITE);
    let outcome = place.run("run s.yaml").expect(&[2]);
    assert!(outcome.stderr.contains("stormeter predict"), "{outcome:?}");
    assert!(!place.path("s.db").exists());
    place.run("predict s.yaml --quiet --no-elasticity").expect(&[0]);
}

#[test]
fn faults_change_what_is_predicted_or_are_refused() {
    let place = place(STUDY, SITE);
    let fault = |text: &str, output: &str| {
        let arguments = format!("predict s.yaml --quiet --no-elasticity --output {output}");
        let mut command = place.command(&arguments);
        command.args(["--faults", text]);
        place.spawn(command).wait()
    };
    place.run("predict s.yaml --quiet --no-elasticity --output none.db").expect(&[0]);
    fault("disk-slow own 0 10x at 0s", "slow.db").expect(&[0, 3, 4]);
    let iops = |output: &str, datastore: u32| {
        let query = format!("SELECT avg(iops) FROM trial WHERE datastore = {datastore}");
        one::<f64>(&place.path(output), &query)
    };
    assert!(iops("slow.db", 0) < 0.5 * iops("none.db", 0));
    assert_eq!(iops("slow.db", 1), iops("none.db", 1), "another disk's fault is nothing to it");
    let shown = place.run("report slow.db").expect(&[0, 3, 4]);
    assert!(shown.said().contains("disk-slow own 0 10x at 0s"), "{}", shown.stdout);
    for (text, words) in [
        ("the disk breaks", "disk-fail aggregate 3 at 10s"),
        ("disk-fail raid 0 at dawn", "10s, 200ms"),
        ("disk-fail other 0 at 100ms", "own"),
        ("disk-fail raid 9 at 100ms", "counted from 0"),
        ("disk-fail raid 0 at 100ms for 2s", "does not come back"),
        ("disk-fail raid 0 at 1s", "trials end 600ms after their start"),
        ("link-up lan at 100ms", "it undoes nothing"),
        ("pause filer at 100ms", "a site has no model of pause"),
        ("link-flop lan at 100ms", "is not a fault"),
    ] {
        let outcome = fault(text, "bad.db").expect(&[2]);
        assert!(outcome.stderr.contains(words), "{text}: {outcome:?}");
        assert!(!place.path("bad.db").exists(), "{text}");
    }
}

#[test]
fn a_study_with_faults_is_predicted_with_them_and_not_measured() {
    let study = replaced(STUDY, "seed: 4711\n", "seed: 4711\nfaults: disk-slow own 0 10x at 0s\n");
    let place = place(&study, SITE);
    let outcome = place.run("run s.yaml").expect(&[2]);
    assert!(outcome.stderr.contains("(faults:)"), "{outcome:?}");
    assert!(
        place
            .run("predict s.yaml --plan")
            .expect(&[0])
            .stdout
            .contains("disk-slow own 0 10x at 0s")
    );
    place.run("predict s.yaml --quiet --no-elasticity --output own.db").expect(&[0, 3, 4]);
    write(&place, "s.yaml", STUDY);
    // By the option, and in the words of earlier versions.
    let mut command = place.command("predict s.yaml --quiet --no-elasticity --output given.db");
    command.args(["--fault", "disk own.0 slow 10x at 0s"]);
    place.spawn(command).wait().expect(&[0, 3, 4]);
    let iops = "SELECT group_concat(iops) FROM trial";
    let of = |output: &str| one::<String>(&place.path(output), iops);
    assert_eq!(of("own.db"), of("given.db"));
}

#[test]
fn a_study_with_steps_is_predicted_from_the_file_that_a_lab_takes() {
    let timing = "measure: {ramp: 100ms, duration: 2s, interval: 100ms}\n";
    let steps = "steps: [{at: 700ms, do: link-down filer.lan}, {at: 1s, do: link-up filer.lan}]\n";
    let study = replaced(
        STUDY,
        "measure: {ramp: 100ms, duration: 500ms, interval: 100ms}\n",
        &format!("{timing}{steps}"),
    );
    let study = replaced(
        &study,
        "- nas is slower than local in iops at 8 vms\n",
        "- outage of nas must be at most 600ms\n- recovery of nas must be at most 500ms\n",
    );
    let place = place(&study, SITE);
    assert!(place.run("predict s.yaml --plan").expect(&[0]).stdout.contains("link-down filer.lan"));
    place.run("predict s.yaml --quiet --no-elasticity").expect(&[0]);
    let steps = "SELECT count(*) FROM disturbance WHERE what = 'link-down filer.lan'";
    assert_eq!(one::<u32>(&place.path("s-predicted.db"), steps), 12, "one a trial");
    // Only what is on the filer notices.
    let outage = |datastore: u32| {
        let query = format!(
            "SELECT max(outage_ns) FROM disturbed_trial JOIN trial ON trial.id = trial_id WHERE datastore = \
             {datastore}"
        );
        one::<f64>(&place.path("s-predicted.db"), &query) / 1e6
    };
    assert!(outage(1) >= 300.0 && outage(0) <= 100.0, "{} {}", outage(1), outage(0));
    let command = "{command: 'ip link set eth1 down'}";
    write(&place, "s.yaml", &replaced(&study, "link-down filer.lan", command));
    let outcome = place.run("predict s.yaml --output no.db").expect(&[2]);
    assert!(outcome.stderr.contains("it is a command"), "{outcome:?}");
    assert!(!place.path("no.db").exists());
}

#[test]
fn measured_results_are_never_replaced() {
    let place = Place::new();
    let study = "study: Two of them\ndatastores: {local: a, nas: b}\n\
         workloads: [{profile: vm-4k, rate: 300}]\nload: {vms: 1}\ndisk: {size: 4MiB}\n\
         measure: {ramp: 20ms, duration: 200ms, interval: 50ms}\n\
         design: {blocks: 2, metric: latency-mean}\n";
    write(&place, "s.yaml", study);
    write(&place, "site.yaml", SITE);
    place.run("run s.yaml --output s.db --quiet").expect(&[0, 4, 5]);
    let kept = std::fs::read(place.path("s.db")).unwrap();
    let outcome = place.run("predict s.yaml --output s.db").expect(&[2]);
    assert!(outcome.stderr.contains("s.db holds measured results"), "{outcome:?}");
    assert!(outcome.stderr.contains("--output"), "{outcome:?}");
    assert_eq!(std::fs::read(place.path("s.db")).unwrap(), kept);
    // And nothing that is no results file at all.
    write(&place, "notes.db", "some text");
    place.run("predict s.yaml --output notes.db").expect(&[1]);
    assert_eq!(std::fs::read_to_string(place.path("notes.db")).unwrap(), "some text");
    // A prediction is not resumed as a measurement.
    place.run("predict s.yaml --quiet --no-elasticity --output p.db").expect(&[0]);
    let predicted = trials(&place.path("p.db"));
    let outcome = place.run("run s.yaml --output p.db");
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(trials(&place.path("p.db")), predicted);
}

#[test]
fn a_plan_predicts_nothing_and_windows_are_short_unless_as_planned() {
    let long = replaced(STUDY, "duration: 500ms, interval: 100ms", "duration: 7s, interval: 1s");
    let long = replaced(&replaced(&long, "vms: [1, 8]", "vms: 1"), " at 8 vms", "");
    let long = replaced(&long, "outstanding: 8", "outstanding: 1");
    let place = place(&long, SITE);
    let plan = place.run("predict s.yaml --plan --what-if nics=2").expect(&[0]).stdout;
    for words in ["nas nics=2", "sim:site.yaml#filer", "block 3"] {
        assert!(plan.contains(words), "{words}: {plan}");
    }
    assert_eq!(place.run("predict s.yaml --plan --what-if nics=2").expect(&[0]).stdout, plan);
    assert!(!exists(&place, ".db"));
    let longest = |arguments: &str| {
        place.run(&format!("predict s.yaml --quiet --no-elasticity {arguments}")).expect(&[0]);
        let query = "SELECT max(elapsed_ns) FROM trial";
        one::<i64>(&place.path("s-predicted.db"), query) as f64 / 1e9
    };
    let (short, planned) = (longest(""), longest("--as-planned"));
    assert!((6.0..6.5).contains(&short), "{short}");
    assert!((7.0..7.5).contains(&planned), "{planned}");
}

#[test]
fn a_prediction_fills_its_column_of_a_published_study() {
    let place = Place::new();
    let studies = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/tr3808");
    place.run(&format!("predict {studies}/small.yaml --quiet --output p.db")).expect(&[0]);
    let table = place.run("replicate tr3808 --predicted p.db --json").expect(&[0]).json();
    let findings = table["findings"].as_array().unwrap();
    let replies = |column: &str| {
        let answers = findings
            .iter()
            .flat_map(|finding| finding[column]["answers"].as_array().cloned().unwrap_or_default());
        answers.filter(|answer| !answer["reply"].is_null()).count()
    };
    assert!(replies("predicted") >= 4, "{table:#}");
    assert_eq!(replies("measured"), 0);
    let shown = place.run("replicate tr3808 --predicted p.db").expect(&[0]);
    assert!(shown.said().contains("predicted"), "{}", shown.stdout);
    // A place for predictions takes nothing that holds no study.
    let outcome = place.run("replicate tr3808 --predicted none.db").expect(&[2]);
    assert!(outcome.stderr.contains("none.db"), "{outcome:?}");
}
