//! The commands other than `compare`, and the help of all commands.

use crate::place::{Place, SHORT};

#[test]
fn the_version_is_the_packages() {
    let outcome = Place::new().run("--version").expect(&[0]);
    assert_eq!(outcome.stdout, format!("stormeter {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_doctor_examines_the_machine_and_datastores() {
    let place = Place::new();
    let text = place.run("doctor a null:").expect(&[0]).stdout;
    for subject in
        ["io_uring", "governor", "neighbours", "CPU accounting", "open files", "a ", "null:"]
    {
        assert!(text.contains(subject), "{subject:?} is not in {text}");
    }
    let json = place.run("doctor a --json").expect(&[0]).json();
    for advice in json.as_array().unwrap() {
        let is_good = advice["health"] == "good";
        assert!(is_good || advice["advice"] != "" || advice["subject"] == "a", "{advice}");
    }
    let outcome = place.run("doctor missing").expect(&[1]);
    assert!(outcome.stdout.contains("BAD") && outcome.stdout.contains("mkdir -p"), "{outcome:?}");
    assert!(place.folders("a").is_empty());
}

#[test]
fn the_ceiling_is_measured_alone() {
    let place = Place::new();
    let options = "--duration 100ms --outstanding 2 --vms 3";
    let json = place.run(&format!("ceiling {options} --json")).expect(&[0]).json();
    assert!(json["iops"].as_f64().unwrap() > 0.0, "{json}");
    assert_eq!(json["outstanding"], 6);
    assert_eq!(json["vms"], 3);
    let seconds = json["seconds"].as_f64().unwrap();
    let rate = json["operations"].as_f64().unwrap() / seconds;
    assert!((rate / json["iops"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{json}");
    let text = place.run(&format!("ceiling {options}")).expect(&[0]).stdout;
    assert!(text.contains("IOPS with 6 outstanding"), "{text}");
}

#[test]
fn the_manual_page_has_every_command_and_option() {
    let place = Place::new();
    let page = place.run("man").expect(&[0]).stdout;
    assert!(page.contains(".TH stormeter 1"), "{}", &page[..200]);
    let compare = place.run("man compare").expect(&[0]).stdout;
    for option in ["equal\\-load", "destroy\\-data", "resume", "time\\-limit"] {
        assert!(compare.contains(option), "{option}");
    }
    place.run("man compair").expect(&[2]);
    // Every page that another refers to is written.
    let directory = place.make("man");
    place.run("man --dir man").expect(&[0]);
    let mut references = 0;
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap().replace('\\', "");
        let title = path.file_stem().unwrap().to_str().unwrap();
        assert!(text.contains(&format!(".TH {title} 1")), "{}: {text:.200}", path.display());
        for line in text.lines().filter(|line| line.starts_with("stormeter-")) {
            let Some(name) = line.strip_suffix("(1)") else { continue };
            references += 1;
            let is_help = name.ends_with("-help");
            assert!(is_help || directory.join(format!("{name}.1")).exists(), "{name}");
        }
    }
    assert!(references >= 20, "{references}");
    let lab_up = std::fs::read_to_string(directory.join("stormeter-lab-up.1")).unwrap();
    assert!(lab_up.contains("accelerator"), "{lab_up}");
}

#[test]
fn the_help_of_the_program_has_its_commands_in_groups() {
    let place = Place::new();
    let help = place.run("--help").expect(&[0]).stdout;
    for (title, command) in [
        ("Measure:", "compare"),
        ("Understand:", "predict"),
        ("Studies:", "run"),
        ("Tools:", "man"),
    ] {
        let group = help.split_once(title).unwrap_or_else(|| panic!("{title}: {help}")).1;
        let group = group.split("\n\n").next().unwrap();
        let is_there = group.lines().any(|line| line.trim_start().starts_with(command));
        assert!(is_there, "{command} is not below {title}: {help}");
    }
}

#[test]
fn what_a_bug_report_needs_is_printed_with_the_version() {
    for order in ["--version --verbose", "--verbose --version"] {
        let text = Place::new().run(order).expect(&[0]).stdout;
        for word in [
            "commit: ",
            "target: ",
            "linux",
            "features: librbd",
            "io_uring: ",
            "formats: results ",
            ", imported results 1, agents ",
            ", reports as JSON ",
            "results files: format ",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn colors_are_used_when_asked_for_and_never_when_not() {
    let place = Place::new();
    for (option, is_coloured) in [("", false), ("--color=always", true), ("--color=never", false)] {
        let outcome = place.run(&format!("report missing.db {option}")).expect(&[2]);
        assert_eq!(outcome.stderr.contains("\x1b[1;31merror:\x1b[0m "), is_coloured, "{outcome:?}");
        assert!(is_coloured || outcome.stderr.starts_with("error: "), "{outcome:?}");
        let help = place.run(&format!("--help {option}")).expect(&[0]).stdout;
        assert_eq!(help.contains('\x1b'), is_coloured, "{option}: {help}");
    }
}

#[test]
fn completions_are_made_for_each_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&format!("completions {shell}")).expect(&[0]).stdout;
        assert!(script.contains("STORMETER_COMPLETE") && script.contains("stormeter"), "{shell}");
    }
}

/// The examples of a help text, without their comments.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  stormeter "));
    lines.map(|line| line.split("  ").next().unwrap().replace('\'', "")).collect()
}

#[test]
fn every_example_of_the_help_is_understood() {
    let place = Place::new();
    place.make("vm");
    place.make("nas");
    let mut seen = 0;
    for page in ["--help", "compare --help", "ceiling --help"] {
        let help = place.run(page).expect(&[0]).stdout;
        for example in examples(&help) {
            seen += 1;
            // The same command on directories that exist here, and only as long as a test may take.
            let here = example.replace("/srv/vm", "vm").replace("/mnt/nas", "nas");
            let here = here.replace("10GiB", "8MiB");
            let command = here.split_whitespace().next().unwrap();
            let (arguments, codes): (String, &[i32]) = match command {
                // There is nothing to connect to: whether the options are understood shows without.
                "serve-nfs" | "net" => (format!("{here} --help"), &[0]),
                "compare" if here.contains("://") => (format!("{here} --help"), &[0]),
                // Nor are there files with results.
                "compare" if here.contains(".db ") || here.contains(".json") => {
                    (format!("{here} --help"), &[0])
                }
                "compare" if here.contains("--resume") => {
                    let first = here.replace("--resume", "");
                    let rest =
                        |blocks| format!("{SHORT} --output e.db --rate 100 --max-blocks {blocks}");
                    place.run(&format!("{first} {}", rest(5))).expect(&[0, 4, 5]);
                    (format!("{here} {}", rest(6)), &[0, 4, 5])
                }
                "compare" => {
                    let size = if here.contains("--size") { "" } else { "--size 8MiB" };
                    let limits = "--duration 100ms --ramp 0 --time-limit 1s";
                    (format!("{here} {size} {limits}"), &[0, 4, 5])
                }
                "ceiling" => (format!("{here} --duration 100ms"), &[0]),
                // It takes half a minute; that its arguments are understood is seen without.
                "demo" => (format!("{here} --help"), &[0]),
                _ => (here, &[0]),
            };
            place.run(&arguments).expect(codes);
            // Results files are named by the second.
            for entry in std::fs::read_dir(place.root()).unwrap().flatten() {
                if entry.path().extension().is_some_and(|extension| extension == "db") {
                    std::fs::remove_file(entry.path()).unwrap();
                }
            }
        }
    }
    assert!(seen >= 10, "only {seen} examples were found");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let place = Place::new();
    let mut child = place
        .command("man")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}
