//! The machine-written part of docs/performance.md.

use std::fs;
use std::path::Path;

use crate::Failure;
use crate::line::Line;

const BEGIN: &str = "<!-- figures: begin (written by cargo xtask bench) -->";
const END: &str = "<!-- figures: end -->";

/// The table with its head.
pub(crate) fn section(machine: &str, command: &str, lines: &[Line]) -> String {
    let mut text = format!(
        "`{command}`\n\n{machine}\n\n\
         | What | stormeter | fio | ratio, median (lowest to highest) | bound | holds |\n\
         |---|---:|---:|---:|---:|---|\n"
    );
    for line in lines {
        text.push_str(&line.row());
        text.push('\n');
    }
    text
}

/// Puts the section between its marks.
pub(crate) fn write(path: &Path, section: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(failed)?;
    let text = replace(&text, section)
        .ok_or_else(|| format!("{} lacks the line {BEGIN}", path.display()))?;
    fs::write(path, text).map_err(failed)
}

fn replace(text: &str, section: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{section}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_between_the_marks_changes() {
        let text = format!("head\n{BEGIN}\nold\n{END}\ntail\n");
        let once = replace(&text, "new\n").unwrap();
        assert_eq!(once, format!("head\n{BEGIN}\n\nnew\n\n{END}\ntail\n"));
        assert_eq!(replace(&once, "new\n").unwrap(), once);
        assert_eq!(replace("no marks", "new"), None);
    }
}
