//! What the measurements cannot tell, and what is to be known about a fitted datastore.

use serde::Serialize;
use stormeter_statistics::fit::Undetermined;
use stormeter_trial::MemoryPlace;
use stormeter_units::{format_bytes, format_duration_ns};

use super::cell_fit::FittedStore;
use super::store::{Reached, Store};

/// A limit of what is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Caveat {
    /// Working sets larger than the one measured.
    WorkingSet {
        /// What was measured, in bytes: all disks of a datastore.
        bytes: u64,
    },
    /// Reads may have come from a memory that holds all disks.
    Memory {
        /// The datastore.
        store: String,
        /// Its size in bytes, if it is known.
        bytes: Option<u64>,
        /// Whether it is that of a server.
        of_server: bool,
    },
    /// Writes end so much sooner than reads that a memory takes them.
    WritesInMemory {
        /// The datastore.
        store: String,
        /// Mean latency of a small read alone, in nanoseconds.
        read_ns: f64,
        /// The same of a write.
        write_ns: f64,
    },
    /// Sequential requests take another time than random ones, which the site does not distinguish.
    Sequential {
        /// The datastore.
        store: String,
        /// Whether they read.
        reads: bool,
        /// Outstanding I/Os of one VM.
        outstanding: u32,
        /// Their mean latency over that of random requests.
        ratio: f64,
    },
    /// Parameters that the measurements do not determine.
    Undetermined {
        /// The datastore.
        store: String,
        /// Their paths in the site file.
        parameters: Vec<String>,
        /// The factor by which they may be wrong together; infinite where nothing depends on them.
        factor: f64,
    },
    /// A cell has no sound trial.
    Missing {
        /// The cell.
        cell: String,
    },
    /// Network and server are not known apart from the device.
    Lumped {
        /// The datastore.
        store: String,
    },
    /// Whether a loss of power empties the memory in which writes complete is not known.
    Promise {
        /// The datastore.
        store: String,
    },
    /// What a minute of measuring shows of no storage.
    Always,
}

/// Sequential requests that differ by less from random ones are called alike.
const ALIKE: f64 = 0.15;
/// What is wrong by this factor or more is not known at all.
const ANYTHING: f64 = 100.0;
/// Writes faster than this share of a read's time end in memory.
const IN_MEMORY: f64 = 0.7;

/// Everything that is to be said; `disks_bytes` is the size of all disks of a datastore.
pub(crate) fn caveats(stores: &[(&Store, &FittedStore)], disks_bytes: u64) -> Vec<Caveat> {
    let mut found = vec![Caveat::WorkingSet { bytes: disks_bytes }];
    for (store, fitted) in stores {
        found.extend(of_store(store, fitted, disks_bytes));
    }
    found.push(Caveat::Always);
    found
}

fn of_store(store: &Store, fitted: &FittedStore, disks_bytes: u64) -> Vec<Caveat> {
    let name = || store.name.clone();
    let mut found = Vec::new();
    let holds_all =
        store.memories.iter().find(|memory| memory.bytes.is_none_or(|size| size >= disks_bytes));
    if let Some(memory) = holds_all {
        let of_server =
            matches!(memory.place, MemoryPlace::ServerHere | MemoryPlace::ServerElsewhere);
        found.push(Caveat::Memory { store: name(), bytes: memory.bytes, of_server });
    }
    let [read_ns, write_ns] = fitted.alone_ns;
    if write_ns < IN_MEMORY * read_ns {
        found.push(Caveat::WritesInMemory { store: name(), read_ns, write_ns });
    }
    for one in &fitted.sequential {
        if (one.ratio - 1.0).abs() > ALIKE {
            found.push(Caveat::Sequential {
                store: name(),
                reads: one.reads,
                outstanding: one.outstanding,
                ratio: one.ratio,
            });
        }
    }
    found.extend(undetermined(&store.name, fitted));
    let missing = fitted.missing.iter().cloned();
    found.extend(missing.map(|cell| Caveat::Missing { cell }));
    if store.reached != Reached::Local {
        found.push(Caveat::Lumped { store: name() });
    }
    if store.volatile_cache.is_none() {
        found.push(Caveat::Promise { store: name() });
    }
    found
}

/// The parameters that are hardly known, alone or apart from each other, with the largest factor; and those on which
/// nothing depends.
fn undetermined(store: &str, fitted: &FittedStore) -> Vec<Caveat> {
    let (free, loose): (Vec<&Undetermined>, Vec<&Undetermined>) =
        fitted.device.fit.undetermined.iter().partition(|one| one.factor >= ANYTHING);
    let together = |all: Vec<&Undetermined>| {
        let names = all.iter().flat_map(|one| one.parameters.iter().map(|(name, _)| name.clone()));
        let mut parameters: Vec<String> = names.collect();
        parameters.sort();
        parameters.dedup();
        let factor = all.iter().map(|one| one.factor).fold(1.0, f64::max);
        (!parameters.is_empty()).then(|| Caveat::Undetermined {
            store: store.into(),
            parameters,
            factor,
        })
    };
    [together(loose), together(free)].into_iter().flatten().collect()
}

impl Caveat {
    /// The sentence.
    pub fn words(&self) -> String {
        match self {
            Caveat::WorkingSet { bytes } => format!(
                "Working sets larger than the {} measured on each datastore: a cache may have held these.",
                format_bytes(*bytes)
            ),
            Caveat::Memory { store, bytes, of_server } => {
                let whose = if *of_server { "of its server" } else { "on the way" };
                let size = bytes
                    .map_or("of unknown size".into(), |size| format!("of {}", format_bytes(size)));
                format!(
                    "{store}: whether its reads come from storage; a memory {whose}, {size}, can hold all that \
                     was measured."
                )
            }
            Caveat::WritesInMemory { store, read_ns, write_ns } => format!(
                "{store}: how long writes stay fast: one ends after {} and a read after {}, so a memory takes \
                 them, and its size was not reached or not seen.",
                format_duration_ns(*write_ns),
                format_duration_ns(*read_ns)
            ),
            Caveat::Sequential { store, reads, outstanding, ratio } => format!(
                "{store}: sequential {} of 64 KiB, {outstanding} outstanding, take {ratio:.2} times as long as \
                 random ones; this site serves both as random.",
                if *reads { "reads" } else { "writes" }
            ),
            Caveat::Undetermined { store, parameters, factor } => {
                let keys: Vec<&str> =
                    parameters.iter().filter_map(|path| path.rsplit('.').next()).collect();
                let keys = keys.join(", ");
                match (*factor < ANYTHING, parameters.len()) {
                    (true, 1) => {
                        format!("{store}: {keys} is known to a factor of {factor:.1} only.")
                    }
                    (true, _) => format!(
                        "{store}: {keys}: how much is due to which of these; their balance is known to a \
                         factor of {factor:.1} only."
                    ),
                    (false, _) => {
                        format!("{store}: {keys}: no figure depends on it enough to tell.")
                    }
                }
            }
            Caveat::Missing { cell } => format!("{cell}: there is no sound measurement."),
            Caveat::Lumped { store } => format!(
                "{store}: what of its times is network, server or disk; a change of one of these needs \
                 figures of your own."
            ),
            Caveat::Promise { store } => format!(
                "{store}: whether a loss of power empties the memory in which its writes complete; flushes are \
                 predicted as free."
            ),
            Caveat::Always => {
                "Aged or full storage, sizes of caches, more hosts at once, times of day, failover \
                               and rebuilds: none of these was measured."
                    .into()
            }
        }
    }
}
