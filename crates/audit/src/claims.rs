//! Claims on pairs of figures: direction, amount, base, and whether the data can tell at all.

use stormeter_replicate::{
    Better, PairClaim, Relation, SameClaim, Scope, Sheet, Tables, Value, expression_range,
};
use stormeter_statistics::Moments;
use stormeter_statistics::two_sample::{Rule, TwoSample};

use crate::change;
use crate::error::SheetError;
use crate::finding::{Amount, Detail, Explanation, Finding, Level};
use crate::identities::level;
use crate::law::Law;
use crate::span::Span;

/// Every claim and every pair of statements.
pub(crate) fn check(sheet: &Sheet) -> Result<Vec<Finding>, SheetError> {
    let mut findings = Vec::new();
    for claim in &sheet.claims {
        findings.extend(one(claim, &sheet.tables)?);
    }
    for same in &sheet.same {
        findings.extend(twice(same, &sheet.tables)?);
    }
    Ok(findings)
}

/// A figure of a claim: its mean, and its sample if the table has one.
struct Side {
    span: Span,
    sample: Option<Moments>,
}

fn side(
    expression: &stormeter_replicate::Expression,
    tables: &Tables,
    say: &str,
) -> Result<Side, SheetError> {
    let wrong = |what: String| SheetError { place: format!("claim \"{say}\""), what };
    let value =
        expression.evaluate(&mut Scope::new(tables)).map_err(|error| wrong(error.to_string()))?;
    match value {
        Value::Number(_) => {
            let (low, middle, high) =
                expression_range(expression, tables).map_err(|error| wrong(error.to_string()))?;
            Ok(Side { span: Span { low, middle, high }, sample: None })
        }
        Value::List(list) if !list.is_empty() => {
            let moments = Moments::from(&list);
            // Rounding of single values cancels in their mean; what is left is far below their spread.
            Ok(Side {
                span: Span::exact(moments.mean),
                sample: (list.len() > 1).then_some(moments),
            })
        }
        Value::Sample(moments) => {
            Ok(Side { span: Span::exact(moments.mean), sample: Some(moments) })
        }
        other => Err(wrong(format!(
            "a number, a column or moments(n, mean, sd) is needed, and this is {}",
            other.kind()
        ))),
    }
}

/// The level of the intervals by which noise is judged.
const LEVEL: f64 = 0.95;

fn one(claim: &PairClaim, tables: &Tables) -> Result<Vec<Finding>, SheetError> {
    let lhs = side(&claim.lhs, tables, &claim.say)?;
    let rhs = side(&claim.rhs, tables, &claim.say)?;
    let place = if claim.source.is_empty() { "claims" } else { &claim.source };
    let claimed = || Detail::Claimed {
        claim: claim.say.clone(),
        lhs: Amount::new(claim.lhs.text.clone(), lhs.span, ""),
        rhs: Amount::new(claim.rhs.text.clone(), rhs.span, ""),
    };
    let mut findings = Vec::new();
    let is_higher = match (claim.relation, claim.metric) {
        (Relation::Higher, _)
        | (Relation::Faster, Better::More)
        | (Relation::Slower, Better::Less) => Some(true),
        (Relation::Lower, _)
        | (Relation::Slower, Better::More)
        | (Relation::Faster, Better::Less) => Some(false),
        (Relation::Equal | Relation::Times, _) => None,
    };
    let contradicted = match is_higher {
        Some(true) => rhs.span.is_above(lhs.span),
        Some(false) => lhs.span.is_above(rhs.span),
        None => {
            claim.relation == Relation::Equal
                && !lhs.span.meets(rhs.span)
                && claim.value.is_none()
                && lhs.sample.is_none()
        }
    };
    if contradicted {
        let finding = Finding::new(Law::Claim, Level::Broken, place, claimed());
        findings.push(finding.explained(is_higher.map(|_| Explanation::Exchanged)));
    }
    if let Some(printed) = &claim.value
        && !contradicted
        && let Some(wrong) = change::check(lhs.span, rhs.span, claim.relation, claim.base, printed)
    {
        let unit = if claim.relation == Relation::Times { "times" } else { "%" };
        let stated = Span::around(printed.value, printed.half_unit());
        let detail = Detail::Mismatch {
            stated: Amount::new(claim.say.clone(), stated, unit),
            follows: Amount::new("the difference", wrong.follows, unit),
            from: vec![
                Amount::new(claim.lhs.text.clone(), lhs.span, ""),
                Amount::new(claim.rhs.text.clone(), rhs.span, ""),
            ],
        };
        findings.push(Finding::new(wrong.law, wrong.level, place, detail).explained(wrong.why));
    }
    if let (Some(one), Some(other)) = (lhs.sample, rhs.sample) {
        findings.extend(noise(claim, place, one, other));
    } else if claim.plays_no_part && lhs.span.apart(rhs.span).is_some() {
        findings.push(Finding::new(Law::NoPart, Level::Note, place, claimed()));
    }
    Ok(findings)
}

/// Welch's interval of the difference: does it exclude zero, where it has to, or include it?
fn noise(claim: &PairClaim, place: &str, one: Moments, other: Moments) -> Option<Finding> {
    let welch = TwoSample::compare(one, other, Rule::Welch, LEVEL).ok()?;
    let percent = |difference: f64| 100.0 * difference / other.mean;
    let (a, b) = (percent(welch.interval.low), percent(welch.interval.high));
    let detail =
        Detail::Interval { claim: claim.say.clone(), percent: (a.min(b), a.max(b)), level: LEVEL };
    let includes_zero = welch.interval.low <= 0.0 && welch.interval.high >= 0.0;
    let law = match (claim.plays_no_part, claim.relation) {
        (true, _) if !includes_zero => Law::NoPart,
        (false, Relation::Equal) if !includes_zero => Law::Claim,
        (_, Relation::Equal | Relation::Times) => return None,
        _ if includes_zero => Law::Noise,
        _ => return None,
    };
    Some(Finding::new(law, Level::Doubtful, place, detail))
}

fn twice(same: &SameClaim, tables: &Tables) -> Result<Option<Finding>, SheetError> {
    let one = side(&same.one, tables, &same.say)?.span;
    let other = side(&same.other, tables, &same.say)?.span;
    let Some(apart) = one.apart(other).or_else(|| (!one.meets(other)).then_some(f64::INFINITY))
    else {
        return Ok(None);
    };
    let detail = Detail::Mismatch {
        stated: Amount::new(same.say.clone(), one, ""),
        follows: Amount::new(same.other.text.clone(), other, ""),
        from: Vec::new(),
    };
    let place = if same.source.is_empty() { "same" } else { &same.source };
    Ok(Some(Finding::new(Law::SameQuantity, level(apart), place, detail)))
}
