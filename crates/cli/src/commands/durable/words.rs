//! What was found, in words.

use stormeter_datastore::DatastoreUrl;
use stormeter_disk::Acknowledged;
use stormeter_durable::{Causes, JournalRead, Lost, Outcome, Verdict};

/// Ranges of lost records that are listed.
const MOST_RANGES: usize = 10;
/// Misplaced records that are listed.
const MOST_MISPLACED: usize = 5;

/// What the report is about.
pub(super) struct Told<'a> {
    pub(super) url: &'a DatastoreUrl,
    pub(super) journal: &'a JournalRead,
    pub(super) verdict: &'a Verdict,
    /// The storage is this machine's, which was not restarted since.
    pub(super) is_same_boot: bool,
}

/// Text for a terminal.
pub(super) fn line(text: &str) -> String {
    stormeter_report::printable(text)
}

pub(super) fn bytes(bytes: u64) -> String {
    stormeter_units::format_bytes(bytes)
}

/// `2026-11-21 20:45:12.042 UTC`.
pub(super) fn time(unix_ms: u64) -> String {
    let minute = stormeter_report::utc(unix_ms);
    let minute = minute.trim_end_matches(" UTC");
    format!("{minute}:{:02}.{:03} UTC", unix_ms / 1000 % 60, unix_ms % 1000)
}

/// A word as a shell reads it.
pub(super) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:%@,+".contains(c);
    if text.chars().all(is_plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// The verdict as one line, then what it rests on.
pub(super) fn report(told: &Told<'_>, is_removed: bool) -> String {
    let Told { url, journal, verdict, .. } = *told;
    let ring = &journal.header.ring;
    let mut rows: Vec<(&str, String)> = Vec::new();
    rows.push(("datastore", url.to_string()));
    let how = match journal.header.durable {
        true => format!("each write durable, acknowledged {} at a time", ring.group),
        false => format!("a flush after every {}", ring.group),
    };
    let (size, block) = (bytes(ring.disk_bytes), bytes(u64::from(ring.block_bytes)));
    rows.push(("records", format!("of {block} on {size}, {how}")));
    if let Some(promise) = &journal.header.promise {
        rows.push(("without a flush", unflushed(promise.acknowledged).into()));
    }
    rows.push(("acknowledged", acknowledged(journal)));
    rows.push(("judged", judged(verdict)));
    rows.extend(losses(verdict));
    if verdict.later > 0 || verdict.torn_under_way > 0 {
        rows.push(("not acknowledged", under_way(verdict)));
    }
    if let Some(beyond) = verdict.beyond_journal {
        let text = format!(
            "record {beyond} is there, far behind the journal's last line: the journal lost its end, and what \
             those lines said is not judged"
        );
        rows.push(("journal", text));
    }
    if told.is_same_boot {
        let text = "this machine was not restarted since the records were written: unless its storage lost power by \
                    itself, nothing was put to the test";
        rows.push(("note", text.into()));
    }
    let disk = match is_removed {
        true => "removed",
        false => "stays where it is; check again with --remove to remove it",
    };
    rows.push(("disk", disk.into()));
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = format!("{}\n\n", line(&headline(verdict)));
    for (name, value) in rows {
        text += &format!("  {name:width$}  {}\n", line(&value));
    }
    text
}

/// The verdict in one sentence.
pub(super) fn headline(verdict: &Verdict) -> String {
    let Verdict { lost, judged, misplaced_count, .. } = *verdict;
    match verdict.outcome {
        Outcome::Kept => format!("Nothing lost: all {judged} acknowledged records are there."),
        Outcome::NothingToJudge if verdict.acknowledged == 0 => {
            "Nothing to judge: no record was acknowledged before the end.".into()
        }
        Outcome::NothingToJudge => {
            "Nothing to judge: the journal ends too long before the last record.".into()
        }
        Outcome::Broken if lost == 0 => format!(
            "{}; no acknowledged record is lost.",
            records(misplaced_count, "is where it does not belong", "are where they do not belong")
        ),
        Outcome::Broken if lost == judged => {
            format!("LOST: none of the {judged} acknowledged records is there.")
        }
        Outcome::Broken => {
            let order = match verdict.order {
                Some(_) => ", and later ones are there: the order is violated",
                None if lost == 1 => ", the last one; the order is kept",
                None => ", the last ones; the order is kept",
            };
            let verb = if lost == 1 { "is" } else { "are" };
            format!("LOST: {lost} of {judged} acknowledged records {verb} gone{order}.")
        }
    }
}

fn records(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 record {one}") } else { format!("{count} records {many}") }
}

/// What the storage promised about a write that nobody flushed.
fn unflushed(acknowledged: Acknowledged) -> &'static str {
    match acknowledged {
        Acknowledged::Stable => "a write is on stable storage, as far as the storage says",
        Acknowledged::VolatileCache => "a write may be in a cache that loses it with the power",
        Acknowledged::Memory => "a write may be in the memory of a host",
        Acknowledged::Unknown => "it is unknown where a write is",
    }
}

fn acknowledged(journal: &JournalRead) -> String {
    match journal.acknowledged.last() {
        None => "none".into(),
        Some(last) => format!("1 to {}, the last at {}", last.up_to, time(last.at.unix_ms)),
    }
}

fn judged(verdict: &Verdict) -> String {
    let Verdict { judged, acknowledged, .. } = *verdict;
    match judged {
        0 => "none".into(),
        all if all == acknowledged => format!("all {all}"),
        some => format!("the last {some}; newer records replaced the others, or may have"),
    }
}

fn losses(verdict: &Verdict) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    for (index, range) in verdict.ranges.iter().take(MOST_RANGES).enumerate() {
        rows.push((if index == 0 { "lost" } else { "" }, lost(range)));
    }
    if verdict.ranges.len() > MOST_RANGES {
        rows.push((
            "",
            format!("and {} more ranges (all are in the JSON)", verdict.ranges.len() - MOST_RANGES),
        ));
    }
    if verdict.lost > 0 {
        rows.push(("found instead", causes(&verdict.causes)));
    }
    if let Some(order) = verdict.order {
        let text = format!(
            "record {} is there, and record {} is not, which was acknowledged before that was written",
            order.present, order.missing
        );
        rows.push(("order", text));
    }
    for (index, one) in verdict.misplaced.iter().take(MOST_MISPLACED).enumerate() {
        let text = format!(
            "record {} is at byte {} and belongs at {}",
            one.number, one.found_at_bytes, one.belongs_at_bytes
        );
        rows.push((if index == 0 { "misplaced" } else { "" }, text));
    }
    let more = verdict.misplaced_count.saturating_sub(MOST_MISPLACED as u64);
    if more > 0 {
        rows.push(("", format!("and {more} more")));
    }
    rows
}

fn lost(range: &Lost) -> String {
    let (from, to) =
        (time(range.acknowledged_from.at.unix_ms), time(range.acknowledged_to.at.unix_ms));
    match range.from == range.to {
        true => format!("{}, acknowledged at {from}", range.from),
        false if from == to => format!("{} to {}, acknowledged at {from}", range.from, range.to),
        false => format!("{} to {}, acknowledged from {from} to {to}", range.from, range.to),
    }
}

fn causes(causes: &Causes) -> String {
    let Causes { older, never_written, torn, misplaced, zeros, foreign, unrecognised, unreadable } =
        *causes;
    let named = [
        (older, "an older record"),
        (never_written, "what was there before the first record"),
        (torn, "a torn record"),
        (misplaced, "a record that belongs elsewhere"),
        (zeros, "zeros"),
        (foreign, "a record of another run"),
        (unrecognised, "bytes that nobody wrote"),
        (unreadable, "a block that cannot be read"),
    ];
    let named = named.iter().filter(|(count, _)| *count > 0);
    named.map(|(count, what)| format!("{count} × {what}")).collect::<Vec<_>>().join(", ")
}

fn under_way(verdict: &Verdict) -> String {
    let mut parts = Vec::new();
    if verdict.later > 0 {
        parts.push(records(verdict.later, "is there", "are there"));
    }
    if verdict.torn_under_way > 0 {
        parts.push(format!("{} torn", verdict.torn_under_way));
    }
    format!("{}: they were under way, and may be either", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_durable::{Acknowledged as Line, Content, Moment, Place, Ring, RunId, judge};

    const RING: Ring = Ring { run: RunId(1), disk_bytes: 16 * 512, block_bytes: 512, group: 2 };

    /// The first sentence after 12 records of which the places say something else.
    fn sentence(change: impl FnOnce(&mut [Place])) -> String {
        let at = Moment { unix_ms: 0, monotonic_ns: 0 };
        let lines: Vec<Line> = (1..=6).map(|n| Line { up_to: 2 * n, at }).collect();
        let record = |place: u64| if place < 12 { place + 1 } else { 0 };
        let mut places: Vec<Place> =
            (0..16).map(|place| Place::Holds(Content::Record { number: record(place) })).collect();
        change(&mut places);
        headline(&judge(&RING, &lines, &places).unwrap())
    }

    #[test]
    fn the_first_sentence_says_what_was_found() {
        let zeros = Place::Holds(Content::Zeros);
        assert_eq!(sentence(|_| {}), "Nothing lost: all 12 acknowledged records are there.");
        assert_eq!(
            sentence(|places| places[11] = zeros),
            "LOST: 1 of 12 acknowledged records is gone, the last one; the order is kept."
        );
        assert_eq!(
            sentence(|places| places[3] = zeros),
            "LOST: 1 of 12 acknowledged records is gone, and later ones are there: the order is violated."
        );
        assert_eq!(
            sentence(|places| places.fill(zeros)),
            "LOST: none of the 12 acknowledged records is there."
        );
        let misplaced = Place::Holds(Content::Misplaced { number: 3, offset_bytes: 1024 });
        assert_eq!(
            sentence(|places| places[15] = misplaced),
            "1 record is where it does not belong; no acknowledged record is lost."
        );
    }

    #[test]
    fn times_and_words_are_printed_as_they_are_used() {
        assert_eq!(time(1_795_297_512_042), "2026-11-21 21:45:12.042 UTC");
        assert_eq!(word("nfs://nas1/vm"), "nfs://nas1/vm");
        assert_eq!(word("/srv/vm?direct=0"), "'/srv/vm?direct=0'");
        assert_eq!(word("it's"), r"'it'\''s'");
    }
}
