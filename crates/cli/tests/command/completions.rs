//! What shells offer with the scripts that `completions` prints: each shell is asked itself.
//!
//! bash calls the function that the script registers; zsh completes a line in a pseudo-terminal of its own
//! (`zsh/zpty`), as at a prompt; fish has a command for it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::place::{Place, not_run};

/// Completes the line after the last blank, and prints an offer a line.
const BASH: &str = r#"
source "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=63
read -ra COMP_WORDS <<< "$2"
[[ $2 == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
"$(complete -p stormeter | sed 's/.*-F \([^ ]*\).*/\1/')" stormeter "${COMP_WORDS[COMP_CWORD]}" ""
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// In the terminal every offer is handed to `compadd`, which prints the words instead of showing them.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty shell "cd $3 && PATH=$PATH STORMETER_RESULTS=$STORMETER_RESULTS HOME=$HOME zsh -f -i"
line() { zpty -w shell "$1" }
line 'PS1= PS2= RPS1='
line 'autoload -Uz compinit && compinit -u -d '$3'/zcompdump'
line 'zstyle ":completion:*" list-prompt ""'
line "source $1"
line 'compadd() { local -a offered; builtin compadd -O offered "$@"; print -rl -- "<offer>"${^offered}; builtin compadd "$@" }'
line 'bindkey "^I" complete-word; finish() { print "<end>"; exit }; zle -N finish; bindkey "^X" finish'
line 'print "<""ready>"'
while zpty -r shell text '*<ready>*'; do break; done
zpty -w -n shell "$2"$'\t\x18'
all=
while zpty -r shell text; do all+=$text; [[ $all == *'<end>'* ]] && break; done
print -r -- "$all" | tr -d '\r' | sed -n 's/.*<offer>//p'
"#;

/// A place where a shell finds the program, results and a study.
struct Shells(Place);

impl Shells {
    fn new() -> Self {
        let place = Place::new();
        for directory in ["bin", "kept", "work"] {
            place.make(directory);
        }
        let program = PathBuf::from(env!("CARGO_BIN_EXE_stormeter"));
        std::os::unix::fs::symlink(program, place.path("bin/stormeter")).unwrap();
        for file in ["kept/night.db", "kept/notes.txt", "work/here.db", "work/farm.yaml"] {
            fs::write(place.path(file), "").unwrap();
        }
        for shell in ["bash", "zsh", "fish"] {
            let script = place.run(&format!("completions {shell}")).expect(&[0]).stdout;
            fs::write(place.path(&format!("script.{shell}")), script).unwrap();
        }
        Self(place)
    }

    fn command(&self, shell: &str, arguments: &[&str]) -> Option<Vec<String>> {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(shell);
        self.0.at_home(&mut command);
        command
            .args(arguments)
            .current_dir(self.0.path("work"))
            .env("PATH", format!("{}:{path}", self.0.path("bin").display()))
            .env("STORMETER_RESULTS", self.0.path("kept"));
        let output = match command.output() {
            Ok(output) => output,
            Err(_) => {
                not_run(&format!("there is no {shell}; cargo xtask peers installs it"));
                return None;
            }
        };
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        // fish puts a description after a tab; a blank after a word ends it.
        let words = text.lines().map(|line| line.split('\t').next().unwrap_or_default().trim_end());
        let mut words: Vec<String> =
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
        words.sort();
        words.dedup();
        assert!(output.status.success() || !words.is_empty(), "{shell}: {output:?}");
        Some(words)
    }

    /// What a shell offers for a line; `None` if it is not installed.
    fn offers(&self, shell: &str, line: &str) -> Option<Vec<String>> {
        let script = self.0.path(&format!("script.{shell}"));
        let (script, work) = (script.to_str().unwrap().to_owned(), self.0.path("work"));
        match shell {
            "bash" => self.command(shell, &["--norc", "-c", BASH, "bash", &script, line]),
            "zsh" => {
                let work = work.to_str().unwrap();
                self.command(shell, &["-f", "-c", ZSH, "zsh", &script, line, work])
            }
            _ => {
                let asked = format!("source {script}; complete -C '{line}'");
                self.command(shell, &["--no-config", "-c", &asked])
            }
        }
    }
}

#[track_caller]
fn check(shell: &str) {
    let shells = Shells::new();
    let cases: [(&str, &[&str], &[&str]); 7] = [
        ("stormeter replicate vir", &["virtual-physical"], &["tr3808"]),
        ("stormeter compare a b --workload vm-", &["vm-4k", "vm-8k"], &["oltp"]),
        // Results of this directory and those that are kept, and nothing else there.
        ("stormeter report ", &["here.db", "night.db"], &["notes.txt", "farm.yaml"]),
        ("stormeter run f", &["farm.yaml"], &["here.db"]),
        ("stormeter schema time", &["timeline"], &["study"]),
        ("stormeter compare a b --metric latency-p99", &["latency-p99", "latency-p999"], &["iops"]),
        ("stormeter comp", &["compare", "completions"], &["run"]),
    ];
    for (line, expected, others) in cases {
        let Some(offers) = shells.offers(shell, line) else { return };
        let has = |word: &&&str| offers.iter().any(|offer| offer == **word);
        assert!(expected.iter().all(|word| has(&word)), "{shell}: {line:?}: {offers:?}");
        assert!(!others.iter().any(|word| has(&word)), "{shell}: {line:?}: {offers:?}");
    }
}

#[test]
fn bash_completes_values() {
    check("bash");
}

#[test]
fn zsh_completes_values() {
    check("zsh");
}

#[test]
fn fish_completes_values() {
    check("fish");
}
