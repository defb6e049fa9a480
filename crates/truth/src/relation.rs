//! What a publication says of two cells of its plans: `studies/*/relations.yaml`.
//!
//! A relation belongs to a condition, such as a request size: what is left out of a fit is left out as a whole, because
//! figures of one condition are not independent of each other.

use stormeter_site::{CalibrationPoint, Quantity};
use stormeter_yaml::{Diagnostics, FileErrors, Form, Node, Section, Source, Value, document, keys};

keys! {
    /// The whole file.
    FILE "relations" "a file of relations" telling "relations" {
        "relations": "[{finding: F1, condition: 4k, plan: study.yaml, metric: iops, of: nfs, relative-to: fc, value: -5%}]",
        "priors": "{stacks.nfs.per-read: 100000 cycles}",
    }
    /// A relation.
    RELATION "relation" "a relation" telling "finding" {
        "finding": "tr3808-2.1-e",
        "condition": "4k",
        "plan": "study.yaml",
        "metric": "iops",
        "of": "nfs",
        "relative-to": "fc",
        "workload": "4k",
        "base-workload": "8k",
        "vms": "160",
        "base-vms": "32",
        "outstanding": "16",
        "value": "-5.5%",
        "claim": "higher",
    }
}

/// What is claimed of a relation that has no figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    Higher,
    Lower,
    Same,
}

/// What a publication says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Said {
    /// A figure in the metric's unit, or a ratio of two cells.
    Figure(f64),
    /// A direction only.
    Claim(Claim),
}

/// A statement on one cell, or on a cell in relation to another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Relation {
    pub(crate) finding: String,
    pub(crate) condition: String,
    /// The file of the plan that has the cells.
    pub(crate) plan: String,
    pub(crate) of: CalibrationPoint,
    /// The cell to which it is relative.
    pub(crate) base: Option<CalibrationPoint>,
    pub(crate) said: Said,
}

/// The statements of one study.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Relations {
    pub(crate) relations: Vec<Relation>,
    /// Values of a site's free parameters before anything is known of the publication.
    pub(crate) priors: Vec<(String, f64)>,
}

fn no_hint(_: &str) -> Option<(usize, usize, &'static str)> {
    None
}

/// How messages name the file.
const FORM: Form = Form {
    name: "a file of relations",
    holds: "relations",
    levels: "four",
    empty: "the file is empty; write `relations:` and a list",
    hint: no_hint,
};

/// Reads a file of relations.
pub(crate) fn read(text: &str) -> Result<Relations, FileErrors> {
    let mut diagnostics = Diagnostics::default();
    let mut found = Relations::default();
    if let Some(root) = document(text, 0, &FORM, &mut diagnostics)
        && let Some(file) = Section::open(&root, FORM.name, &FILE, &mut diagnostics)
    {
        let items = match file.get("relations").map(|node| &node.value) {
            Some(Value::List(items)) => items.as_slice(),
            _ => &[],
        };
        for item in items {
            found.relations.extend(relation(item, &mut diagnostics));
        }
        if let Some(Node { value: Value::Map(pairs), .. }) = file.get("priors") {
            for (path, value) in pairs {
                let quantity = value.text().and_then(Quantity::parse);
                match (path.text(), quantity) {
                    (Some(path), Some(quantity)) => {
                        found.priors.push((path.into(), quantity.value));
                    }
                    _ => diagnostics.error_at(value.place, "a prior is a quantity"),
                }
            }
        }
    }
    match diagnostics.is_empty() {
        true => Ok(found),
        false => Err(diagnostics.into_errors(&[Source { name: "relations.yaml", text }])),
    }
}

fn relation(item: &Node, diagnostics: &mut Diagnostics) -> Option<Relation> {
    let section = Section::open(item, "a relation", &RELATION, diagnostics)?;
    let mut word = |key: &str| section.text(key, diagnostics).map(str::to_owned);
    let (finding, condition) = (word("finding"), word("condition"));
    let (plan, metric, of) = (word("plan"), word("metric"), word("of"));
    let (base, workload, base_workload) =
        (word("relative-to"), word("workload"), word("base-workload"));
    let (value, claim) = (word("value"), word("claim"));
    let mut count = |key: &str| section.count(key, 1, diagnostics);
    let (vms, base_vms, outstanding) = (count("vms"), count("base-vms"), count("outstanding"));
    let complete = (finding, condition, plan, metric, of);
    let (Some(finding), Some(condition), Some(plan), Some(metric), Some(of)) = complete else {
        diagnostics
            .error_at(item.place, "a relation needs finding, condition, plan, metric and of");
        return None;
    };
    let is_relative = base.is_some() || base_workload.is_some() || base_vms.is_some();
    let claimed = match claim.as_deref() {
        Some("higher") => Some(Claim::Higher),
        Some("lower") => Some(Claim::Lower),
        Some("same") => Some(Claim::Same),
        _ => None,
    };
    let figure = value.as_deref().and_then(Quantity::parse).map(|quantity| quantity.value);
    let said = match (figure, claimed) {
        (Some(figure), None) if is_relative => Said::Figure(1.0 + figure),
        (Some(figure), None) => Said::Figure(figure),
        (None, Some(claim)) if is_relative => Said::Claim(claim),
        _ => {
            let message = "a relation has a value, or of two cells a claim: higher, lower or same";
            diagnostics.error_at(item.place, message);
            return None;
        }
    };
    let point = |of: String, workload: Option<String>, vms: Option<u32>| CalibrationPoint {
        finding: finding.clone(),
        fits: Vec::new(),
        metric: metric.clone(),
        of,
        relative_to: None,
        workload,
        vms,
        outstanding,
        value: Quantity { value: 1.0, unit: stormeter_site::Unit::Number },
    };
    let base = is_relative.then(|| {
        let of = base.unwrap_or_else(|| of.clone());
        point(of, base_workload.or_else(|| workload.clone()), base_vms.or(vms))
    });
    let of = point(of, workload, vms);
    Some(Relation { finding, condition, plan, of, base, said })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_a_ratio_and_a_claim_needs_two_cells() {
        let text = "relations:\n\
             - {finding: F, condition: 4k, plan: p.yaml, metric: iops, of: a, relative-to: b, value: -5.5%}\n\
             - {finding: G, condition: 8k, plan: p.yaml, metric: iops, of: a, workload: w, base-workload: v, claim: lower}\n\
             - {finding: H, condition: 8k, plan: p.yaml, metric: iops, of: a, value: 14693}\n\
             priors:\n  stacks.nfs.per-read: 20us\n";
        let found = read(text).expect("relations");
        let [first, second, third] = found.relations.as_slice() else { panic!("{found:?}") };
        assert_eq!(first.said, Said::Figure(1.0 - 0.055));
        assert_eq!(first.base.as_ref().map(|base| base.of.as_str()), Some("b"));
        assert_eq!(second.said, Said::Claim(Claim::Lower));
        let base = second.base.as_ref().expect("a base");
        assert_eq!((base.of.as_str(), base.workload.as_deref()), ("a", Some("v")));
        assert_eq!((third.said, &third.base), (Said::Figure(14693.0), &None));
        assert_eq!(found.priors, [("stacks.nfs.per-read".into(), 20_000.0)]);
        for wrong in ["claim: higher", "value: much", "relative-to: b"] {
            let text = format!(
                "relations:\n- {{finding: F, condition: c, plan: p, metric: iops, of: a, {wrong}}}\n"
            );
            assert!(read(&text).is_err(), "{wrong}");
        }
    }
}
