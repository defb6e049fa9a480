//! Findings as they are printed: JSON, and text for a terminal.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_schema::schema_of;

use crate::finding::{Finding, Level};
use crate::law::Law;
use crate::words::{advice, level, sentence};

/// Version of the printed form; a field that changes its meaning changes it.
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema of a [`PrintedAudit`], draft 2020-12, as text.
pub const SCHEMA: &str = include_str!("../../../docs/schema/audit.schema.json");

/// [`SCHEMA`] as it follows from the types, for the test that compares the two.
pub fn derived_schema() -> String {
    schema_of::<PrintedAudit>()
}

/// All that an audit found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(
    title = "An audit",
    extend("$id" = format!("urn:stormeter:schema:audit:{SCHEMA_VERSION}"))
)]
pub struct PrintedAudit {
    /// Version of this form.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: u32,
    /// What was audited.
    pub of: Vec<String>,
    /// How many findings there are that cannot be true.
    pub broken: usize,
    /// How many are possible and unlikely.
    pub doubtful: usize,
    /// How many are worth knowing.
    pub notes: usize,
    /// The findings, the surest first.
    pub findings: Vec<PrintedFinding>,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PrintedFinding {
    /// Which law.
    pub law: Law,
    /// How sure.
    pub level: Level,
    /// Where.
    pub place: String,
    /// What the law says.
    pub says: String,
    /// What was found, with the numbers and what explains them.
    pub found: String,
    /// What to do.
    pub advice: String,
}

impl PrintedAudit {
    /// Words and counts the findings of these files.
    pub fn new(of: Vec<String>, findings: &[Finding]) -> Self {
        let count = |level: Level| findings.iter().filter(|found| found.level == level).count();
        let mut sorted: Vec<&Finding> = findings.iter().collect();
        sorted.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        Self {
            schema_version: SCHEMA_VERSION,
            of,
            broken: count(Level::Broken),
            doubtful: count(Level::Doubtful),
            notes: count(Level::Note),
            findings: sorted
                .into_iter()
                .map(|finding| PrintedFinding {
                    law: finding.law,
                    level: finding.level,
                    place: finding.place.clone(),
                    says: finding.law.says().to_owned(),
                    found: sentence(finding),
                    advice: advice(finding),
                })
                .collect(),
        }
    }

    /// Text for a terminal of this many columns.
    pub fn terminal(&self, width: usize) -> String {
        let width = width.clamp(40, 120);
        let mut text = String::new();
        for finding in &self.findings {
            text += &format!("{}  {}\n", level(finding.level).to_uppercase(), finding.place);
            text += &wrapped(&format!("{}.", finding.found), width);
            if !finding.advice.is_empty() {
                text += &wrapped(&format!("To do: {}.", finding.advice), width);
            }
            text.push('\n');
        }
        let files = self.of.len();
        let of = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
        text += &match self.findings.len() {
            0 => format!("{of}: nothing found.\n"),
            _ => format!(
                "{of}: {} broken, {} doubtful, {} to note.\n",
                self.broken, self.doubtful, self.notes
            ),
        };
        text
    }
}

/// Lines of at most this width, indented by two.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = String::from(" ");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > width && line.trim() != "" {
            lines += &line;
            lines.push('\n');
            line = String::from(" ");
        }
        line.push(' ');
        line += word;
    }
    lines + &line + "\n"
}
