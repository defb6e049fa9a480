//! One line of commands: what it calls and how to run it outside the README.
//!
//! Our own splitter: the existing ones for shell words do not distinguish commands, pipes and
//! redirections.

use std::path::{Path, PathBuf};

/// Where examples keep their datastores.
const EXAMPLES: [&str; 3] = ["/srv/", "/mnt/", "/dev/shm/"];

/// Programs other than ours that examples may call; any other name is taken for a typing error.
const OTHERS: [&str; 24] = [
    "apt-get", "cat", "cd", "chmod", "cp", "curl", "echo", "export", "fio", "git", "install", "jq",
    "ls", "man", "mkdir", "mount", "mv", "open", "rm", "rustup", "scp", "sqlite3", "ssh",
    "xdg-open",
];

/// A single command.
#[derive(Debug, PartialEq)]
pub(super) enum Words {
    /// The arguments of stormeter.
    Stormeter(Vec<String>),
    /// The name of a chore.
    Chore(String),
    Other,
}

/// A line as it will be run.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    pub(super) command: String,
    pub(super) is_stormeter: bool,
}

/// The commands of a line.
///
/// # Errors
/// It calls a program that no example is expected to call.
pub(super) fn parse(line: &str) -> Result<Vec<Words>, String> {
    commands(line).into_iter().filter(|words| !words.is_empty()).map(one).collect()
}

fn one(mut words: Vec<String>) -> Result<Words, String> {
    while words.first().is_some_and(|word| word == "sudo" || is_assignment(word)) {
        words.remove(0);
    }
    let text: Vec<&str> = words.iter().map(String::as_str).collect();
    let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    match text.as_slice() {
        ["stormeter" | "./stormeter", arguments @ ..]
        | ["cargo", "run", "--release", "--", arguments @ ..] => {
            Ok(Words::Stormeter(owned(arguments)))
        }
        ["cargo", "xtask", chore, ..] => Ok(Words::Chore((*chore).to_owned())),
        ["cargo", "build" | "install", ..] | [] => Ok(Words::Other),
        [program, ..] if OTHERS.contains(program) => Ok(Words::Other),
        [program, ..] => Err(format!(
            "'{program}' is none of the programs that examples call; fix it, mark the block \
             ```console, or add it to OTHERS in xtask/src/readme/line.rs"
        )),
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    })
}

/// Splits a line at pipes and the like, and each command into words; quotes keep words together.
/// The target of a redirection is not an argument.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut redirected = false;
    // The added space ends the last word.
    for c in line.chars().chain([' ']) {
        let ends_word = quote.is_none() && (c.is_whitespace() || "|;&<>#".contains(c));
        if !ends_word {
            let word = word.get_or_insert_default();
            match (quote, c) {
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), _) if open == c => quote = None,
                _ => word.push(c),
            }
            continue;
        }
        if c == '#' && word.is_some() {
            word.get_or_insert_default().push(c);
            continue;
        }
        if let Some(word) = word.take() {
            let is_stream = "<>".contains(c) && matches!(word.as_str(), "1" | "2");
            if !redirected && !is_stream {
                commands.last_mut().unwrap_or(&mut Vec::new()).push(word);
            }
            redirected = false;
        }
        match c {
            '#' => break,
            '|' | ';' => commands.push(Vec::new()),
            '&' if !redirected => commands.push(Vec::new()),
            '<' | '>' => redirected = true,
            _ => {}
        }
    }
    commands
}

/// How to run a line away from the repository; `None` if it cannot be run (it fetches or installs
/// something).
///
/// # Errors
/// It names a device, or calls a program that no example is expected to call.
pub(super) fn to_run(line: &str, more: &str, root: &Path) -> Result<Option<Run>, String> {
    if line.contains("/dev/sd") || line.contains("/dev/nvme") || line.contains("/dev/vd") {
        return Err("names a device and is not run; mark the block ```sh alone".into());
    }
    if ["git ", "cd ", "cargo xtask", "cargo install", "cargo build", "rustup "]
        .iter()
        .any(|start| line.starts_with(start))
    {
        return Ok(None);
    }
    let is_stormeter =
        ["stormeter ", "cargo run --release -- "].iter().any(|p| line.starts_with(p));
    let is_comparison = ["stormeter compare ", "cargo run --release -- compare "]
        .iter()
        .any(|p| line.starts_with(p));
    let mut command = line.to_owned();
    if is_comparison && !more.is_empty() {
        // Insert before whatever the line does with the output.
        let end = output_starts(&command);
        command.insert_str(end, &format!(" {more}"));
    }
    if let Some(arguments) = command.strip_prefix("cargo run --release -- ") {
        let manifest = root.join("Cargo.toml");
        command = format!(
            "cargo run --quiet --release --manifest-path '{}' -- {arguments}",
            manifest.display()
        );
    }
    Ok(Some(Run { command, is_stormeter }))
}

/// Where the first pipe or redirection outside quotes starts.
fn output_starts(command: &str) -> usize {
    let mut quote = None;
    for (at, c) in command.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '|' | '>' | '<' | ';' | '&' | '#') => {
                return command[..at].trim_end_matches(['1', '2']).trim_end().len();
            }
            _ => {}
        }
    }
    command.len()
}

/// The command with the paths of its examples moved below a directory, and the directories to
/// create.
pub(super) fn placed(command: &str, directory: &Path) -> (String, Vec<PathBuf>) {
    let mut text = String::new();
    let mut directories = Vec::new();
    let mut rest = command;
    while let Some(found) = rest.find('/') {
        let (before, path) = rest.split_at(found);
        text.push_str(before);
        let starts = text
            .chars()
            .next_back()
            .is_none_or(|c| " '\"=".contains(c) || text.ends_with("file://"));
        let end =
            path.find(|c: char| c.is_whitespace() || "'\"?,;|&".contains(c)).unwrap_or(path.len());
        if starts && EXAMPLES.iter().any(|example| path.starts_with(example)) {
            let place = directory.join(&path[1..end]);
            text.push_str(&place.to_string_lossy());
            directories.push(place);
            rest = &path[end..];
        } else {
            text.push('/');
            rest = &path[1..];
        }
    }
    text.push_str(rest);
    (text, directories)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stormeter(words: &[&str]) -> Words {
        Words::Stormeter(words.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn commands_are_told_apart() {
        let line =
            "stormeter compare a 'b?direct=0 c' --json 2>x.log | jq . > out; cargo xtask tidy";
        assert_eq!(
            parse(line).unwrap(),
            [
                stormeter(&["compare", "a", "b?direct=0 c", "--json"]),
                Words::Other,
                Words::Chore("tidy".into())
            ]
        );
        assert_eq!(parse("sudo A_B=1 stormeter doctor # why").unwrap(), [stormeter(&["doctor"])]);
        assert_eq!(parse("cargo run --release -- demo").unwrap(), [stormeter(&["demo"])]);
        assert_eq!(parse("git clone a && cd a").unwrap(), [Words::Other, Words::Other]);
        assert_eq!(parse("stormeter man > a 2>&1").unwrap()[0], stormeter(&["man"]));
        assert!(parse("stormter compare a b").unwrap_err().contains("'stormter'"));
        assert!(parse("cargo run --releese -- demo").is_err());
    }

    #[test]
    fn lines_are_run_from_elsewhere_and_end_soon() {
        let run = |line: &str| to_run(line, "--size 1MiB", Path::new("/r")).unwrap();
        let command = |line: &str| run(line).unwrap().command;
        assert_eq!(command("stormeter compare a b > c"), "stormeter compare a b --size 1MiB > c");
        assert_eq!(command("stormeter compare a b 2> c"), "stormeter compare a b --size 1MiB 2> c");
        assert_eq!(command("stormeter compare a 'b|c'"), "stormeter compare a 'b|c' --size 1MiB");
        assert_eq!(command("stormeter report x.db"), "stormeter report x.db");
        assert_eq!(
            command("cargo run --release -- demo"),
            "cargo run --quiet --release --manifest-path '/r/Cargo.toml' -- demo"
        );
        assert!(run("stormeter demo").unwrap().is_stormeter && !run("ls").unwrap().is_stormeter);
        assert_eq!((run("cargo xtask test"), run("git clone x")), (None, None));
        assert!(to_run("stormeter compare /dev/sdb /srv/vm", "", Path::new("/r")).is_err());
    }

    #[test]
    fn paths_of_examples_become_our_own() {
        let (text, directories) =
            placed("stormeter compare /srv/vm '/mnt/nas?direct=0' --html a/srv/b", Path::new("/t"));
        assert_eq!(text, "stormeter compare /t/srv/vm '/t/mnt/nas?direct=0' --html a/srv/b");
        assert_eq!(directories, [Path::new("/t/srv/vm"), Path::new("/t/mnt/nas")]);
        let (text, _) = placed("a file:///srv/vm --b=/dev/shm/c /usr/x", Path::new("/t"));
        assert_eq!(text, "a file:///t/srv/vm --b=/t/dev/shm/c /usr/x");
    }
}
