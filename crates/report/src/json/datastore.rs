//! A datastore as it was when the run started.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_results::{Acknowledged, Promise};

use crate::model::Report;
use crate::phrases;

/// A datastore as it was when the run started.
#[derive(Serialize, JsonSchema)]
pub(super) struct Datastore<'a> {
    /// Its name in the study.
    name: Option<&'a str>,
    /// Its URL, without a password.
    url: Option<&'a str>,
    /// Whether it is the baseline.
    baseline: bool,
    /// `directory`, `device`, `null`, …; empty if unknown.
    kind: &'a str,
    /// Type of the file system, such as `ext4` or `nfs4`.
    file_system: Option<&'a str>,
    /// The mounted device or export.
    source: Option<&'a str>,
    /// Mount options.
    mount_options: Option<&'a str>,
    /// The required alignment of direct I/O, in bytes.
    logical_block_bytes: Option<u32>,
    /// Whether I/O bypassed the page cache.
    direct: bool,
    /// The I/O engine.
    engine: &'a str,
    /// Parameters negotiated with a server; empty for local storage.
    protocol: Vec<Parameter<'a>>,
    /// What an acknowledged write means there; null in results from before it was found out.
    promise: Option<PrintedPromise>,
    /// What a reader should know, one sentence each.
    notes: Vec<String>,
}

/// What an acknowledged write that nobody has flushed means on a datastore.
#[derive(Serialize, JsonSchema)]
struct PrintedPromise {
    /// Where its bytes are.
    acknowledged: Place,
    /// How that is known, one clause each, the layer closest to the writer first.
    evidence: Vec<String>,
}

/// Where the bytes of an acknowledged write are.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Place {
    /// On storage that keeps them without power.
    Stable,
    /// In a cache of the storage that a loss of power may empty.
    VolatileCache,
    /// In the memory of a host: its restart loses them.
    Memory,
    /// It cannot be told.
    Unknown,
}

/// A parameter negotiated with a server.
#[derive(Serialize, JsonSchema)]
struct Parameter<'a> {
    /// Its name.
    name: &'a str,
    /// Its value.
    value: &'a str,
}

impl<'a> Datastore<'a> {
    /// A run that was killed early may have described none.
    pub(super) fn of(report: &'a Report, index: usize) -> Self {
        let description = report.header.datastores.get(index);
        let named = report.plan().datastores.get(index);
        let text = |of: fn(&stormeter_results::DatastoreDescription) -> &Option<String>| {
            description.and_then(|it| of(it).as_deref())
        };
        let protocol = description.map_or(&[][..], |it| &it.protocol);
        Self {
            name: named.map(|named| named.name.as_str()),
            url: named.map(|named| named.url.as_str()),
            baseline: index == report.plan().baseline,
            kind: description.map_or("", |it| &it.kind),
            file_system: text(|it| &it.file_system),
            source: text(|it| &it.source),
            mount_options: text(|it| &it.mount_options),
            logical_block_bytes: description.and_then(|it| it.logical_block_bytes),
            direct: description.is_some_and(|it| it.direct),
            engine: description.map_or("", |it| &it.engine),
            protocol: protocol.iter().map(|(name, value)| Parameter { name, value }).collect(),
            promise: description.and_then(|it| it.promise.as_ref()).map(PrintedPromise::of),
            notes: description
                .map_or(&[][..], |it| &it.notes)
                .iter()
                .map(phrases::datastore_note)
                .collect(),
        }
    }
}

impl PrintedPromise {
    fn of(promise: &Promise) -> Self {
        let acknowledged = match promise.acknowledged {
            Acknowledged::Stable => Place::Stable,
            Acknowledged::VolatileCache => Place::VolatileCache,
            Acknowledged::Memory => Place::Memory,
            Acknowledged::Unknown => Place::Unknown,
        };
        let evidence = promise.evidence.iter().map(phrases::evidence).collect();
        Self { acknowledged, evidence }
    }
}
