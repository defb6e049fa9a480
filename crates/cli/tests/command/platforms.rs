//! The pages about platforms: every command of theirs is understood, studies and manifests are sound, and what can be
//! run here is run.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};
use stormeter_testkit::as_json;

use crate::page::Page;
use crate::place::Place;

const PAGES: [(&str, Page); 6] = [
    ("on-a-laptop.md", Page(include_str!("../../../../docs/on-a-laptop.md"))),
    ("on-proxmox.md", Page(include_str!("../../../../docs/on-proxmox.md"))),
    ("on-libvirt.md", Page(include_str!("../../../../docs/on-libvirt.md"))),
    ("on-vsphere.md", Page(include_str!("../../../../docs/on-vsphere.md"))),
    ("on-kubernetes.md", Page(include_str!("../../../../docs/on-kubernetes.md"))),
    ("on-openstack.md", Page(include_str!("../../../../docs/on-openstack.md"))),
];
/// Blocks in which commands are typed.
const SHELLS: [&str; 3] = ["sh", "sh run", "console"];

/// The words of a line as a shell splits it; what ends a command is a word.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, _) if c.is_whitespace() || "|&;<>".contains(c) => {
                words.extend(word.take());
                if !c.is_whitespace() {
                    words.push(c.to_string());
                }
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    words
}

/// The arguments of each call of the program in a line, wherever it is called: here, by ssh, in a pod.
fn calls(line: &str) -> Vec<Vec<String>> {
    let all = words(line);
    let commands = all.split(|word| "|&;<>".contains(word.as_str()));
    commands
        .filter_map(|words| {
            let at = words.iter().position(|word| word == "stormeter")?;
            // `scp stormeter …` copies it.
            let is_copied = matches!(words[0].as_str(), "scp" | "skopeo" | "ctr");
            (!is_copied).then(|| words[at + 1..].to_vec())
        })
        .collect()
}

/// The program understands the arguments: it prints help only after all that is before has been understood.
#[track_caller]
fn understood(place: &Place, page: &str, arguments: &[String]) {
    let mut command = place.command("");
    command.args(arguments).arg("--help");
    let outcome = place.spawn(command).wait();
    assert_eq!(outcome.code, Some(0), "{page}: {arguments:?}: {outcome:?}");
}

#[test]
fn words_are_split_as_by_a_shell() {
    let found = calls("ssh h stormeter compare 'a b' \"c\" --x=1 > f # no\"");
    assert_eq!(found, [["compare", "a b", "c", "--x=1"].map(String::from)]);
    assert_eq!(calls("a | stormeter doctor; stormeter list").len(), 2);
    assert!(calls("scp stormeter h:/x").is_empty() && calls("# stormeter x").is_empty());
}

#[test]
fn every_command_of_the_pages_is_understood() {
    let place = Place::new();
    for (name, page) in PAGES {
        let mut count = 0;
        for (_, text) in SHELLS.iter().flat_map(|language| page.blocks(language)) {
            for line in text.lines() {
                for arguments in calls(line.trim_start_matches("$ ")) {
                    understood(&place, name, &arguments);
                    count += 1;
                }
            }
        }
        assert!(count >= 1, "{name} has no command");
    }
}

#[test]
fn a_command_that_is_wrong_would_be_found() {
    let place = Place::new();
    let mut command = place.command("compare a b --sise 1GiB --help");
    assert_ne!(
        place
            .spawn({
                command.arg("--help");
                command
            })
            .wait()
            .code,
        Some(0)
    );
}

/// The documents of all YAML blocks of a page.
fn documents(page: &Page) -> Vec<Value> {
    let blocks = page.blocks("yaml");
    let texts = blocks.iter().flat_map(|(_, text)| text.split("\n---\n"));
    texts.map(as_json).collect()
}

#[test]
fn the_studies_of_the_pages_are_studies() {
    let place = Place::new();
    let mut count = 0;
    for (name, page) in PAGES {
        for (_, text) in page.blocks("yaml") {
            if text.contains("apiVersion:") {
                continue;
            }
            std::fs::write(place.path("study.yaml"), &text).unwrap();
            let planned = place.run("run study.yaml --plan");
            assert_eq!(planned.code, Some(0), "{name}: {planned:?}");
            count += 1;
        }
    }
    assert_eq!(count, 5);
}

/// Keys that the API references of Kubernetes (1.31) and KubeVirt (v1) document, as far as the manifests use their kinds.
const KEYS: [(&str, &[&str]); 20] = [
    ("", &["apiVersion", "kind", "metadata", "spec"]),
    ("metadata", &["name", "namespace", "labels"]),
    ("PersistentVolumeClaim.spec", &["storageClassName", "volumeMode", "accessModes", "resources"]),
    ("resources", &["requests", "limits"]),
    ("requests", &["storage", "cpu", "memory"]),
    ("limits", &["cpu", "memory"]),
    ("Job.spec", &["backoffLimit", "template", "ttlSecondsAfterFinished"]),
    (
        "StatefulSet.spec",
        &[
            "replicas",
            "serviceName",
            "podManagementPolicy",
            "selector",
            "template",
            "volumeClaimTemplates",
        ],
    ),
    ("volumeClaimTemplates", &["metadata", "spec"]),
    (
        "topologySpreadConstraints",
        &["maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector"],
    ),
    ("VirtualMachine.spec", &["runStrategy", "template"]),
    ("template", &["metadata", "spec"]),
    (
        "template.spec",
        &[
            "restartPolicy",
            "automountServiceAccountToken",
            "topologySpreadConstraints",
            "securityContext",
            "containers",
            "volumes",
            "domain",
        ],
    ),
    (
        "securityContext",
        &[
            "runAsNonRoot",
            "runAsUser",
            "runAsGroup",
            "fsGroup",
            "seccompProfile",
            "allowPrivilegeEscalation",
            "readOnlyRootFilesystem",
            "capabilities",
        ],
    ),
    (
        "containers",
        &[
            "name",
            "image",
            "command",
            "args",
            "stdin",
            "env",
            "resources",
            "securityContext",
            "volumeMounts",
            "volumeDevices",
        ],
    ),
    ("volumeMounts", &["name", "mountPath", "readOnly"]),
    ("volumeDevices", &["name", "devicePath"]),
    ("volumes", &["name", "persistentVolumeClaim", "emptyDir", "containerDisk"]),
    ("domain", &["cpu", "memory", "ioThreadsPolicy", "devices"]),
    ("disks", &["name", "disk", "cache", "dedicatedIOThread"]),
];

/// Every mapping below `path` whose keys are listed has only these.
fn check_keys(value: &Value, kind: &str, path: &[&str]) {
    let last = path.last().copied().unwrap_or_default();
    let names = match path {
        [.., parent, _] => vec![format!("{parent}.{last}"), last.to_owned()],
        _ => vec![format!("{kind}.{last}"), last.to_owned()],
    };
    let listed = names.iter().find_map(|name| KEYS.iter().find(|(known, _)| known == name));
    match value {
        Value::Object(members) => {
            for (key, below) in members {
                if let Some((name, known)) = listed {
                    assert!(known.contains(&key.as_str()), "{name} has no key {key}");
                }
                check_keys(below, kind, &[path, &[key]].concat());
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| check_keys(entry, kind, path)),
        _ => {}
    }
}

fn texts<'a>(entries: &'a Value, key: &str) -> Vec<&'a str> {
    let entries = entries.as_array().map(Vec::as_slice).unwrap_or_default();
    entries.iter().filter_map(|entry| entry[key].as_str()).collect()
}

#[test]
fn the_manifests_are_sound_and_call_the_program_as_it_is() {
    let place = Place::new();
    let documents = documents(&PAGES[4].1);
    let of = |kind: &str| documents.iter().filter(|one| one["kind"] == kind).collect::<Vec<_>>();
    let api = [
        ("PersistentVolumeClaim", "v1", 4),
        ("Job", "batch/v1", 2),
        ("StatefulSet", "apps/v1", 1),
        ("VirtualMachine", "kubevirt.io/v1", 1),
    ];
    for (kind, version, count) in api {
        assert_eq!(of(kind).len(), count, "{kind}");
        for one in of(kind) {
            assert_eq!(one["apiVersion"], version);
            check_keys(one, kind, &[]);
        }
    }
    let claims = of("PersistentVolumeClaim");
    let claim = |name: &str| claims.iter().find(|claim| claim["metadata"]["name"] == name).unwrap();
    for job in of("Job") {
        let pod = &job["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        let mounts = texts(&container["volumeMounts"], "name");
        let devices = texts(&container["volumeDevices"], "name");
        for volume in pod["volumes"].as_array().unwrap() {
            let name = volume["name"].as_str().unwrap();
            assert!(mounts.contains(&name) != devices.contains(&name), "{name}");
            if let Some(of) = volume["persistentVolumeClaim"]["claimName"].as_str() {
                let is_block = claim(of)["spec"]["volumeMode"] == "Block";
                assert_eq!(is_block, devices.contains(&name), "{of}");
            }
        }
        assert_eq!(mounts.len() + devices.len(), pod["volumes"].as_array().unwrap().len());
        assert_eq!(container["command"], json!(["stormeter"]));
        let arguments = container["args"].as_array().unwrap();
        let arguments: Vec<String> =
            arguments.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
        understood(&place, "on-kubernetes.md", &arguments);
        // What is compared is mounted.
        let places = texts(&container["volumeMounts"], "mountPath");
        let all = [places, texts(&container["volumeDevices"], "devicePath")].concat();
        for datastore in arguments.iter().filter_map(|word| word.split_once("=/")) {
            let (name, path) = datastore;
            let is_mounted = all.iter().any(|at| format!("/{path}").starts_with(at));
            assert!(is_mounted, "{name} is at /{path}, of {all:?}");
        }
    }
    // Its claims are its own; the hosts of the study are its pods, which wait for nobody at their standard input.
    let set = &of("StatefulSet")[0];
    let pod = &set["spec"]["template"];
    let container = &pod["spec"]["containers"][0];
    let own = set["spec"]["volumeClaimTemplates"].as_array().unwrap();
    let own: Vec<&Value> = own.iter().map(|claim| &claim["metadata"]["name"]).collect();
    let mounts = texts(&container["volumeMounts"], "name");
    assert!(own.iter().eq(mounts.iter()), "{own:?} {mounts:?}");
    assert_eq!((&container["args"], &container["stdin"]), (&json!(["agent"]), &json!(true)));
    assert_eq!(set["spec"]["selector"]["matchLabels"], pod["metadata"]["labels"]);
    let study = documents.iter().find(|one| !one["hosts"].is_null()).unwrap();
    let set = set["metadata"]["name"].as_str().unwrap();
    for (number, host) in study["hosts"].as_object().unwrap().values().enumerate() {
        let command = host["command"].as_str().unwrap();
        assert!(command.contains(&format!(" {set}-{number} ")), "{command}");
    }
    let machine = &of("VirtualMachine")[0]["spec"]["template"]["spec"];
    let disks = texts(&machine["domain"]["devices"]["disks"], "name");
    assert_eq!(disks, texts(&machine["volumes"], "name"));
}

/// The attributes that libvirt documents (formatdomain, "Hard drives").
#[test]
fn the_xml_for_libvirt_has_known_values() {
    let xml = PAGES[2].1.blocks("xml").pop().unwrap().1;
    let values = |name: &str| {
        let start = format!(" {name}='");
        let found = xml.split(start.as_str()).skip(1);
        found.map(|rest| rest.split('\'').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let is_cache = |value: &String| {
        ["none", "writeback", "writethrough", "directsync", "unsafe"].contains(&value.as_str())
    };
    let is_io = |value: &String| ["native", "threads", "io_uring"].contains(&value.as_str());
    assert!(values("cache").len() == 2 && values("cache").iter().all(is_cache));
    assert!(values("io").len() == 2 && values("io").iter().all(is_io));
    let threads: Vec<u32> = values("iothread").iter().map(|n| n.parse().unwrap()).collect();
    assert!(xml.contains(&format!("<iothreads>{}</iothreads>", threads.iter().max().unwrap())));
}

/// Runs a block as it stands, with its paths below the place and with trials that end soon.
#[track_caller]
fn run_block(place: &Place, text: &str) {
    let root = place.root().display();
    let mut text = text.to_owned();
    for path in ["/srv/vm", "/mnt/usb"] {
        place.make(&path[1..]);
        text = text.replace(path, &format!("{root}{path}"));
    }
    // A comparison this short may have no verdict, and on a busy machine an invalid one. All else becomes the program
    // itself, so that what ends a command ends the program.
    let wrapper = format!(
        "#!/bin/sh
[ \"$1\" = compare ] || exec '{program}' \"$@\"
code=0
'{program}' \"$@\" --duration 100ms --ramp 20ms --max-blocks 5 || code=$?
case $code in 4|5) code=0;; esac
exit $code
",
        program = env!("CARGO_BIN_EXE_stormeter")
    );
    let programs = place.path("programs");
    std::fs::create_dir(&programs).unwrap();
    std::fs::write(programs.join("stormeter"), wrapper).unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(programs.join("stormeter"), executable).unwrap();
    let script = format!("trap 'kill $(jobs -p) 2> /dev/null || true; wait' EXIT\n{text}");
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", &script]).current_dir(place.root());
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", programs.display()));
    place.at_home(&mut command);
    let outcome = place.spawn(command).wait();
    assert_eq!(outcome.code, Some(0), "{text}: {outcome:?}");
    assert_eq!(running_in(&place.root().display().to_string()), Vec::<String>::new());
}

/// The commands of processes that name this directory.
fn running_in(directory: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let commands = commands.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    commands.filter(|command| command.contains(directory)).collect()
}

#[test]
fn what_can_be_run_here_runs_as_it_stands() {
    let mut count = 0;
    for (_, page) in PAGES {
        for (_, text) in page.blocks("sh run") {
            run_block(&Place::new(), &text);
            count += 1;
        }
    }
    assert_eq!(count, 3);
}
