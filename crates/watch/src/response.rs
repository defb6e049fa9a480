//! A response, and its bytes.

use std::sync::Arc;

use crate::feed::Feed;

/// What a request is answered with. The connection is closed after it.
pub struct Response {
    /// 200.
    pub status: u16,
    /// The media type of the body.
    pub content_type: &'static str,
    /// Further headers: names and values.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The body.
    pub body: Body,
    /// Whether the body shows the end of the run: who gets it has seen everything.
    pub is_last: bool,
}

/// A body.
pub enum Body {
    /// All of it.
    Whole(Arc<str>),
    /// What a feed has, until it ends.
    Growing(Box<dyn Feed>),
}

impl Response {
    /// A body of plain text.
    pub fn text(status: u16, body: impl Into<Arc<str>>) -> Self {
        let content_type = "text/plain; charset=utf-8";
        let body = Body::Whole(body.into());
        Self { status, content_type, headers: Vec::new(), body, is_last: false }
    }

    /// The response to a request that is refused before its page is known.
    pub fn error(status: u16) -> Self {
        Self::text(status, format!("{}\n", reason(status)))
    }

    /// Its bytes before a body that grows, or all of them; `is_head`: without the body.
    pub(crate) fn bytes(&self, is_head: bool) -> Vec<u8> {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\n",
            self.status,
            reason(self.status),
            self.content_type,
        );
        if let Body::Whole(body) = &self.body {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str(
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n",
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        match &self.body {
            Body::Whole(body) if !is_head => head.push_str(body),
            _ => {}
        }
        head.into_bytes()
    }
}

/// The words of a status (RFC 9110, section 15; RFC 6585).
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        _ => "Error",
    }
}
