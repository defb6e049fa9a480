//! A response, and its bytes.

/// What a request is answered with. The connection is closed after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// 200.
    pub status: u16,
    /// The media type of the body.
    pub content_type: &'static str,
    /// One more header: its name and value.
    pub header: Option<(&'static str, &'static str)>,
    /// The body.
    pub body: String,
    /// Whether the body shows the end of the run: who gets it has seen everything.
    pub is_last: bool,
}

impl Response {
    /// A body of plain text.
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        let content_type = "text/plain; charset=utf-8";
        Self { status, content_type, header: None, body: body.into(), is_last: false }
    }

    /// The response to a request that is refused before its page is known.
    pub(crate) fn error(status: u16) -> Self {
        Self::text(status, format!("{}\n", reason(status)))
    }

    /// Its bytes; `is_head`: without the body.
    pub(crate) fn bytes(&self, is_head: bool) -> Vec<u8> {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n",
            self.status,
            reason(self.status),
            self.content_type,
            self.body.len()
        );
        if let Some((name, value)) = self.header {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        if !is_head {
            head.push_str(&self.body);
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
