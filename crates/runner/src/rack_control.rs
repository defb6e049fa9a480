//! The boundary to what can inject faults into the storage and take snapshots of it, such as a lab.

use stormeter_fault::FaultSpec;

/// Why an action failed; its message says what to do next.
pub type RackControlError = Box<dyn std::error::Error + Send + Sync>;

/// Executes the steps of trials. It is called from a thread other than those of the load, one call at a time.
pub trait RackControl: Send {
    /// Checks whether it can inject the fault, before anything is written.
    ///
    /// # Errors
    /// It cannot: there is no such guest, or the guest does not have the part.
    fn check(&mut self, fault: &FaultSpec) -> Result<(), RackControlError>;

    /// Injects the fault, and returns when that is done.
    ///
    /// # Errors
    /// It was not injected, or only in part.
    fn apply(&mut self, fault: &FaultSpec) -> Result<(), RackControlError>;

    /// Undoes all faults, whatever their origin; called before the first trial and after each, so that no trial starts
    /// with the faults of another.
    ///
    /// # Errors
    /// A fault remains.
    fn restore(&mut self) -> Result<(), RackControlError>;

    /// Checks whether it can take a snapshot of the storage and roll back to it, before anything is written.
    ///
    /// # Errors
    /// It cannot.
    fn check_snapshot(&mut self) -> Result<(), RackControlError>;

    /// Takes the snapshot from which trials start. Nothing uses the storage meanwhile, and all data is flushed.
    ///
    /// # Errors
    /// There is no snapshot.
    fn snapshot(&mut self) -> Result<(), RackControlError>;

    /// Rolls all datastores back to the snapshot, and empties their caches. Nothing uses the storage meanwhile; open
    /// datastores stay usable.
    ///
    /// # Errors
    /// The storage is not in the state of the snapshot.
    fn roll_back(&mut self) -> Result<(), RackControlError>;
}
