//! The result in words for a terminal, and as a value for programs.

use std::fmt::Write;

use serde::Serialize;
use stormeter_study::StudyPlan;

use super::caveat::{Caveat, caveats};
use super::cell_fit::FittedStore;
use super::draft::time;
use super::store::Store;
use crate::calibrate::Compared;

/// Width of the summary: that of the narrowest usual terminal.
const WIDTH: usize = 79;

/// The absolute relative errors of predictions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Errors {
    /// How many predictions.
    pub count: usize,
    /// Their median.
    pub median: f64,
    /// The smallest that nine of ten do not exceed.
    pub nine_of_ten: f64,
    /// The largest.
    pub largest: f64,
}

impl Errors {
    /// The errors of these predictions; `None` without any.
    pub fn of(compared: &[Compared]) -> Option<Errors> {
        let mut all: Vec<f64> = compared.iter().filter_map(Compared::error).map(f64::abs).collect();
        all.sort_by(f64::total_cmp);
        let rank = |share: f64| (share * all.len() as f64).ceil() as usize;
        let at = |share: f64| all.get(rank(share).max(1) - 1).copied();
        let median = (at(0.5)? + all[all.len() / 2]) / 2.0;
        Some(Errors { count: all.len(), median, nine_of_ten: at(0.9)?, largest: *all.last()? })
    }

    /// `median 4.0 %, largest 9.1 %, of 5 cells`.
    pub(crate) fn words(&self) -> String {
        format!(
            "median {:.1} %, largest {:.1} %, of {} cells",
            100.0 * self.median,
            100.0 * self.largest,
            self.count
        )
    }
}

/// The result for programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SiteReport<'a> {
    /// The datastores, in the order of the plan.
    pub datastores: Vec<StoreReport<'a>>,
    /// What the measurements cannot tell.
    pub unknown: Vec<Caveat>,
    /// The text of the site file.
    pub site: &'a str,
}

/// A datastore for programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoreReport<'a> {
    /// Its URL, without a password.
    pub url: &'a str,
    /// What was fitted.
    #[serde(flatten)]
    pub fitted: &'a FittedStore,
    /// The error on cells held out.
    pub errors: Option<Errors>,
}

impl<'a> SiteReport<'a> {
    /// The result of a plan.
    pub fn new(plan: &StudyPlan, stores: &[(&'a Store, &'a FittedStore)], site: &'a str) -> Self {
        let report = |(store, fitted): &(&'a Store, &'a FittedStore)| StoreReport {
            url: &store.url,
            fitted,
            errors: Errors::of(&fitted.held_out),
        };
        let disks = plan.disks();
        Self {
            datastores: stores.iter().map(report).collect(),
            unknown: caveats(stores, disks.bytes * u64::from(disks.count)),
            site,
        }
    }
}

/// The result in words, in lines for narrow terminals.
pub fn summary(report: &SiteReport<'_>) -> String {
    let mut text = String::new();
    for store in &report.datastores {
        let fitted = store.fitted;
        let _ = writeln!(text, "{}: {}", fitted.name, fitted.form.words());
        for one in &fitted.device.fit.parameters {
            let key = one.name.rsplit('.').next().unwrap_or(&one.name);
            let interval = match (one.low, one.high) {
                _ if one.at_bound => "too little to be seen".into(),
                (Some(low), Some(high)) => format!("{} to {}", time(low), time(high)),
                _ => "not determined".into(),
            };
            let _ = writeln!(text, "  {key:24} {:>10}  {interval}", time(one.value));
        }
        if let Some(errors) = &store.errors {
            let _ = writeln!(text, "  error on cells held out: {}", errors.words());
        }
        text.push('\n');
    }
    text.push_str("Not known from this:\n");
    for caveat in &report.unknown {
        wrapped(&mut text, &caveat.words());
    }
    text
}

fn wrapped(text: &mut String, words: &str) {
    let mut line = String::from("-");
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{line}");
            line = String::from(" ");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}
