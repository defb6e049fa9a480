//! Rows of text in columns, for terminals of any width: lined up where they fit, one below the other
//! where they do not, and never broken in the middle of a word.

use crate::text::{pad_left, pad_right, wrap};

/// How rows are laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    /// Columns of white space before each line.
    pub(crate) indent: usize,
    /// Columns between two cells.
    pub(crate) gap: usize,
    /// Which cells are aligned left in their column; cells beyond the list are.
    pub(crate) left: &'a [bool],
    /// Whether the first row names the columns.
    pub(crate) has_head: bool,
}

impl Columns<'_> {
    /// The lines, each with whether it is the head.
    pub(crate) fn lines<R: AsRef<[String]>>(
        &self,
        rows: &[R],
        width: usize,
    ) -> Vec<(bool, String)> {
        let aligned = self.aligned(rows);
        if aligned.iter().all(|line| line.chars().count() <= width) {
            let lines = aligned.into_iter().enumerate();
            return lines.map(|(index, line)| (self.has_head && index == 0, line)).collect();
        }
        self.stacked(rows, width).into_iter().map(|line| (false, line)).collect()
    }

    fn aligned<R: AsRef<[String]>>(&self, rows: &[R]) -> Vec<String> {
        let count = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(width).collect();
        let gap = " ".repeat(self.gap);
        let line = |row: &R| {
            let cells = row.as_ref().iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, width))| match self.left.get(column) {
                Some(false) => pad_left(cell, *width),
                _ => pad_right(cell, *width),
            });
            let cells = cells.collect::<Vec<_>>().join(&gap);
            format!("{}{cells}", " ".repeat(self.indent)).trim_end().to_owned()
        };
        rows.iter().map(line).collect()
    }

    /// A row in two lines or more: its first cell, and below it the others with the names of their
    /// columns.
    fn stacked<R: AsRef<[String]>>(&self, rows: &[R], width: usize) -> Vec<String> {
        let (head, body) = match rows.split_first() {
            Some((head, body)) if self.has_head => (head.as_ref(), body),
            _ => (&[][..], rows),
        };
        let indent = " ".repeat(self.indent);
        let hang = format!("{indent}  ");
        let mut lines = Vec::new();
        for row in body {
            let Some((first, others)) = row.as_ref().split_first() else { continue };
            // A row without a name of its own is of what is named above it.
            if !first.is_empty() {
                lines.extend(wrap(first, width, &indent, &hang));
            }
            let named = others.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
            let named = named.map(|(column, cell)| match head.get(column + 1) {
                Some(name) if !name.is_empty() => format!("{name} {cell}"),
                _ => cell.clone(),
            });
            let named: Vec<String> = named.collect();
            if !named.is_empty() {
                lines.extend(wrap(&named.join(", "), width, &hang, &hang));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lined_up_where_they_fit_and_stacked_where_they_do_not() {
        let rows = [["step", "at", "took"], ["1 link-down nas", "9.00s", "12.3ms"]];
        let rows = rows.map(|row| row.map(String::from));
        let columns = Columns { indent: 2, gap: 2, left: &[true, false, false], has_head: true };
        let lines = columns.lines(&rows, 40);
        let wide = ["  step                at    took", "  1 link-down nas  9.00s  12.3ms"];
        assert_eq!(lines, [(true, wide[0].into()), (false, wide[1].into())]);
        let lines: Vec<String> = columns.lines(&rows, 31).into_iter().map(|(_, l)| l).collect();
        assert_eq!(lines, ["  1 link-down nas", "    at 9.00s, took 12.3ms"]);
    }
}
