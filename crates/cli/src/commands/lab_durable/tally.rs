//! What the checks of a datastore found, summed over the cuts.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Value, json};
use stormeter_disk::{Acknowledged, Promise};
use stormeter_lab::LabDatastore;
use stormeter_report::printable;

/// The sums.
#[derive(Debug, Default)]
pub(super) struct Tally {
    cuts: u32,
    /// Cuts after which something was lost.
    broken: u32,
    acknowledged: u64,
    judged: u64,
    lost: u64,
    torn: u64,
    misplaced: u64,
    promise: Option<Promise>,
}

/// The part of what `durable check` prints that is summed.
#[derive(Deserialize)]
struct Checked {
    /// `None`: the disk is not there at all.
    verdict: Option<Verdict>,
    journal: Journal,
    #[serde(default)]
    last: Option<Last>,
}

#[derive(Deserialize)]
struct Last {
    up_to: u64,
}

#[derive(Deserialize)]
struct Verdict {
    outcome: String,
    acknowledged: u64,
    judged: u64,
    lost: u64,
    causes: Causes,
    misplaced_count: u64,
}

#[derive(Deserialize)]
struct Causes {
    torn: u64,
}

#[derive(Deserialize)]
struct Journal {
    #[serde(default)]
    promise: Option<Promise>,
    disk_bytes: u64,
    block_bytes: u64,
}

impl Journal {
    /// The number of records that the disk holds.
    fn places(&self) -> u64 {
        self.disk_bytes / self.block_bytes.max(1)
    }
}

impl Tally {
    /// Adds what a check printed.
    pub(super) fn add(&mut self, text: &str) -> Result<(), String> {
        let checked: Checked = serde_json::from_str(text).map_err(|error| error.to_string())?;
        self.cuts += 1;
        let places = checked.journal.places();
        self.promise = checked.journal.promise.or(self.promise.take());
        let Some(verdict) = checked.verdict else {
            let acknowledged = checked.last.map_or(0, |last| last.up_to);
            // The ring holds no more of them.
            let judged = acknowledged.min(places);
            self.broken += u32::from(acknowledged > 0);
            self.acknowledged += acknowledged;
            self.judged += judged;
            self.lost += judged;
            return Ok(());
        };
        let Verdict { outcome, acknowledged, judged, lost, causes, misplaced_count } = verdict;
        self.broken += u32::from(outcome == "broken");
        self.acknowledged += acknowledged;
        self.judged += judged;
        self.lost += lost;
        self.torn += causes.torn;
        self.misplaced += misplaced_count;
        Ok(())
    }

    /// Whether acknowledged records were lost or misplaced.
    pub(super) fn has_lost(&self) -> bool {
        self.broken > 0
    }
}

/// What an unflushed write is promised to be.
fn promised(tally: &Tally) -> &'static str {
    match tally.promise.as_ref().map(|promise| promise.acknowledged) {
        Some(Acknowledged::Stable) => "stable",
        Some(Acknowledged::VolatileCache) => "volatile cache",
        Some(Acknowledged::Memory) => "memory",
        Some(Acknowledged::Unknown) | None => "unknown",
    }
}

/// A row for each datastore.
pub(super) fn table(tallies: &[(LabDatastore, Tally)]) -> String {
    let heads = [
        "datastore",
        "storage",
        "promise",
        "cuts",
        "acknowledged",
        "judged",
        "lost",
        "torn",
        "flushed is kept",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for (datastore, tally) in tallies {
        let kept = match tally.broken {
            0 => "always".to_owned(),
            broken if broken == tally.cuts => "never".to_owned(),
            broken => format!("not after {broken} cuts"),
        };
        rows.push(vec![
            printable(&datastore.name),
            printable(&datastore.what),
            promised(tally).to_owned(),
            tally.cuts.to_string(),
            tally.acknowledged.to_string(),
            tally.judged.to_string(),
            tally.lost.to_string(),
            tally.torn.to_string(),
            kept,
        ]);
    }
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            // Numbers are right-aligned.
            let _ = match (3..8).contains(&column) {
                true => write!(line, "{cell:>width$}  "),
                false => write!(line, "{cell:width$}  "),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The same for programs.
pub(super) fn json(tallies: &[(LabDatastore, Tally)]) -> Value {
    let rows = tallies.iter().map(|(datastore, tally)| {
        json!({
            "datastore": datastore.name,
            "storage": datastore.what,
            "url": datastore.url,
            "promise": tally.promise,
            "cuts": tally.cuts,
            "cuts_with_loss": tally.broken,
            "acknowledged": tally.acknowledged,
            "judged": tally.judged,
            "lost": tally.lost,
            "torn": tally.torn,
            "misplaced": tally.misplaced,
        })
    });
    json!({"datastores": rows.collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(outcome: &str, lost: u64) -> String {
        json!({
            "verdict": {
                "outcome": outcome, "acknowledged": 100, "judged": 90, "lost": lost,
                "causes": {"torn": lost / 2}, "misplaced_count": 0,
            },
            "journal": {
                "promise": {"acknowledged": "volatile-cache", "evidence": []},
                "disk_bytes": 8192, "block_bytes": 4096,
            },
        })
        .to_string()
    }

    #[test]
    fn a_disk_that_is_gone_has_lost_everything() {
        let text = json!({
            "verdict": null, "missing": true, "last": {"up_to": 16},
            "journal": {"disk_bytes": 8192, "block_bytes": 4096},
        });
        let mut tally = Tally::default();
        tally.add(&text.to_string()).unwrap();
        assert_eq!((tally.cuts, tally.broken, tally.lost, tally.acknowledged), (1, 1, 2, 16));
    }

    #[test]
    fn cuts_are_summed_and_each_datastore_has_a_row() {
        let datastore = LabDatastore {
            name: "vm.disk".into(),
            what: "virtio-blk, cache=unsafe".into(),
            url: "/dev/lab/disk".into(),
            is_blocks: true,
            agent: None,
            cut: "vm".into(),
        };
        let mut tally = Tally::default();
        tally.add(&checked("kept", 0)).unwrap();
        assert!(!tally.has_lost());
        tally.add(&checked("broken", 4)).unwrap();
        assert!(tally.has_lost() && tally.add("nothing").is_err());
        let all = [(datastore, tally)];
        let text = table(&all);
        let row = text.lines().nth(1).unwrap();
        let words: Vec<&str> = row.split("  ").map(str::trim).filter(|it| !it.is_empty()).collect();
        let expected = [
            "vm.disk",
            "virtio-blk, cache=unsafe",
            "volatile cache",
            "2",
            "200",
            "180",
            "4",
            "2",
            "not after 1 cuts",
        ];
        assert_eq!(words, expected);
        assert_eq!(json(&all)["datastores"][0]["lost"], 4);
    }
}
