//! Tables as people publish them, with what the laws need in addition to the numbers: what the test bed can carry, and what
//! is claimed.
//!
//! A file of these needs nothing but `tables`; `published.yaml` of a study has the same and its findings.

use crate::expression::Expression;
use crate::printed::Printed;
use crate::published::Finding;
use crate::table::Tables;
use stormeter_yaml::FileNote;

/// What a file states in tables and about them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sheet {
    /// The tables.
    pub tables: Tables,
    /// Links and buses that the measured data cross.
    pub links: Vec<Limit>,
    /// Devices and whatever else has a rate of its own, such as a load generator.
    pub devices: Vec<Limit>,
    /// Claims on pairs of figures.
    pub claims: Vec<PairClaim>,
    /// Figures that are one quantity, stated twice.
    pub same: Vec<SameClaim>,
    /// Claims with the expressions by which they follow.
    pub findings: Vec<Finding>,
    /// Our own checks.
    pub checks: Vec<Finding>,
    /// Remarks about the file, such as old spellings of keys.
    pub notes: Vec<FileNote>,
}

/// A part of the test bed that cannot do more than its rating.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Its name.
    pub name: String,
    /// Bytes per second that it carries.
    pub bytes_per_s: Option<f64>,
    /// Requests per second that it serves.
    pub iops: Option<f64>,
    /// Shortest time for a message there and back, in seconds.
    pub round_trip_s: Option<f64>,
    /// The columns, or single cells, of what crosses it: `table.column` or `table.row.column`.
    pub carries: Vec<Vec<String>>,
    /// It makes the load: what comes near its rating was limited by it.
    pub is_generator: bool,
}

/// A claim that one figure is so much more than another.
#[derive(Debug, Clone, PartialEq)]
pub struct PairClaim {
    /// Where the publication makes it.
    pub source: String,
    /// The claim in words.
    pub say: String,
    /// The figure that the claim is about.
    pub lhs: Expression,
    /// What it is compared with.
    pub rhs: Expression,
    /// Whether less is better.
    pub metric: Better,
    /// What is claimed.
    pub relation: Relation,
    /// By how much, as printed; percent, or a factor with [`Relation::Times`].
    pub value: Option<Printed>,
    /// Which figure is the base of the percentage, if that is stated.
    pub base: Option<Base>,
    /// What is varied plays no part in what was measured.
    pub plays_no_part: bool,
}

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Rates.
    More,
    /// Times and costs.
    Less,
}

/// What is claimed of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Better: more of a rate, less of a time.
    Faster,
    /// Worse.
    Slower,
    /// The figure is greater.
    Higher,
    /// The figure is less.
    Lower,
    /// Both are the same.
    Equal,
    /// The figure is a multiple of the other.
    Times,
}

/// The base of a percentage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The figure that the claim is about.
    Lhs,
    /// What it is compared with.
    Rhs,
}

/// Two statements of one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct SameClaim {
    /// What it is.
    pub say: String,
    /// Where the statements are.
    pub source: String,
    /// One of them.
    pub one: Expression,
    /// The other.
    pub other: Expression,
}
