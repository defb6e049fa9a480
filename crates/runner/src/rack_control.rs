//! The boundary to whoever can do things to the storage while it is measured and between trials, such as a lab.

use stormeter_fault::FaultSpec;

/// Why something could not be done; it says what to do next.
pub type RackControlError = Box<dyn std::error::Error + Send + Sync>;

/// Does the steps of trials. It is asked from a thread beside the load, one thing at a time.
pub trait RackControl: Send {
    /// Whether it could do that; asked before anything is written.
    ///
    /// # Errors
    /// It could not: there is no such guest, or the guest has nothing of the kind.
    fn check(&mut self, fault: &FaultSpec) -> Result<(), RackControlError>;

    /// Does it, and returns when it is done.
    ///
    /// # Errors
    /// It was not done, or not wholly.
    fn apply(&mut self, fault: &FaultSpec) -> Result<(), RackControlError>;

    /// Makes everything whole again, whoever broke it; called before the first trial and after each, so
    /// that none begins with what another one left.
    ///
    /// # Errors
    /// Something stays broken.
    fn restore(&mut self) -> Result<(), RackControlError>;

    /// Whether it could take a snapshot of the storage and roll it back; asked before anything is written.
    ///
    /// # Errors
    /// It could not.
    fn check_snapshot(&mut self) -> Result<(), RackControlError>;

    /// Takes the snapshot that trials begin with. Nothing uses the storage meanwhile, and all is written.
    ///
    /// # Errors
    /// There is none now.
    fn snapshot(&mut self) -> Result<(), RackControlError>;

    /// Brings back what all datastores had at the snapshot, and empties what has cached them. Nothing uses the
    /// storage meanwhile; who has opened it may go on to use it.
    ///
    /// # Errors
    /// The state is not that of the snapshot.
    fn roll_back(&mut self) -> Result<(), RackControlError>;
}
