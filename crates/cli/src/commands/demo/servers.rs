//! The iSCSI target of the demonstration: tgt, if it is installed.

use std::path::Path;

use stormeter_peers::{PeerError, Tgt, TgtOptions};

/// tgt with a LUN on a file in the directory, or a sentence that says why there is none.
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
