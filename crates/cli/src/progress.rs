//! Progress on stderr: one line that is overwritten, only on a terminal. What is worth knowing later
//! is said in a line of its own, also where stderr is a file.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use stormeter_disk::units::{format_bytes, format_count, format_duration_ns};
use stormeter_driver::Interval;
use stormeter_report::printable;
use stormeter_runner::{Progress, TrialStart};
use stormeter_study::Metric;

/// Draws what happens, or nothing where nobody looks.
pub(crate) struct Line {
    quiet: bool,
    visible: bool,
    drawn: Option<Instant>,
    /// What the current trial is, and when it began.
    trial: Option<(String, Instant, Duration)>,
    /// What is known of the comparison so far.
    so_far: String,
    rest: Option<(Instant, Duration)>,
    precision: f64,
}

/// Redrawing more often than this only costs CPU time that is measured.
const REDRAW: Duration = Duration::from_millis(200);

impl Line {
    /// `precision` is the half width asked for; `quiet` draws nothing at all.
    pub(crate) fn new(precision: f64, quiet: bool) -> Self {
        let visible = !quiet && std::io::stderr().is_terminal();
        Self {
            quiet,
            visible,
            drawn: None,
            trial: None,
            so_far: String::new(),
            rest: None,
            precision,
        }
    }

    fn draw(&mut self, text: &str, force: bool) {
        let due = self.drawn.is_none_or(|at| at.elapsed() >= REDRAW);
        if self.visible && (due || force) {
            let text: String = printable(text).chars().take(99).collect();
            // A terminal that is gone is no reason to end a measurement.
            let _ = write!(std::io::stderr(), "\r\x1b[2K{text}");
            self.drawn = Some(Instant::now());
        }
    }

    fn rest(&self) -> String {
        match self.rest {
            Some((since, rest)) => {
                let left = rest.saturating_sub(since.elapsed());
                format!(", about {} left", format_duration_ns(left.as_nanos() as f64))
            }
            None => String::new(),
        }
    }

    fn draw_trial(&mut self, iops: Option<f64>, force: bool) {
        let Some((what, since, length)) = &self.trial else { return };
        let done = since.elapsed().as_secs_f64() / length.as_secs_f64().max(1e-9);
        let speed = iops.map(|iops| format!(" {} IOPS", format_count(iops))).unwrap_or_default();
        let text = format!("{} {what}{speed}{}{}", bar(done), self.so_far, self.rest());
        self.draw(&text, force);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.visible && self.drawn.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

impl Progress for Line {
    fn preparing(&mut self, datastore: &str, done: u64, total: u64) {
        let share = done as f64 / total.max(1) as f64;
        let (done, total) = (format_bytes(done), format_bytes(total));
        self.draw(&format!("{} writing {datastore} {done} of {total}", bar(share)), false);
    }

    fn trial(&mut self, start: &TrialStart<'_>) {
        let what = match start.block {
            Some(block) => format!("block {} {}", block + 1, start.datastore),
            None => format!("{} {}", start.purpose, start.datastore),
        };
        let length = Duration::from_nanos(start.length_ns.unwrap_or_default());
        self.trial = Some((what, Instant::now(), length));
        self.draw_trial(None, true);
    }

    fn interval(&mut self, row: &Interval) {
        self.draw_trial(Some(row.iops()), false);
    }

    fn trial_ended(&mut self, datastore: &str, outcome: Result<f64, &str>) {
        if let Err(reason) = outcome {
            self.note(&format!("{datastore}: trial failed: {reason}"));
        }
    }

    fn block(&mut self, blocks: u32, metric: Metric, half_width: Option<f64>, rest_ns: u64) {
        self.so_far = match half_width {
            Some(width) => format!(
                ", {blocks} done: {} ± {:.1} % (wanted {:.1} %)",
                metric.title(),
                width * 100.0,
                self.precision * 100.0
            ),
            None => format!(", {blocks} done"),
        };
        self.rest = Some((Instant::now(), Duration::from_nanos(rest_ns)));
    }

    fn note(&mut self, text: &str) {
        let wipe = if self.visible { "\r\x1b[2K" } else { "" };
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "{wipe}{text}");
        }
    }
}

pub(crate) fn bar(share: f64) -> String {
    const CELLS: usize = 10;
    let full = ((share * CELLS as f64) as usize).min(CELLS);
    format!("[{}{}]", "█".repeat(full), "·".repeat(CELLS - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_never_longer_than_itself() {
        assert_eq!(bar(0.0), "[··········]");
        assert_eq!(bar(0.55), "[█████·····]");
        assert_eq!(bar(7.0), "[██████████]");
    }
}
