//! Reads `fit` and `calibration`: which parameters are free, and which findings they were fitted
//! to.

use serde::{Deserialize, Serialize};
use stormeter_units::nearest;
use stormeter_yaml::{Diagnostics, Keys, Node, Place, Value};

use super::keys;
use super::part::{Part, all_of};
use super::path::find;
use super::value::{self, At};
use crate::model::Site;
use crate::overrides::Override;
use crate::unit::{Quantity, Unit};

/// A parameter that a calibration may change, within limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FreeParameter {
    /// Its path in the site file.
    pub parameter: String,
    /// Paths of parameters that always have the same value.
    pub with: Vec<String>,
    /// Its unit.
    pub unit: Unit,
    /// The smallest value, in the base unit.
    pub from: f64,
    /// The largest value, in the base unit.
    pub to: f64,
}

impl FreeParameter {
    /// The changes that give the parameter, and those linked to it, this value in its base unit.
    pub fn at(&self, value: f64) -> Vec<Override> {
        let paths = std::iter::once(&self.parameter).chain(&self.with);
        paths.map(|path| Override::at(path, self.unit.text(value))).collect()
    }
}

/// A published finding that parameters were fitted to; all others are predictions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationPoint {
    /// Its name in the catalogue.
    pub finding: String,
    /// The parameters that were fitted to it.
    pub fits: Vec<String>,
    /// The metric, by its name in studies.
    pub metric: String,
    /// The datastore.
    pub of: String,
    /// The datastore to which it is relative; `None`: the value is absolute.
    pub relative_to: Option<String>,
    /// The workload; `None`: the study's only one.
    pub workload: Option<String>,
    /// The level of VMs; `None`: the study's only one.
    pub vms: Option<u32>,
    /// The level of outstanding I/Os per VM; `None`: the study's only one.
    pub outstanding: Option<u32>,
    /// The published value, in base units; relative to another datastore, the difference as a
    /// fraction: `-16%` is -0.16.
    pub value: Quantity,
}

pub(super) fn items<'n>(
    node: Option<&'n Node>,
    what: &str,
    diagnostics: &mut Diagnostics,
) -> &'n [Node] {
    match node.map(|node| (&node.value, node)) {
        None => &[],
        Some((Value::List(items), _)) => items,
        Some((_, node)) => {
            let found = node.found();
            diagnostics.error_at(node.place, format!("{what} is a list of mappings, not {found}"));
            &[]
        }
    }
}

pub(super) fn open<'n>(
    node: &'n Node,
    keys: &'static Keys,
    diagnostics: &mut Diagnostics,
) -> Option<Part<'n>> {
    Part::open(node, node.place, keys.of, keys, diagnostics)
}

/// Reads the free parameters; `root` is the whole site.
pub(super) fn fit(
    root: &Node,
    node: Option<&Node>,
    diagnostics: &mut Diagnostics,
) -> Vec<FreeParameter> {
    let mut free: Vec<FreeParameter> = Vec::new();
    for item in items(node, "fit", diagnostics) {
        let Some(parameter) = parameter(root, item, diagnostics) else { continue };
        if free.iter().any(|known| known.parameter == parameter.parameter) {
            diagnostics
                .error_at(item.place, format!("{} is free twice; keep one", parameter.parameter));
        }
        free.push(parameter);
    }
    free
}

fn parameter(root: &Node, item: &Node, diagnostics: &mut Diagnostics) -> Option<FreeParameter> {
    let part = open(item, &keys::FIT, diagnostics)?;
    let path = part.need("parameter", value::word, diagnostics);
    let (from, to) = (part.need("from", bound, diagnostics), part.need("to", bound, diagnostics));
    let path = path?;
    let place = part.place_of("parameter");
    let node = find(root, &path, place, diagnostics)?;
    let Some(stands) = node.text().and_then(Quantity::parse) else {
        let found = node.found();
        diagnostics.error_at(place, format!("{path} is {found}; only a number can be fitted"));
        return None;
    };
    let mut with = Vec::new();
    for node in part.get("with", value::words, diagnostics).into_iter().flatten() {
        let Some(path) = node.text() else { continue };
        let other = find(root, path, node.place, diagnostics)?;
        if other.text().and_then(Quantity::parse).is_none_or(|other| other.unit != stands.unit) {
            diagnostics.error_at(
                node.place,
                format!("{path} is not a {}, as {} is", stands.unit.title(), path),
            );
            return None;
        }
        with.push(path.to_owned());
    }
    let (from, to) = (from?, to?);
    let unit = [to.unit, from.unit].into_iter().find(|unit| *unit != Unit::Number);
    let unit = unit.unwrap_or(Unit::Number);
    let fits = |other: Quantity| other.unit == unit || other.value == 0.0;
    if !fits(from) || !fits(stands) {
        diagnostics.error_at(
            part.place_of("from"),
            format!(
                "from, to and the current {path} have different units; write all as a {}",
                stands.unit.title()
            ),
        );
        return None;
    }
    if from.value >= to.value {
        diagnostics.error_at(part.place_of("to"), "to is not above from; the two may be exchanged");
        return None;
    }
    Some(FreeParameter { parameter: path, with, unit, from: from.value, to: to.value })
}

fn bound(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<Quantity> {
    let found = at.node.text().and_then(Quantity::parse).filter(|found| found.value >= 0.0);
    if found.is_none() {
        let wrong = at.node.found();
        at.fault(
            format!(
                "{} is a number with its unit, not {wrong}; write it like {}",
                at.key, at.example
            ),
            diagnostics,
        );
    }
    found
}

fn published(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<Quantity> {
    let found = at.node.text().and_then(Quantity::parse);
    if found.is_none() {
        let wrong = at.node.found();
        at.fault(
            format!("value is a number with its unit, not {wrong}; write -16%, 3.5ms or 1200"),
            diagnostics,
        );
    }
    found
}

/// Reads the findings that parameters were fitted to.
pub(super) fn calibration(
    site: &Site,
    free: &[FreeParameter],
    node: Option<&Node>,
    diagnostics: &mut Diagnostics,
) -> Vec<CalibrationPoint> {
    items(node, "calibration", diagnostics)
        .iter()
        .filter_map(|item| point(site, free, item, diagnostics))
        .collect()
}

fn point(
    site: &Site,
    free: &[FreeParameter],
    item: &Node,
    diagnostics: &mut Diagnostics,
) -> Option<CalibrationPoint> {
    let part = open(item, &keys::CALIBRATION, diagnostics)?;
    let finding = part.need("finding", value::word, diagnostics);
    let fits = part.need("fits", value::words, diagnostics);
    for node in fits.iter().flatten() {
        let text = node.text().unwrap_or_default();
        let known = || free.iter().map(|parameter| parameter.parameter.as_str());
        if known().all(|path| path != text) {
            let meant = nearest(text, known());
            let meant = meant.map(|path| format!("did you mean {path}? ")).unwrap_or_default();
            diagnostics.error_at(
                node.place,
                format!("{text} is not among the free parameters; {meant}name it under fit, too"),
            );
        }
    }
    let metric = part.need("metric", value::word, diagnostics);
    part.needed("of", diagnostics);
    let of = datastore(&part, "of", site, diagnostics);
    let relative_to = datastore(&part, "relative-to", site, diagnostics);
    let workload = part.get("workload", value::word, diagnostics);
    let vms = part.get("vms", value::count, diagnostics);
    let outstanding = part.get("outstanding", value::count, diagnostics);
    let value = part.need("value", published, diagnostics);
    if value.is_some_and(|value| value.unit != Unit::Share) && relative_to.is_some() {
        diagnostics.error_at(
            part.place_of("value"),
            "relative to another datastore, value is the share by which it differs: -16%",
        );
    }
    let fits = fits?.iter().filter_map(|node| node.text().map(str::to_owned)).collect();
    Some(CalibrationPoint {
        finding: finding?,
        fits,
        metric: metric?,
        of: of?,
        relative_to,
        workload,
        vms,
        outstanding,
        value: value?,
    })
}

/// Resolves a datastore by one of its names.
fn datastore(
    part: &Part<'_>,
    key: &str,
    site: &Site,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let node = part.node(key)?;
    let place: Place = node.place;
    let text = node.text().unwrap_or_default();
    let known = || {
        let names = site.datastores.iter().flat_map(|d| [&d.name].into_iter().chain(&d.also));
        names.map(String::as_str)
    };
    if known().any(|name| name == text) {
        return Some(text.into());
    }
    let meant = nearest(text, known());
    let meant = meant.map(|name| format!("did you mean {name}? I")).unwrap_or("i".into());
    diagnostics.error_at(
        place,
        format!(
            "{key} cannot be resolved: the site has no datastore {}; {meant}t has {}",
            node.found(),
            all_of(known())
        ),
    );
    None
}
