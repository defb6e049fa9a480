//! Tables on a terminal that is narrower than they are.
//!
//! A line that does not fit is broken between words and continued below the last column that leaves it room,
//! so that columns stay columns. Words are kept whole: a URL is there to be copied.

use crate::live::columns;

/// The spaces between two columns of a table are at least this many.
const GAP: &str = "  ";
/// Further indentation of a continued line without columns.
const HANG: usize = 4;

/// The text in lines that fit the width, except for longer words.
pub(crate) fn narrowed(text: &str, width: usize) -> String {
    let mut narrow = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        narrow_line(line, width, &mut narrow);
    }
    narrow
}

fn narrow_line(line: &str, width: usize, narrow: &mut String) {
    let mut rest = line.to_owned();
    let hang = " ".repeat(hang(line, width));
    while columns(rest.trim_end()) > width
        && let Some(at) = break_of(&rest, width)
    {
        let (fitting, more) = rest.split_at(at);
        narrow.push_str(fitting.trim_end());
        narrow.push('\n');
        rest = format!("{hang}{}", more.trim_start());
    }
    narrow.push_str(&rest);
}

/// The column at which a line is continued.
fn hang(line: &str, width: usize) -> usize {
    let indent = columns(line) - columns(line.trim_start());
    let starts = line.match_indices(GAP).map(|(at, _)| at + GAP.len());
    let starts = starts.filter(|at| !line[*at..].starts_with(char::is_whitespace));
    let columns_before = starts.map(|at| columns(&line[..at])).filter(|at| *at > indent);
    let hang = columns_before.filter(|at| *at <= width / 2).max();
    hang.unwrap_or(indent + HANG).min(width / 2)
}

/// Where a line is broken: at the last space that leaves a line which fits; behind the first word, if that
/// is too long. `None` if there is nothing to break.
fn break_of(line: &str, width: usize) -> Option<usize> {
    let start = line.len() - line.trim_start().len();
    let end = line.trim_end().len();
    let spaces = line.char_indices().filter(|(at, c)| *c == ' ' && *at > start && *at < end);
    let mut spaces = spaces.map(|(at, _)| at).peekable();
    let first = spaces.peek().copied();
    spaces.take_while(|at| columns(line[..*at].trim_end()) <= width).last().or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_continued_below_its_last_column() {
        let table = "ok    /srv/vm  a file system with room\nBAD   x        nothing\n";
        assert_eq!(
            narrowed(table, 34),
            "ok    /srv/vm  a file system with\n               room\nBAD   x        nothing\n"
        );
        assert_eq!(narrowed(table, 80), table);
        // A column so far to the right leaves no room: that before it is taken.
        let table = "a  the-second-of-the-columns  the third one of them\n";
        assert_eq!(
            narrowed(table, 40),
            "a  the-second-of-the-columns  the third\n   one of them\n"
        );
    }

    #[test]
    fn text_without_columns_hangs() {
        assert_eq!(narrowed("  one two three four", 12), "  one two\n      three\n      four");
        assert_eq!(narrowed("\n", 12), "\n");
        assert_eq!(narrowed("", 12), "");
    }

    #[test]
    fn words_are_kept_whole_and_in_order_at_any_width() {
        let url = "nfs://10.0.0.1:2049/export/a-long-directory-name?mountport=20048";
        let text = format!("  nas  10GiB  {url}  (baseline)\n\n{url} データ が ある\n");
        let words =
            |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        for width in 1..100 {
            let narrow = narrowed(&text, width);
            assert_eq!(words(&narrow), words(&text), "{width}");
            for line in narrow.lines().filter(|line| words(line).len() > 1) {
                let last = words(line).pop().map_or(0, |word| columns(&word));
                assert!(
                    columns(line) <= width || columns(line) - last <= width / 2 + 1,
                    "{width}: {line}"
                );
            }
        }
    }
}
