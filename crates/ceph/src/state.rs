//! What a cluster was made with, in a file of its directory.
//!
//! The file is how we recognise our own directories. Every action reads it again: the command line
//! and a study may work on the same cluster.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use serde::{Deserialize, Serialize};

use crate::CephError;
use crate::directory::{Directory, STATE};
use crate::error::at;
use crate::options::{ClusterOptions, OsdOptions};

const FORM: u32 = 1;

/// The state of a cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    form: u32,
    pub(crate) fsid: String,
    pub(crate) port: u16,
    /// Whether the directory itself is ours, to be removed.
    pub(crate) made_directory: bool,
    /// The options of the start. Its OSDs are in `osds`.
    pub(crate) options: ClusterOptions,
    pub(crate) osds: Vec<Osd>,
}

/// An OSD that was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Osd {
    pub(crate) id: u32,
    pub(crate) uuid: String,
    pub(crate) options: OsdOptions,
    /// Ended on purpose.
    pub(crate) ended: bool,
}

impl State {
    pub(crate) fn new(
        fsid: String,
        port: u16,
        made_directory: bool,
        options: &ClusterOptions,
    ) -> Result<Self, CephError> {
        let mut state = Self {
            form: FORM,
            fsid,
            port,
            made_directory,
            options: ClusterOptions { osds: Vec::new(), ..options.clone() },
            osds: Vec::new(),
        };
        for osd in &options.osds {
            state.add(osd)?;
        }
        Ok(state)
    }

    /// Adds an OSD with the next free number.
    pub(crate) fn add(&mut self, options: &OsdOptions) -> Result<u32, CephError> {
        let id = self.osds.iter().map(|osd| osd.id + 1).max().unwrap_or(0);
        self.osds.push(Osd { id, uuid: uuid()?, options: options.clone(), ended: false });
        Ok(id)
    }

    pub(crate) fn osd(&mut self, id: u32) -> Result<&mut Osd, CephError> {
        let has = self.names();
        self.osds.iter_mut().find(|osd| osd.id == id).ok_or(CephError::NoOsd { id, has })
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.osds.iter().map(|osd| format!("osd.{}", osd.id)).collect();
        names.join(", ")
    }

    /// Reads it.
    ///
    /// # Errors
    /// It is no directory of ours, or the file is damaged.
    pub(crate) fn read(directory: &Directory) -> Result<Self, CephError> {
        let path = directory.file(STATE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(CephError::NotOurs { path: directory.path().to_owned() });
            }
            Err(error) => return Err(at(&path)(error)),
        };
        let damaged = |what: String| CephError::State { path: path.clone(), what };
        let state: Self =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if state.form != FORM {
            return Err(damaged(format!("it has form {}, not {FORM}", state.form)));
        }
        Ok(state)
    }

    /// Writes it for the first time, and so takes the directory.
    pub(crate) fn create(&self, directory: &Directory) -> Result<(), CephError> {
        let path = directory.file(STATE);
        let mut file = match File::options().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(CephError::InUse { path: directory.path().to_owned() });
            }
            Err(error) => return Err(at(&path)(error)),
        };
        file.write_all(self.text()?.as_bytes()).map_err(at(&path))
    }

    /// Replaces it.
    pub(crate) fn write(&self, directory: &Directory) -> Result<(), CephError> {
        let path = directory.file(STATE);
        let next = directory.file("stormeter-ceph.json.next");
        std::fs::write(&next, self.text()?).map_err(at(&next))?;
        std::fs::rename(&next, &path).map_err(at(&path))
    }

    fn text(&self) -> Result<String, CephError> {
        serde_json::to_string_pretty(self)
            .map_err(|error| CephError::State { path: STATE.into(), what: error.to_string() })
    }
}

/// A random UUID, from the kernel (random(4)).
pub(crate) fn uuid() -> Result<String, CephError> {
    let path = std::path::Path::new("/proc/sys/kernel/random/uuid");
    Ok(std::fs::read_to_string(path).map_err(at(path))?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_written_and_a_directory_is_taken_once() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::open(scratch.path()).unwrap();
        assert!(matches!(State::read(&directory), Err(CephError::NotOurs { .. })));
        let mut state =
            State::new(uuid().unwrap(), 20_000, false, &ClusterOptions::default()).unwrap();
        state.create(&directory).unwrap();
        assert!(matches!(state.create(&directory), Err(CephError::InUse { .. })));
        assert_eq!(state.add(&OsdOptions::in_node("a")).unwrap(), 3);
        state.osd(1).unwrap().ended = true;
        state.write(&directory).unwrap();
        let read = State::read(&directory).unwrap();
        assert_eq!(format!("{read:?}"), format!("{state:?}"));
        let error = state.osd(9).unwrap_err().to_string();
        assert_eq!(error, "there is no osd.9: the cluster has osd.0, osd.1, osd.2, osd.3");
    }

    #[test]
    fn a_damaged_file_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::open(scratch.path()).unwrap();
        std::fs::write(directory.file(STATE), "{").unwrap();
        let error = State::read(&directory).unwrap_err();
        assert!(error.to_string().contains(STATE), "{error}");
    }
}
