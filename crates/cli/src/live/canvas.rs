//! A few lines at the end of a terminal that are redrawn in place. Only computes the text to write.

use stormeter_report::printable;

use super::layout::{clipped, columns};

/// Our lines on the terminal.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    /// The number of columns of each line.
    drawn: Vec<usize>,
}

impl Canvas {
    /// The text that replaces the last lines by these, on a terminal of this width and height.
    pub(super) fn frame(&mut self, lines: &[String], (width, height): (usize, usize)) -> String {
        let mut text = self.wiped(width);
        // A line as wide as the terminal may wrap, and lines that scrolled off the top cannot be redrawn.
        let room = width.saturating_sub(1);
        for line in lines.iter().take(height.saturating_sub(1)) {
            let line = clipped(&printable(line), room);
            self.drawn.push(columns(&line));
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// The text that removes our lines from the terminal.
    ///
    /// A terminal that became narrower has wrapped them into more rows, whose number follows from its current
    /// width. (xterm is the exception: it cuts lines off, and loses a row or two of what was above them.)
    pub(super) fn wiped(&mut self, width: usize) -> String {
        let rows: usize =
            self.drawn.drain(..).map(|columns| columns.div_ceil(width.max(1)).max(1)).sum();
        if rows == 0 { String::new() } else { format!("\x1b[{rows}A\x1b[0J") }
    }
}

#[cfg(test)]
mod tests {
    use stormeter_testkit::Emulator;

    use super::*;

    const HEIGHT: usize = 24;

    fn lines(number: usize) -> Vec<String> {
        let title = "Study: Which datastore for the build farm of the second building?";
        let text =
            format!("  [█████·····] trial {number} of 36, at most 12min left, or a bit more");
        vec![title.into(), text, "  short".into()]
    }

    #[test]
    fn a_resize_leaves_nothing_of_the_old_lines() {
        let mut terminal = Emulator::new(100);
        terminal.feed("$ stormeter run study.yaml\n");
        let mut canvas = Canvas::default();
        for (number, width) in [100, 60, 23, 110, 40, 200, 10, 80].into_iter().enumerate() {
            terminal.resize(width);
            terminal.feed(&canvas.frame(&lines(number), (width, HEIGHT)));
            let rows = terminal.rows();
            let command = "$ stormeter run study.yaml".len().div_ceil(width);
            assert_eq!(rows.len(), command + 3, "{width}: {rows:#?}");
            assert_eq!(terminal.wraps, 0, "{width}: {rows:#?}");
        }
        terminal.feed(&canvas.wiped(80));
        assert_eq!(terminal.rows(), ["$ stormeter run study.yaml"]);
    }

    #[test]
    fn more_lines_than_the_terminal_has_are_left_out() {
        let text = Canvas::default().frame(&lines(1), (80, 3));
        assert_eq!(text.matches('\n').count(), 2);
    }

    #[test]
    fn nothing_in_a_line_steers_the_terminal() {
        let text = Canvas::default().frame(&["a\x1b[2Jb".into()], (80, HEIGHT));
        assert!(!text.contains('\x1b'), "{text:?}");
    }
}
