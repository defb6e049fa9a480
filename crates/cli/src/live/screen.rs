//! Standard error as a place to draw: how much is shown there, how wide it is, how often it is drawn.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use stormeter_report::printable;
use terminal_size::{Height, Width, terminal_size_of};

use super::canvas::Canvas;
use super::layout::wrapped;

/// Redrawing more often than this only costs CPU time that is measured.
const REDRAW: Duration = Duration::from_millis(200);
/// The size where the terminal does not say its own.
const USUAL: (usize, usize) = (80, 24);

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

/// Standard error, with lines of ours at its end. They are removed when it is dropped.
pub(crate) struct Screen {
    manner: Manner,
    canvas: Canvas,
    drawn: Option<Instant>,
}

impl Screen {
    /// `quiet` shows nothing at all.
    pub(crate) fn new(quiet: bool) -> Self {
        let manner = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Manner::Quiet,
            (false, true) => Manner::Live,
            (false, false) => Manner::Plain,
        };
        Self { manner, canvas: Canvas::default(), drawn: None }
    }

    /// Draws lines over the last ones, unless that was done just now and need not be; `lines` makes
    /// them for a width.
    pub(crate) fn draw(&mut self, force: bool, lines: impl FnOnce(usize) -> Vec<String>) {
        let due = self.drawn.is_none_or(|at| at.elapsed() >= REDRAW);
        if self.manner != Manner::Live || !(due || force) {
            return;
        }
        let size = size();
        let lines = lines(size.0.saturating_sub(1));
        write(&self.canvas.frame(&lines, size));
        self.drawn = Some(Instant::now());
    }

    /// A line that stays.
    pub(crate) fn say(&mut self, text: &str) {
        let text = printable(text);
        match self.manner {
            Manner::Quiet => {}
            Manner::Plain => write(&format!("{text}\n")),
            Manner::Live => {
                let (width, _) = size();
                write(&format!("{}{}\n", self.canvas.wiped(width), wrapped(&text, width)));
            }
        }
    }

    /// A line that stays where nothing is drawn over.
    pub(crate) fn say_plainly(&mut self, text: &str) {
        if self.manner == Manner::Plain {
            self.say(text);
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.manner == Manner::Live {
            write(&self.canvas.wiped(size().0));
        }
    }
}

/// Columns and rows. Asked each time: windows are resized.
fn size() -> (usize, usize) {
    let known = terminal_size_of(std::io::stderr())
        .map(|(Width(columns), Height(rows))| (usize::from(columns), usize::from(rows)));
    known.filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(USUAL)
}

fn write(text: &str) {
    // A terminal that is gone is no reason to end a measurement.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
