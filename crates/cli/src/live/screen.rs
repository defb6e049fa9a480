//! Drawing on standard error: how much is shown, how wide, and how often it is redrawn.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use stormeter_report::printable;
use terminal_size::{Height, Width, terminal_size_of};

use super::canvas::Canvas;
use super::layout::wrapped;

/// Redrawing more often would cost CPU time that is part of the measurement.
const REDRAW: Duration = Duration::from_millis(200);
/// The size if the terminal does not report its own.
const USUAL: (usize, usize) = (80, 24);

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Nothing at all.
    Quiet,
    /// One line for each trial.
    Plain,
    /// Lines that are redrawn in place.
    Live,
}

/// Standard error with our lines at its end, which are removed on drop.
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

    /// Redraws our lines, unless that was done a moment ago and is not urgent; `lines` makes them for a width.
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

    /// Prints a line that stays.
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

    /// Prints a line that stays, unless lines are redrawn in place.
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

/// Columns and rows. Queried each time, because windows are resized.
fn size() -> (usize, usize) {
    let known = terminal_size_of(std::io::stderr())
        .map(|(Width(columns), Height(rows))| (usize::from(columns), usize::from(rows)));
    known.filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(USUAL)
}

fn write(text: &str) {
    // A lost terminal is no reason to end a measurement.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
