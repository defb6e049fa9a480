//! A comparison or a study in progress: how much is done, the precision so far, and the current trial.

use std::time::{Duration, Instant};

use stormeter_report::{datastore_labels, event_sentence, left_sentence, opened_sentence};
use stormeter_results::{DatastoreNote, EventKind};
use stormeter_runner::{BlockEnd, Estimate, Place, Progress, TrialStart};
use stormeter_study::StudyPlan;
use stormeter_trial::{Interval, Sample, TrialFailure};
use stormeter_units::format_bytes;

use super::layout::{bar, clipped, flow};
use super::screen::Screen;
use super::under::{Counted, Under, seconds};

/// The first block after which an interval is informative; before, it is always wide.
const SAID_FROM: u32 = 5;
/// Width of the overall bar in cells.
const CELLS: usize = 20;

/// Draws the progress of a run.
pub(crate) struct Display {
    screen: Screen,
    view: View,
    /// Whether a trial was measured since the last block ended: a resumed run is notified of blocks that it did
    /// not measure.
    is_measuring: bool,
    /// Whether the message that disks are being written was printed.
    is_written: bool,
}

/// The state of the run, and its layout.
#[derive(Default)]
struct View {
    title: String,
    /// Datastores by name, with short names for lines.
    labels: Vec<(String, String)>,
    /// The time limit of a comparison, and the precision that it is to reach.
    wanted: Option<Wanted>,
    /// The time at which the first block started.
    since: Option<Instant>,
    /// `trial 5 of at most 24`, of a study.
    trials: Option<String>,
    /// `3 blocks done`.
    blocks: Option<String>,
    /// `1 failed`.
    failed: Option<String>,
    /// The fraction of a study's trials that are done, and the fraction of one trial.
    share: Option<(f64, f64)>,
    /// The remaining time as of an instant: the most of a study, the estimate for a comparison.
    rest: Option<(Instant, Duration)>,
    /// `IOPS ±3.1 %`, `wanted ±2 %`.
    precision: Option<[String; 2]>,
    trial: Option<Under>,
    /// What the trials of the study count.
    counted: Counted,
}

struct Wanted {
    limit: Option<Duration>,
    precision: f64,
}

impl View {
    fn label<'a>(&'a self, datastore: &'a str) -> &'a str {
        let known = self.labels.iter().find(|(url, _)| url == datastore);
        known.map_or(datastore, |(_, label)| label)
    }

    /// The remaining time of a comparison that has a limit.
    fn limit_left(&self) -> Option<Duration> {
        let spent = self.since?.elapsed();
        Some(self.wanted.as_ref()?.limit?.saturating_sub(spent))
    }

    /// `about 40s`, `at most 8.3min left`.
    fn left(&self) -> Vec<String> {
        let rest = self.rest.map(|(at, rest)| rest.saturating_sub(at.elapsed()));
        // For a comparison `rest` is an estimate: it is shown only if it is known and differs from the limit.
        let (most, expected) = match &self.wanted {
            Some(_) => (self.limit_left(), rest.filter(|_| self.precision.is_some())),
            None => (rest, None),
        };
        let Some(most) = most else {
            return expected
                .map(|rest| format!("about {} left", seconds(rest)))
                .into_iter()
                .collect();
        };
        let mut left = vec![format!("at most {} left", seconds(most))];
        if let Some(rest) = expected.filter(|rest| *rest < most.mul_f64(0.9)) {
            left.insert(0, format!("about {}", seconds(rest)));
        }
        left
    }

    /// The fraction of the run that is done, if that is known.
    fn done(&self) -> Option<f64> {
        if let Some((done, one)) = self.share {
            let part = self.trial.as_ref().map_or(0.0, Under::share);
            return Some(done + one * part);
        }
        let spent = self.since?.elapsed().as_secs_f64();
        let (at, rest) = self.rest?;
        let rest = rest.saturating_sub(at.elapsed()).as_secs_f64();
        Some(spent / (spent + rest).max(1e-9))
    }

    fn title(&self, width: usize) -> Vec<String> {
        let title = clipped(&self.title, width);
        if title.is_empty() { Vec::new() } else { vec![title] }
    }

    fn lines(&self, width: usize) -> Vec<String> {
        let mut lines = self.title(width);
        let done = self.done();
        let done = done.map(|done| format!("{} {:.0} %", bar(done, CELLS), done * 100.0));
        let pieces = [&done, &self.trials, &self.blocks, &self.failed];
        let mut pieces: Vec<String> = pieces.into_iter().flatten().cloned().collect();
        pieces.extend(self.left());
        lines.extend(flow(&pieces, width));
        lines.extend(self.precision.iter().flat_map(|pieces| flow(pieces, width)));
        lines.extend(self.trial.iter().flat_map(|trial| trial.lines(width)));
        lines
    }
}

impl Display {
    /// A display for a run of this plan.
    pub(crate) fn of(plan: &StudyPlan, quiet: bool) -> Self {
        if !plan.is_comparison() {
            let mut display = Self::new(&plan.study, quiet);
            if plan.is_of_desktops() {
                display.view.counted = Counted::Users;
            }
            return display;
        }
        let short = datastore_labels(plan);
        let mut display = Self::new(&short.join(" / "), quiet);
        let named = plan.datastores.iter().zip(short);
        display.view.labels = named
            .flat_map(|(it, label)| [(it.name.clone(), label.clone()), (it.url.clone(), label)])
            .collect();
        let limit = plan.design.time_limit_ns.map(Duration::from_nanos);
        display.view.wanted = Some(Wanted { limit, precision: plan.design.precision });
        display
    }

    /// A display for anything else.
    pub(crate) fn new(title: &str, quiet: bool) -> Self {
        let view = View { title: title.into(), ..View::default() };
        Self { screen: Screen::new(quiet), view, is_measuring: false, is_written: false }
    }

    fn draw(&mut self, force: bool) {
        self.screen.draw(force, |width| self.view.lines(width));
    }

    /// Prints a line about something before or between trials.
    fn draw_step(&mut self, text: String, force: bool) {
        self.screen.draw(force, |width| {
            let mut lines = self.view.title(width);
            lines.extend(flow(&[text], width));
            lines
        });
    }
}

impl Progress for Display {
    fn opening(&mut self, datastore: &str) {
        self.draw_step(format!("connecting to {}", self.view.label(datastore)), true);
    }

    fn preparing(&mut self, datastore: &str, done: u64, total: u64) {
        if !std::mem::replace(&mut self.is_written, true) {
            self.screen.say_plainly("writing the disks");
        }
        let share = done as f64 / total.max(1) as f64;
        let (done, total) = (format_bytes(done), format_bytes(total));
        let datastore = self.view.label(datastore);
        let bar = bar(share, CELLS);
        self.draw_step(format!("{bar} writing disks: {datastore} {done} of {total}"), false);
    }

    fn resetting(&mut self, datastore: &str) {
        self.draw_step(format!("resetting the disks of {}", self.view.label(datastore)), true);
    }

    fn trial(&mut self, start: &TrialStart<'_>) {
        let now = Instant::now();
        let view = &mut self.view;
        let label = view.label(start.datastore);
        let what = match (&start.place, start.block) {
            (Some(place), _) => place.cell.to_owned(),
            (None, Some(block)) => format!("block {}: {label}", block + 1),
            (None, None) if start.datastore == "null:" => "load generator alone".into(),
            (None, None) => format!("{}: {label}", start.purpose),
        };
        if start.block.is_some() {
            view.since.get_or_insert(now);
            self.is_measuring = true;
        }
        if let Some(place) = &start.place {
            let of = place.of.max(1) as f64;
            view.share = Some((place.number.saturating_sub(1) as f64 / of, 1.0 / of));
            view.rest = Some((now, Duration::from_nanos(place.rest_ns)));
            view.trials = Some(format!("trial {} of at most {}", place.number, place.of));
            view.failed = (place.failed > 0).then(|| format!("{} failed", place.failed));
        }
        view.trial = Some(Under::new(what, start.length_ns, view.counted));
        self.draw(true);
    }

    fn interval(&mut self, row: &Interval) {
        if let Some(trial) = &mut self.view.trial {
            trial.add(row);
        }
        self.draw(false);
    }

    fn trial_ended(&mut self, place: Option<&Place<'_>>, outcome: Result<&Sample, &TrialFailure>) {
        let shown = self.view.trial.take();
        let Some(place) = place else {
            let Some(trial) = shown else { return };
            match outcome {
                Ok(sample) => {
                    let done = counted(sample).done(sample.operations(), sample.iops());
                    let what = &trial.what;
                    self.screen.say_plainly(&format!("{what}: {done}{}", trial.and_latency()));
                }
                Err(reason) => self.screen.say(&format!("{}: trial failed: {reason}", trial.what)),
            }
            return;
        };
        let trial = format!("trial {} of {}: {}", place.number, place.of, place.cell);
        match outcome {
            Err(reason) => self.screen.say(&format!("{trial}: failed: {reason}")),
            Ok(sample) => {
                let mean = sample.total().latency_mean_ns();
                let counted = counted(sample);
                let mean =
                    mean.map_or(String::new(), |mean| format!(", {}", counted.latency(mean)));
                let done = counted.done(sample.operations(), sample.iops());
                self.screen.say_plainly(&format!("{trial}: {done}{mean}"));
            }
        }
    }

    fn block_ended(&mut self, end: &BlockEnd) {
        let (view, blocks) = (&mut self.view, end.blocks);
        let Some(Estimate { metric, half_width, rest_ns }) = end.estimate else {
            view.blocks = Some(format!("{blocks} of at most {} blocks done", end.most));
            return;
        };
        view.rest = Some((Instant::now(), Duration::from_nanos(rest_ns)));
        view.blocks =
            Some(if blocks == 1 { "1 block done".into() } else { format!("{blocks} blocks done") });
        let precision = half_width.zip(view.wanted.as_ref()).filter(|(half, _)| half.is_finite());
        view.precision = precision.filter(|_| blocks >= SAID_FROM).map(|(half, wanted)| {
            let half = match half * 100.0 {
                half if half > 999.0 => ">999".into(),
                half => format!("{half:.1}"),
            };
            let wanted = format!("wanted ±{:.1} %", wanted.precision * 100.0);
            [format!("{} ±{half} %", metric.title()), wanted]
        });
        if std::mem::take(&mut self.is_measuring) {
            let pieces = view.blocks.iter().chain(view.precision.iter().flatten()).cloned();
            let pieces: Vec<String> = pieces.chain(view.left()).collect();
            self.screen.say_plainly(&pieces.join(", "));
        }
    }

    fn event(&mut self, event: &EventKind) {
        self.screen.say(&event_sentence(event));
    }

    fn opened(&mut self, datastore: &str, note: &DatastoreNote) {
        self.screen.say(&opened_sentence(datastore, note));
    }

    fn left_behind(&mut self, left: &DatastoreNote) {
        self.screen.say(&left_sentence(left));
    }

    fn note(&mut self, text: &str) {
        self.screen.say(text);
    }
}

/// What a trial has counted.
fn counted(sample: &Sample) -> Counted {
    if sample.desktops.is_some() { Counted::Users } else { Counted::Ios }
}

#[cfg(test)]
mod tests {
    use stormeter_study::{Metric, parse_study};

    use super::*;

    #[test]
    fn what_is_left_of_a_comparison_is_limited_only_where_a_limit_was_given() {
        let left = |study: &str| {
            let mut display = Display::of(&parse_study(study).unwrap(), true);
            display.view.since = Some(Instant::now());
            let mut end = |blocks, half_width| {
                let metric = Metric::Iops;
                let estimate = Some(Estimate { metric, half_width, rest_ns: 60_000_000_000 });
                display.block_ended(&BlockEnd { blocks, most: 100, estimate });
                display.view.left()
            };
            let before = end(1, None);
            let after = end(5, Some(0.1));
            (before.join(", "), after.join(", "))
        };
        let (before, after) = left("datastores: {a: /a, b: /b}");
        assert!(before.is_empty(), "{before}");
        assert!(after.starts_with("about ") && after.ends_with(" left"), "{after}");
        let (before, after) = left("datastores: {a: /a, b: /b}\ndesign: {time-limit: 10min}");
        assert!(before.starts_with("at most ") && !before.contains("about"), "{before}");
        assert!(after.starts_with("about ") && after.contains("at most "), "{after}");
    }
}
