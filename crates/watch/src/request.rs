//! A request, read from what has arrived.

/// The most bytes of a request line and headers.
pub(crate) const MOST_BYTES: usize = 8192;
/// The most headers.
const MOST_HEADERS: usize = 64;

/// A request without a body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// `GET`.
    pub method: String,
    /// The path, without a query.
    pub path: String,
    /// The `Accept` headers, joined.
    pub accept: String,
    /// The `Authorization` header.
    pub authorization: Option<Vec<u8>>,
}

/// Why what arrived is no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// It is not HTTP.
    Malformed,
    /// Its headers are too long, or too many.
    TooLarge,
}

impl Request {
    /// Reads a request; `None` until its headers are complete.
    ///
    /// # Errors
    /// There will be none.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Request>, RequestError> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        match head.parse(bytes) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) if bytes.len() < MOST_BYTES => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(RequestError::TooLarge);
            }
            Err(_) => return Err(RequestError::Malformed),
        }
        let path = head.path.unwrap_or_default();
        let values = |name: &'static str| {
            let named = head.headers.iter().filter(move |it| it.name.eq_ignore_ascii_case(name));
            named.map(|header| header.value)
        };
        let accept: Vec<_> = values("accept").map(String::from_utf8_lossy).collect();
        Ok(Some(Request {
            method: head.method.unwrap_or_default().to_owned(),
            path: path.split_once('?').map_or(path, |(path, _)| path).to_owned(),
            accept: accept.join(","),
            authorization: values("authorization").next().map(<[u8]>::to_vec),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_once_it_is_complete() {
        let text = b"GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\naccept: text/plain\r\nAccept: */*\r\n\
                     Authorization: Bearer x\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(Request::read(&text[..end]), Ok(None), "{end}");
        }
        let expected = Request {
            method: "GET".into(),
            path: "/metrics".into(),
            accept: "text/plain,*/*".into(),
            authorization: Some(b"Bearer x".to_vec()),
        };
        assert_eq!(Request::read(text), Ok(Some(expected)));
    }

    #[test]
    fn anything_else_is_refused() {
        assert_eq!(Request::read(b"\x16\x03\x01\x02\x00"), Err(RequestError::Malformed));
        let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(MOST_BYTES));
        assert_eq!(Request::read(long.as_bytes()), Err(RequestError::TooLarge));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MOST_HEADERS + 1));
        assert_eq!(Request::read(many.as_bytes()), Err(RequestError::TooLarge));
    }
}
