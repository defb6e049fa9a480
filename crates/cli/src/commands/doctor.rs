//! `stormeter doctor`.

use stormeter_datastore::RealClock;
use stormeter_report::datastore_note;
use stormeter_runner::{Advice, Health, examine};

use crate::arguments::DoctorOptions;
use crate::defaults::{DefaultsPlace, variables};
use crate::exit::{Exit, Failure};
use crate::output::{print, print_tables};

pub(crate) fn run(options: &DoctorOptions) -> Result<Exit, Failure> {
    let mut found = examine(&RealClock::new(), &options.datastores);
    found.push(Advice {
        subject: "defaults".into(),
        found: DefaultsPlace::of(&variables()).described(),
        health: Health::Good,
        advice: String::new(),
        notes: Vec::new(),
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
        let width = found.iter().map(|a| a.subject.chars().count()).max().unwrap_or(0).min(30);
        let mut text = String::new();
        for advice in &found {
            let mark = match advice.health {
                Health::Good => "ok  ",
                Health::Fair => "fair",
                Health::Bad => "BAD ",
            };
            text += &format!("{mark}  {:width$}  {}\n", advice.subject, advice.found);
            if !advice.advice.is_empty() {
                text += &format!("      {:width$}  → {}\n", "", advice.advice);
            }
        }
        print_tables(&text)?;
    }
    let bad = found.iter().any(|advice| advice.health == Health::Bad);
    Ok(if bad { Exit::Failed } else { Exit::Done })
}
