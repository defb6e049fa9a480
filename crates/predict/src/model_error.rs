//! How far off the model is, by kind of storage: the factor within which four of five predictions are.
//!
//! The factors are those of published findings whose condition was left out of the fit, as `cargo xtask truth published`
//! finds them and docs/model-error.md lists them; a kind with fewer than [`ENOUGH`] figures of a quantity has the factor of
//! all kinds. They are figures of the past: a site that was fitted to measurements of one's own storage is nearer.

use stormeter_results::ModelError;
use stormeter_site::{Protocol, Site, Target};

use crate::request::{PredictRequest, SitePlace};

/// So few figures make no factor of their own.
const ENOUGH: u32 = 8;

/// The figures of a kind of storage: how many there are of a quantity, and the factor.
struct Kind {
    name: &'static str,
    rate: (u32, f64),
    latency: (u32, f64),
    cpu: (u32, f64),
}

/// All kinds together.
const ANY: Kind = Kind { name: "any", rate: (0, 1.0), latency: (0, 1.0), cpu: (0, 1.0) };
/// By kind, as the page names them.
const KINDS: [Kind; 5] = [
    Kind { name: "FC", rate: (0, 1.0), latency: (0, 1.0), cpu: (0, 1.0) },
    Kind { name: "NFS", rate: (0, 1.0), latency: (0, 1.0), cpu: (0, 1.0) },
    Kind { name: "cluster", rate: (0, 1.0), latency: (0, 1.0), cpu: (0, 1.0) },
    Kind { name: "iSCSI", rate: (0, 1.0), latency: (0, 1.0), cpu: (0, 1.0) },
    Kind { name: "local", rate: (0, 1.0), latency: (0, 1.0), cpu: (0, 1.0) },
];

/// The kind of storage of a datastore of a site, as docs/model-error.md names it.
pub fn storage_kind(site: &Site, datastore: usize) -> &'static str {
    let own = &site.datastores[datastore];
    match (own.target, site.stacks[own.stack].protocol) {
        (Target::Cluster { .. }, _) => "cluster",
        (_, Protocol::Nfs) => "NFS",
        (_, Protocol::Iscsi) => "iSCSI",
        (_, Protocol::Fc) => "FC",
        (_, Protocol::Local) => "local",
    }
}

/// The model's error for a kind of storage.
pub fn model_error(kind: &str) -> ModelError {
    let own = KINDS.iter().find(|own| own.name == kind).unwrap_or(&ANY);
    let factor = |own: (u32, f64), any: (u32, f64)| if own.0 < ENOUGH { any.1 } else { own.1 };
    ModelError {
        rate: factor(own.rate, ANY.rate),
        latency: factor(own.latency, ANY.latency),
        cpu: factor(own.cpu, ANY.cpu),
    }
}

impl PredictRequest {
    /// The model's error, by datastore of the plan.
    pub(crate) fn model_errors(&self) -> Vec<ModelError> {
        let error =
            |place: &SitePlace| model_error(storage_kind(&self.sites[place.site], place.datastore));
        self.places.iter().map(error).collect()
    }
}
