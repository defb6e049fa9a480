//! The command line as a run records it: to be repeated, to be resumed, and to know what it was started with.

use crate::defaults::Words;
use crate::exit::Failure;
use crate::repeat::without_this_run;
use crate::secrets::redacted;

/// Options that change what is shown, and not what is measured.
const SHOWN: [&str; 3] = ["color", "json", "quiet"];

/// The words of a command line, with the defaults that applied.
#[derive(Debug, Clone)]
pub(crate) struct CommandLine {
    /// All words, without passwords.
    pub(crate) words: Vec<String>,
    /// The defaults among them.
    added: Vec<String>,
}

impl CommandLine {
    pub(crate) fn of(words: &Words) -> Self {
        let all = words.all.iter().map(|word| redacted(&word.to_string_lossy()));
        // Without the program's directory, which is private.
        let all = std::iter::once("stormeter".to_owned()).chain(all.skip(1)).collect();
        Self { words: all, added: words.added().map(|word| redacted(word)).collect() }
    }

    /// Refuses to resume the run that `recorded` started if the defaults have changed since: a run would change
    /// although the user typed the same.
    ///
    /// # Errors
    /// What has changed, and the command that resumes the run as it was.
    pub(crate) fn check_resumes(
        &self,
        recorded: &[String],
        resume: &[String],
    ) -> Result<(), Failure> {
        let recorded = without_this_run(recorded);
        let is_shown = |word: &str| SHOWN.contains(&name(word));
        let is_given = |word: &&String| self.words.iter().any(|given| name(given) == name(word));
        let changed = self.added.iter().find(|word| !is_shown(word) && !recorded.contains(word));
        // Defaults are inserted after the command.
        let first = recorded.iter().skip(2).take_while(|word| word.starts_with("--"));
        let mut first = first.filter(|word| word.contains('=') && !is_shown(word));
        let change = match (changed, first.find(|word| !is_given(word))) {
            (Some(now), _) => format!("{now} is new"),
            (None, Some(gone)) => format!("{gone} is gone"),
            (None, None) => return Ok(()),
        };
        Err(Failure::Usage(format!(
            "the defaults have changed since this run was started: {change}. Resume it as it was: {}= {}",
            crate::defaults::VARIABLE,
            stormeter_report::shell_command(resume)
        )))
    }
}

/// The long name of an option.
fn name(word: &str) -> &str {
    let long = word.strip_prefix("--").unwrap_or_default();
    long.split('=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str, added: &[&str]) -> CommandLine {
        CommandLine {
            words: words.split(' ').map(String::from).collect(),
            added: added.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    #[test]
    fn defaults_that_changed_do_not_change_a_run() {
        let recorded: Vec<String> =
            "stormeter compare --precision=3% a b -o r.db".split(' ').map(String::from).collect();
        let check = |line: CommandLine| line.check_resumes(&recorded, &recorded);
        let same = line("stormeter compare --precision=3% a b --resume", &["--precision=3%"]);
        check(same).unwrap();
        check(line("stormeter compare a b --resume --precision 1%", &[])).unwrap();
        let shown = ["--precision=3%", "--color=never", "--quiet"];
        check(line("stormeter compare --precision=3% --color=never --quiet a b", &shown)).unwrap();
        for (words, added, change) in [
            (
                "stormeter compare --precision=9% a b",
                &["--precision=9%"][..],
                "--precision=9% is new",
            ),
            (
                "stormeter compare --precision=3% --verify a b",
                &["--precision=3%", "--verify"],
                "--verify is new",
            ),
            ("stormeter compare a b --resume", &[], "--precision=3% is gone"),
        ] {
            let text = check(line(words, added)).unwrap_err().to_string();
            assert!(text.contains(change), "{text}");
            assert!(
                text.contains("STORMETER_DEFAULTS= stormeter compare --precision=3%"),
                "{text}"
            );
        }
    }
}
