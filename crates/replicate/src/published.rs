//! A published study as data: test bed, tables and findings.

use crate::expression::{Expression, Template};
use crate::printed::Printed;
use crate::table::Tables;
use stormeter_yaml::FileNote;

/// A published study.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Its short name, such as `virtual-physical`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its authors.
    pub authors: Vec<String>,
    /// When it appeared.
    pub year: String,
    /// Where it appeared.
    pub place: String,
    /// The question that it asks.
    pub question: String,
    /// The test bed: pairs of part and description.
    pub testbed: Vec<(String, String)>,
    /// Its tables.
    pub tables: Tables,
    /// What is weak in the procedure behind all findings.
    pub weak: Option<String>,
    /// What a sound analysis can say about the data at all, for findings without their own analysis.
    pub sound: Option<String>,
    /// Which names stand for which when the study is measured with other equipment.
    pub stands_for: Option<String>,
    /// The claims of the publication.
    pub findings: Vec<Finding>,
    /// Our own checks of its tables, which the publication does not claim.
    pub checks: Vec<Finding>,
    /// Remarks about the file, such as old spellings of keys.
    pub notes: Vec<FileNote>,
}

/// A claim that can be checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Its name.
    pub id: String,
    /// Where the publication makes it: section, table, figure.
    pub source: String,
    /// The claim, in our words.
    pub statement: String,
    /// The printed claim.
    pub claim: Claim,
    /// The unit of the printed figure.
    pub unit: Option<String>,
    /// How it is recomputed, or why it cannot be.
    pub check: Check,
    /// What a sound analysis of the same data gives.
    pub sound: Option<Sound>,
    /// What is weak in the procedure behind this finding.
    pub weak: Option<String>,
    /// Questions in the grammar of studies that ask the same of measurements; all must be answered
    /// yes.
    pub ask: Vec<String>,
    /// The questions for results of the full-scale design, whose datastores have other names.
    pub ask_full: Vec<String>,
    /// The questions of `ask-full` without their figures, asking only for the direction.
    pub ask_direction: Vec<String>,
}

/// What a finding claims.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// A number.
    Number(Printed),
    /// A number that is stated as approximate.
    About(Printed),
    /// All values lie between these, inclusive.
    Between(Printed, Printed),
    /// A statement that is true or not.
    Statement,
}

/// How a finding is recomputed.
#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    /// From the tables.
    Compute(Box<Computation>),
    /// Not at all, for this reason.
    NotTestable(String),
}

/// How a figure follows from the tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Computation {
    /// Without intermediate rounding.
    pub exact: Expression,
    /// With the intermediate results rounded as the authors rounded them.
    pub rounded: Option<Expression>,
    /// What the figure is based on.
    pub basis: Basis,
    /// The numbers behind it, or what follows from them.
    pub reason: Option<Template>,
}

/// What a recomputation is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Printed measurements.
    Data,
    /// Other statements of the same publication, whose data are not printed: agreement then shows
    /// consistency only.
    Statements,
}

/// What a sound analysis gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Sound {
    /// The result in words.
    pub say: Template,
    /// Whether the claim survives it.
    pub survives: Survives,
}

/// Whether a claim survives a sound analysis of the same data.
#[derive(Debug, Clone, PartialEq)]
pub enum Survives {
    /// It survives if this is true.
    When(Expression),
    /// The printed data cannot decide.
    CannotBeTold,
    /// Not applicable: the analysis adds a figure.
    Remark,
}
