//! The statements of a file that carry the expression by which they follow: recomputed, and explained where they do
//! not follow.

use stormeter_replicate::{
    Agreement, Check, Claim, Finding as Statement, How, Outcome, Scope, Sheet, Value, recompute,
};

use crate::error::SheetError;
use crate::finding::{Detail, Explanation, Finding, Level};
use crate::law::Law;
use crate::span::Span;
use crate::words::sentence;

/// Every statement that does not follow from the tables.
pub(crate) fn check(sheet: &Sheet) -> Result<Vec<Finding>, SheetError> {
    let statements = sheet.findings.iter().chain(&sheet.checks);
    let found: Result<Vec<Finding>, SheetError> =
        statements.filter_map(|statement| one(statement, sheet).transpose()).collect();
    let (cut, mut found): (Vec<_>, Vec<_>) =
        found?.into_iter().partition(|finding| finding.law == Law::Rounding);
    if let Some(first) = cut.first() {
        let figures = if cut.len() == 1 { "figure is" } else { "figures are" };
        let text =
            format!("{} {figures} cut, not rounded; the first: {}", cut.len(), sentence(first));
        found.push(Finding::new(
            Law::Rounding,
            Level::Note,
            first.place.clone(),
            Detail::Fact(text),
        ));
    }
    Ok(found)
}

fn one(statement: &Statement, sheet: &Sheet) -> Result<Option<Finding>, SheetError> {
    let Check::Compute(computation) = &statement.check else { return Ok(None) };
    let wrong = |error: &dyn std::fmt::Display| SheetError {
        place: statement.id.clone(),
        what: error.to_string(),
    };
    let outcome = recompute(&statement.claim, computation, &sheet.tables).map_err(|e| wrong(&e))?;
    let is_cut = outcome.how == Some(How::Truncated);
    if outcome.agreement != Agreement::DoesNotFollow && !is_cut {
        return Ok(None);
    }
    let reason = match &computation.reason {
        Some(template) => {
            Some(template.fill(&mut Scope::new(&sheet.tables)).map_err(|e| wrong(&e))?)
        }
        None => None,
    };
    let recomputed = recomputed(&outcome);
    let published = match &statement.claim {
        Claim::Number(printed) | Claim::About(printed) => Some(printed),
        _ => None,
    };
    let mut why = Vec::new();
    if let (Some(printed), Some(span), None) = (published, recomputed, &reason)
        && !is_cut
    {
        let stated = Span::around(printed.value, printed.half_unit());
        why = explanations(stated, span, statement.unit.as_deref());
    }
    let detail = Detail::Statement {
        say: statement.statement.clone(),
        published: match &statement.claim {
            Claim::Number(printed) => Some(printed.text.clone()),
            Claim::About(printed) => Some(format!("about {}", printed.text)),
            Claim::Between(low, high) => Some(format!("{} to {}", low.text, high.text)),
            Claim::Statement => None,
        },
        recomputed,
        unit: statement.unit.clone().unwrap_or_default(),
        reason: reason.filter(|_| !is_cut),
    };
    let (law, level) =
        if is_cut { (Law::Rounding, Level::Note) } else { (Law::Claim, Level::Broken) };
    let found = Finding::new(law, level, statement.source.clone(), detail);
    Ok(Some(found.explained(why)))
}

fn recomputed(outcome: &Outcome) -> Option<Span> {
    let Value::Number(middle) = outcome.value else { return None };
    let (low, high) = outcome.range.unwrap_or((middle, middle));
    Some(Span { low, middle, high })
}

/// Mistakes that are made often, by what they do to a figure.
fn explanations(stated: Span, follows: Span, unit: Option<&str>) -> Vec<Explanation> {
    let mut why = Vec::new();
    let fits = |factor: f64| stated.meets(follows.scaled(factor));
    for (factor, explanation) in [
        (8.0, Explanation::BitsForBytes),
        (0.125, Explanation::BytesForBits),
        (1.024, Explanation::Binary),
        (1.0 / 1.024, Explanation::Binary),
        (1.048_576, Explanation::Binary),
        (1.0 / 1.048_576, Explanation::Binary),
        (1e3, Explanation::PowerOfTen(3)),
        (1e-3, Explanation::PowerOfTen(-3)),
        (1e2, Explanation::PowerOfTen(2)),
        (1e-2, Explanation::PowerOfTen(-2)),
        (10.0, Explanation::PowerOfTen(1)),
        (0.1, Explanation::PowerOfTen(-1)),
    ] {
        if fits(factor) {
            why.push(explanation);
            break;
        }
    }
    if unit == Some("%") {
        let share = follows.middle / 100.0;
        let others = [share / (1.0 + share), share / (1.0 - share)];
        if others.into_iter().any(|other| stated.meets(Span::exact(100.0 * other.abs()))) {
            why.push(Explanation::OtherBase);
        }
        if stated.meets(Span::exact(100.0 + follows.middle)) {
            why.push(Explanation::RatioForChange);
        }
    }
    why
}
