//! The list as it is printed in JSON.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_schema::schema_of;

use crate::file::{Kept, State};

/// Version of the printed form; a field that changes its meaning changes it.
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema of a [`PrintedList`], draft 2020-12, as text.
pub const SCHEMA: &str = include_str!("../../../docs/schema/list.schema.json");

/// [`SCHEMA`] as it follows from the types, for the test that compares the two.
pub fn derived_schema() -> String {
    schema_of::<PrintedList>()
}

/// Results files, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "A list of results", extend("$id" = format!("urn:stormeter:schema:list:{SCHEMA_VERSION}")))]
pub struct PrintedList {
    /// Version of this form.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: u32,
    /// The files.
    pub results: Vec<PrintedResults>,
}

/// A results file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrintedResults {
    /// Its path.
    pub path: String,
    /// Its size with what SQLite keeps next to it, in bytes.
    pub bytes: u64,
    /// When it was last written, in milliseconds since 1970-01-01 UTC.
    pub modified_unix_ms: u64,
    /// What it holds; null if it cannot be read.
    pub content: Option<PrintedContent>,
    /// Why it cannot be read; null if it can.
    pub unreadable: Option<String>,
}

/// What a results file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrintedContent {
    /// The title of the study, or the datastores.
    pub subject: String,
    /// When the run started, in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// When it ended; null while it runs or after it was killed.
    pub ended_unix_ms: Option<u64>,
    /// How far it got.
    pub state: State,
    /// Whether the command that started the run resumes it.
    pub resumable: bool,
    /// Whether it is a prediction.
    pub predicted: bool,
    /// The programs that made it, with their versions.
    pub made_by: String,
    /// Trials measured; of results of other tools, runs.
    pub trials: u32,
    /// Trials that failed.
    pub failed_trials: u32,
    /// Time spent on trials, in nanoseconds; virtual time in a prediction.
    pub elapsed_ns: u64,
    /// What the result says, in the words of the report.
    pub verdict: String,
}

impl PrintedList {
    /// The list of these files.
    pub fn of(all: &[Kept]) -> Self {
        Self { schema_version: SCHEMA_VERSION, results: all.iter().map(printed).collect() }
    }
}

fn printed(one: &Kept) -> PrintedResults {
    let content = one.content.as_ref().ok().map(|content| PrintedContent {
        subject: content.summary.subject.clone(),
        started_unix_ms: content.started_unix_ms,
        ended_unix_ms: content.ended_unix_ms,
        state: content.state,
        resumable: content.is_resumable(),
        predicted: content.is_predicted,
        made_by: content.made_by.clone(),
        trials: content.summary.trials,
        failed_trials: content.summary.failed_trials,
        elapsed_ns: content.summary.elapsed_ns,
        verdict: content.summary.verdict.clone(),
    });
    PrintedResults {
        path: one.path.display().to_string(),
        bytes: one.bytes,
        modified_unix_ms: one.modified_unix_ms,
        content,
        unreadable: one.content.as_ref().err().cloned(),
    }
}
