//! The desktops that a broker has made, used and taken apart: virtual machines, or disks that stand for them.
//!
//! There are places for desktops, numbered from 0. A place is empty, or holds one desktop from
//! [`Desktops::deploy`] until [`DesktopChange::TornDown`].

use serde::{Deserialize, Serialize};

use crate::disks::{DisksError, Wait};
use crate::operation::{DeviceError, Kind};

/// Desktops behind one queue of events.
pub trait Desktops {
    /// Makes a desktop in a place that is empty. Each of its steps is reported when it has ended, and the last one is followed
    /// by [`DesktopChange::Deployed`].
    ///
    /// # Errors
    /// The queue itself no longer works, and the trial must end.
    fn deploy(&mut self, desktop: u32) -> Result<(), DisksError>;

    /// A user logs on to a desktop that has been deployed. [`DesktopChange::Usable`] follows, and then the user's work, until
    /// one of the next two is called.
    ///
    /// # Errors
    /// As [`Desktops::deploy`].
    fn log_on(&mut self, desktop: u32, user: u32) -> Result<(), DisksError>;

    /// The user stops working and stays logged on.
    ///
    /// # Errors
    /// As [`Desktops::deploy`].
    fn fall_idle(&mut self, desktop: u32) -> Result<(), DisksError>;

    /// Takes a desktop apart, whatever it is doing. [`DesktopChange::TornDown`] follows, and nothing else.
    ///
    /// # Errors
    /// As [`Desktops::deploy`].
    fn tear_down(&mut self, desktop: u32) -> Result<(), DisksError>;

    /// Appends what has happened to `events`, waiting as `wait` says if there is nothing yet. May return with none after a
    /// wait.
    ///
    /// # Errors
    /// As [`Desktops::deploy`].
    fn wait(&mut self, wait: Wait, events: &mut Vec<DesktopEvent>) -> Result<(), DisksError>;
}

impl<D: Desktops + ?Sized> Desktops for Box<D> {
    fn deploy(&mut self, desktop: u32) -> Result<(), DisksError> {
        (**self).deploy(desktop)
    }

    fn log_on(&mut self, desktop: u32, user: u32) -> Result<(), DisksError> {
        (**self).log_on(desktop, user)
    }

    fn fall_idle(&mut self, desktop: u32) -> Result<(), DisksError> {
        (**self).fall_idle(desktop)
    }

    fn tear_down(&mut self, desktop: u32) -> Result<(), DisksError> {
        (**self).tear_down(desktop)
    }

    fn wait(&mut self, wait: Wait, events: &mut Vec<DesktopEvent>) -> Result<(), DisksError> {
        (**self).wait(wait, events)
    }
}

/// What happened to a desktop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesktopEvent {
    /// Its place, counted from 0.
    pub desktop: u32,
    /// What happened.
    pub what: DesktopChange,
}

/// What can happen to a desktop. In a machine it is a line of JSON, for what made the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DesktopChange {
    /// A step of making it has ended.
    StepEnded {
        /// The step.
        step: DesktopStep,
        /// Its time, in nanoseconds.
        took_ns: u64,
    },
    /// It is ready for a user.
    Deployed,
    /// Its user has logged on, and can work.
    Usable,
    /// Bytes moved for it: of its making, of the log-on or of the work.
    Moved {
        /// Their number.
        bytes: u64,
    },
    /// An I/O of the user's work has ended.
    Worked {
        /// A read or a write.
        kind: Kind,
        /// Its bytes.
        bytes: u64,
        /// Since it was due, in nanoseconds.
        latency_ns: u64,
    },
    /// It could not be made, or died. [`Desktops::tear_down`] is still to be called.
    Failed {
        /// The step in which it was; `None`: it had been made.
        step: Option<DesktopStep>,
        /// The I/O that failed; a read where none did.
        kind: Kind,
        /// The closest error of the operating system.
        error: DeviceError,
    },
    /// Nothing is left of it, and its place is empty.
    TornDown,
}

/// A step of making a desktop, with the names of the published portal (the `vsan` study).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DesktopStep {
    /// Its disk is made from the template's.
    Copy,
    /// Its machine is made and gets the disk.
    Setting,
    /// It boots.
    Deployment,
    /// It becomes this user's.
    Configure,
}

impl DesktopStep {
    /// The steps, in order.
    pub const ALL: [DesktopStep; 4] =
        [DesktopStep::Copy, DesktopStep::Setting, DesktopStep::Deployment, DesktopStep::Configure];

    /// Its published name.
    pub fn name(self) -> &'static str {
        match self {
            DesktopStep::Copy => "copy",
            DesktopStep::Setting => "setting",
            DesktopStep::Deployment => "deployment",
            DesktopStep::Configure => "configure",
        }
    }
}
