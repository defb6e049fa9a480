//! `stormeter doctor`.

use stormeter_datastore::RealClock;
use stormeter_report::datastore_note;
use stormeter_runner::{Advice, Health, Way, examine};
use stormeter_study::StudyPlan;

use crate::arguments::DoctorOptions;
use crate::commands::compare;
use crate::defaults::{DefaultsPlace, variables};
use crate::exit::{Exit, Failure};
use crate::output::{print, print_tables};

pub(crate) fn run(options: &DoctorOptions) -> Result<Exit, Failure> {
    let plan = default_comparison(&options.datastores);
    let mut found = examine(&RealClock::new(), &options.datastores, plan.as_ref());
    found.push(Advice {
        subject: "defaults".into(),
        found: DefaultsPlace::of(&variables()).described(),
        health: Health::Good,
        advice: String::new(),
        notes: Vec::new(),
        way: None,
    });
    for advice in found.iter_mut().filter(|advice| !advice.notes.is_empty()) {
        let sentences: Vec<String> = advice.notes.iter().map(datastore_note).collect();
        advice.advice = sentences.join("; ");
    }
    if options.json {
        let text = serde_json::to_string_pretty(&found)
            .map_err(|error| Failure::File(error.to_string()))?;
        print(&format!("{text}\n"))?;
    } else {
        print_tables(&text(&found))?;
    }
    let bad = found.iter().any(|advice| advice.health == Health::Bad);
    Ok(if bad { Exit::Failed } else { Exit::Done })
}

/// The comparison of the datastores with nothing but defaults; of one, with itself.
fn default_comparison(datastores: &[String]) -> Option<StudyPlan> {
    let first = datastores.first()?;
    let mut urls = datastores.to_vec();
    if urls.len() == 1 {
        urls.push(first.clone());
    }
    compare::plan_by_default(urls)
}

/// One row a check; below a datastore, the way to it.
fn text(found: &[Advice]) -> String {
    let width = found.iter().map(|a| a.subject.chars().count()).max().unwrap_or(0).min(20);
    let mut text = String::new();
    for advice in found {
        let mark = match advice.health {
            Health::Good => "ok  ",
            Health::Fair => "fair",
            Health::Bad => "BAD ",
        };
        if advice.subject.chars().count() > width {
            // A long URL has a line of its own, so that what follows stays a column.
            text += &format!("{mark}  {}\n      {:width$}  {}\n", advice.subject, "", advice.found);
        } else {
            text += &format!("{mark}  {:width$}  {}\n", advice.subject, advice.found);
        }
        if !advice.advice.is_empty() {
            text += &format!("      {:width$}  → {}\n", "", advice.advice);
        }
        let rows = advice.way.as_ref().map(Way::rows).unwrap_or_default();
        for (name, value) in rows {
            text += &format!("      {name:>width$}  {value}\n");
        }
    }
    text
}
