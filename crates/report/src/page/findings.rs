//! Findings as boxes: what was found, where, and what to do next.
//!
//! The same is often found in many places, with different figures. Findings with the same remedy share one box,
//! in which the other places are folded away.

use super::typographic;
use crate::markup::Markup;
use crate::model::{Finding, Severity};
use crate::wording::plural;

/// One finding with its advice.
pub(crate) fn finding(page: &mut Markup, finding: &Finding) {
    page.tag("div").at("class", format!("finding {}", finding.severity.name())).open();
    page.tag("p").open();
    let word = match finding.severity {
        Severity::Invalid => "Invalid",
        Severity::Warning => "Warning",
        Severity::Note => "Note",
    };
    page.tag("strong").text(word);
    page.text(" ");
    if !finding.subject.is_empty() {
        page.tag("span").at("class", "subject").text(&format!("{}: ", finding.subject));
    }
    page.text(&typographic(&finding.what));
    page.text(".");
    page.close();
    if !finding.advice.is_empty() {
        page.tag("p").at("class", "advice").text(&format!("→ {}.", typographic(&finding.advice)));
    }
    page.close();
}

/// Findings with the same severity and remedy.
pub(crate) struct Group<'a> {
    pub(crate) findings: Vec<&'a Finding>,
}

/// The groups, in the order of their first findings.
pub(crate) fn groups(findings: &[Finding]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in findings {
        let alike = groups.iter_mut().find(|group| {
            let known = group.findings[0];
            let has_remedy = !finding.advice.is_empty();
            has_remedy && (known.severity, &known.advice) == (finding.severity, &finding.advice)
        });
        match alike {
            Some(group) => group.findings.push(finding),
            None => groups.push(Group { findings: vec![finding] }),
        }
    }
    groups
}

pub(crate) fn show(page: &mut Markup, group: &Group<'_>) {
    let (first, others) = match group.findings.as_slice() {
        [] => return,
        [only] => return finding(page, only),
        [first, others @ ..] => (*first, others),
    };
    page.tag("div").at("class", "gathered").open();
    finding(page, first);
    page.tag("details").open();
    page.leaf(
        "summary",
        &format!("the same elsewhere: {}", plural(others.len() as u64, "finding")),
    );
    page.tag("ul").open();
    for other in others {
        page.tag("li").open();
        if !other.subject.is_empty() {
            page.tag("span").at("class", "subject").text(&format!("{}: ", other.subject));
        }
        page.text(&typographic(&other.what));
        page.close();
    }
    page.close();
    page.close();
    page.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_one_remedy_is_one_group() {
        let finding = |severity, what: &str, advice: &str| Finding {
            severity,
            subject: "a cell".into(),
            what: what.into(),
            advice: advice.into(),
        };
        let (warning, note) = (Severity::Warning, Severity::Note);
        let findings = [
            finding(warning, "in 2 of 6 trials", "wait"),
            finding(warning, "in 3 of 6 trials", "wait"),
            finding(note, "in 4 of 6 trials", "wait"),
            finding(note, "one", ""),
            finding(note, "two", ""),
        ];
        let sizes: Vec<usize> =
            groups(&findings).iter().map(|group| group.findings.len()).collect();
        assert_eq!(sizes, [2, 1, 1, 1]);
    }
}
