//! Predictions of what was left out of the fit.
//!
//! A condition is left out: the site's free parameters are fitted to the relations of all other conditions of the
//! study, and predict it. A study is left out: its parameters keep the values that they had before anything was known
//! of it, from data sheets and from what other sites have. A parameter on which the figures of a fit do not depend
//! stays at that value, too: each counts as a weak observation of itself.

use std::collections::HashSet;

use stormeter_statistics::fit::{FitParameter, fit};

use crate::case::{Case, Placed};
use crate::relation::Said;

/// A parameter that differs from its prior by a factor of e costs as much as a figure that is off by 10 %.
const PRIOR_WEIGHT: f64 = 0.1;
/// The search for a parameter that may be 0 ends at this share of its upper bound: a logarithmic scale has no 0.
const LEAST_OF_BOUND: f64 = 1e-4;
/// The level of the intervals of a fit, which are not used.
const LEVEL: f64 = 0.95;

/// A relation that was left out, and what was predicted of it.
pub(crate) struct LeftOut<'a> {
    pub(crate) placed: &'a Placed,
    pub(crate) predicted: f64,
}

/// Predicts each condition from all others.
pub(crate) fn conditions(case: &Case) -> Result<Vec<LeftOut<'_>>, String> {
    let mut names: Vec<&str> =
        case.relations.iter().map(|placed| placed.relation.condition.as_str()).collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    let mut all = Vec::new();
    for name in names {
        eprintln!("  without {name}");
        let (out, rest): (Vec<&Placed>, Vec<&Placed>) =
            case.relations.iter().partition(|placed| placed.relation.condition == name);
        let site = case.site(&fitted(case, &rest)?)?;
        all.extend(left_out(&out, case.predict(&site, &out)?));
    }
    Ok(all)
}

/// Predicts the whole study without having seen any of it.
pub(crate) fn study(case: &Case) -> Result<Vec<LeftOut<'_>>, String> {
    let all: Vec<&Placed> = case.relations.iter().collect();
    let site = case.site(&priors(case))?;
    Ok(left_out(&all, case.predict(&site, &all)?))
}

fn left_out<'a>(relations: &[&'a Placed], predicted: Vec<f64>) -> Vec<LeftOut<'a>> {
    let pairs = relations.iter().zip(predicted);
    pairs.map(|(placed, predicted)| LeftOut { placed, predicted }).collect()
}

fn lowest(free: &stormeter_site::FreeParameter) -> f64 {
    free.from.max(free.to * LEAST_OF_BOUND)
}

fn priors(case: &Case) -> Vec<f64> {
    let each = case.file.fit.iter().zip(&case.priors);
    each.map(|(free, prior)| prior.clamp(lowest(free), free.to)).collect()
}

/// The free parameters, fitted to the figures among these relations.
fn fitted(case: &Case, relations: &[&Placed]) -> Result<Vec<f64>, String> {
    let priors = priors(case);
    let mut figures: Vec<(&Placed, f64)> = relations
        .iter()
        .filter_map(|placed| match placed.relation.said {
            Said::Figure(value) => Some((*placed, value)),
            Said::Claim(_) => None,
        })
        .collect();
    // A sentence that covers several loads is one observation and not one for each: that of the highest.
    let sentence = |placed: &Placed| {
        let relation = &placed.relation;
        let base = relation.base.as_ref().map(|base| (base.of.clone(), base.workload.clone()));
        let of = (relation.of.of.clone(), relation.of.workload.clone(), relation.of.metric.clone());
        (relation.finding.clone(), relation.condition.clone(), of, base)
    };
    figures.sort_by_key(|(placed, _)| std::cmp::Reverse(placed.relation.of.vms));
    let mut seen = HashSet::new();
    figures.retain(|(placed, _)| seen.insert(sentence(placed)));
    if priors.is_empty() || figures.is_empty() {
        return Ok(priors);
    }
    let parameters: Vec<FitParameter> = case
        .file
        .fit
        .iter()
        .zip(&priors)
        .map(|(free, prior)| FitParameter {
            name: free.parameter.clone(),
            start: *prior,
            lowest: lowest(free),
            highest: free.to,
        })
        .collect();
    let of: Vec<&Placed> = figures.iter().map(|(placed, _)| *placed).collect();
    let mut observed: Vec<f64> = figures.iter().map(|(_, value)| *value).collect();
    observed.extend(priors.iter().map(|_| 1.0));
    let model = |values: &[f64]| -> Result<Vec<f64>, String> {
        let mut found = case.predict(&case.site(values)?, &of)?;
        let pulls = values.iter().zip(&priors);
        found.extend(pulls.map(|(value, prior)| (value / prior).powf(PRIOR_WEIGHT)));
        Ok(found)
    };
    let found = fit(&parameters, &observed, LEVEL, model).map_err(|error| error.to_string())?;
    Ok(found.parameters.iter().map(|one| one.value).collect())
}
