//! The band of the model's error, by kind of storage and by quantity, from conditions that were left out.
//!
//! A band holds four of five errors. Kinds with few figures have the band of all kinds.

use std::collections::BTreeMap;
use std::fmt::Write;

use stormeter_predict::storage_kind;

use crate::case::{Case, Placed};
use crate::relation::Said;
use crate::score::{About, quantile};
use crate::table::Validated;

/// The share of errors in a band.
const SHARE: f64 = 0.8;

/// By kind of storage and quantity: the factor within which four of five predictions are, and of how many.
pub(crate) fn table(all: &[Validated<'_>]) -> String {
    let mut errors: BTreeMap<(&str, About), Vec<f64>> = BTreeMap::new();
    for (case, left_out) in all {
        for out in *left_out {
            if let Said::Figure(figure) = out.placed.relation.said {
                let error = (out.predicted / figure).ln().abs();
                let about = About::of(out.placed.observed.metric());
                for kind in [kind(case, out.placed), "any"] {
                    errors.entry((kind, about)).or_default().push(error);
                }
            }
        }
    }
    let mut text = String::from(
        "\n**Band of four of five errors**\n\n| storage | quantity | figures | factor |\n|---|---|---:|---:|\n",
    );
    for ((kind, about), mut found) in errors {
        found.sort_by(f64::total_cmp);
        let factor = quantile(&found, SHARE).unwrap_or_default().exp();
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {kind} | {} | {} | {factor:.2} |", about.name(), found.len());
    }
    text
}

/// The kind of storage of a relation's first cell.
fn kind(case: &Case, placed: &Placed) -> &'static str {
    let site = &case.file.site;
    let cell = placed.observed.cells().next();
    let name = cell.map_or("", |cell| case.datastore(placed, cell));
    let own = site
        .datastores
        .iter()
        .position(|own| own.name == name || own.also.iter().any(|also| also == name));
    own.map_or("local", |number| storage_kind(site, number))
}
