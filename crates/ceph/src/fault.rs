//! What can happen to OSDs, and its undoing.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::CephError;
use crate::admin_socket::{ask, set};
use crate::cluster::Cluster;
use crate::daemon::{Daemon, end};
use crate::state::State;

impl Cluster {
    /// Kills an OSD, as if its node lost its power: SIGKILL.
    ///
    /// # Errors
    /// There is no such OSD, or it does not run.
    pub fn kill_osd(&self, id: u32) -> Result<(), CephError> {
        self.end_osd(id, Duration::ZERO)
    }

    /// Ends an OSD in order, as an administrator would: SIGTERM.
    ///
    /// # Errors
    /// There is no such OSD, or it does not run.
    pub fn stop_osd(&self, id: u32) -> Result<(), CephError> {
        self.end_osd(id, Duration::from_secs(30))
    }

    fn end_osd(&self, id: u32, patience: Duration) -> Result<(), CephError> {
        let mut state = State::read(&self.directory)?;
        state.osd(id)?.ended = true;
        let process = self.running_osd(id)?;
        state.write(&self.directory)?;
        end(&self.directory, &[process], patience)
    }

    /// Starts an OSD again. See [`Cluster::wait_clean`] for when it has what it missed.
    ///
    /// # Errors
    /// There is no such OSD, or it cannot be started.
    pub fn start_osd(&self, id: u32) -> Result<(), CephError> {
        let mut state = State::read(&self.directory)?;
        state.osd(id)?.ended = false;
        state.write(&self.directory)?;
        let daemon = Daemon::Osd(id);
        if self.process(daemon)?.is_some() {
            return Ok(());
        }
        daemon.start(&self.directory)
    }

    /// Undoes all that happened to OSDs: starts those that were ended, gives each disk its speed, and waits until all
    /// copies of all data are there again.
    ///
    /// # Errors
    /// An OSD cannot be started, or the cluster is not clean in time.
    pub fn restore(&self, patience: Duration) -> Result<(), CephError> {
        let state = State::read(&self.directory)?;
        crate::disk::slow(&self.directory, &state.osds)?;
        for osd in state.osds.iter().filter(|osd| osd.ended) {
            self.start_osd(osd.id)?;
        }
        self.wait_clean(patience)
    }

    /// Stops an OSD's process in its tracks (SIGSTOP), as a disk that does not answer would: requests wait
    /// until the cluster notices after `osd_heartbeat_grace`.
    ///
    /// # Errors
    /// There is no such OSD, or it does not run.
    pub fn freeze_osd(&self, id: u32) -> Result<(), CephError> {
        State::read(&self.directory)?.osd(id)?;
        self.running_osd(id)?.signal(&self.directory, Signal::SIGSTOP);
        Ok(())
    }

    /// Lets a frozen OSD continue.
    ///
    /// # Errors
    /// There is no such OSD, or it does not run.
    pub fn thaw_osd(&self, id: u32) -> Result<(), CephError> {
        State::read(&self.directory)?.osd(id)?;
        self.running_osd(id)?.signal(&self.directory, Signal::SIGCONT);
        Ok(())
    }

    /// Stops the monitor in its tracks: it accepts connections and answers nothing. OSDs serve on, and notice no failure
    /// of each other.
    ///
    /// # Errors
    /// It does not run.
    pub fn freeze_monitor(&self) -> Result<(), CephError> {
        self.signal_monitor(Signal::SIGSTOP)
    }

    /// Lets a frozen monitor continue.
    ///
    /// # Errors
    /// It does not run.
    pub fn thaw_monitor(&self) -> Result<(), CephError> {
        self.signal_monitor(Signal::SIGCONT)
    }

    fn signal_monitor(&self, what: Signal) -> Result<(), CephError> {
        let daemon = Daemon::Monitor;
        let missing = || CephError::NotRunning { daemon: daemon.name() };
        self.process(daemon)?.ok_or_else(missing)?.signal(&self.directory, what);
        Ok(())
    }

    /// Changes a setting of an OSD until it ends.
    ///
    /// # Errors
    /// There is no such OSD, it does not run, or there is no such setting.
    pub fn set_osd(&self, id: u32, name: &str, value: &str) -> Result<(), CephError> {
        State::read(&self.directory)?.osd(id)?;
        set(&self.directory, Daemon::Osd(id), name, value)
    }

    /// Checks that there is such an OSD, and that its disk has a speed if it is to be changed.
    ///
    /// # Errors
    /// There is none, or it has none.
    pub fn check_osd(&self, id: u32, needs_disk: bool) -> Result<(), CephError> {
        match needs_disk {
            true => self.disk(id).map(drop),
            false => State::read(&self.directory)?.osd(id).map(drop),
        }
    }

    /// Has an OSD scrub everything that it is the primary of, now.
    ///
    /// # Errors
    /// There is no such OSD, or the monitor does not answer.
    pub fn scrub_osd(&self, id: u32, deep: bool) -> Result<(), CephError> {
        State::read(&self.directory)?.osd(id)?;
        let verb = if deep { "deep-scrub" } else { "scrub" };
        self.command(&[&format!("osd {verb} {id}")]).map(drop)
    }

    /// What an OSD counts (`ceph daemon osd.N perf dump`).
    ///
    /// # Errors
    /// There is no such OSD, or it does not answer.
    pub fn osd_counters(&self, id: u32) -> Result<serde_json::Value, CephError> {
        State::read(&self.directory)?.osd(id)?;
        ask(&self.directory, Daemon::Osd(id), &json!({ "prefix": "perf dump" }))
    }

    fn running_osd(&self, id: u32) -> Result<crate::daemon::Running, CephError> {
        let daemon = Daemon::Osd(id);
        self.process(daemon)?.ok_or_else(|| CephError::NotRunning { daemon: daemon.name() })
    }
}
