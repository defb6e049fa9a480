//! Lines of a log: `time, value[, maximum], kind of I/O, bytes[, offset][, priority][, issue time]`.
//!
//! Every version has added a column, and none has a header. All lines of a file have the same columns. The maximum
//! (`log_window_value=both`) stands where the kind of I/O is otherwise, which is 0, 1 or 2.

use std::num::NonZeroU64;

use crate::error::ImportError;
use crate::place::quoted;

/// The columns of the oldest logs, and of those with everything.
const COLUMNS: std::ops::RangeInclusive<usize> = 4..=8;
/// How many lines decide whether it is a log.
const LOOK_AT: usize = 20;

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    /// Since the start of the job, or since 1970.
    pub(crate) time_ms: u64,
    /// In the unit of the kind of log.
    pub(crate) value: u64,
    /// The largest value of the window, unless it is 0.
    pub(crate) max: Option<NonZeroU64>,
    /// 0: read, 1: write, 2: trim.
    pub(crate) kind: u8,
    /// The size of the I/O; 0 if the line is of a window.
    pub(crate) bytes: u64,
    /// From 1.
    pub(crate) number: u32,
}

impl Line {
    /// The kind of I/O as an index.
    pub(crate) fn way(&self) -> usize {
        usize::from(self.kind)
    }
}

/// Whether the first lines are those of a log.
pub(crate) fn is(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(LOOK_AT);
    let mut any = false;
    lines.all(|line| {
        any = true;
        looks_like_one(line)
    }) && any
}

fn looks_like_one(line: &str) -> bool {
    let fields = || line.split(',').map(str::trim);
    let is_kind = |field: Option<&str>| matches!(field, Some("0" | "1" | "2"));
    COLUMNS.contains(&fields().count())
        && fields().all(|field| number(field.trim_start_matches('-')).is_some())
        && (is_kind(fields().nth(2)) || is_kind(fields().nth(3)))
}

/// Reads all lines.
pub(crate) fn read(format: &'static str, text: &str) -> Result<Vec<Line>, ImportError> {
    let with_maximum = has_maximum(text);
    let at_least = if with_maximum { 5 } else { 4 };
    let last = text.lines().count();
    // A line has eleven characters or more, and forty bytes here: none to spare for growing.
    let mut lines = Vec::with_capacity(text.lines().filter(|line| !line.trim().is_empty()).count());
    let mut columns = None;
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let number = index + 1;
        let fields = line.split(',').count();
        let expected = *columns.get_or_insert(fields);
        let read = if fields != expected || fields < at_least || !COLUMNS.contains(&fields) {
            Err((1, format!("expected {expected} columns, found {fields}")))
        } else {
            read_line(line, with_maximum, number)
        };
        match read {
            Ok(line) => lines.push(line),
            Err(_) if number == last && !text.ends_with('\n') => {
                return Err(ImportError::Truncated { format, line: number });
            }
            Err((column, what)) => {
                return Err(ImportError::Malformed { format, line: number, column, what });
            }
        }
    }
    Ok(lines)
}

/// Whether there is a third column that is no kind of I/O.
fn has_maximum(text: &str) -> bool {
    text.lines().any(|line| {
        let third = line.split(',').nth(2).and_then(|field| number(field.trim()));
        third.is_some_and(|third| third > 2)
    })
}

fn read_line(
    line: &str,
    with_maximum: bool,
    number_of_line: usize,
) -> Result<Line, (usize, String)> {
    let mut at = 0;
    let mut fields = line.split(',').map(|field| {
        let column = at + 1;
        at += field.chars().count() + 1;
        (column, field.trim())
    });
    let mut next = || -> Result<(usize, u64), (usize, String)> {
        let (column, field) = fields.next().unwrap_or_default();
        let number =
            number(field).ok_or_else(|| (column, format!("{} is no count", quoted(field))))?;
        Ok((column, number))
    };
    let (_, time_ms) = next()?;
    let (_, value) = next()?;
    let max = if with_maximum { NonZeroU64::new(next()?.1) } else { None };
    let (column, kind) = next()?;
    if kind > 2 {
        return Err((column, format!("{kind} is no kind of I/O; 0, 1 and 2 are")));
    }
    let (_, bytes) = next()?;
    let number = u32::try_from(number_of_line).unwrap_or(u32::MAX);
    Ok(Line { time_ms, value, max, kind: kind as u8, bytes, number })
}

/// A count; priorities are hexadecimal.
fn number(field: &str) -> Option<u64> {
    match field.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if field.starts_with('+') => None,
        None => field.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_is_read() {
        let line = |max| Line { time_ms: 500, value: 1208, max, kind: 1, bytes: 0, number: 1 };
        for text in
            ["500, 1208, 1, 0\n", "500, 1208, 1, 0, 0\r\n", "500, 1208, 1, 0, 9, 0x0004, 0\n"]
        {
            assert!(is(text), "{text}");
            assert_eq!(read("fio log", text), Ok(vec![line(None)]), "{text}");
        }
        let text = "500, 1208, 1300, 1, 0, 0\n";
        assert!(is(text));
        assert_eq!(read("fio log", text), Ok(vec![line(NonZeroU64::new(1300))]));
    }

    #[test]
    fn other_tables_are_no_logs() {
        for text in
            ["", "\n", "time,value\n1,2\n", "1, 2, 3\n", "1, 2, 7, 9, 1\n", "1.5, 2, 0, 0\n"]
        {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn wrong_lines_say_where() {
        let wrong = |text: &str| read("fio log", text).unwrap_err();
        assert_eq!(
            wrong("1, 2, 0, 0\n2, -5, 0, 0\n"),
            ImportError::Malformed {
                format: "fio log",
                line: 2,
                column: 3,
                what: "\"-5\" is no count".to_owned(),
            }
        );
        assert_eq!(
            wrong("1, 2, 0, 0\n2, 5, 0"),
            ImportError::Truncated { format: "fio log", line: 2 }
        );
        assert!(matches!(wrong("1, 2, 0, 0\n2, 5, 0\n"), ImportError::Malformed { line: 2, .. }));
    }
}
