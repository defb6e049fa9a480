//! The list as an index that a page shows.

use std::path::Path;

use stormeter_report::index::{IndexRow, IndexState};
use stormeter_units::format_bytes;

use crate::file::{Content, Kept, State};
use crate::list::extent;

/// A file's row; `href` is the address of its report.
pub fn index_row(one: &Kept, href: Option<String>) -> IndexRow {
    let content = one.content.as_ref();
    let of = |text: fn(&Content) -> String| content.map(text).unwrap_or_default();
    IndexRow {
        at_unix_ms: one.at_unix_ms(),
        subject: of(|content| content.summary.subject.clone()),
        state: content.map_or(IndexState::Incomplete("cannot be read"), state),
        extent: of(extent),
        says: match content {
            Ok(content) => content.summary.verdict.clone(),
            Err(reason) => reason.clone(),
        },
        made_by: of(|content| content.made_by.clone()),
        path: shown(&one.path),
        size: format_bytes(one.bytes),
        href,
    }
}

fn state(content: &Content) -> IndexState {
    match (content.state, content.is_predicted) {
        (State::Complete, false) => IndexState::Complete(content.state.word()),
        (State::Complete, true) => IndexState::Complete("predicted"),
        (State::Running | State::Imported, _) => IndexState::Neutral(content.state.word()),
        (State::Interrupted | State::Killed | State::Failed, _) => {
            IndexState::Incomplete(content.state.word())
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
