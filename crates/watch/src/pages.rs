//! What is served under which path.

use crate::access::Access;
use crate::board::Board;
use crate::metrics::exposition;
use crate::negotiation::form;
use crate::request::Request;
use crate::response::Response;
use crate::snapshot::Stage;

/// Answers requests. Called on the server's only thread: it must not wait.
pub trait Pages: Send {
    /// The answer to a request.
    fn answer(&self, request: &Request) -> Response;
}

/// The metrics of a run under `/metrics`, and a line about them under `/`.
pub struct MetricsPages {
    board: Board,
    access: Access,
}

impl MetricsPages {
    /// The pages of this board, for those who have access.
    pub fn new(board: Board, access: Access) -> Self {
        Self { board, access }
    }

    fn metrics(&self, request: &Request) -> Response {
        let snapshot = self.board.look();
        let form = form(&request.accept);
        Response {
            content_type: form.content_type(),
            is_last: snapshot.stage == Stage::Ended,
            ..Response::text(200, exposition(&snapshot, form))
        }
    }
}

impl Pages for MetricsPages {
    fn answer(&self, request: &Request) -> Response {
        if !self.access.allows(request.authorization.as_deref()) {
            let headers = vec![("WWW-Authenticate", "Bearer")];
            return Response { headers, ..Response::error(401) };
        }
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            let headers = vec![("Allow", "GET, HEAD")];
            return Response { headers, ..Response::error(405) };
        }
        match request.path.as_str() {
            "/metrics" => self.metrics(request),
            "/" => Response::text(200, "Stormeter is running. Its metrics are at /metrics.\n"),
            _ => Response::error(404),
        }
    }
}
