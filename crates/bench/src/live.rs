//! The same run with a live page that a browser watches, and without: the cost of the page to the driver.
//!
//! The browser is a thread of this process, whose CPU time is not counted: it reads the page and all events, as fast as
//! they come.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use stormeter_results::ResultsFile;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::line::{Bound, Line, rate};
use crate::pairs::interleave;
use crate::process;

/// The page must cost less than 1 %.
const LEAST_IOPS: f64 = 0.99;
const MOST_CPU: f64 = 1.01;
/// The effect is smaller than the difference between two runs of one program.
const PAIRS: usize = 25;
const PATIENCE: Duration = Duration::from_secs(5);

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// One thread that is never idle, with the rows and latencies that a run shows by default.
const STUDY: &str = "\
study: The cost of the live page
datastores: {nothing: \"null:\"}
workloads: [{name: w, profile: vm-4k}]
load: {vms: 1}
disk: {size: 64MiB}
measure: {ramp: 500ms, duration: 3s}
design: {blocks: 1}
";

/// The lines of the table.
pub(crate) fn lines(arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    let place = Place::new()?;
    let [iops, cpu] =
        interleave(arguments.pairs_or(PAIRS), || place.watched(), || place.run(&[], "without.db"))?;
    let what = |figure| format!("`null:`, one thread, live page with a browser: {figure}");
    let reference = "without";
    Ok(vec![
        Line::paired(what("IOPS"), &iops, Bound::LeastWithinNoise(LEAST_IOPS), rate)
            .reference(reference),
        Line::paired(what("CPU per I/O"), &cpu, Bound::Most(MOST_CPU), |ns| format!("{ns:.1} ns"))
            .reference(reference),
    ])
}

/// The program, and the files of its runs.
struct Place {
    program: PathBuf,
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Result<Self, Failure> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let directory = tempfile::TempDir::with_prefix("stormeter-bench");
        let directory = directory.map_err(|error| error.to_string())?;
        for (name, text) in [("study.yaml", STUDY), ("token", TOKEN)] {
            let path = directory.path().join(name);
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(Self { program: own.with_file_name("stormeter"), directory })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// IOPS, and CPU time of the process per I/O in nanoseconds.
    fn run(&self, options: &[String], results: &str) -> Result<[f64; 2], Failure> {
        let results = self.path(results);
        let text = |path: &Path| path.display().to_string();
        let mut words = vec![text(&self.program), "run".into(), text(&self.path("study.yaml"))];
        words.extend(["--output".into(), text(&results)]);
        words.extend_from_slice(options);
        // A run does not replace the results of an earlier one.
        let _ = std::fs::remove_file(&results);
        let ended = process::run(&words)?;
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", results.display());
        let file = ResultsFile::open(&results).map_err(|error| failed(&error))?;
        let trials = file.trials().map_err(|error| failed(&error))?;
        // All that the program did I/O for, also to know its own limit.
        let samples = || trials.iter().filter_map(|trial| trial.sample());
        let operations: u64 =
            samples().map(|sample| sample.total().operations + sample.ramp_operations).sum();
        let measured = trials.iter().find(|trial| trial.cell.is_some());
        let sample = measured.and_then(|trial| trial.sample());
        let sample = sample.ok_or_else(|| failed(&"the trial failed"))?;
        Ok([sample.iops(), ended.cpu_ns as f64 / operations.max(1) as f64])
    }

    /// The same with a page and a browser, which must have seen the run end.
    fn watched(&self) -> Result<[f64; 2], Failure> {
        let address = free_address()?;
        let browser = Browser::start(address);
        let token = self.path("token").display().to_string();
        let options = [format!("--live={address}"), "--live-token-file".into(), token];
        let figures = self.run(&options, "with.db");
        let read = browser.stop()?;
        let figures = figures?;
        // The page, and some events.
        if read.len() < 10_000 || !read.contains("\ndata:") {
            return Err(format!("the browser saw no more than {} bytes of the run", read.len()));
        }
        Ok(figures)
    }
}

/// One that nothing listens on now.
fn free_address() -> Result<SocketAddr, Failure> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(|error| error.to_string())
}

/// Reads the page and then its events, to their end.
struct Browser {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<std::io::Result<String>>,
}

impl Browser {
    fn start(address: SocketAddr) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ended);
        let thread = std::thread::spawn(move || {
            let mut read = get(address, "", &until)?;
            read.push_str(&get(address, "events", &until)?);
            Ok(read)
        });
        Self { ended, thread }
    }

    fn stop(self) -> Result<String, Failure> {
        self.ended.store(true, Ordering::Relaxed);
        let read = self.thread.join().map_err(|_| "the browser failed".to_owned())?;
        read.map_err(|error| format!("the browser: {error}"))
    }
}

/// What is served at a path, once the program listens; nothing if the run ends before that.
fn get(address: SocketAddr, path: &str, ended: &AtomicBool) -> std::io::Result<String> {
    let mut stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(_) if ended.load(Ordering::Relaxed) => return Ok(String::new()),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET /{TOKEN}/{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut read = Vec::new();
    stream.read_to_end(&mut read)?;
    Ok(String::from_utf8_lossy(&read).into_owned())
}
