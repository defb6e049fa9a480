//! The last messages of a run: where its results are, and how to resume it if it was interrupted.

use std::path::Path;

use stormeter_report::{printable, shell_command};

use crate::exit::Failure;
use crate::output::print;
use crate::results_place::named_here;

/// A run that ended.
pub(crate) struct Ending<'a> {
    /// Its results file.
    pub(crate) results: &'a Path,
    /// The command that resumes it, if it was interrupted.
    pub(crate) resume: Option<Vec<String>>,
    /// Whether standard output is read by programs.
    pub(crate) is_json: bool,
    pub(crate) quiet: bool,
}

impl Ending<'_> {
    /// For a run that was interrupted before there were any results.
    pub(crate) fn before_the_first_trial(&self) -> Result<(), Failure> {
        self.said("Interrupted before the first trial; nothing was measured.")?;
        self.resumed()
    }

    /// For any other run. `extra` is appended to the name of the file.
    pub(crate) fn after_trials(&self, extra: &str) -> Result<(), Failure> {
        self.resumed()?;
        if !self.quiet {
            let path = self.results.display();
            let short = named_here(self.results).display().to_string();
            let report = shell_command(&["stormeter".into(), "report".into(), short]);
            let text = format!("Results: {path}{extra}; `{report}` shows them again.");
            eprintln!("{}", printable(&text));
        }
        Ok(())
    }

    fn resumed(&self) -> Result<(), Failure> {
        match &self.resume {
            Some(words) => self.said(&format!("To continue: {}", printable(&shell_command(words)))),
            None => Ok(()),
        }
    }

    /// Prints for people, never into output that programs read.
    fn said(&self, text: &str) -> Result<(), Failure> {
        if !self.is_json {
            return print(&format!("{text}\n"));
        }
        if !self.quiet {
            eprintln!("{text}");
        }
        Ok(())
    }
}

/// The command that resumes the run that this command line started.
pub(crate) fn resuming(mut words: Vec<String>, results: &Path) -> Vec<String> {
    let has = |words: &[String], long: &str| {
        words.iter().any(|word| word == long || word.starts_with(&format!("{long}=")))
    };
    let is_short = |word: &String| word.starts_with("-o") && !word.starts_with("--");
    if !has(&words, "--output") && !words.iter().any(is_short) {
        words.extend(["--output".into(), results.display().to_string()]);
    }
    if !has(&words, "--resume") {
        words.push("--resume".into());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_resumes_a_run_names_its_file() {
        let resumed = |text: &str| {
            let words = text.split(' ').map(String::from).collect();
            resuming(words, Path::new("stormeter-1.db")).join(" ")
        };
        assert_eq!(
            resumed("stormeter compare a b"),
            "stormeter compare a b --output stormeter-1.db --resume"
        );
        for given in ["--output r.db", "--output=r.db", "-o r.db", "-or.db"] {
            let text = format!("stormeter compare a b {given}");
            assert_eq!(resumed(&text), format!("{text} --resume"));
            assert_eq!(resumed(&format!("{text} --resume")), format!("{text} --resume"));
        }
    }
}
