//! What is served: the page, its feed, and the report of what is finished.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stormeter_report::live;
use stormeter_watch::{Board, Body, Pages, Request, Response};

use crate::course::Course;
use crate::feed::ViewerFeed;
use crate::judge::Judge;
use crate::shown::Shown;
use crate::token::Token;

const HTML: &str = "text/html; charset=utf-8";
/// The token is in the address: no page that is opened from here learns it, and no page shows this one within it.
const HEADERS: [(&str, &str); 2] =
    [("Referrer-Policy", "no-referrer"), ("Content-Security-Policy", "frame-ancestors 'none'")];

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
        let shown = Arc::new(Shown::new(board, course, judge));
        Self { token, shown, viewers: Viewers::default() }
    }

    /// Counts the browsers that watch.
    pub fn viewers(&self) -> Viewers {
        self.viewers.clone()
    }

    fn page(&self) -> Response {
        of_html(live::page(&self.shown.moment()).into())
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
