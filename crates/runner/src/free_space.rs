//! Checks whether the disks of all datastores fit together, and which of them share a file system.

use stormeter_datastore::{Datastore, DiskSpec};
use stormeter_results::SharedFileSystem;

use crate::error::RunError;

/// Refuses, before anything is written, datastores on one file system that do not fit together: each alone would see
/// all of the free space.
pub(crate) fn check_room(stores: &[Datastore], disks: &DiskSpec) -> Result<(), RunError> {
    for (index, store) in stores.iter().enumerate() {
        let Some(mut space) = store.space() else { continue };
        let mut needed_bytes = disks.total_bytes();
        for other in stores[..index].iter().filter(|other| same_device(store, other)) {
            needed_bytes = needed_bytes.saturating_add(disks.total_bytes());
            space.held_bytes += other.space().map_or(0, |space| space.held_bytes);
        }
        let url = &store.description().url;
        space
            .check(needed_bytes, url.path().unwrap_or_else(|| "/".as_ref()))
            .map_err(|source| RunError::Datastore { url: url.to_string(), source })?;
    }
    Ok(())
}

/// A warning if two directories are on one file system: the classic mistake is a share that is not mounted.
pub(crate) fn shared_file_system(stores: &[Datastore]) -> Option<SharedFileSystem> {
    for (index, store) in stores.iter().enumerate() {
        let description = store.description();
        let Some(file_system) = &description.filesystem else { continue };
        let path = description.url.path()?;
        for other in stores[..index].iter().filter(|other| same_device(store, other)) {
            let other = other.description().url;
            if other.path() != Some(path) {
                return Some(SharedFileSystem {
                    host: None,
                    urls: [other.to_string(), description.url.to_string()],
                    file_system: file_system.kind.clone(),
                    source: file_system.source.clone(),
                });
            }
        }
    }
    None
}

fn same_device(one: &Datastore, other: &Datastore) -> bool {
    let number = one.description().device_number;
    number.is_some() && number == other.description().device_number
}
