//! The words of a question, read from left to right.
//!
//! At each position the parser records what it would have accepted; if nothing matches, that list
//! becomes the error's. It never backtracks beyond the current choice, so the list is always about
//! the first word that is wrong.

use super::claim::{Claim, Question, Scope};
use super::error::QuestionError;
use super::metric_name::{all_names, metric_at};
use super::nearest::nearest;
use super::text::in_quotes;
use super::token::{Token, tokens};
use super::vocabulary::{Vocabulary, find};
use crate::plan::Metric;

/// Number of names that an error lists before it gives the number of the others.
const MOST_NAMES: usize = 8;

/// The unread words, and what could come next.
pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    pub(super) vocabulary: &'a Vocabulary,
    expected: Vec<String>,
    candidates: Vec<String>,
    /// The position of the percentage of a change, to point at it when the metric is known.
    pub(super) change_place: Option<usize>,
    /// The claim is about two workloads.
    pub(super) compares_workloads: bool,
}

impl<'a> Parser<'a> {
    /// Splits the text into words.
    pub(super) fn new(text: &'a str, vocabulary: &'a Vocabulary) -> Result<Self, QuestionError> {
        let tokens = tokens(text).map_err(|column| QuestionError {
            text: text.into(),
            column,
            what: "this quote is never closed".into(),
            expected: Vec::new(),
            nearest: None,
        })?;
        let (expected, candidates) = (Vec::new(), Vec::new());
        Ok(Self {
            text,
            tokens,
            at: 0,
            vocabulary,
            expected,
            candidates,
            change_place: None,
            compares_workloads: false,
        })
    }

    /// The whole question.
    pub(super) fn question(mut self) -> Result<Question, QuestionError> {
        let (must, mut claim) = self.claim()?;
        let mut scope = Scope::default();
        while self.at < self.tokens.len() {
            self.clause(&mut claim, &mut scope)?;
        }
        self.check_change(&claim)?;
        self.check_levels(&claim, &scope)?;
        Ok(Question { must, claim, scope })
    }

    /// A claim about a metric, or about a datastore or workload.
    fn claim(&mut self) -> Result<(bool, Claim), QuestionError> {
        // A datastore or workload may have a metric's name: then the verb decides.
        let verbs = ["is", "costs", "has", "differs", "be", "cost", "have", "differ"];
        let verb = self.tokens.iter().skip(1).find(|token| !token.is("must"));
        let is_compared = self.tokens.first().is_some_and(|token| {
            let Vocabulary { datastores, workloads, .. } = self.vocabulary;
            let known = [datastores, workloads].iter().any(|all| find(all, &token.text).is_some());
            known && verb.is_some_and(|verb| verbs.iter().any(|word| verb.is(word)))
        });
        if !is_compared && let Some((metric, words)) = metric_at(&self.tokens, 0) {
            self.advance(words);
            return self.about_metric(metric);
        }
        self.note("a metric (iops, p99 latency, ...)");
        self.candidates.extend(all_names().map(str::to_string));
        let is_known =
            |names: &[String]| self.peek().is_some_and(|token| find(names, &token.text).is_some());
        let Vocabulary { datastores, workloads, .. } = self.vocabulary;
        self.compares_workloads = !is_known(datastores) && is_known(workloads);
        let subject = self.compared()?;
        self.about_compared(subject)
    }

    /// A datastore, or a workload if those are compared.
    pub(super) fn compared(&mut self) -> Result<String, QuestionError> {
        if self.compares_workloads { self.workload() } else { self.datastore() }
    }

    /// The next word.
    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// The word after the next.
    pub(super) fn peek_second(&self) -> Option<&Token> {
        self.tokens.get(self.at + 1)
    }

    /// The position of the next word, to point at it later.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// Advances by this many words; what was expected before them no longer matters.
    pub(super) fn advance(&mut self, words: usize) {
        self.at += words;
        self.expected.clear();
        self.candidates.clear();
    }

    /// Accepts one of these keywords and returns which.
    pub(super) fn accept(&mut self, keywords: &[&str]) -> Option<usize> {
        let found =
            self.peek().and_then(|token| keywords.iter().position(|keyword| token.is(keyword)));
        if found.is_some() {
            self.advance(1);
        } else {
            self.expected.extend(keywords.iter().map(|keyword| match *keyword {
                "," => "a comma".to_string(),
                keyword => format!("`{keyword}`"),
            }));
            self.candidates.extend(keywords.iter().map(|keyword| (*keyword).to_string()));
        }
        found
    }

    /// Accepts one of these keywords, which are required here.
    pub(super) fn require(&mut self, keywords: &[&str]) -> Result<usize, QuestionError> {
        self.accept(keywords).ok_or_else(|| self.unexpected())
    }

    /// A datastore of the study.
    pub(super) fn datastore(&mut self) -> Result<String, QuestionError> {
        let names = &self.vocabulary.datastores;
        self.name(names, "datastore")
    }

    /// A workload of the study.
    pub(super) fn workload(&mut self) -> Result<String, QuestionError> {
        let names = &self.vocabulary.workloads;
        self.name(names, "workload")
    }

    fn name(&mut self, names: &[String], what: &str) -> Result<String, QuestionError> {
        if let Some(name) = self.peek().and_then(|token| find(names, &token.text)) {
            self.advance(1);
            return Ok(name.clone());
        }
        let mut listed: Vec<String> =
            names.iter().take(MOST_NAMES).map(|name| in_quotes(name)).collect();
        if names.len() > MOST_NAMES {
            listed.push(format!("{} more", names.len() - MOST_NAMES));
        }
        self.expected.push(format!("a {what} ({})", listed.join(", ")));
        self.candidates.extend(names.iter().map(|name| in_quotes(name)));
        Err(self.unexpected())
    }

    /// A metric.
    pub(super) fn metric(&mut self) -> Result<Metric, QuestionError> {
        if let Some((metric, words)) = metric_at(&self.tokens, self.at) {
            self.advance(words);
            return Ok(metric);
        }
        let names: Vec<&str> = Metric::ALL.into_iter().map(super::metric_name::name_of).collect();
        self.expected.push(format!("a metric ({})", names.join(", ")));
        self.candidates.extend(all_names().map(str::to_string));
        Err(self.unexpected())
    }

    /// Records that something else could be here.
    pub(super) fn note(&mut self, what: &str) {
        self.expected.push(what.into());
    }

    /// A percentage: `10%`, `10 %` or `10 percent`. In per cent, not as a fraction.
    pub(super) fn percent(&mut self) -> Result<f64, QuestionError> {
        let attached = self.peek().and_then(|token| token.text.strip_suffix('%'));
        let (number, words) = match attached {
            Some(number) if !number.is_empty() => (number.to_string(), 1),
            _ => {
                let text = self.peek().map_or(String::new(), |token| token.text.clone());
                let unit = self.tokens.get(self.at + 1);
                let follows = unit.is_some_and(|unit| unit.is("%") || unit.is("percent"));
                if !follows {
                    self.note("a percentage such as 10%");
                    return Err(self.unexpected());
                }
                (text, 2)
            }
        };
        match number.parse::<f64>() {
            Ok(percent) if percent.is_finite() && (0.0..=1000.0).contains(&percent) => {
                self.advance(words);
                Ok(percent)
            }
            Ok(_) => Err(self.wrong(self.at, "a percentage must be between 0% and 1000%".into())),
            Err(_) => {
                self.note("a percentage such as 10%");
                Err(self.unexpected())
            }
        }
    }

    /// A word that does not fit, or the end of the text where a word is required.
    pub(super) fn unexpected(&self) -> QuestionError {
        let what = match self.peek() {
            Some(token) => format!("{:?} is not understood here", token.text),
            None if self.tokens.is_empty() => "there is no question".into(),
            None => "the question ends too early".into(),
        };
        let nearest = self.peek().and_then(|token| {
            let alike = || nearest(&token.text, self.candidates.iter().map(String::as_str));
            self.name_without_quotes().or_else(|| alike().map(str::to_string))
        });
        QuestionError { expected: self.expected.clone(), nearest, ..self.wrong(self.at, what) }
    }

    /// A name with spaces that is not quoted here: it starts with this word, or with the previous one,
    /// which was taken for a shorter name. Returned in quotes; the longest of several.
    pub(super) fn name_without_quotes(&self) -> Option<String> {
        let Vocabulary { datastores, workloads, .. } = self.vocabulary;
        let begins = |from: usize| {
            let words = self.tokens.get(from..)?.iter().take_while(|token| !token.quoted);
            let rest: String =
                words.map(|token| format!("{} ", token.text)).collect::<String>().to_lowercase();
            let spaced = datastores.iter().chain(workloads).filter(|name| name.contains(' '));
            spaced
                .filter(|name| rest.starts_with(&format!("{} ", name.to_lowercase())))
                .max_by_key(|name| name.len())
        };
        let found = self.at.checked_sub(1).and_then(begins).or_else(|| begins(self.at));
        found.map(|name| in_quotes(name))
    }

    /// Something that is understood but wrong, at the word at that position.
    pub(super) fn wrong(&self, place: usize, what: String) -> QuestionError {
        let column = match self.tokens.get(place) {
            Some(token) => token.column,
            None => self.text.trim_end().chars().count() + 1,
        };
        QuestionError { text: self.text.into(), column, what, expected: Vec::new(), nearest: None }
    }
}
