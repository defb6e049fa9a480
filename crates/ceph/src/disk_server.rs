//! The process that serves the disk of an OSD, and how it is known.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use stormeter_timed_disk::{Content, ServeOptions, Speed, Spindle};

use crate::CephError;
use crate::directory::Directory;
use crate::error::at;
use crate::state::State;

/// The words of a disk's process after those of its program: see [`DiskServer`].
const WORDS: usize = 5;

/// What is passed to the process of a disk, in the order of its arguments.
#[derive(Debug, Clone)]
pub struct DiskServer {
    /// The cluster's configuration file, by which its processes are found. It is not read.
    pub conf: PathBuf,
    /// The number of the OSD.
    pub osd: u32,
    /// The file that holds what is on the disk. It is created.
    pub store: PathBuf,
    /// The directory where the disk is mounted.
    pub directory: PathBuf,
    /// The disk's size, in bytes.
    pub bytes: u64,
}

impl DiskServer {
    /// Serves the disk until `until` returns. It takes no time until its speed is set.
    ///
    /// # Errors
    /// There is no FUSE, or neither root nor `fusermount3`; or the file cannot be used.
    pub fn serve(&self, until: impl FnOnce()) -> Result<(), CephError> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&self.store)
            .map_err(at(&self.store))?;
        let content = Content::file(file, self.bytes).map_err(at(&self.store))?;
        let spindle = Spindle::new(Speed::FASTEST);
        let options = ServeOptions::default();
        stormeter_timed_disk::serve(
            spindle,
            content,
            &self.directory,
            options,
            || Ok(()),
            |()| until(),
        )
        .map_err(|source| CephError::Disk { osd: self.osd, source })
    }
}

/// The command line of the process that serves the disk of an OSD.
pub(crate) fn command_line(directory: &Directory, id: u32) -> Result<Vec<OsString>, CephError> {
    let mut state = State::read(directory)?;
    let bytes = state.osd(id)?.options.store_bytes;
    let mut words: Vec<OsString> = state.options.disk_server.iter().map(OsString::from).collect();
    words.push(directory.conf().into());
    words.push(id.to_string().into());
    words.push(directory.store(id).into());
    words.push(directory.disk(id).into());
    words.push(bytes.to_string().into());
    Ok(words)
}

/// The OSD whose disk a process with these arguments serves.
pub(crate) fn served(arguments: &[Cow<'_, str>], conf: &Path) -> Option<u32> {
    // The last word ends with a zero byte too.
    let words = match arguments.split_last() {
        Some((last, rest)) if last.is_empty() => rest,
        _ => arguments,
    };
    let [named, id, .., bytes] = words.get(words.len().checked_sub(WORDS)?..)? else { return None };
    bytes.parse::<u64>().ok()?;
    (Path::new(named.as_ref()) == conf).then(|| id.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_of_a_disk_is_known_by_its_last_words() {
        let words = |text: &'static str| -> Vec<Cow<'static, str>> {
            text.split(' ').map(Cow::from).collect()
        };
        let conf = Path::new("/c/ceph.conf");
        let line = "lab ceph serve-disk /c/ceph.conf 3 /c/stores/3 /c/disks/3 4096";
        assert_eq!(served(&words(line), conf), Some(3));
        let ended = [words(line), words("")].concat();
        assert_eq!(served(&ended, conf), Some(3));
        assert_eq!(served(&words(line), Path::new("/d/ceph.conf")), None);
        assert_eq!(served(&words("-c /c/ceph.conf -i 3 -f"), conf), None);
        assert_eq!(served(&words(""), conf), None);
    }
}
