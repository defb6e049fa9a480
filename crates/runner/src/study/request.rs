//! What is to be carried out.

use std::path::PathBuf;

use stormeter_datastore::Secret;
use stormeter_study::StudyPlan;

/// Whether the run that a results file holds is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// A new run: the file must not be there yet.
    Never,
    /// If it holds one; otherwise a new run.
    IfPresent,
    /// It must hold one: a mistyped name must not start a run.
    Always,
}

/// A study to be carried out.
#[derive(Clone)]
pub struct Request {
    /// What is compared, and how.
    pub plan: StudyPlan,
    /// The results file.
    pub output: PathBuf,
    /// Whether the run that the results file holds is resumed.
    pub resume: Resume,
    /// Devices and LUNs whose data may be destroyed, as they were named.
    pub destroy_data: Vec<PathBuf>,
    /// Passwords that hosts need, by the datastores' URLs: the environment that has them is this
    /// process's. They go to the hosts of the study and nowhere else.
    pub passwords: Vec<(String, String)>,
    /// Passwords that are not to leave this process, by the datastores' URLs; the plan, which is stored, has none.
    pub secrets: Vec<(String, Secret)>,
    /// Where datastores really are whose URL in the plan says no more than that somebody starts them,
    /// such as `embedded:nfs`: (URL in the plan, URL to open).
    pub addresses: Vec<(String, String)>,
    /// Measure the blocks of invalid cells again, all of them, in a results file that is there.
    pub redo_invalid: bool,
    /// For the record: how to repeat it.
    pub command_line: Vec<String>,
    /// For the record.
    pub version: String,
}

impl Request {
    /// A new run of the plan, with its results in that file.
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

    /// The datastores' URLs and those of their ceilings as they are opened, without passwords.
    pub(crate) fn plain_urls(&self) -> Vec<String> {
        let urls = self.plan.urls().into_iter().map(|url| {
            let elsewhere = self.addresses.iter().find(|(name, _)| name == url);
            elsewhere.map_or_else(|| url.to_owned(), |(_, address)| address.clone())
        });
        urls.collect()
    }

    /// Whether the datastore is started anew for each run.
    pub(crate) fn is_embedded(&self, url: &str) -> bool {
        self.addresses.iter().any(|(name, _)| name == url)
    }
}
