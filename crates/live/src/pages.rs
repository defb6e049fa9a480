//! What is served: the page, its feed, and the report of what is finished.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use stormeter_report::{Report, html, live};
use stormeter_watch::{Board, Body, Pages, Request, Response};

use crate::course::Course;
use crate::feed::ViewerFeed;
use crate::judge::Judge;
use crate::moment::moment;
use crate::token::Token;

/// The parts are made this often at most, for all browsers together.
const EVERY: Duration = Duration::from_millis(500);

const HTML: &str = "text/html; charset=utf-8";
/// The token is in the address: no page that is opened from here learns it, and no page shows this one within it.
const HEADERS: [(&str, &str); 2] =
    [("Referrer-Policy", "no-referrer"), ("Content-Security-Policy", "frame-ancestors 'none'")];

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
    /// Gives `with` the parts, made anew if they are old, and whether the run is over.
    pub(crate) fn with_parts<T>(&self, now: Instant, with: impl FnOnce(&[Part], bool) -> T) -> T {
        let mut rendered = self.rendered.lock().unwrap_or_else(PoisonError::into_inner);
        // The end is shown at once.
        let is_over = self.course.state().ended_ns.is_some();
        let is_old = rendered.at.is_none_or(|at| now.duration_since(at) >= EVERY);
        if is_old || is_over != rendered.is_over {
            rendered.at = Some(now);
            rendered.is_over = is_over;
            let moment = moment(&self.board.look(), &self.course, &self.judge);
            let new = live::parts(&moment);
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
    fn report(&self) -> Arc<str> {
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

/// How many browsers watch.
#[derive(Clone, Default)]
pub struct Viewers(Arc<AtomicUsize>);

impl Viewers {
    /// Those that watch now.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Serves the live page to those who know its token.
pub struct LivePages {
    token: Token,
    shown: Arc<Shown>,
    viewers: Viewers,
}

impl LivePages {
    /// The pages of this run.
    pub fn new(token: Token, board: Board, course: Course, judge: Judge) -> Self {
        let rendered = Mutex::new(Rendered { at: None, parts: Vec::new(), is_over: false });
        let shown = Arc::new(Shown { board, course, judge, rendered, page: Mutex::new(None) });
        Self { token, shown, viewers: Viewers::default() }
    }

    /// Counts the browsers that watch.
    pub fn viewers(&self) -> Viewers {
        self.viewers.clone()
    }

    fn page(&self) -> Response {
        let moment = moment(&self.shown.board.look(), &self.shown.course, &self.shown.judge);
        of_html(live::page(&moment).into())
    }

    fn feed(&self) -> Response {
        let feed = ViewerFeed::new(Arc::clone(&self.shown), Arc::clone(&self.viewers.0));
        Response {
            content_type: "text/event-stream",
            headers: HEADERS.to_vec(),
            body: Body::Growing(Box::new(feed)),
            ..Response::text(200, "")
        }
    }
}

fn of_html(body: Arc<str>) -> Response {
    Response { content_type: HTML, headers: HEADERS.to_vec(), ..Response::text(200, body) }
}

impl Pages for LivePages {
    fn answer(&self, request: &Request) -> Response {
        let Some(path) = self.token.rest(&request.path) else { return Response::error(404) };
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            let headers = vec![("Allow", "GET, HEAD")];
            return Response { headers, ..Response::error(405) };
        }
        match path {
            "" => self.page(),
            "events" => self.feed(),
            "report" => {
                let is_last = self.shown.course.state().ended_ns.is_some();
                Response { is_last, ..of_html(self.shown.report()) }
            }
            _ => Response::error(404),
        }
    }
}
