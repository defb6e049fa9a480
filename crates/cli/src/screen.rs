//! What a study shows while it runs, on stderr: a few lines that are drawn over on a terminal, one plain
//! line a trial elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use stormeter_disk::units::{format_bytes, format_count, format_duration_ns};
use stormeter_driver::{Interval, Sample};
use stormeter_report::printable;
use stormeter_runner::{BlockEnd, Place, Progress, TrialStart};
use terminal_size::{Width, terminal_size_of};

use crate::progress::bar;

/// Redrawing more often than this only costs CPU time that is measured.
const REDRAW: Duration = Duration::from_millis(200);
/// The width where the terminal does not tell its own.
const USUAL_WIDTH: usize = 80;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Nothing at all.
    Quiet,
    /// A line a trial.
    Plain,
    /// Lines that are drawn over.
    Live,
}

/// Draws a study.
pub(crate) struct Screen {
    manner: Manner,
    title: String,
    /// Lines on the terminal that are ours.
    lines: usize,
    drawn: Option<Instant>,
    trial: Option<Under>,
    blocks: String,
}

/// The trial under way.
struct Under {
    what: String,
    heading: String,
    since: Instant,
    length: Option<Duration>,
    rest: Option<Duration>,
    operations: u64,
    latency_sum_ns: u64,
    seconds: f64,
}

impl Screen {
    pub(crate) fn new(title: &str, quiet: bool) -> Self {
        let manner = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Manner::Quiet,
            (false, true) => Manner::Live,
            (false, false) => Manner::Plain,
        };
        Self {
            manner,
            title: title.into(),
            lines: 0,
            drawn: None,
            trial: None,
            blocks: String::new(),
        }
    }

    /// Draws these lines over the last ones.
    fn draw(&mut self, lines: &[String], force: bool) {
        let due = self.drawn.is_none_or(|at| at.elapsed() >= REDRAW);
        if self.manner != Manner::Live || !(due || force) {
            return;
        }
        let mut text = self.wiped();
        // Longer lines would wrap, and be drawn over only in part. Asked anew: windows are resized.
        let width = terminal_size_of(std::io::stderr())
            .map_or(USUAL_WIDTH, |(Width(columns), _)| usize::from(columns))
            .saturating_sub(1);
        for line in lines {
            let line: String = printable(line).chars().take(width).collect();
            text.push_str(&line);
            text.push('\n');
        }
        // A terminal that is gone is no reason to end a measurement.
        let _ = std::io::stderr().write_all(text.as_bytes());
        self.lines = lines.len();
        self.drawn = Some(Instant::now());
    }

    /// What removes our lines from the terminal.
    fn wiped(&mut self) -> String {
        let lines = std::mem::take(&mut self.lines);
        if lines == 0 { String::new() } else { format!("\x1b[{lines}A\x1b[0J") }
    }

    /// A line that stays.
    fn say(&mut self, text: &str) {
        if self.manner != Manner::Quiet {
            let text = format!("{}{}\n", self.wiped(), printable(text));
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }

    fn draw_trial(&mut self, force: bool) {
        let Some(trial) = &self.trial else { return };
        let lines = [self.title.clone(), trial.heading.clone(), trial.line(), trial.figures()];
        self.draw(&lines, force);
    }
}

impl Under {
    fn line(&self) -> String {
        let spent = self.since.elapsed();
        match self.length {
            Some(length) => {
                let share = spent.as_secs_f64() / length.as_secs_f64().max(1e-9);
                format!("  {} {}", bar(share), self.what)
            }
            None => format!("  {} {}", seconds(spent), self.what),
        }
    }

    fn figures(&self) -> String {
        let rest = self.rest.map(|rest| rest.saturating_sub(self.since.elapsed()));
        let left = rest.map_or(String::new(), |left| format!("at most {} left", seconds(left)));
        if self.operations == 0 {
            return format!("  {left}");
        }
        let iops = self.operations as f64 / self.seconds.max(1e-9);
        let latency = self.latency_sum_ns as f64 / self.operations as f64;
        format!("  {} IOPS, {} mean, {left}", format_count(iops), format_duration_ns(latency))
    }
}

fn seconds(time: Duration) -> String {
    format_duration_ns(time.as_secs().max(1) as f64 * 1e9)
}

fn heading(place: &Place<'_>, blocks: &str) -> String {
    let failed = match place.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    format!("  trial {} of {}{blocks}{failed}", place.number, place.of)
}

impl Drop for Screen {
    fn drop(&mut self) {
        let text = self.wiped();
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

impl Progress for Screen {
    fn preparing(&mut self, datastore: &str, done: u64, total: u64) {
        let share = done as f64 / total.max(1) as f64;
        let (done, total) = (format_bytes(done), format_bytes(total));
        let line = format!("  {} writing {datastore}: {done} of {total}", bar(share));
        let title = self.title.clone();
        self.draw(&[title, line], false);
    }

    fn resetting(&mut self, datastore: &str) {
        let title = self.title.clone();
        self.draw(&[title, format!("  bringing the disks of {datastore} back")], true);
    }

    fn trial(&mut self, start: &TrialStart<'_>) {
        let (what, heading, rest) = match &start.place {
            Some(place) => (
                place.cell.to_owned(),
                heading(place, &self.blocks),
                Some(Duration::from_nanos(place.rest_ns)),
            ),
            None => (format!("{} {}", start.purpose, start.datastore), String::new(), None),
        };
        self.trial = Some(Under {
            what,
            heading,
            since: Instant::now(),
            length: start.length_ns.map(Duration::from_nanos),
            rest,
            operations: 0,
            latency_sum_ns: 0,
            seconds: 0.0,
        });
        self.draw_trial(true);
    }

    fn interval(&mut self, row: &Interval) {
        if let Some(trial) = &mut self.trial {
            for kind in [&row.reads, &row.writes] {
                trial.operations += kind.operations;
                trial.latency_sum_ns += kind.latency_sum_ns;
            }
            trial.seconds += row.length_ns as f64 / 1e9;
        }
        self.draw_trial(false);
    }

    fn study_trial_ended(&mut self, place: &Place<'_>, outcome: Result<&Sample, &str>) {
        self.trial = None;
        match outcome {
            Err(reason) => self.say(&format!(
                "trial {} of {}: {}: failed: {reason}",
                place.number, place.of, place.cell
            )),
            Ok(sample) if self.manner == Manner::Plain => self.say(&plain(place, sample)),
            Ok(_) => {}
        }
    }

    fn block_ended(&mut self, end: &BlockEnd) {
        self.blocks = format!(", {} of at most {} blocks done", end.blocks, end.most);
    }

    fn note(&mut self, text: &str) {
        self.say(text);
    }
}

/// A trial that was measured, in a line.
fn plain(place: &Place<'_>, sample: &Sample) -> String {
    let total = sample.total();
    let latency = total
        .latency_mean_ns()
        .map_or(String::new(), |mean| format!(", {} mean", format_duration_ns(mean)));
    format!(
        "trial {} of {}: {}: {} IOPS{latency}",
        place.number,
        place.of,
        place.cell,
        format_count(sample.iops())
    )
}
