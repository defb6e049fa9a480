//! How a cluster starts.
//!
//! What takes long is done at the same time: the OSDs make their stores while the monitor starts and
//! learns who they are.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::command::{ceph, import_key, run};
use crate::daemon::Daemon;
use crate::directory::{Directory, FOLDERS};
use crate::error::at;
use crate::keyring::{self, Entry};
use crate::options::{ClusterOptions, OsdOptions};
use crate::program::{MON, MONMAPTOOL, OSD};
use crate::state::{State, uuid};
use crate::{CephError, POOL, conf, port, program};

/// How long making a store, or the monitor's, may take.
const MAKE: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(20);
/// The port may be taken between being found and being bound.
const ATTEMPTS: usize = 3;

impl Cluster {
    /// Starts a cluster in a new or empty directory, and waits until all placement groups are
    /// clean.
    ///
    /// # Errors
    /// A program is missing, the directory is in use, or the cluster does not get ready in time: the
    /// error names the daemon that died and has the end of its log. Nothing is left.
    pub fn up(directory: &Path, options: &ClusterOptions) -> Result<Self, CephError> {
        Self::up_unless(directory, options, &|| false)
    }

    /// The same, but given up as soon as `cancelled` is true.
    ///
    /// # Errors
    /// As for [`Cluster::up`], and [`CephError::Interrupted`].
    pub fn up_unless(
        directory: &Path,
        options: &ClusterOptions,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, CephError> {
        program::check()?;
        options.check()?;
        for _ in 1..ATTEMPTS {
            match Self::try_up(directory, options, cancelled) {
                Err(CephError::Died { log, .. }) if log.contains("unable to bind") => {}
                done => return done,
            }
        }
        Self::try_up(directory, options, cancelled)
    }

    fn try_up(
        path: &Path,
        options: &ClusterOptions,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, CephError> {
        let begin = Instant::now();
        let made_directory = !path.exists();
        if made_directory {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(path)
                .map_err(at(path))?;
        } else if std::fs::read_dir(path).map_err(at(path))?.next().is_some() {
            return Err(CephError::InUse { path: path.to_owned() });
        }
        let directory = Directory::open(path).inspect_err(|_| {
            if made_directory {
                let _ = std::fs::remove_dir(path);
            }
        })?;
        let state = State::new(uuid()?, port::free()?, made_directory, options)?;
        state.create(&directory)?;
        let cluster = Self { directory };
        let up = cluster.start(&state, cancelled).and_then(|()| {
            let left = options.patience.saturating_sub(begin.elapsed());
            cluster.wait_clean_unless(left, cancelled)?;
            crate::disk::slow(&cluster.directory, &state.osds)
        });
        match up {
            Ok(()) => Ok(cluster),
            Err(error) => {
                cluster.down()?;
                Err(error)
            }
        }
    }

    fn start(&self, state: &State, cancelled: &dyn Fn() -> bool) -> Result<(), CephError> {
        let directory = &self.directory;
        write_files(directory, state)?;
        crate::disk::start(directory, &state.osds)?;
        thread::scope(|scope| {
            let stores: Vec<_> = state
                .osds
                .iter()
                .map(|osd| scope.spawn(|| make_store(directory, osd.id, &osd.uuid)))
                .collect();
            make_monitor(directory, state)?;
            Daemon::Monitor.start(directory)?;
            Daemon::Manager.start(directory)?;
            self.check_monitor()?;
            let new = state.osds.iter().map(|osd| format!("osd new {} {}", osd.uuid, osd.id));
            let mut lines: Vec<String> = new.collect();
            // The modules that the manager does not find, because we gave it none.
            lines.push("health mute MGR_MODULE_ERROR --sticky".into());
            lines.extend(crate::pool::create(POOL, &state.options.pool, ""));
            ceph(directory, &lines)?;
            for (store, osd) in stores.into_iter().zip(&state.osds) {
                while !store.is_finished() && !cancelled() {
                    thread::sleep(LOOK);
                }
                if cancelled() {
                    return Err(CephError::Interrupted);
                }
                store.join().unwrap_or(Err(CephError::Interrupted))?;
                Daemon::Osd(osd.id).start(directory)?;
            }
            Ok(())
        })
    }

    /// Waits until the monitor answers at its admin socket, or has died. Without this, a monitor that
    /// cannot start would be a timeout.
    fn check_monitor(&self) -> Result<(), CephError> {
        let end = Instant::now() + MAKE;
        loop {
            let question = crate::admin_socket::command("mon_status");
            match crate::admin_socket::ask(&self.directory, Daemon::Monitor, &question) {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() >= end => return Err(error),
                Err(_) => {}
            }
            if self.process(Daemon::Monitor)?.is_none() {
                let daemon = Daemon::Monitor.name();
                return Err(CephError::Died { log: self.directory.tail(&daemon), daemon });
            }
            thread::sleep(LOOK);
        }
    }

    /// Adds an OSD to the running cluster (scale-out with a new node's name, scale-up with one that
    /// exists), and returns its number. Data moves to it: see [`Cluster::wait_clean`].
    ///
    /// # Errors
    /// Its store cannot be made, or the monitor does not take it.
    pub fn add_osd(&self, options: &OsdOptions) -> Result<u32, CephError> {
        options.check()?;
        let directory = &self.directory;
        let mut state = State::read(directory)?;
        let id = state.add(options)?;
        state.write(directory)?;
        write_conf(directory, &state)?;
        let osd = state.osd(id)?.clone();
        let disks = std::slice::from_ref(&osd);
        crate::disk::start(directory, disks)?;
        let daemon = Daemon::Osd(id);
        write_keyring(directory, &daemon.name(), &Entry::osd(&daemon.name())?)?;
        make_store(directory, id, &osd.uuid)?;
        import_key(directory, &daemon.name())?;
        ceph(directory, &[format!("osd new {} {id}", osd.uuid)])?;
        daemon.start(directory)?;
        crate::disk::slow(directory, disks)?;
        Ok(id)
    }
}

fn write_files(directory: &Directory, state: &State) -> Result<(), CephError> {
    write_conf(directory, state)?;
    for folder in FOLDERS {
        make_folder(&directory.file(folder))?;
    }
    let manager = Daemon::Manager.name();
    let mut entries = vec![Entry::monitor()?, Entry::admin()?, Entry::manager(&manager)?];
    keyring::write(&directory.admin_keyring(), &[&entries[1]])?;
    keyring::write(&directory.keyring(&manager), &[&entries[2]])?;
    for osd in &state.osds {
        let name = Daemon::Osd(osd.id).name();
        let entry = Entry::osd(&name)?;
        write_keyring(directory, &name, &entry)?;
        entries.push(entry);
    }
    let all: Vec<&Entry> = entries.iter().collect();
    keyring::write(&directory.file("mon.keyring"), &all)
}

fn write_keyring(directory: &Directory, daemon: &str, entry: &Entry) -> Result<(), CephError> {
    make_folder(&directory.data(daemon))?;
    keyring::write(&directory.keyring(daemon), &[entry])
}

fn write_conf(directory: &Directory, state: &State) -> Result<(), CephError> {
    let next = directory.file("ceph.conf.next");
    std::fs::write(&next, conf::text(directory, state)).map_err(at(&next))?;
    std::fs::rename(&next, directory.conf()).map_err(at(&next))
}

fn make_folder(path: &Path) -> Result<(), CephError> {
    std::fs::DirBuilder::new().mode(0o700).create(path).map_err(at(path))
}

fn make_monitor(directory: &Directory, state: &State) -> Result<(), CephError> {
    let map = directory.file("mon.map");
    let mut command = MONMAPTOOL.command()?;
    command.args(["--create", "--fsid", &state.fsid, "--addv", "a"]);
    command.arg(format!("[{}]", conf::monitor_address(state))).arg(&map);
    run(&mut command, "", MAKE)?;
    let mut command = MON.command()?;
    command.args(Daemon::Monitor.arguments(directory));
    command.arg("--mkfs").arg("--monmap").arg(map);
    command.arg("--keyring").arg(directory.file("mon.keyring"));
    make(directory, Daemon::Monitor, &mut command)
}

fn make_store(directory: &Directory, id: u32, uuid: &str) -> Result<(), CephError> {
    let mut command = OSD.command()?;
    command.args(Daemon::Osd(id).arguments(directory));
    command.args(["--mkfs", "--osd-uuid", uuid, "--no-mon-config"]);
    make(directory, Daemon::Osd(id), &mut command)
}

/// Makes what a daemon works on. One that fails may say why in its log only, and without the option it
/// may end before that is written.
fn make(directory: &Directory, daemon: Daemon, command: &mut Command) -> Result<(), CephError> {
    command.arg("--log-flush-on-exit=true").current_dir(directory.path());
    let made = run(command, "", MAKE);
    made.map(drop).map_err(|error| match error {
        CephError::Command { command, status, said } if said.trim().is_empty() => {
            CephError::Command { command, status, said: directory.tail(&daemon.name()) }
        }
        other => other,
    })
}
