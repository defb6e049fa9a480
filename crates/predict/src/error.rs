//! Why a study cannot be predicted.

use stormeter_runner::RunError;
use stormeter_simulator::MachineError;
use stormeter_study::question::QuestionError;

use crate::steps::RefusedFault;

/// Why no machine can be built for a cell.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoMachine {
    /// The site cannot carry the load.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A fault names a part that does not exist.
    #[error(transparent)]
    Fault(#[from] RefusedFault),
}

/// Why a study cannot be predicted, and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// A datastore of the study that the site does not have.
    #[error(
        "the site {site} has no datastore {name}; it has {known}. Name one of them in the study, or \
         add {name} to `also` of the datastore that stands for it"
    )]
    NoDatastore {
        /// Its name in the study.
        name: String,
        /// The site.
        site: String,
        /// The names that the site has.
        known: String,
    },
    /// The site cannot be read, unchanged or with its changes.
    #[error("{0}")]
    Site(String),
    /// The site cannot carry the load of a cell.
    #[error("{cell}: {source}")]
    Machine {
        /// The cell.
        cell: String,
        /// The reason.
        source: NoMachine,
    },
    /// Transfers need a client in the site.
    #[error(
        "{cell}: transfers need a client in the site; add `client:` with its hosts and networks, or \
         leave the workload out"
    )]
    NoClient {
        /// The cell.
        cell: String,
    },
    /// File tests through a page cache of which nothing is known.
    #[error(
        "{cell}: the file test goes through the client's page cache, and the site says nothing of it; add \
         `page-cache: {{memory: …}}` to hosts.{hosts}, or leave client-cache out"
    )]
    NoPageCache {
        /// The cell.
        cell: String,
        /// The host group.
        hosts: String,
    },
    /// Files that a page cache cannot hold.
    #[error(
        "{cell}: the files of one host take {files}, and its page cache has {memory}; a model of what it gives up \
         does not exist. Use smaller files, or leave client-cache out"
    )]
    FilesAboveMemory {
        /// The cell.
        cell: String,
        /// The files of one host.
        files: String,
        /// The memory of the page cache.
        memory: String,
    },
    /// Clones have no model.
    #[error(
        "{cell}: a site has no model of storage that clones disks; deploy by copy, or leave the workload out"
    )]
    NoClones {
        /// The cell.
        cell: String,
    },
    /// Sessions with a service.
    #[error(
        "{cell}: a site has no model of FTP or VNC servers; carry the study out with `stormeter run`, or leave the \
         workload out"
    )]
    NoServices {
        /// The cell.
        cell: String,
    },
    /// A step or a fault that the site has no model of.
    #[error(transparent)]
    Fault(#[from] RefusedFault),
    /// A fault without effect.
    #[error(
        "the fault \"{fault}\" would change nothing: no datastore of this study uses what fails; name \
         something that one does, or leave it out"
    )]
    IdleFault {
        /// The fault as written.
        fault: String,
    },
    /// A fault after the end of the trial.
    #[error(
        "the fault \"{fault}\" would come too late: trials end {end} after their start, ramp \
         included; give an earlier time, or predict the study with trials of the planned length"
    )]
    LateFault {
        /// The fault as written.
        fault: String,
        /// The length of trials, ramp included.
        end: String,
    },
    /// A cell whose prediction failed.
    #[error("a cell on {cell} cannot be predicted: {reason}")]
    Cell {
        /// Its datastore.
        cell: String,
        /// The reason.
        reason: String,
    },
    /// Two levels of `datastore` with the same name.
    #[error("{name} would be a datastore twice; leave one of the two changes out")]
    SameName {
        /// The name.
        name: String,
    },
    /// A question that does not fit the prediction.
    #[error("a question cannot be asked of this prediction: {0}")]
    Question(#[source] Box<QuestionError>),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}
