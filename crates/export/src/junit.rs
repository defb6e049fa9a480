//! A test report as JUnit's runner for Ant writes it.
//!
//! The format has no standard. This is the part that Jenkins, GitLab and reporters on GitHub read: `testsuites`,
//! `testsuite`, and `testcase` with `failure`, `error`, `skipped` or `system-out`.

use quick_xml::escape::escape;

/// A test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The group that it belongs to, with dots.
    pub class: String,
    /// What was tested; unique within its group.
    pub name: String,
    /// How it ended.
    pub outcome: CaseOutcome,
}

/// How a case ended, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseOutcome {
    /// As wanted.
    Passed(String),
    /// Not as wanted.
    Failed(String),
    /// The test itself broke, so that nothing follows.
    Broken(String),
    /// It was not decided.
    Skipped(String),
}

/// A report with one suite.
pub fn junit(suite: &str, cases: &[Case]) -> String {
    let count =
        |is: fn(&CaseOutcome) -> bool| cases.iter().filter(|case| is(&case.outcome)).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" \
         failures=\"{}\" skipped=\"{}\" errors=\"{}\">\n",
        written(suite),
        cases.len(),
        count(|outcome| matches!(outcome, CaseOutcome::Failed(_))),
        count(|outcome| matches!(outcome, CaseOutcome::Skipped(_))),
        count(|outcome| matches!(outcome, CaseOutcome::Broken(_)))
    );
    for case in cases {
        let inner = match &case.outcome {
            CaseOutcome::Passed(said) => format!("<system-out>{}</system-out>", written(said)),
            CaseOutcome::Failed(said) => format!("<failure message=\"{}\"/>", written(said)),
            CaseOutcome::Broken(said) => format!("<error message=\"{}\"/>", written(said)),
            CaseOutcome::Skipped(said) => format!("<skipped message=\"{}\"/>", written(said)),
        };
        text += &format!(
            "    <testcase classname=\"{}\" name=\"{}\">{inner}</testcase>\n",
            written(&case.class),
            written(&case.name)
        );
    }
    text + "  </testsuite>\n</testsuites>\n"
}

/// Escaped, and without what XML 1.0 has no way to write.
fn written(text: &str) -> String {
    let allowed = |&character: &char| {
        matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
            || character >= '\u{10000}'
    };
    let text: String = text.chars().filter(allowed).collect();
    escape(text.as_str()).into_owned()
}
