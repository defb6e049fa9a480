//! A mistake that a law finds and a statement of the file states is one finding. They are the same if the statement has
//! both numbers of the law's finding, each in the digits that it is stated with.

use crate::finding::{Detail, Explanation, Finding, Level};
use crate::span::Span;
use crate::words::sentence;

/// A digit alone stands for too many numbers.
const CLOSE: f64 = 0.02;

/// Joins each statement to the first finding that has its numbers, which then names it.
pub(crate) fn joined(mut findings: Vec<Finding>, statements: Vec<Finding>) -> Vec<Finding> {
    let mut apart = Vec::new();
    for statement in statements {
        let found = findings.iter_mut().find(|found| is_same(found, &statement));
        match found {
            Some(found) => found.explanations.push(Explanation::AlsoStated {
                source: statement.place.clone(),
                say: said(&statement),
            }),
            None => apart.push(statement),
        }
    }
    findings.extend(apart);
    findings
}

fn is_same(found: &Finding, statement: &Finding) -> bool {
    if found.level != Level::Broken || statement.level != Level::Broken {
        return false;
    }
    let (one, other) = match &found.detail {
        Detail::Mismatch { stated, follows, .. } => (stated, follows),
        Detail::Limit { stated, limit, .. } => (stated, limit),
        _ => return false,
    };
    let Detail::Statement { published, recomputed, unit, .. } = &statement.detail else {
        return false;
    };
    // A published figure with its unit, and what the tables give instead.
    if let (Some(published), Some(recomputed)) = (published, recomputed) {
        let is_it =
            mentioned(published).iter().any(|span| span.meets(Span::exact(one.span.middle)));
        // Megabytes of either kind.
        let near = |span: Span| {
            let kinds = [1.0, 1.048_576, 1.0 / 1.048_576];
            kinds.into_iter().any(|kind| recomputed.meets(span.scaled(kind)))
        };
        return *unit == one.unit && is_it && near(other.span);
    }
    let numbers = mentioned(&sentence(statement));
    let has = |span: Span| {
        let close =
            |number: &&Span| (number.middle - span.middle).abs() <= CLOSE * span.middle.abs();
        numbers.iter().filter(close).any(|number| number.meets(Span::exact(span.middle)))
    };
    has(one.span) && has(other.span) && one.span.middle != other.span.middle
}

fn said(statement: &Finding) -> String {
    match &statement.detail {
        Detail::Statement { say, .. } => say.trim_end_matches('.').to_owned(),
        _ => sentence(statement),
    }
}

/// The numbers in a text, each with the half of its last digit.
fn mentioned(text: &str) -> Vec<Span> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .map(|word| word.trim_matches('.'))
        .filter_map(|word| {
            let value: f64 = word.parse().ok()?;
            let decimals = word.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            Some(Span::around(value, 0.5 * 10f64.powi(-(decimals as i32))))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Amount;
    use crate::law::Law;

    fn limit() -> Finding {
        let amount = |value| Amount::new("amount", Span::exact(value), "GB");
        let detail = Detail::Limit {
            stated: amount(7.0),
            limit: amount(2.7434),
            is_least: false,
            beyond: (1, 1),
        };
        Finding::new(Law::MovedInTime, Level::Broken, "Table 3", detail)
    }

    fn statement(reason: &str) -> Finding {
        let detail = Detail::Statement {
            say: "7 GB fit in the time.".to_owned(),
            published: None,
            recomputed: None,
            unit: String::new(),
            reason: Some(reason.to_owned()),
        };
        Finding::new(Law::Claim, Level::Broken, "section 4", detail)
    }

    #[test]
    fn one_mistake_is_printed_once_and_names_both() {
        let found = joined(vec![limit()], vec![statement("360 s move at most 2.7 GB")]);
        assert_eq!(found.len(), 1);
        let text = sentence(&found[0]);
        assert!(text.ends_with("\"7 GB fit in the time\" (section 4) does not hold"), "{text}");
    }

    #[test]
    fn other_numbers_are_another_mistake() {
        assert_eq!(joined(vec![limit()], vec![statement("360 s move at most 2.6 GB")]).len(), 2);
        assert_eq!(joined(vec![limit()], vec![statement("it takes 16 minutes")]).len(), 2);
    }
}
