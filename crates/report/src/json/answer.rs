//! The answers to a study's questions.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_schema::Number;
use stormeter_statistics::{AnswerEstimate, AnswerPart, AnswerRow, Reply};

use super::interval::Ends;
use crate::full::assumed;
use crate::model::{AssumedAnswer, Report};
use crate::phrases;
use crate::title::Titles;

/// The answer to a question.
#[derive(Serialize, JsonSchema)]
pub(super) struct Answer<'a> {
    /// The question as written.
    question: &'a str,
    /// Whether the question says `must`: if it is answered no, the run exits with 3.
    must: bool,
    /// The answer in a word.
    reply: Reply,
    /// The answer as a sentence.
    sentence: String,
    /// The test in words, with its degrees of freedom and number of observations.
    test: String,
    /// The estimate; null if the test has none.
    estimate: Option<Estimate>,
    /// P-value of the test.
    #[schemars(range(min = 0, max = 1))]
    p_value: Option<f64>,
    /// The p-value adjusted for the number of questions (Holm); null if only one question was tested.
    #[schemars(range(min = 0, max = 1))]
    p_value_adjusted: Option<f64>,
    /// The table of an analysis of variance.
    anova: Option<Vec<AnovaRow>>,
    /// The same question at each load, if it was asked about several.
    parts: Vec<Part>,
    /// Assumptions that do not hold, and other remarks.
    remarks: Vec<String>,
    /// Of a prediction: how far off the model may be, and whether it tells apart what is asked about.
    model_error: Option<String>,
    /// Of a prediction: the assumed values of the site with which it would be another answer.
    assumed: Vec<Supposed<'a>>,
}

/// The answer with another plausible value of what is assumed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SupposedAnswer")]
struct Supposed<'a> {
    /// The path of the value in the site file.
    parameter: &'a str,
    /// The assumed value, in the notation of site files.
    value: &'a str,
    /// The other one.
    other: &'a str,
    /// Whether the site file leaves the value to the default.
    is_default: bool,
    /// The answer in a word, with the other one.
    reply: Reply,
    /// The estimate with the other one; null if the test has none.
    estimate: Option<f64>,
    /// The same as a sentence.
    sentence: String,
}

/// An estimate that answers a question.
#[derive(Serialize, JsonSchema)]
struct Estimate {
    /// The estimated quantity, such as `nas / local, IOPS`.
    of: String,
    /// The estimate.
    value: Number,
    /// Its confidence interval.
    interval: Option<Ends>,
    /// The level of the interval.
    level: f64,
    /// Whether it is a ratio; otherwise it is in the unit of its metric.
    is_ratio: bool,
}

/// A row of an analysis of variance.
#[derive(Serialize, JsonSchema)]
struct AnovaRow {
    /// The term, such as `datastore × workload` or `residual`.
    term: String,
    /// Sum of squares, in the squared unit of the observations.
    sum_of_squares: Number,
    /// Degrees of freedom.
    df: Number,
    /// Sum of squares divided by the degrees of freedom.
    mean_square: Number,
    /// F statistic; null for the residual.
    f: Option<f64>,
    /// P-value of no effect; null for the residual.
    p: Option<f64>,
    /// Partial η²: the share of its own and the residual's sum of squares; null for the residual.
    partial_eta_squared: Option<f64>,
}

/// The answer at one load.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AnswerPart")]
struct Part {
    /// The load, such as `vm-4k, 16 VMs × 4`.
    load: String,
    /// The estimate.
    value: Number,
    /// Its confidence interval.
    interval: Option<Ends>,
    /// The answer in a word.
    reply: Reply,
}

impl<'a> Answer<'a> {
    pub(super) fn of(
        (report, index): (&'a Report, usize),
        answer: &'a stormeter_statistics::Answer,
        titles: Titles,
    ) -> Self {
        let supposed = report.assumed.iter().filter(|one| one.question == index);
        let rows = answer.table.as_ref().map(|table| table.rows.iter());
        Self {
            question: &answer.question,
            must: answer.must,
            reply: answer.reply,
            sentence: phrases::answer(answer, titles),
            test: phrases::test(answer, titles),
            estimate: answer.estimate.as_ref().map(|it| Estimate::of(answer, it, titles)),
            p_value: answer.p_value,
            p_value_adjusted: answer.p_value_adjusted,
            anova: rows.map(|rows| rows.map(AnovaRow::of).collect()),
            parts: answer.parts.iter().map(Part::of).collect(),
            remarks: answer.remarks.iter().map(|it| phrases::remark(it, titles)).collect(),
            model_error: phrases::model_error(&report.header, answer),
            assumed: supposed.map(|one| Supposed::of(report, one)).collect(),
        }
    }
}

impl<'a> Supposed<'a> {
    fn of(report: &Report, one: &'a AssumedAnswer) -> Self {
        let AssumedAnswer { of, answer, .. } = one;
        Self {
            parameter: &of.parameter,
            value: &of.value,
            other: &of.other,
            is_default: of.is_default,
            reply: answer.reply,
            estimate: answer.estimate.as_ref().map(|estimate| estimate.value),
            sentence: assumed::sentence(report, one),
        }
    }
}

impl Estimate {
    fn of(
        answer: &stormeter_statistics::Answer,
        estimate: &AnswerEstimate,
        titles: Titles,
    ) -> Self {
        Self {
            of: phrases::estimated(answer, titles),
            value: estimate.value.into(),
            interval: estimate.interval.map(Ends::from),
            level: estimate.level,
            is_ratio: answer.unit().is_none(),
        }
    }
}

impl AnovaRow {
    fn of(row: &AnswerRow) -> Self {
        Self {
            term: phrases::row_term(&row.term),
            sum_of_squares: row.sum_of_squares.into(),
            df: row.df.into(),
            mean_square: row.mean_square.into(),
            f: row.f,
            p: row.p,
            partial_eta_squared: row.partial_eta_squared,
        }
    }
}

impl Part {
    fn of(part: &AnswerPart) -> Self {
        Self {
            load: phrases::load(&part.load),
            value: part.value.into(),
            interval: part.interval.map(Ends::from),
            reply: part.reply,
        }
    }
}
