//! The generated parts of docs/performance.md: a table for each group of figures, so that one can
//! be measured again without the others.

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::line::Line;

/// The markers around a group's table.
fn marks(group: &str) -> (String, String) {
    (
        format!("<!-- figures of {group}: begin (written by cargo xtask bench) -->"),
        format!("<!-- figures of {group}: end -->"),
    )
}

/// The table with its head.
pub(crate) fn section(machine: &str, command: &str, lines: &[Line]) -> String {
    let mut text = format!(
        "`{command}`\n\n{machine}\n\n\
         | What | compared with | stormeter | the other | ratio, median (lowest to highest) | bound | \
         holds |\n\
         |---|---|---:|---:|---:|---:|---|\n"
    );
    for line in lines {
        text.push_str(&line.row());
        text.push('\n');
    }
    text
}

/// Puts a group's section between its markers.
pub(crate) fn write(path: &Path, group: &str, section: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(failed)?;
    let text = replace(&text, group, section)
        .ok_or_else(|| format!("{} lacks the line {}", path.display(), marks(group).0))?;
    fs::write(path, text).map_err(failed)
}

fn replace(text: &str, group: &str, section: &str) -> Option<String> {
    let (begin, end) = marks(group);
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n\n{section}\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_between_the_marks_changes() {
        let [one, two] = ["one", "two"].map(|group| {
            let (begin, end) = marks(group);
            format!("{begin}\nold\n{end}")
        });
        let text = format!("head\n{one}\nbetween\n{two}\ntail\n");
        let once = replace(&text, "two", "new\n").unwrap();
        let (begin, end) = marks("two");
        assert_eq!(once, format!("head\n{one}\nbetween\n{begin}\n\nnew\n\n{end}\ntail\n"));
        assert_eq!(replace(&once, "two", "new\n").unwrap(), once);
        assert_eq!(replace(&text, "three", "new"), None);
    }
}
