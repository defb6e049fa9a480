//! Runs comparisons and studies: trials in the plan's order, into the results file. On real datastores they run on
//! threads of this process; other executors run them on hosts, or on a model.
//!
//! This is where the stages meet: it opens datastores, gives their disks to the driver on pinned threads, reads CPU
//! usage, stores each trial in a transaction and asks the statistics whether to continue. It draws and prints nothing:
//! a caller that wants to show its work passes a [`Progress`].

mod account;
mod accounting;
mod ceiling;
mod describe;
mod desktops;
mod doctor;
mod environment;
mod error;
mod executor;
mod fill_spec;
mod fixed_work;
mod free_space;
mod guest_gauge;
mod host_time;
mod idle;
mod journal;
mod local_executor;
mod machine;
mod machines;
mod memories;
mod modelled;
pub mod monitor;
mod monitor_sampler;
mod monitor_source;
mod monitor_text;
mod password;
mod progress;
mod rack_control;
mod resume;
mod rows;
mod sessions;
mod shell;
mod socket_owners;
mod sockets;
mod start_coordinator;
mod stores;
mod study;
mod target;
mod threads;
mod trial_end;
mod turns;
mod usage;
mod verify;
mod watched;
mod watcher;
mod ways;
mod workers;

pub use ceiling::measure_ceiling;
pub use desktops::DesktopRun;
pub use doctor::{Advice, FreeSpace, Health, Link, Parameter, RunNeeds, Way, examine};
pub use environment::environment;
pub use error::RunError;
pub use executor::{
    Executor, OnTrialEnd, OpenOrder, Opened, OpenedStores, PrepareOrder, PreparedStore,
    Sensitivity, TrialOrder, TrialTarget, Verification,
};
pub use fill_spec::FillSpec;
pub use fixed_work::{
    ClientStart, FixedWorkRun, ListenOrder, TransferClient, run_clients, run_fixed_work,
};
pub use local_executor::LocalExecutor;
pub use machines::{
    ClosedMachines, MachineExecutor, MachineOrder, Machines, MachinesError, OpenMachines,
};
pub use modelled::Modelled;
pub use monitor_source::{GuestReading, MonitorSource, MonitorSourceError, ThreadReading};
pub use password::Password;
pub use progress::{BlockEnd, Both, Estimate, Place, Progress, Seen, Silent, SoFar, TrialStart};
pub use rack_control::{RackControl, RackControlError};
pub use rows::Rows;
pub use start_coordinator::StartCoordinator;
pub use study::{
    Collaborators, Request, ResetError, Resume, cell_label, finished, run, run_prediction,
    run_with, trial_order,
};
pub use threads::{TrialRun, run_trial};
pub use trial_end::TrialEnd;
pub use ways::{NullProtocol, NullServerError, NullServers};
