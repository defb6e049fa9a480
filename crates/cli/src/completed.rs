//! What shells complete: commands and options from the definition, and values from what there is: workloads, studies,
//! results that are kept, words of questions.
//!
//! A script for a shell holds no names. It starts this program with [`VARIABLE`] set and the words typed so far, and the
//! program prints what they may become, so that a script which was installed once knows results written since.
//! Completing changes nothing about what is accepted: an unknown name gets our own error.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Arg, Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::Shells;
use stormeter_fault::FaultKind;
use stormeter_replicate::STUDIES;
use stormeter_site::WORDS;
use stormeter_study::{Metric, profiles, study_profile_names};

use crate::arguments::Arguments;
use crate::results_place;

/// The variable by which a script asks for completions; its value is the shell.
const VARIABLE: &str = "STORMETER_COMPLETE";
/// The program as a script starts it: wherever the shell finds it.
const PROGRAM: &str = "stormeter";

/// Answers a script that asks what words may become; whether one did.
///
/// # Errors
/// The shell is not known, or nobody reads the answer.
pub(crate) fn answer(words: &[OsString]) -> clap::error::Result<bool> {
    let here = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(definition).var(VARIABLE).completer(PROGRAM);
    asked.try_complete(words, here.as_deref())
}

/// The script for a shell; `None` if there is none for it.
pub(crate) fn script(shell: &str) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let shells = Shells::builtins();
    let written =
        shells.completer(shell)?.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut text);
    written.ok().map(|()| text)
}

/// The words of questions that are no names; docs/questions.md has the forms.
const QUESTION_WORDS: [&str; 32] = [
    "and",
    "at",
    "by",
    "costs",
    "depend",
    "depends",
    "differs",
    "does",
    "durably",
    "equal",
    "everywhere",
    "falls",
    "faster",
    "from",
    "grows",
    "has",
    "higher",
    "in",
    "is",
    "least",
    "less",
    "lower",
    "more",
    "most",
    "must",
    "not",
    "of",
    "on",
    "slower",
    "than",
    "with",
    "within",
];

/// The words of questions, with the names of metrics.
fn question_words() -> Vec<String> {
    let metrics = Metric::ALL.map(|metric| metric.name());
    QUESTION_WORDS.iter().chain(&metrics).map(|word| (*word).to_owned()).collect()
}

/// The program's definition, with values.
fn definition() -> Command {
    let mut program = Arguments::command();
    for (path, argument, values) in values() {
        program = with(program, path, argument, &values);
    }
    program
}

/// Gives an argument of a command values.
fn with(
    command: Command,
    path: &'static [&'static str],
    argument: &'static str,
    values: &Values,
) -> Command {
    match path.split_first() {
        Some((name, rest)) => command.mut_subcommand(*name, |it| with(it, rest, argument, values)),
        None => command.mut_arg(argument, |it| values.clone().of(it)),
    }
}

/// What a value may be.
#[derive(Clone)]
enum Values {
    /// One of these names.
    Names(Vec<String>),
    /// A results file: one of this directory, or one that is kept.
    Results,
    /// Something else or a results file: a datastore.
    AnyFile,
    /// A file of YAML, such as a study or a site.
    Yaml,
    /// A name from the list, or such a file.
    NamesOrYaml(Vec<String>),
    /// A directory.
    Directory,
    /// Text of several words, such as a question, of which each is one of these.
    Words(Vec<String>),
}

/// Values of arguments, by the names of their commands.
fn values() -> Vec<(&'static [&'static str], &'static str, Values)> {
    use Values::{AnyFile, Directory, Names, NamesOrYaml, Results, Words, Yaml};
    let workloads: Vec<String> = profiles().into_iter().map(|one| one.workload.name).collect();
    let studies = STUDIES.map(|(name, _)| name.to_owned()).to_vec();
    let metrics = || Metric::ALL.map(|metric| metric.name().to_owned()).to_vec();
    let faults = || FaultKind::ALL.map(|kind| kind.name().to_owned()).to_vec();
    let changes = || WORDS.map(|(word, _)| format!("{word}=")).to_vec();
    vec![
        (&["compare"], "datastores", AnyFile),
        (&["compare"], "workload", Names(workloads.clone())),
        (&["ceiling"], "workload", Names(workloads)),
        (&["profile"], "name", Names(study_profile_names())),
        (&["run"], "file", Yaml),
        (&["predict"], "file", Yaml),
        (&["predict"], "site", Yaml),
        (&["predict"], "what_if", Names(changes())),
        (&["predict"], "ask", Words(question_words())),
        (&["predict"], "faults", Words(faults())),
        (&["site", "check"], "file", Yaml),
        (&["site", "check"], "what_if", Names(changes())),
        (&["calibrate"], "results", Results),
        (&["calibrate"], "site", Yaml),
        (&["calibrate"], "study", Yaml),
        (&["calibrate"], "metric", Names(metrics())),
        (&["replicate"], "study", NamesOrYaml(studies)),
        (&["replicate"], "measured", Results),
        (&["replicate"], "predicted", Results),
        (&["report"], "files", Results),
        (&["audit"], "files", Results),
        (&["export"], "file", Results),
        (&["gate"], "new", Results),
        (&["gate"], "against", Results),
        (&["list"], "directories", Directory),
        (&["prune"], "dir", Directory),
        (&["lab", "up"], "file", Yaml),
        (&["lab", "durable"], "file", Yaml),
        (&["lab", "do"], "action", Names(faults())),
    ]
}

impl Values {
    fn of(self, argument: Arg) -> Arg {
        let files = |ends: &'static [&'static str]| PathCompleter::any().filter(has_end(ends));
        match self {
            Values::Names(names) => {
                argument.add(ArgValueCandidates::new(move || candidates(names.iter())))
            }
            Values::Results => argument.add(ArgValueCompleter::new(results)),
            Values::AnyFile => argument.add(ArgValueCompleter::new(|typed: &OsStr| {
                let mut found = PathCompleter::any().complete(typed);
                found.extend(kept(typed));
                found
            })),
            Values::Yaml => argument.add(ArgValueCompleter::new(files(&["yaml", "yml"]))),
            Values::NamesOrYaml(names) => {
                argument.add(ArgValueCompleter::new(move |typed: &OsStr| {
                    let start = typed.to_string_lossy();
                    let fits = names.iter().filter(|name| name.starts_with(&*start));
                    let mut found = candidates(fits);
                    found.extend(files(&["yaml", "yml"]).complete(typed));
                    found
                }))
            }
            Values::Directory => argument.add(ArgValueCompleter::new(PathCompleter::dir())),
            Values::Words(words) => {
                argument.add(ArgValueCompleter::new(move |typed: &OsStr| next_word(typed, &words)))
            }
        }
    }
}

fn candidates<'a>(names: impl Iterator<Item = &'a String>) -> Vec<CompletionCandidate> {
    names.map(CompletionCandidate::new).collect()
}

fn has_end(ends: &'static [&'static str]) -> impl Fn(&Path) -> bool + Send + Sync + 'static {
    move |path| path.extension().is_some_and(|end| ends.iter().any(|it| end == *it))
}

/// Results files below the path that is typed, and those that are kept under a name alone.
fn results(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = PathCompleter::any().filter(has_end(&["db", "json"])).complete(typed);
    found.extend(kept(typed));
    found
}

/// The kept results whose names start so, by the shortest names that commands find here. Only names are read.
fn kept(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(start) = typed.to_str().filter(|typed| !typed.contains('/')) else {
        return Vec::new();
    };
    let Some(directory) = results_place::directory() else { return Vec::new() };
    let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| has_end(&["db"])(path));
    let mut names: Vec<String> = files
        .filter_map(|path| {
            let short = results_place::named_here(&path);
            let name = PathBuf::from(short.file_name()?);
            // A file of that name in this directory would be meant instead.
            let name = if results_place::found(&name) == path { name } else { path };
            name.into_os_string().into_string().ok().filter(|name| name.starts_with(start))
        })
        .collect();
    names.sort();
    names.dedup();
    candidates(names.iter())
}

/// The text with its last word completed.
fn next_word(typed: &OsStr, words: &[String]) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let (before, start) = typed.split_at(typed.rfind(' ').map_or(0, |space| space + 1));
    let fits = words.iter().filter(|word| word.starts_with(start));
    fits.map(|word| CompletionCandidate::new(format!("{before}{word}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line may become whose last word is being typed.
    fn complete(line: &str) -> Vec<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let last = words.len() - 1;
        let found = clap_complete::engine::complete(&mut definition(), words, last, None).unwrap();
        found.iter().map(|it| it.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn values_are_those_of_the_argument() {
        assert_eq!(complete("stormeter replicate vir"), ["virtual-physical"]);
        assert!(complete("stormeter compare --workload vm-").contains(&"vm-8k".to_owned()));
        assert!(complete("stormeter profile io").contains(&"iozone".to_owned()));
        assert_eq!(complete("stormeter schema time"), ["timeline"]);
        assert_eq!(complete("stormeter predict s.yaml --what-if nic"), ["nic=", "nics="]);
        assert!(complete("stormeter calibrate --metric latency-p99").len() >= 2);
        assert!(complete("stormeter lab do link-").contains(&"link-down".to_owned()));
    }

    #[test]
    fn the_last_word_of_a_question_is_completed() {
        let words = question_words();
        let next = |typed: &str| {
            let found = next_word(OsStr::new(typed), &words);
            found.iter().map(|it| it.get_value().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(next("nas is fast"), ["nas is faster"]);
        assert!(next("nas is faster than san in latency-p9").len() >= 2);
        assert!(
            next("nas is faster than san in io").contains(&"nas is faster than san in iops".into())
        );
    }

    /// Every argument of the list exists, or building the definition panics.
    #[test]
    fn the_definition_with_values_is_sound() {
        definition().debug_assert();
    }
}
