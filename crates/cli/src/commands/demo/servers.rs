//! The servers of the demonstration: our own NFS server, and tgt where it is installed.

use std::ffi::OsStr;
use std::path::Path;

use stormeter_peers::{PeerError, Tgt, TgtOptions};

use crate::child::ServerChild;
use crate::exit::Failure;

/// The directory over NFS.
pub(super) fn nfs(directory: &Path) -> Result<ServerChild, Failure> {
    ServerChild::start([OsStr::new("serve-nfs"), directory.as_os_str()])
}

/// tgt with a LUN on a file in the directory, or a sentence about why not.
pub(super) fn tgt(directory: &Path, bytes: u64) -> Result<Tgt, String> {
    let options = TgtOptions {
        units_bytes: vec![bytes],
        directory: Some(directory.to_path_buf()),
        ..TgtOptions::default()
    };
    Tgt::start(&options).map_err(|error| match error {
        PeerError::Missing { .. } => "tgt is not installed (Debian: apt-get install tgt), so \
                                      iSCSI is left out"
            .into(),
        error => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            format!("tgt did not start, so iSCSI is left out: {first}")
        }
    })
}
