//! A datastore as the results file describes it.

use stormeter_datastore::Datastore;
use stormeter_results::{DatastoreDescription, DatastoreNote};

use crate::memories::memories_of;

/// The description of an open datastore.
pub(crate) fn describe(datastore: &Datastore) -> DatastoreDescription {
    let description = datastore.description();
    let memories = memories_of(datastore, &description);
    let file_system = description.filesystem.as_ref();
    DatastoreDescription {
        url: description.url.to_string(),
        kind: description.kind,
        file_system: file_system.map(|fs| fs.kind.clone()),
        source: file_system
            .map(|fs| fs.source.clone())
            .or_else(|| description.device.as_ref().map(|device| device.name.clone())),
        mount_options: file_system.map(|fs| fs.options.clone()),
        logical_block_bytes: Some(description.logical_block_bytes),
        direct: description.direct,
        engine: description.engine,
        protocol: description.protocol,
        promise: description.promise,
        memories,
        notes: description.notes.into_iter().map(DatastoreNote::from).collect(),
    }
}
