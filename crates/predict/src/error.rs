//! Why a study cannot be predicted.

use stormeter_runner::RunError;
use stormeter_simulator::MachineError;
use stormeter_study::question::QuestionError;

use crate::steps::RefusedFault;

/// Why there is no machine for a cell.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoMachine {
    /// The site cannot bear the load.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A fault is of a part that there is not.
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
        /// What the study calls it.
        name: String,
        /// The site.
        site: String,
        /// The names that the site has.
        known: String,
    },
    /// The site cannot be read, as it is or with what was to be changed in it.
    #[error("{0}")]
    Site(String),
    /// The site cannot bear the load of a cell.
    #[error("{cell}: {source}")]
    Machine {
        /// Which cell.
        cell: String,
        /// Why.
        source: NoMachine,
    },
    /// A workload that no model of a site is driven with.
    #[error(
        "{cell}: transfers need a client in the site; add `client:` with its hosts and networks, or \
         leave the workload out"
    )]
    NoClient {
        /// Which cell.
        cell: String,
    },
    /// A step or a fault that the site cannot have.
    #[error(transparent)]
    Fault(#[from] RefusedFault),
    /// A fault that would change nothing.
    #[error(
        "the fault \"{fault}\" would change nothing: no datastore of this study uses what fails; name \
         something that one does, or leave it out"
    )]
    IdleFault {
        /// As it was written.
        fault: String,
    },
    /// A fault that comes too late.
    #[error(
        "the fault \"{fault}\" would come too late: trials end {end} after they begin, the ramp \
         included; give an earlier time, or predict the study with trials as long as it plans them"
    )]
    LateFault {
        /// As it was written.
        fault: String,
        /// When trials end.
        end: String,
    },
    /// A cell that came to no end.
    #[error("a cell on {cell} cannot be predicted: {reason}")]
    Cell {
        /// Its datastore.
        cell: String,
        /// Why.
        reason: String,
    },
    /// Two levels of `datastore` of one name.
    #[error("{name} would be a datastore twice; leave one of the two changes out")]
    SameName {
        /// The name.
        name: String,
    },
    /// A question that cannot be asked of what is predicted.
    #[error("a question cannot be asked of this prediction: {0}")]
    Question(#[source] Box<QuestionError>),
    /// It could not be carried out.
    #[error(transparent)]
    Run(#[from] RunError),
}
