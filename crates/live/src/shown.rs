//! What all browsers are shown: made once for all of them, and only while one watches.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use stormeter_report::live::Moment;
use stormeter_report::{Report, html, live};
use stormeter_watch::Board;

use crate::course::Course;
use crate::judge::Judge;
use crate::moment::moment;

/// The parts are made this often at most, for all browsers together.
const EVERY: Duration = Duration::from_millis(500);

/// A part of the page, and how often it has changed.
pub(crate) struct Part {
    pub(crate) id: &'static str,
    pub(crate) html: Arc<str>,
    pub(crate) version: u64,
}

struct Rendered {
    at: Option<Instant>,
    parts: Vec<Part>,
    is_over: bool,
}

/// What all browsers are shown.
pub(crate) struct Shown {
    board: Board,
    pub(crate) course: Course,
    judge: Judge,
    rendered: Mutex<Rendered>,
    page: Mutex<Option<(Arc<Report>, Arc<str>)>>,
}

impl Shown {
    /// What is shown of this run.
    pub(crate) fn new(board: Board, course: Course, judge: Judge) -> Self {
        let rendered = Mutex::new(Rendered { at: None, parts: Vec::new(), is_over: false });
        Self { board, course, judge, rendered, page: Mutex::new(None) }
    }

    /// The run at this moment.
    pub(crate) fn moment(&self) -> Moment {
        moment(&self.board.look(), &self.course, &self.judge)
    }

    /// Gives `with` the parts, made again if they are old, and whether the run is over.
    pub(crate) fn with_parts<T>(&self, now: Instant, with: impl FnOnce(&[Part], bool) -> T) -> T {
        let mut rendered = self.rendered.lock().unwrap_or_else(PoisonError::into_inner);
        // The end is shown at once.
        let is_over = self.course.state().ended_ns.is_some();
        let is_old = rendered.at.is_none_or(|at| now.duration_since(at) >= EVERY);
        if is_old || is_over != rendered.is_over {
            rendered.at = Some(now);
            rendered.is_over = is_over;
            let new = live::parts(&self.moment());
            if rendered.parts.is_empty() {
                let none =
                    |(id, _): &(&'static str, String)| Part { id, html: "".into(), version: 0 };
                rendered.parts = new.iter().map(none).collect();
            }
            for (part, (_, html)) in rendered.parts.iter_mut().zip(new) {
                if *part.html != *html {
                    part.html = html.into();
                    part.version += 1;
                }
            }
        }
        with(&rendered.parts, rendered.is_over)
    }

    /// The page of the report of what is finished.
    pub(crate) fn report(&self) -> Arc<str> {
        let Some(report) = self.judge.concluded().report.clone() else {
            return live::without_report("The first trials have not ended.").into();
        };
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        match &*page {
            Some((of, text)) if Arc::ptr_eq(of, &report) => Arc::clone(text),
            _ => {
                let text: Arc<str> = html(&report).into();
                *page = Some((report, Arc::clone(&text)));
                text
            }
        }
    }
}
