//! What an audit finds: plain values, which `words` turns into sentences.

use schemars::JsonSchema;
use serde::Serialize;

use crate::law::Law;
use crate::span::Span;

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Possible, and unlikely, or a reason not to trust what is concluded.
    Doubtful,
    /// Cannot be true.
    Broken,
}

/// A result that does not obey a law.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Which law.
    pub law: Law,
    /// How sure.
    pub level: Level,
    /// Where: table and row, or file and run.
    pub place: String,
    /// The numbers.
    pub detail: Detail,
    /// What explains it, the likeliest first.
    pub explanations: Vec<Explanation>,
}

/// A quantity with the unit that it is shown in.
#[derive(Debug, Clone, PartialEq)]
pub struct Amount {
    /// What it is, such as `throughput`.
    pub what: String,
    /// In that unit.
    pub span: Span,
    /// The unit; empty: none.
    pub unit: String,
}

/// The numbers of a finding.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// A stated figure and what follows from others.
    Mismatch {
        /// As stated.
        stated: Amount,
        /// As it follows.
        follows: Amount,
        /// From these.
        from: Vec<Amount>,
    },
    /// Two figures that should be one.
    Unlike {
        /// One of them.
        one: Amount,
        /// The other.
        other: Amount,
    },
    /// More than a limit, or less.
    Limit {
        /// As stated.
        stated: Amount,
        /// What it may be at most (or at least).
        limit: Amount,
        /// Whether the limit is the least possible value.
        is_least: bool,
        /// How many figures there are beyond it, and of how many; the one shown is the farthest.
        beyond: (usize, usize),
    },
    /// A claim of a direction, or of a difference, and what the figures say.
    Claimed {
        /// In the words of the file.
        claim: String,
        /// The first figure.
        lhs: Amount,
        /// The second figure.
        rhs: Amount,
    },
    /// An interval of a difference.
    Interval {
        /// What is claimed, or compared.
        claim: String,
        /// The difference in percent of the second, lower and upper end of its interval.
        percent: (f64, f64),
        /// The level of the interval.
        level: f64,
    },
    /// Two places with the same figures.
    Copy {
        /// The other place.
        other: String,
        /// How many figures are the same.
        figures: usize,
    },
    /// A statement of the file that is recomputed from its tables and does not follow.
    Statement {
        /// The statement.
        say: String,
        /// The figure as published, if it has one.
        published: Option<String>,
        /// As recomputed, if it is a number.
        recomputed: Option<Span>,
        /// The unit of both.
        unit: String,
        /// What the file says about it.
        reason: Option<String>,
    },
    /// Words alone.
    Fact(String),
    /// What the report of a results file says.
    Own {
        /// What was found.
        what: String,
        /// What to do; may be empty.
        advice: String,
    },
}

/// What explains a finding.
#[derive(Debug, Clone, PartialEq)]
pub enum Explanation {
    /// The figure is what this request size gives.
    RequestSize {
        /// Bytes.
        bytes: f64,
        /// The one stated, in bytes.
        stated_bytes: f64,
        /// Where that size is, if it is another row's.
        of: Option<String>,
    },
    /// The figure is eight times too large: bits were taken for bytes.
    BitsForBytes,
    /// Bytes were taken for bits.
    BytesForBits,
    /// 1024 and 1000 were mixed.
    Binary,
    /// The unit stated is another one's.
    UnitIs(&'static str),
    /// This many workers were counted as one.
    Workers(f64),
    /// Something waits that is not in the latency, or the latency is not from submission.
    WaitsElsewhere,
    /// n − 1 was taken for n.
    OneLess,
    /// The SD was printed as the SE, or the reverse.
    SdForSe,
    /// It would be right for a sample of this size.
    SampleOf(f64),
    /// The percentage is of the other figure.
    OtherBase,
    /// The percentage compares the first figure to the second as they are: 125 for 25 % more.
    RatioForChange,
    /// The digits were cut.
    Cut,
    /// Intermediate results were rounded.
    RoundedOnTheWay,
    /// A memory answered.
    Cache,
    /// The time was taken at one end.
    OneEnd,
    /// It is one-sided.
    OneSided,
    /// The two figures were exchanged.
    Exchanged,
    /// It is what another row has.
    AnotherRow(String),
    /// One row is not in it.
    WithoutRow(String),
    /// It is the median.
    Median,
    /// A statement of the file does not hold for the same reason.
    AlsoStated {
        /// Where it is from.
        source: String,
        /// The statement.
        say: String,
    },
    /// The factor is off by a power of ten.
    PowerOfTen(i32),
}

impl Finding {
    /// A finding without an explanation.
    pub fn new(law: Law, level: Level, place: impl Into<String>, detail: Detail) -> Self {
        Self { law, level, place: place.into(), detail, explanations: Vec::new() }
    }

    /// A finding that the report of a results file has worded.
    pub fn own(level: Level, place: String, what: &str, advice: &str) -> Self {
        let detail = Detail::Own { what: what.to_owned(), advice: advice.to_owned() };
        Self::new(Law::Own, level, place, detail)
    }

    /// The same with what explains it.
    #[must_use]
    pub fn explained(mut self, explanations: impl IntoIterator<Item = Explanation>) -> Self {
        self.explanations.extend(explanations);
        self
    }
}

impl Amount {
    /// A quantity with its unit.
    pub fn new(what: impl Into<String>, span: Span, unit: impl Into<String>) -> Self {
        Self { what: what.into(), span, unit: unit.into() }
    }
}
