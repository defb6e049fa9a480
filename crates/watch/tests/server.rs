//! The server as clients see it, also rude ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use stormeter_study::parse_study;
use stormeter_watch::{Access, Board, MetricsPages, RunKind, Server, Snapshot, Stage};

/// Nothing here takes a tenth of it, on a machine however busy.
const PATIENCE: Duration = Duration::from_secs(120);
const TOKEN: &str = "0123456789abcdef";

fn serve(token: Option<&str>) -> (Server, Board) {
    let plan = parse_study("datastores: {a: /a, b: /b}").unwrap();
    let board = Board::new(Snapshot::new(&plan, RunKind::Comparison, "1.2.3"));
    let address: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let access = Access::new(address, token).unwrap();
    let pages = MetricsPages::new(board.clone(), access);
    (Server::start(address, Box::new(pages)).unwrap(), board)
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The whole answer to these bytes.
fn answer(server: &Server, request: &str) -> String {
    let mut stream = connect(server);
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn get(server: &Server, path: &str, headers: &str) -> String {
    answer(server, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n"))
}

#[test]
fn metrics_are_served_in_the_form_that_is_asked_for() {
    let (server, _board) = serve(None);
    let text = get(&server, "/metrics", "");
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert!(text.contains("application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
    assert!(text.contains("\nstormeter_build_info{version=\"1.2.3\"} 1\n"), "{text}");
    assert!(text.contains("\nstormeter_stage{stage=\"opening\"} 1\n"), "{text}");
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    let text = get(&server, "/metrics?a=b", "Accept: text/plain\r\n");
    assert!(text.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{text}");
    assert!(!text.contains("EOF"), "{text}");
}

#[test]
fn other_requests_are_refused_each_in_its_way() {
    let (server, _board) = serve(None);
    assert!(get(&server, "/", "").contains("/metrics"));
    assert!(get(&server, "/other", "").starts_with("HTTP/1.1 404 "));
    let post = answer(&server, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    assert!(post.starts_with("HTTP/1.1 405 ") && post.contains("Allow: GET, HEAD\r\n"), "{post}");
    assert!(answer(&server, "\r\n\x01 nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
    let long = format!("X: {}\r\n", "y".repeat(20_000));
    assert!(get(&server, "/metrics", &long).starts_with("HTTP/1.1 431 "));
    let head = answer(&server, "HEAD /metrics HTTP/1.1\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(!head.contains("Content-Length: 0"), "{head}");
}

#[test]
fn without_the_token_nothing_is_shown() {
    let (server, _board) = serve(Some(TOKEN));
    for headers in ["", "Authorization: Bearer 0123456789abcdeX\r\n"] {
        for path in ["/metrics", "/", "/other"] {
            let text = get(&server, path, headers);
            assert!(text.starts_with("HTTP/1.1 401 "), "{text}");
            assert!(text.contains("WWW-Authenticate: Bearer\r\n"), "{text}");
            assert!(!text.contains("stormeter_"), "{text}");
        }
    }
    let right = format!("Authorization: Bearer {TOKEN}\r\n");
    assert!(get(&server, "/metrics", &right).starts_with("HTTP/1.1 200 "));
}

/// More silent clients than there may be connections, and one that stops in the middle of its request.
#[test]
fn clients_that_send_nothing_hold_up_no_other() {
    let (server, _board) = serve(None);
    let mut half = connect(&server);
    half.write_all(b"GET /metrics HT").unwrap();
    let silent: Vec<TcpStream> = (0..100).map(|_| connect(&server)).collect();
    assert!(get(&server, "/metrics", "").starts_with("HTTP/1.1 200 "));
    // Those that came first had to go.
    let mut first = &silent[0];
    assert!(matches!(first.read(&mut [0]), Ok(0) | Err(_)));
}

#[test]
fn a_request_may_come_in_pieces() {
    let (server, _board) = serve(None);
    let mut stream = connect(&server);
    stream.set_nodelay(true).unwrap();
    for piece in ["GET /", "metrics HTTP/1.1\r\nAcc", "ept: text/plain\r\n\r", "\n"] {
        stream.write_all(piece.as_bytes()).unwrap();
    }
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("version=0.0.4"), "{text}");
}

#[test]
fn the_end_counts_as_seen_once_it_was_sent_to_a_client() {
    let (server, board) = serve(None);
    get(&server, "/metrics", "");
    assert!(!server.wait_for_last(Duration::ZERO, || false), "the run goes on");
    board.change(|now| now.stage = Stage::Ended);
    answer(&server, "HEAD /metrics HTTP/1.1\r\n\r\n");
    get(&server, "/", "");
    assert!(!server.wait_for_last(Duration::ZERO, || false), "this was not the end");
    assert!(!server.wait_for_last(PATIENCE, || true), "cancelled");
    assert!(get(&server, "/metrics", "").contains("stormeter_stage{stage=\"ended\"} 1"));
    assert!(server.wait_for_last(PATIENCE, || false));
}

#[test]
fn nothing_listens_when_it_is_over() {
    let (server, _board) = serve(None);
    let address = server.address();
    let _silent = connect(&server);
    drop(server);
    assert!(TcpStream::connect(address).is_err());
    let (server, _board) = serve(None);
    let plan = parse_study("datastores: {a: /a, b: /b}").unwrap();
    let board = Board::new(Snapshot::new(&plan, RunKind::Comparison, "1.2.3"));
    let access = Access::new(server.address(), None).unwrap();
    let second = Server::start(server.address(), Box::new(MetricsPages::new(board, access)));
    let message = second.err().unwrap().to_string();
    assert!(message.contains(&server.address().to_string()), "{message}");
}
