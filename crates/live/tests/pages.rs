//! The pages as browsers see them, also slow ones, over a real socket.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use stormeter_live::{Course, Follower, Judge, LivePages, Token, Viewers};
use stormeter_report::live::RunWord;
use stormeter_runner::{Progress, Seen, TrialStart};
use stormeter_study::{StudyPlan, parse_study};
use stormeter_testkit::interval;
use stormeter_trial::{Histogram, LatencyBands, MonitorRow};
use stormeter_watch::{Board, RunKind, Server, Snapshot};

/// Nothing here takes a tenth of it, on a machine however busy.
const PATIENCE: Duration = Duration::from_secs(120);
const TOKEN: &str = "0123456789abcdef";
const SECOND: u64 = 1_000_000_000;

struct Run {
    server: Server,
    follower: Follower,
    course: Course,
    viewers: Viewers,
    clock: Arc<AtomicU64>,
}

fn plan() -> StudyPlan {
    parse_study("study: \"A <b> & c\"\ndatastores: {fast: /a, slow: /b}").unwrap()
}

/// A run that is watched, and whose clock is set by hand.
fn run() -> Run {
    let plan = plan();
    let clock = Arc::new(AtomicU64::new(0));
    let now = Arc::clone(&clock);
    let course = Course::new(&plan, RunWord::Study, move || now.load(Ordering::Relaxed));
    let judge = Judge::start(Box::new(|| None)).unwrap();
    let board = Board::new(Snapshot::new(&plan, RunKind::Study, "1.2.3"));
    let token = Token::of_text(TOKEN).unwrap();
    let pages = LivePages::new(token, board, course.clone(), judge.clone());
    let viewers = pages.viewers();
    let server = Server::start("127.0.0.1:0".parse().unwrap(), Box::new(pages)).unwrap();
    let follower = Follower::new(course.clone(), judge);
    Run { server, follower, course, viewers, clock }
}

impl Run {
    fn at(&self, ns: u64) {
        self.clock.store(ns, Ordering::Relaxed);
    }

    /// A trial of this cell starts.
    fn trial(&mut self, cell: usize) {
        self.follower.trial(&TrialStart {
            datastore: "x",
            block: Some(2),
            purpose: "trial",
            cell: Some(cell),
            length_ns: Some(10 * SECOND),
            place: None,
        });
    }

    /// A second of it.
    fn second(&mut self, from_s: u64, latency_ns: u64) {
        self.at((from_s + 1) * SECOND);
        self.follower.interval(&interval(from_s * SECOND, SECOND, 100));
        let mut histogram = Histogram::default();
        (0..100).for_each(|_| histogram.record(latency_ns));
        self.follower.seen(None, &Seen::Latencies(LatencyBands::of_histogram(&histogram)));
    }
}

fn connect(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn get(run: &Run, path: &str) -> String {
    let mut text = String::new();
    connect(run.server.address(), path).read_to_string(&mut text).unwrap();
    text
}

/// A browser's end of the feed, with what it has of the page.
struct Viewer {
    feed: BufReader<TcpStream>,
    parts: BTreeMap<String, String>,
    /// New columns that nobody has looked at.
    heat: VecDeque<Value>,
}

impl Viewer {
    fn of(run: &Run) -> Self {
        let feed = BufReader::new(connect(run.server.address(), &format!("/{TOKEN}/events")));
        let mut viewer = Self { feed, parts: BTreeMap::new(), heat: VecDeque::new() };
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            viewer.feed.read_line(&mut head).unwrap();
        }
        assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/event-stream"), "{head}");
        viewer
    }

    /// Reads the next event, and returns its name. The feed is never silent for long, so a read that times out would not
    /// end a wait in vain: `since` does.
    fn event(&mut self, since: Instant) -> String {
        let mut name = String::new();
        loop {
            assert!(since.elapsed() < PATIENCE, "waited in vain, with {:#?}", self.parts);
            let mut line = String::new();
            assert!(self.feed.read_line(&mut line).unwrap() > 0, "the feed has ended");
            if let Some(of) = line.strip_prefix("event: ") {
                name = of.trim_end().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                let mut data: Value = serde_json::from_str(data).unwrap();
                match name.as_str() {
                    "part" => {
                        let text = |name: &str| data[name].as_str().unwrap().to_owned();
                        self.parts.insert(text("id"), text("html"));
                    }
                    "heat" => self.heat.push_back(data["maps"][0].take()),
                    _ => {}
                }
                return name;
            }
        }
    }

    /// Reads on until the part of this id has these words. It may have them already: what is sent together is in no
    /// order that a test could know.
    fn until(&mut self, id: &str, words: &str) {
        let since = Instant::now();
        while !self.parts.get(id).is_some_and(|html| html.contains(words)) {
            self.event(since);
        }
    }

    /// The next columns of a map.
    fn columns(&mut self) -> (u64, Vec<Value>) {
        let since = Instant::now();
        loop {
            if let Some(map) = self.heat.pop_front() {
                let columns = map["columns"].as_array().unwrap().clone();
                return (map["from"].as_u64().unwrap(), columns);
            }
            self.event(since);
        }
    }

    /// Reads on until the feed says that the run has ended.
    fn end(&mut self) {
        let since = Instant::now();
        while self.event(since) != "ended" {}
    }
}

#[test]
fn who_does_not_know_the_token_sees_nothing() {
    let run = run();
    for path in ["/", "/events", "/report", "/0123456789abcdeX/", "/0123456789abcdef"] {
        let text = get(&run, path);
        assert!(text.starts_with("HTTP/1.1 404 ") && !text.contains("html"), "{path}: {text}");
    }
    let text = get(&run, &format!("/{TOKEN}/"));
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    for header in
        ["Referrer-Policy: no-referrer", "frame-ancestors 'none'", "Cache-Control: no-store"]
    {
        assert!(text.contains(header), "{header}: {text}");
    }
}

/// All is there without a script, and nothing gets in unescaped or is fetched from elsewhere.
#[test]
fn the_page_is_whole_without_its_script() {
    let mut run = run();
    run.trial(0);
    run.second(0, 100_000);
    let row = MonitorRow { cpu_busy: 0.25, length_ns: SECOND, ..MonitorRow::default() };
    run.follower.seen(Some("esx1"), &Seen::Activity(row));
    run.follower.note("nas: connection <lost>");
    let text = get(&run, &format!("/{TOKEN}/"));
    for words in [
        "A &lt;b&gt; &amp; c",
        "fast, block 3: 1.00s of 10.0s",
        "esx1",
        "25\u{202f}%",
        "connection &lt;lost&gt;",
        "http-equiv=\"refresh\"",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("src=") && !text.contains("://"), "{text}");
    assert!(get(&run, &format!("/{TOKEN}/report")).contains("The first trials have not ended."));
}

#[test]
fn a_viewer_gets_what_changes_and_all_again_after_a_reload() {
    let mut run = run();
    let mut viewer = Viewer::of(&run);
    viewer.until("now", "Starting.");
    run.trial(1);
    run.second(0, 100_000);
    viewer.until("now", "slow, block 3");
    run.second(1, 100_000);
    let (from, columns) = viewer.columns();
    assert_eq!(from, 0);
    // The first second; the second is still being filled.
    assert_eq!(columns, [serde_json::json!([0.0, 1.0, columns[0][2], [100]])]);
    run.second(2, 5_000_000);
    let (from, columns) = viewer.columns();
    assert_eq!((from, columns.len()), (1, 1));
    let mut reloaded = Viewer::of(&run);
    reloaded.until("now", "slow, block 3");
    let (from, columns) = reloaded.columns();
    assert_eq!((from, columns.len()), (0, 2));
}

/// One that reads nothing, and many that do: the run's thread is held up by none, and all see the end.
#[test]
fn many_viewers_see_the_end_while_one_reads_nothing() {
    let mut run = run();
    let asleep = connect(run.server.address(), &format!("/{TOKEN}/events"));
    let mut viewers: Vec<Viewer> = (0..50).map(|_| Viewer::of(&run)).collect();
    for viewer in &mut viewers {
        viewer.until("now", "Starting.");
    }
    assert_eq!(run.viewers.count(), 51);
    run.trial(0);
    // More than the buffers of a socket hold.
    for second in 0..400 {
        run.second(second, 1_000 + 77_777 * second);
        run.follower.note(&"x".repeat(1000));
    }
    run.course.ended();
    for viewer in &mut viewers {
        viewer.end();
        let mut rest = String::new();
        viewer.feed.read_to_string(&mut rest).unwrap();
        assert_eq!(rest.trim(), "", "the feed ends with the run");
    }
    drop(asleep);
    let mut watched = viewers.len();
    while watched > 0 {
        watched -= 1;
        assert!(!run.server.wait_for_last(Duration::ZERO, || false), "nobody has the report");
    }
    get(&run, &format!("/{TOKEN}/report"));
    assert!(run.server.wait_for_last(PATIENCE, || false));
}

/// What was never read is not kept: a viewer that was asleep gets the state of the moment when it wakes.
#[test]
fn a_slow_viewer_gets_the_latest_and_not_the_past() {
    let mut run = run();
    let mut slow = Viewer::of(&run);
    run.trial(0);
    for second in 0..300 {
        run.second(second, 50_000);
    }
    // As many as there are: the last one is still being filled.
    let mut columns = 0;
    while columns < 299 {
        let (from, new) = slow.columns();
        assert!(from as usize <= columns, "none is left out");
        columns = from as usize + new.len();
    }
    slow.until("now", "block 3: 10.0s of 10.0s");
}
