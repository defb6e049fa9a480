//! The possible claims: the phrases between the names.

use super::claim::{Bound, Change, Claim, Factor, LoadFactor, Relation};
use super::error::QuestionError;
use super::parser::Parser;
use super::quantity::value_of;
use crate::plan::Metric;

impl Parser<'_> {
    /// Everything after the datastore or workload at the start, up to the scope.
    pub(super) fn about_compared(
        &mut self,
        subject: String,
    ) -> Result<(bool, Claim), QuestionError> {
        let must = self.accept(&["must"]).is_some();
        let verbs =
            if must { ["be", "cost", "have", "differ"] } else { ["is", "costs", "has", "differs"] };
        let mut metric = None;
        let relation = match self.require(&verbs)? {
            0 => self.predicate()?,
            3 => {
                self.require(&["from"])?;
                Relation::Differs
            }
            verb => {
                let changes = if verb == 1 { ["less", "more"] } else { ["lower", "higher"] };
                let relation = self.change(&changes, &[Change::Lower, Change::Higher])?;
                metric = Some(self.metric()?);
                self.require(&["than"])?;
                relation
            }
        };
        let place = self.place();
        let object = self.compared()?;
        if object == subject {
            // Perhaps another one is meant, whose name continues after this word.
            let nearest = self.name_without_quotes();
            let error = self.wrong(place, format!("{subject} is compared with itself"));
            return Err(QuestionError { nearest, ..error });
        }
        Ok((must, Claim::Compared { subject, object, relation, metric }))
    }

    /// What it is claimed to be: faster, within, equal.
    fn predicate(&mut self) -> Result<Relation, QuestionError> {
        if self.accept(&["within"]).is_some() {
            let place = self.place();
            let percent = self.percent()?;
            if percent == 0.0 {
                return Err(self.wrong(
                    place,
                    "nothing is ever shown to be within 0%: ask for a margin that matters, such \
                     as 5%"
                        .into(),
                ));
            }
            self.require(&["of"])?;
            return Ok(Relation::Within { percent });
        }
        if self.accept(&["equal"]).is_some() {
            self.require(&["to"])?;
            return Ok(Relation::Equal);
        }
        if self.accept(&["different"]).is_some() {
            self.require(&["from"])?;
            return Ok(Relation::Differs);
        }
        if self.peek().is_some_and(|token| token.is("not")) {
            let what = "a test shows no \"not\": ask for `at most 5% slower`, or for the contrary";
            return Err(self.wrong(self.place(), what.into()));
        }
        if self.peek().is_some_and(|token| token.text.ends_with('%')) {
            let what = "nothing is exactly so much faster: write `at least` or `at most` before it";
            return Err(self.wrong(self.place(), what.into()));
        }
        let changes = [Change::Faster, Change::Slower, Change::Faster, Change::Slower];
        let relation = self.change(&["faster", "slower", "better", "worse"], &changes)?;
        self.require(&["than"])?;
        Ok(relation)
    }

    /// `[at least 10%|at most 10%] faster`, with these words for the changes.
    fn change(&mut self, words: &[&str], changes: &[Change]) -> Result<Relation, QuestionError> {
        if self.accept(&["at"]).is_none() {
            let change = changes[self.require(words)?];
            return Ok(Relation::AtLeast { change, percent: 0.0 });
        }
        let at_most = self.require(&["least", "most"])? == 1;
        let place = self.place();
        let percent = self.percent()?;
        let change = changes[self.require(words)?];
        // Whether that is a rise or a fall depends on the metric, which may come last.
        self.change_place = Some(place);
        Ok(if at_most {
            Relation::AtMost { change, percent }
        } else {
            Relation::AtLeast { change, percent }
        })
    }

    /// A value that may fall by all of itself is not a claim: a question such as `at most 150%
    /// slower` about IOPS would have no answer after the whole study.
    pub(super) fn check_change(&self, claim: &Claim) -> Result<(), QuestionError> {
        let Claim::Compared { relation, metric, .. } = claim else { return Ok(()) };
        let (Relation::AtLeast { change, percent } | Relation::AtMost { change, percent }) =
            *relation
        else {
            return Ok(());
        };
        let (Some(place), Some(metric)) = (self.change_place, metric.or(self.vocabulary.metric))
        else {
            return Ok(());
        };
        if percent < 100.0 || change.is_up(metric) {
            return Ok(());
        }
        let title = metric.title();
        Err(self.wrong(
            place,
            format!("no {title} can be lower by 100% or more: ask for less than 100%"),
        ))
    }

    /// Everything after the metric at the start, up to the scope.
    pub(super) fn about_metric(&mut self, metric: Metric) -> Result<(bool, Claim), QuestionError> {
        match self.require(&["depends", "does", "must", "of"])? {
            0 => self.factors(metric, true, false),
            1 => {
                self.require(&["not"])?;
                self.require(&["depend"])?;
                self.factors(metric, false, false)
            }
            2 => {
                let not = self.accept(&["not"]).is_some();
                self.require(&["depend"])?;
                self.factors(metric, !not, true)
            }
            _ => self.of_datastore(metric),
        }
    }

    /// `on datastore, workload and their interaction`.
    fn factors(
        &mut self,
        metric: Metric,
        depends: bool,
        must: bool,
    ) -> Result<(bool, Claim), QuestionError> {
        self.require(&["on"])?;
        let mut factors: Vec<Factor> = Vec::new();
        let mut interaction = false;
        loop {
            let place = self.place();
            if !factors.is_empty() && self.accept(&["their"]).is_some() {
                self.require(&["interaction", "interactions"])?;
                if factors.len() < 2 {
                    return Err(self.wrong(place, "one factor has no interaction".into()));
                }
                interaction = true;
                break;
            }
            let factor = self.factor()?;
            if factors.contains(&factor) {
                return Err(self.wrong(place, format!("{} is named twice", factor.name())));
            }
            self.check_factor(place, factor)?;
            factors.push(factor);
            if !self.and_another() {
                break;
            }
        }
        Ok((must, Claim::Depends { metric, depends, factors, interaction }))
    }

    fn factor(&mut self) -> Result<Factor, QuestionError> {
        let names = Factor::ALL.map(Factor::name);
        Ok(Factor::ALL[self.require(&names)?])
    }

    /// A factor with one level has no effect.
    fn check_factor(&self, place: usize, factor: Factor) -> Result<(), QuestionError> {
        let levels = self.vocabulary.levels(factor);
        if levels >= 2 {
            return Ok(());
        }
        let name = factor.name();
        Err(self.wrong(
            place,
            match (factor, levels) {
                (Factor::Outstanding, 0) => "the study sets no levels of outstanding: give \
                                             several under load"
                    .into(),
                (Factor::Vms | Factor::Outstanding, _) => {
                    format!("the study has one level of {name} only: give several under load")
                }
                _ => format!("the study has one {name} only"),
            },
        ))
    }

    /// `, `, ` and ` or both, after which another item follows.
    pub(super) fn and_another(&mut self) -> bool {
        let ends = self.peek().is_some_and(|token| token.is(","));
        if ends && self.peek_second().is_some_and(|token| token.is("durably")) {
            return false;
        }
        let comma = self.accept(&[","]).is_some();
        let word = self.accept(&["and", "or"]).is_some();
        comma || word
    }

    /// `of A grows with vms`, `of A is at most 5ms`.
    fn of_datastore(&mut self, metric: Metric) -> Result<(bool, Claim), QuestionError> {
        let datastore = self.datastore()?;
        let must = self.accept(&["must"]).is_some();
        let verbs = if must {
            ["be", "grow", "fall", "rise", "increase", "decrease"]
        } else {
            ["is", "grows", "falls", "rises", "increases", "decreases"]
        };
        let verb = self.require(&verbs)?;
        if verb == 0 {
            self.require(&["at"])?;
            let at_most = self.require(&["least", "most"])? == 1;
            let bound = if at_most { Bound::AtMost } else { Bound::AtLeast };
            let limit = self.quantity(metric)?;
            return Ok((must, Claim::Bounded { metric, datastore, bound, limit }));
        }
        let grows = !matches!(verb, 2 | 5);
        self.require(&["with"])?;
        let place = self.place();
        let along = match self.require(&["vms", "outstanding"])? {
            0 => LoadFactor::Vms,
            _ => LoadFactor::Outstanding,
        };
        self.check_factor(place, along.factor())?;
        Ok((must, Claim::Trend { metric, datastore, grows, along }))
    }

    /// A number with a unit that fits the metric.
    fn quantity(&mut self, metric: Metric) -> Result<f64, QuestionError> {
        let place = self.place();
        let (example, units): (&str, &[&str]) = match metric {
            Metric::Iops => ("20000", &["iops"]),
            Metric::Updates => ("10", &["/s"]),
            Metric::Throughput => ("200MB/s", &["MB/s", "MiB/s", "KB/s", "KiB/s", "GB/s", "GiB/s"]),
            Metric::HostCpu => ("50%", &["%", "percent"]),
            _ => ("5ms", &["ns", "us", "µs", "ms", "s", "m", "h"]),
        };
        let Some(first) = self.peek().map(|token| token.text.clone()) else {
            self.note(&format!("a number such as {example}"));
            return Err(self.unexpected());
        };
        // The unit may be a separate word.
        let second = self.peek_unit(units);
        let whole = format!("{first}{}", second.clone().unwrap_or_default());
        let Some(value) = value_of(metric, &whole).filter(|value| *value > 0.0) else {
            let what = format!("{whole:?} is not a value above 0 for {}", metric.title());
            let mut error = self.wrong(place, what);
            error.expected.push(format!("a number such as {example}"));
            return Err(error);
        };
        self.advance(if second.is_some() { 2 } else { 1 });
        Ok(value)
    }

    fn peek_unit(&self, units: &[&str]) -> Option<String> {
        let next = self.peek_second()?;
        units.iter().find(|unit| next.is(unit)).map(|unit| (*unit).to_string())
    }
}
