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
const ANY: Kind = Kind { name: "any", rate: (58, 2.56), latency: (47, 1.54), cpu: (58, 1.27) };
/// By kind, as the page names them.
const KINDS: [Kind; 5] = [
    Kind { name: "FC", rate: (0, 1.0), latency: (0, 1.0), cpu: (6, 1.17) },
    Kind { name: "NFS", rate: (0, 1.0), latency: (19, 1.46), cpu: (20, 1.08) },
    Kind { name: "cluster", rate: (21, 1.24), latency: (2, 1.27), cpu: (0, 1.0) },
    Kind { name: "iSCSI", rate: (31, 2.94), latency: (6, 1.05), cpu: (32, 1.34) },
    Kind { name: "local", rate: (6, 1.63), latency: (20, 1.77), cpu: (0, 1.0) },
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_factors_are_those_of_the_page() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/model-error.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, bands) = page.split_once("**Band of four of five errors**").unwrap();
        let (bands, _) = bands.split_once("**Each relation").unwrap();
        let mut rows = 0;
        for row in bands.lines().filter(|line| line.starts_with("| ")).skip(1) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [name, quantity, count, factor] = cells.as_slice() else { panic!("{row}") };
            let kind = KINDS.iter().find(|kind| kind.name == *name).unwrap_or(&ANY);
            assert_eq!(kind.name, *name, "{row}");
            let own = match *quantity {
                "rate" => kind.rate,
                "latency" => kind.latency,
                _ => kind.cpu,
            };
            assert_eq!(own, (count.parse().unwrap(), factor.parse().unwrap()), "{row}");
            rows += 1;
        }
        let own = KINDS.iter().chain([&ANY]).flat_map(|kind| [kind.rate, kind.latency, kind.cpu]);
        assert_eq!(rows, own.filter(|own| own.0 > 0).count());
        // A kind with few figures has the factor of all.
        assert_eq!(model_error("FC"), ModelError { rate: 2.56, latency: 1.54, cpu: 1.27 });
        assert_eq!(model_error("cluster").rate, 1.24);
    }
}
