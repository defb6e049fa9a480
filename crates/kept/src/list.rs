//! The list as text: a block of lines for each file, so that no column is too narrow for a title, a verdict or a path.

use stormeter_report::{printable, utc, wrap};
use stormeter_units::{format_bytes, format_duration_ns};

use crate::file::{Content, Kept, State};

const INDENT: &str = "    ";

/// The list as text in lines of at most `width` columns, except paths, which stay in one piece.
pub fn terminal(all: &[Kept], width: usize) -> String {
    let mut text = String::new();
    for one in all {
        for line in block(one, width) {
            text += &line;
            text.push('\n');
        }
    }
    text
}

fn block(one: &Kept, width: usize) -> Vec<String> {
    let date = utc(one.at_unix_ms());
    let (head, says) = match &one.content {
        Ok(content) => (described(content), content.summary.verdict.as_str()),
        Err(reason) => ("cannot be read".into(), reason.as_str()),
    };
    let mut lines = wrap(&printable(&head), width, &format!("{date}  "), INDENT);
    if !says.is_empty() {
        lines.extend(wrap(&printable(says), width, INDENT, INDENT));
    }
    let path = printable(&one.path.display().to_string());
    lines.push(format!("{INDENT}{path} ({})", format_bytes(one.bytes)));
    lines
}

/// `Which datastore? · complete, 18 trials in 1.52min`.
fn described(content: &Content) -> String {
    let kind = if content.is_predicted { "predicted, " } else { "" };
    let state = content.state.word();
    let of = match content.state {
        State::Imported => format!(" of {}", content.made_by),
        _ => String::new(),
    };
    format!("{} · {kind}{state}, {}{of}", content.summary.subject, extent(content))
}

/// How much is in it: `18 trials in 1.52min`.
pub(crate) fn extent(content: &Content) -> String {
    let summary = &content.summary;
    let noun = if content.state == State::Imported { "run" } else { "trial" };
    let trials = match summary.trials {
        1 => format!("1 {noun}"),
        trials => format!("{trials} {noun}s"),
    };
    if content.state == State::Imported {
        return trials;
    }
    let failed = match summary.failed_trials {
        0 => String::new(),
        failed => format!(", {failed} more failed"),
    };
    let elapsed = format_duration_ns(summary.elapsed_ns as f64);
    format!("{trials}{failed} in {elapsed}")
}
