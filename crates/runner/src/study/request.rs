//! The request to run a study.

use std::path::PathBuf;

use stormeter_datastore::Secret;
use stormeter_study::StudyPlan;

/// Whether the run that a results file holds is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// A new run: the file must not exist yet.
    Never,
    /// It is resumed if the file holds one; otherwise a new run.
    IfPresent,
    /// The file must hold one: a mistyped name must not start a run.
    Always,
}

/// A study to run.
#[derive(Clone)]
pub struct Request {
    /// The plan.
    pub plan: StudyPlan,
    /// The results file.
    pub output: PathBuf,
    /// Whether the run that the results file holds is resumed.
    pub resume: Resume,
    /// Devices and LUNs whose data may be destroyed, as named by the user.
    pub destroy_data: Vec<PathBuf>,
    /// Passwords that hosts need, by the datastores' URLs, or by the files that workloads name: they come from this
    /// process's environment and files. They go to the hosts of the study and nowhere else.
    pub passwords: Vec<(String, String)>,
    /// Passwords that must not leave this process, by the datastores' URLs, or by the files that workloads name; the plan, which is stored, has none.
    pub secrets: Vec<(String, Secret)>,
    /// The real URLs of datastores that are started for the run, such as `embedded:nfs`: (URL in the plan, URL to open).
    pub addresses: Vec<(String, String)>,
    /// Measure all blocks of invalid cells again, in an existing results file.
    pub redo_invalid: bool,
    /// For the record: the command to repeat it.
    pub command_line: Vec<String>,
    /// For the record: the version of this program.
    pub version: String,
}

impl Request {
    /// A new run of the plan, with its results in this file.
    pub fn new(plan: StudyPlan, output: PathBuf) -> Self {
        Self {
            plan,
            output,
            resume: Resume::Never,
            destroy_data: Vec::new(),
            passwords: Vec::new(),
            secrets: Vec::new(),
            addresses: Vec::new(),
            redo_invalid: false,
            command_line: Vec::new(),
            version: String::new(),
        }
    }

    /// The URLs to open of the datastores and their ceilings, without passwords.
    pub(crate) fn plain_urls(&self) -> Vec<String> {
        let urls = self.plan.urls().into_iter().map(|url| {
            let elsewhere = self.addresses.iter().find(|(name, _)| name == url);
            elsewhere.map_or_else(|| url.to_owned(), |(_, address)| address.clone())
        });
        urls.collect()
    }

    /// Whether the datastore is started for each run.
    pub(crate) fn is_embedded(&self, url: &str) -> bool {
        self.addresses.iter().any(|(name, _)| name == url)
    }
}
