//! Where results are kept when the command line names no place, and what lists and deletes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::place::{Outcome, Place, SHORT};
use crate::results::trials;

/// A place whose results go where those of a user go.
struct Home(Place);

impl Home {
    fn new() -> Self {
        Self(Place::new())
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = self.0.command(arguments);
        command.env_remove("STORMETER_RESULTS");
        command
    }

    fn run(&self, arguments: &str) -> Outcome {
        self.0.spawn(self.command(arguments)).wait()
    }

    fn directory(&self) -> PathBuf {
        self.0.path("data/stormeter")
    }

    /// The results files there.
    fn files(&self) -> Vec<PathBuf> {
        databases(&self.directory())
    }

    /// A comparison that ends soon, whatever it finds.
    fn compare(&self, more: &str) {
        let compare = format!("compare a b {SHORT} --rate 100 --max-blocks 5 --quiet");
        self.run(&format!("{compare} {more}")).expect(&[0, 4, 5]);
    }

    fn list(&self) -> Vec<Value> {
        let list = self.run("list --json").expect(&[0]).json();
        list["results"].as_array().unwrap().clone()
    }
}

fn databases(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "db")).collect();
    paths.sort();
    paths
}

const STUDY: &str = "study: Is it kept?\ndatastores: {a: ./a, b: ./b}\ndisk: {size: 8MiB}\n\
                     measure: {duration: 100ms, ramp: 20ms}\n\
                     design: {blocks: 2}\n";

#[test]
fn results_are_kept_in_the_directory_of_data_and_found_again_by_name() {
    let home = Home::new();
    fs::write(home.0.path("s.yaml"), STUDY).unwrap();
    home.run("list").expect(&[0]);
    assert!(!home.directory().exists(), "a list makes nothing");
    let first = home.run("run s.yaml").expect(&[0, 4, 5]);
    let [file] = &home.files()[..] else { panic!("{:?}", home.files()) };
    let words = format!("Results: {}; `stormeter report s.db` shows", file.display());
    assert!(first.stderr.contains(&words), "{first:?}");
    assert!(databases(home.0.root()).is_empty());
    // The same command shows it again, and other commands find it by the name that a study has.
    let measured = trials(file);
    home.run("run s.yaml").expect(&[0, 4, 5]);
    assert_eq!((trials(file), measured.len()), (measured, 4));
    for command in ["report s.db", "audit s.db", "export s.db --csv -"] {
        let outcome = home.run(command);
        assert!(!outcome.stderr.contains("s.db"), "{command}: {outcome:?}");
    }
    // The same study elsewhere has other disks: its results are others.
    let elsewhere = home.0.make("elsewhere");
    for datastore in ["a", "b"] {
        fs::create_dir(elsewhere.join(datastore)).unwrap();
    }
    let mut other = home.command("run ../s.yaml");
    other.current_dir(&elsewhere);
    home.0.spawn(other).wait().expect(&[0, 4, 5]);
    assert_eq!(home.files().len(), 2, "{:?}", home.files());
    home.run("run s.yaml --output ./").expect(&[0, 4, 5]);
    assert_eq!(databases(home.0.root()), [home.0.path("s.db")], "asked for here");
}

#[test]
fn a_comparison_without_a_name_is_resumed_where_it_is_kept() {
    let home = Home::new();
    home.compare("");
    assert_eq!(home.files().len(), 1);
    let more = format!("compare a b {SHORT} --rate 100 --max-blocks 6 --resume");
    home.run(&more).expect(&[0, 4, 5]);
    assert_eq!(home.files().len(), 1, "{:?}", home.files());
    let list = home.list();
    assert_eq!(list[0]["content"]["trials"], 12, "{list:?}");
}

#[test]
fn without_a_home_results_stay_here_and_that_is_said() {
    let home = Home::new();
    let mut command = home.command(&format!("compare a b {SHORT} --max-blocks 5"));
    command.env_remove("HOME").env_remove("XDG_DATA_HOME");
    let outcome = home.0.spawn(command).wait().expect(&[0, 4, 5]);
    assert!(outcome.stderr.contains("HOME is not set"), "{outcome:?}");
    assert_eq!(databases(home.0.root()).len(), 1);
}

#[test]
fn the_list_says_what_a_report_says_and_survives_what_cannot_be_read() {
    let home = Home::new();
    home.compare("");
    fs::write(home.directory().join("text.db"), "no results").unwrap();
    let text = home.run("list").expect(&[0]).stdout;
    assert!(text.contains("not a stormeter results file"), "{text}");
    let list = home.list();
    assert_eq!(list.len(), 2, "{list:?}");
    let of = |is_read: bool| list.iter().find(|one| one["content"].is_null() != is_read).unwrap();
    let content = &of(true)["content"];
    assert_eq!((&content["subject"], &content["state"]), (&"a, b".into(), &"complete".into()));
    assert!(of(false)["unreadable"].as_str().unwrap().contains("not a stormeter"), "{list:?}");
    // The verdict has the words of the report.
    let file = &home.files()[0];
    let report = home.run(&format!("report {}", file.display())).expect(&[0, 4, 5]).said();
    let verdict = content["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("b: "), "{verdict}");
    let word = verdict.trim_start_matches("b: ").split(' ').next().unwrap();
    assert!(report.contains(word), "{word}: {report}");
    let missing = home.run("list nowhere").expect(&[2]);
    assert!(missing.stderr.contains("nowhere cannot be read"), "{missing:?}");
}

#[test]
fn prune_deletes_what_is_asked_for_and_only_with_yes() {
    let home = Home::new();
    home.compare("");
    let kept = home.files()[0].clone();
    let other = home.directory().join("other.db");
    fs::copy(&kept, &other).unwrap();
    let text = home.directory().join("text.db");
    fs::write(&text, "precious").unwrap();
    let nothing = home.run("prune").expect(&[2]);
    assert!(nothing.stderr.contains("--older-than"), "{nothing:?}");

    let would = home.run("prune --keep 1").expect(&[0]).stdout;
    assert!(would.contains("1 results file (") && would.contains("--yes"), "{would}");
    assert!(would.contains("1 that cannot be read stay"), "{would}");
    assert!(kept.exists() && other.exists(), "it was only asked");
    let young = home.run("prune --keep 1 --older-than 1d --yes").expect(&[0]).stdout;
    assert!(young.contains("0 results files"), "{young}");
    let complete = home.run("prune --incomplete --yes").expect(&[0]).stdout;
    assert!(complete.contains("0 results files"), "{complete}");

    // A directory that is given counts instead of the usual one.
    let elsewhere = home.0.make("elsewhere");
    fs::copy(&kept, elsewhere.join("x.db")).unwrap();
    home.run("prune --keep 0 --yes --dir elsewhere").expect(&[0]);
    assert!(!elsewhere.join("x.db").exists());
    assert!(kept.exists() && other.exists());

    home.run("prune --keep 1 --yes").expect(&[0]);
    assert_eq!([kept.exists(), other.exists()].iter().filter(|it| **it).count(), 1);
    home.run("prune --keep 0 --yes").expect(&[0]);
    assert_eq!(home.files(), [text], "what is no results file stays");
}
