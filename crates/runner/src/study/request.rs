//! What is to be carried out.

use std::path::PathBuf;

use stormeter_study::StudyPlan;

/// A study to be carried out.
#[derive(Clone)]
pub struct StudyRequest {
    /// What is compared, and how.
    pub plan: StudyPlan,
    /// The results file. One that holds this study's beginning is gone on with.
    pub output: PathBuf,
    /// Devices and LUNs whose data may be destroyed, as `--destroy-data` names them.
    pub destroy_data: Vec<PathBuf>,
    /// Passwords that hosts need, by the datastores' URLs: the environment that has them is this
    /// process's. They go to the hosts of the study and nowhere else.
    pub passwords: Vec<(String, String)>,
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

impl StudyRequest {
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
