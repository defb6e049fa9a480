//! What the cluster or its library refused, in the words of a datastore's errors.

use stormeter_rbd::{LoadError, RbdError};

use crate::DatastoreError;

const PERMISSION: [i32; 2] = [1, 13];
const NOT_FOUND: i32 = 2;
const NO_SPACE: [i32; 2] = [28, 122];
const INVALID: i32 = 22;
const UNSUPPORTED: i32 = 95;

/// Why librbd cannot be used for `name`, and which package to install.
pub(super) fn not_loaded(name: &str, error: &LoadError) -> DatastoreError {
    let advice = match error {
        LoadError::Missing { .. } => {
            "install librbd, the library with which hypervisors reach Ceph (Debian and Ubuntu: librbd1; Red Hat and \
             SUSE: librbd1 or librbd)"
        }
        LoadError::TooOld { .. } => "install librbd of Ceph 12 or later",
        LoadError::StaticProgram => {
            "use a build of stormeter that is linked to the system's C library (cargo install, or a package of the \
             distribution)"
        }
    };
    DatastoreError::NoSession { name: name.into(), reason: format!("{error}; {advice}") }
}

/// Why there is no connection to the cluster of `name`.
pub(super) fn not_connected(name: &str, error: &RbdError) -> DatastoreError {
    let reason = error.to_string();
    let advice = match error.errno() {
        Some(errno) if PERMISSION.contains(&errno) => {
            "the cluster does not accept this user's key: check ?id= and the keyring that the configuration names"
        }
        Some(UNSUPPORTED) => {
            "the configuration and the cluster disagree about authentication (cephx)"
        }
        None if matches!(error, RbdError::NoPool { .. }) => "`ceph osd pool ls` lists them",
        Some(NOT_FOUND) => {
            "no configuration or keyring was found: give ?conf=FILE, and ?id=USER for a user other than admin"
        }
        _ => return DatastoreError::Unreachable { name: name.into(), reason },
    };
    DatastoreError::NoSession { name: name.into(), reason: format!("{reason}; {advice}") }
}

/// Why the cluster of `name` did not do something.
pub(super) fn refused(name: &str, action: &'static str, error: &RbdError) -> DatastoreError {
    let reason = error.to_string();
    let advice = match error.errno() {
        None => return DatastoreError::Broken { name: name.into(), reason },
        Some(errno) if NO_SPACE.contains(&errno) => {
            return DatastoreError::Full { path: name.into() };
        }
        Some(errno) if PERMISSION.contains(&errno) => {
            "; this user needs the capabilities of `profile rbd` on the pool"
        }
        Some(INVALID) => {
            "; object size, stripes, unit and features must fit together, and the pool must be able to hold images"
        }
        Some(_) => "",
    };
    DatastoreError::Refused { action, path: name.into(), reason: format!("{reason}{advice}") }
}
