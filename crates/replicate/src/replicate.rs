//! The table of a study: every finding as published, recomputed, measured and predicted.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_schema::schema_of;
use thiserror::Error;

use crate::agreement::{Agreement, How, Outcome, recompute};
use crate::answers::{AnswerSource, Observed, observe};
use crate::expression::{ExpressionError, Scope, Value};
use crate::published::{Basis, Check, Claim, Finding, Published, Survives};
use crate::table::TableCount;

/// Output of `stormeter replicate STUDY --json`: every finding of a study in one table; without STUDY a list
/// of these. New fields may be added without a new schema_version.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(
    title = "A published study, replicated",
    extend("$id" = format!("urn:stormeter:schema:replicate:{SCHEMA_VERSION}"))
)]
pub struct ReplicateTable {
    /// Version of this layout, raised when a field changes its meaning or is removed.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: u32,
    /// The study.
    pub study: StudyHead,
    /// Its findings.
    pub findings: Vec<Row>,
    /// Our own checks of its tables.
    pub checks: Vec<Row>,
    /// Number of findings per outcome.
    pub summary: Tally,
    /// Number of our own checks per outcome.
    pub checks_summary: Tally,
}

/// The identity of the study.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StudyHead {
    /// Short name.
    pub name: String,
    /// Title.
    pub title: String,
    /// Authors.
    #[schemars(length(min = 1))]
    pub authors: Vec<String>,
    /// Year.
    pub year: String,
    /// Where it appeared.
    pub place: String,
    /// The question that it asks.
    pub question: String,
    /// Its test bed: pairs of part and description.
    pub testbed: Vec<(String, String)>,
    /// Number of its tables and of the numbers in them.
    pub given: TableCount,
    /// What is weak in its procedure.
    pub weak: Option<String>,
    /// What a sound analysis can say about its data at all.
    pub sound: Option<String>,
    /// Which names stand for which in measurements.
    pub stands_for: Option<String>,
}

/// A finding in the table.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// Where the publication makes it.
    pub source: String,
    /// The claim.
    pub statement: String,
    /// The printed claim with its unit; `None` for a statement.
    pub published: Option<String>,
    /// The result from the tables.
    pub recomputed: Recomputed,
    /// The result of a sound analysis of the same data.
    pub sound: Option<SoundResult>,
    /// What is weak in the procedure behind this finding.
    pub weak: Option<String>,
    /// What our own results say.
    pub measured: Option<Observed>,
    /// What a model says.
    pub predicted: Option<Observed>,
}

/// The result from the tables.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recomputed {
    /// Whether the finding follows.
    pub agreement: Agreement,
    /// In which way it agrees.
    pub how: Option<How>,
    /// What it is based on.
    pub basis: Option<Basis>,
    /// The value with two more digits than printed, or whether the statement is true.
    pub value: Option<String>,
    /// The numbers behind it, or why it cannot be recomputed.
    pub reason: String,
}

/// The result of a sound analysis.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SoundResult {
    /// Whether the claim survives it.
    pub verdict: Soundness,
    /// The result in words.
    pub text: String,
}

/// Whether a claim survives a sound analysis of the same data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Soundness {
    /// It survives.
    Holds,
    /// It does not survive.
    DoesNotHold,
    /// These data cannot decide.
    CannotBeTold,
    /// The analysis adds a figure and judges nothing.
    Remark,
}

/// Number of findings per outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tally {
    /// All findings.
    pub findings: usize,
    /// Findings that agree.
    pub agree: usize,
    /// Of those that agree: the ones based on other statements only.
    pub agree_with_statements_only: usize,
    /// Findings that agree within the rounding of the printed inputs.
    pub agree_within_rounding: usize,
    /// Findings that do not follow.
    pub do_not_follow: usize,
    /// Findings that are not testable.
    pub not_testable: usize,
}

/// Why a study could not be recomputed: an error in its file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{study}, finding {finding}, {part}: {error}")]
pub struct ReplicateError {
    /// The study.
    pub study: String,
    /// The finding.
    pub finding: String,
    /// The field of the finding.
    pub part: &'static str,
    /// What is wrong there.
    pub error: ExpressionError,
}

/// Version of the layout of [`ReplicateTable`].
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema of a [`ReplicateTable`], draft 2020-12, as text.
pub const SCHEMA: &str = include_str!("../../../docs/schema/replicate.schema.json");

/// [`SCHEMA`] as it follows from the types, for the test that compares the two.
pub fn derived_schema() -> String {
    schema_of::<ReplicateTable>()
}

/// Recomputes every finding of a study and compares it with results, if there are any.
///
/// # Errors
/// An expression of the study has no value (a division by zero, a list where a number is expected).
pub fn replicate(
    study: &Published,
    measured: Option<&dyn AnswerSource>,
    predicted: Option<&dyn AnswerSource>,
) -> Result<ReplicateTable, ReplicateError> {
    let rows = |findings: &[Finding]| {
        findings
            .iter()
            .map(|finding| row(study, finding, measured, predicted))
            .collect::<Result<Vec<_>, _>>()
    };
    let (findings, checks) = (rows(&study.findings)?, rows(&study.checks)?);
    Ok(ReplicateTable {
        schema_version: SCHEMA_VERSION,
        study: StudyHead {
            name: study.name.clone(),
            title: study.title.clone(),
            authors: study.authors.clone(),
            year: study.year.clone(),
            place: study.place.clone(),
            question: study.question.clone(),
            testbed: study.testbed.clone(),
            given: study.tables.count(),
            weak: study.weak.clone(),
            sound: study.sound.clone(),
            stands_for: study.stands_for.clone(),
        },
        summary: tally(&findings),
        checks_summary: tally(&checks),
        findings,
        checks,
    })
}

fn row(
    study: &Published,
    finding: &Finding,
    measured: Option<&dyn AnswerSource>,
    predicted: Option<&dyn AnswerSource>,
) -> Result<Row, ReplicateError> {
    let fail = |part| {
        move |error| ReplicateError {
            study: study.name.clone(),
            finding: finding.id.clone(),
            part,
            error,
        }
    };
    let recomputed = match &finding.check {
        Check::NotTestable(reason) => Recomputed {
            agreement: Agreement::NotTestable,
            how: None,
            basis: None,
            value: None,
            reason: reason.clone(),
        },
        Check::Compute(computation) => {
            let outcome =
                recompute(&finding.claim, computation, &study.tables).map_err(fail("compute"))?;
            let mut reason = remark(&outcome, &finding.claim);
            if let Some(template) = &computation.reason {
                let text = template.fill(&mut Scope::new(&study.tables)).map_err(fail("reason"))?;
                reason.push(text);
            }
            Recomputed {
                agreement: outcome.agreement,
                how: outcome.how,
                basis: Some(computation.basis),
                value: Some(shown(&outcome.value, decimals(&finding.claim))),
                reason: reason.join("; "),
            }
        }
    };
    let sound = match &finding.sound {
        None => None,
        Some(sound) => {
            let mut scope = Scope::new(&study.tables);
            let text = sound.say.fill(&mut scope).map_err(fail("sound"))?;
            let verdict = match &sound.survives {
                Survives::Remark => Soundness::Remark,
                Survives::CannotBeTold => Soundness::CannotBeTold,
                Survives::When(holds) => match holds.evaluate(&mut scope).map_err(fail("holds"))? {
                    Value::Truth(true) => Soundness::Holds,
                    Value::Truth(false) => Soundness::DoesNotHold,
                    other => {
                        let what =
                            format!("`holds` needs one comparison and this is {}", other.kind());
                        return Err(fail("holds")(ExpressionError { column: 1, what }));
                    }
                },
            };
            Some(SoundResult { verdict, text })
        }
    };
    Ok(Row {
        id: finding.id.clone(),
        source: finding.source.clone(),
        statement: finding.statement.clone(),
        published: published(finding),
        recomputed,
        sound,
        weak: finding.weak.clone(),
        measured: measured.map(|source| observe(finding, source)),
        predicted: predicted.map(|source| observe(finding, source)),
    })
}

fn published(finding: &Finding) -> Option<String> {
    let figure = match &finding.claim {
        Claim::Number(printed) => printed.text.clone(),
        Claim::About(printed) => format!("about {}", printed.text),
        Claim::Between(low, high) => format!("{} to {}", low.text, high.text),
        Claim::Statement => return None,
    };
    Some(match finding.unit.as_deref() {
        Some(unit) => format!("{figure} {unit}"),
        None => figure,
    })
}

fn decimals(claim: &Claim) -> usize {
    let printed = match claim {
        Claim::Number(printed) | Claim::About(printed) => printed.decimals,
        Claim::Between(low, high) => low.decimals.max(high.decimals),
        Claim::Statement => 0,
    };
    printed as usize + 2
}

fn shown(value: &Value, digits: usize) -> String {
    let number = |value: &f64| {
        // Two more digits than printed, if they carry information.
        let text = format!("{value:.digits$}");
        match text.contains('.') {
            true if value.fract() == 0.0 => format!("{value:.0}"),
            _ => text,
        }
    };
    match value {
        Value::Number(value) => number(value),
        Value::List(list) => list.iter().map(number).collect::<Vec<_>>().join(", "),
        Value::Truth(true) => "true".to_owned(),
        Value::Truth(false) => "false".to_owned(),
        Value::Truths(_) | Value::Sample(_) => value.kind().to_owned(),
    }
}

/// Remarks on an outcome, in addition to its value.
fn remark(outcome: &Outcome, claim: &Claim) -> Vec<String> {
    let digits = decimals(claim);
    let mut parts = Vec::new();
    match outcome.how {
        Some(How::Truncated) => parts.push("cut to the printed digits, not rounded".to_owned()),
        Some(How::IntermediateRounding) => {
            let rounded = outcome.rounded.unwrap_or(f64::NAN);
            parts.push(format!("{rounded:.digits$} with the authors' intermediate rounding"));
        }
        Some(How::About) => parts.push("within a tenth of it".to_owned()),
        _ => {}
    }
    if let Some((low, high)) = outcome.range {
        parts.push(format!(
            "the rounding of the printed inputs allows {low:.digits$} to {high:.digits$}"
        ));
    }
    parts
}

fn tally(rows: &[Row]) -> Tally {
    let mut tally = Tally { findings: rows.len(), ..Tally::default() };
    for row in rows {
        match row.recomputed.agreement {
            Agreement::Agrees => {
                tally.agree += 1;
                if row.recomputed.basis == Some(Basis::Statements) {
                    tally.agree_with_statements_only += 1;
                }
            }
            Agreement::AgreesWithinRounding => tally.agree_within_rounding += 1,
            Agreement::DoesNotFollow => tally.do_not_follow += 1,
            Agreement::NotTestable => tally.not_testable += 1,
        }
    }
    tally
}
