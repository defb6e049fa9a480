//! What a browser is sent: the parts of the page that have changed since it was sent them last, and new columns of the heat
//! map, as server-sent events (HTML Standard, section 9.2).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stormeter_watch::{Fed, Feed};

use crate::course::Course;
use crate::heat::{Column, Map};
use crate::shown::Shown;

/// So that neither end takes silence for the loss of the other.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);
/// How soon a browser connects again that has lost its connection.
const GREETING: &str = "retry: 1000\n\n";

/// What one browser has been sent of a map: the columns that there were, how fine they were, and how many were complete.
#[derive(Debug, Clone, Copy, Default)]
struct Sent {
    count: u64,
    each: u64,
    complete: usize,
}

/// What one browser has been sent.
pub(crate) struct ViewerFeed {
    shown: Arc<Shown>,
    open: Arc<AtomicUsize>,
    /// By part.
    versions: Vec<u64>,
    /// By map.
    columns: Vec<Sent>,
    last: Option<Instant>,
    has_ended: bool,
}

impl ViewerFeed {
    /// The feed of a browser that has nothing yet; `open` counts them.
    pub(crate) fn new(shown: Arc<Shown>, open: Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        let (versions, columns) = (Vec::new(), Vec::new());
        Self { shown, open, versions, columns, last: None, has_ended: false }
    }
}

impl Drop for ViewerFeed {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Feed for ViewerFeed {
    fn next(&mut self, now: Instant) -> Fed {
        if self.has_ended {
            return Fed::End;
        }
        let mut text = String::new();
        if self.last.is_none() {
            text.push_str(GREETING);
        }
        let is_over = self.shown.with_parts(now, |parts, is_over| {
            self.versions.resize(parts.len(), 0);
            for (sent, part) in self.versions.iter_mut().zip(parts) {
                if *sent != part.version {
                    *sent = part.version;
                    event(&mut text, "part", &json!({ "id": part.id, "html": &*part.html }));
                }
            }
            is_over
        });
        let heat = new_columns(&self.shown.course, &mut self.columns);
        if let Some(heat) = heat {
            event(&mut text, "heat", &heat);
        }
        if is_over {
            event(&mut text, "ended", &json!({}));
            self.has_ended = true;
        }
        let is_quiet = self.last.is_some_and(|last| now.duration_since(last) < SIGN_OF_LIFE);
        match text.is_empty() {
            true if is_quiet => return Fed::Later,
            // A comment.
            true => text.push_str(": still here\n\n"),
            false => {}
        }
        self.last = Some(now);
        Fed::Bytes(text.into_bytes())
    }
}

fn event(text: &mut String, name: &str, data: &Value) {
    // JSON has no line breaks of its own.
    text.push_str(&format!("event: {name}\ndata: {data}\n\n"));
}

/// The columns after those that were sent; all of a map that was thinned since.
fn new_columns(course: &Course, sent: &mut Vec<Sent>) -> Option<Value> {
    let now_s = course.now_ns() as f64 / 1e9;
    let state = course.state();
    sent.resize(state.maps.len(), Sent::default());
    let maps: Vec<Value> = state
        .maps
        .iter()
        .zip(sent)
        .enumerate()
        .filter_map(|(group, (map, sent))| new_of(group, map, sent))
        .collect();
    (!maps.is_empty()).then(|| json!({ "now": hundredths(now_s), "maps": maps }))
}

fn new_of(group: usize, map: &Map, sent: &mut Sent) -> Option<Value> {
    let columns = &map.columns;
    if sent.count == columns.count() {
        return None;
    }
    let from = if sent.each == columns.each() { sent.complete } else { 0 };
    *sent = Sent { count: columns.count(), each: columns.each(), complete: columns.complete() };
    let new = columns.items().get(from..)?;
    let columns: Vec<Value> = new.iter().map(column).collect();
    Some(json!({ "group": group, "name": map.name, "from": from, "columns": columns }))
}

/// `[start in s, length in s, first band, [counts]]`.
fn column(column: &Column) -> Value {
    let start = column.start_ns as f64 / 1e9;
    let length = column.end_ns.saturating_sub(column.start_ns) as f64 / 1e9;
    let first = column.bands.iter().next().map_or(0, |(band, _)| band);
    let counts: Vec<u64> = column.bands.iter().map(|(_, count)| count).collect();
    json!([hundredths(start), hundredths(length), first, counts])
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
