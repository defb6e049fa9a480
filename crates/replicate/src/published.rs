//! A published study as data: test bed, tables and findings.

use crate::expression::{Expression, Template};
use crate::printed::Printed;
use crate::table::Tables;

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
    /// What it asks.
    pub question: String,
    /// The test bed: part and what it was.
    pub testbed: Vec<(String, String)>,
    /// Its tables.
    pub tables: Tables,
    /// What is weak in the procedure of all findings.
    pub weak: Option<String>,
    /// What a sound analysis can say of the data at all, where a finding has no analysis of its own.
    pub sound: Option<String>,
    /// What stands for what when the study is measured with other equipment.
    pub stands_for: Option<String>,
    /// The claims of the publication.
    pub findings: Vec<Finding>,
    /// Our own checks of its tables, which the publication does not claim.
    pub checks: Vec<Finding>,
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
    /// What is printed.
    pub claim: Claim,
    /// The unit of what is printed.
    pub unit: Option<String>,
    /// How it is recomputed, or why it cannot be.
    pub check: Check,
    /// What a sound analysis of the same data gives.
    pub sound: Option<Sound>,
    /// What is weak in the procedure of this finding.
    pub weak: Option<String>,
    /// Questions of the study's grammar that ask the same of measurements; all must be answered yes.
    pub ask: Vec<String>,
    /// The same for results of the design at its full scale, whose datastores have other names.
    pub ask_full: Vec<String>,
    /// Those of `ask_full` without their figures: in which direction it goes.
    pub ask_direction: Vec<String>,
}

/// What a finding claims.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// A number.
    Number(Printed),
    /// A number that is said to be about that.
    About(Printed),
    /// All values lie between these, ends included.
    Between(Printed, Printed),
    /// A statement that is true or not.
    Statement,
}

/// How a finding is recomputed.
#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    /// From the tables.
    Compute(Box<Computation>),
    /// Not, for this reason.
    NotTestable(String),
}

/// How a figure follows from the tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Computation {
    /// With all digits.
    pub exact: Expression,
    /// With the intermediate results rounded as the authors rounded them.
    pub rounded: Option<Expression>,
    /// What it rests on.
    pub basis: Basis,
    /// The numbers behind it, or what follows from them.
    pub reason: Option<Template>,
}

/// What a recomputation rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Printed measurements.
    Data,
    /// Other statements of the same publication, whose data are not printed: agreement is consistency
    /// and no more.
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
    /// It does when this is true.
    When(Expression),
    /// The data that are printed cannot tell.
    CannotBeTold,
    /// That is not the point: the analysis adds a figure.
    Remark,
}
