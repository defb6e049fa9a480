//! Where a test works: a directory of its own with datastores in it, the program run there as a
//! user runs it, and waits that end.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

/// Nothing here takes a tenth of it, on a machine however busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// A comparison that ends soon, whatever it finds: the shortest trials there are.
pub(crate) const SHORT: &str = "--size 8MiB --duration 100ms --ramp 20ms --time-limit 60s";
/// The same where a trial in which the machine let no I/O end would spoil what is tested.
pub(crate) const STEADY: &str = "--size 8MiB --duration 200ms --ramp 20ms --time-limit 60s";
/// One I/O at a time with a pause after each: far below the generator's ceiling on any storage, and
/// without a number of outstanding I/Os that a busy machine could fail to keep. Together with a
/// verdict that any interval allows, what is tested is then not the machine.
pub(crate) const SURE: &str =
    "--outstanding 1 --burst 1 --burst-delay 2ms --precision 100% --margin 99%";

/// A directory with datastores in it, removed at the end.
pub(crate) struct Place {
    root: TempDir,
}

/// What a command that ended has left.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The exit code; a signal has none.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A command that runs.
pub(crate) struct Running {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// A file system in memory, as far as there is one with room enough: it never stalls, so that a
/// trial of a tenth of a second always sees I/Os end.
fn steady_storage() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let room = nix::sys::statvfs::statvfs(memory)
        .map_or(0, |stat| stat.blocks_available() * stat.fragment_size());
    if room > 4 << 30 { memory.into() } else { std::env::temp_dir() }
}

/// Starts a program that was copied just now. Another test's fork may hold the copy open for writing
/// for an instant (ETXTBSY); it lets go when it becomes its own program.
fn spawn_copied(command: &mut Command) -> Child {
    for _ in 0..1000 {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            result => return result.unwrap(),
        }
    }
    command.spawn().unwrap()
}

impl Place {
    /// A place with the datastores `a` and `b` on storage that does not stall.
    pub(crate) fn new() -> Self {
        Self::below(&steady_storage())
    }

    /// A place with the datastores `a` and `b` where temporary files are: on a disk, as a rule.
    pub(crate) fn on_disk() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// The same, with a path for which no address of a socket has room.
    pub(crate) fn deep() -> Self {
        Self::named(&"deep".repeat(50), &std::env::temp_dir())
    }

    fn below(directory: &Path) -> Self {
        Self::named("", directory)
    }

    fn named(prefix: &str, directory: &Path) -> Self {
        let place = Self { root: TempDir::with_prefix_in(prefix, directory).unwrap() };
        place.make("a");
        place.make("b");
        place
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Makes a directory.
    pub(crate) fn make(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// The program with these arguments, separated by white space, in this place.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stormeter"));
        command.args(arguments.split_whitespace()).current_dir(self.root());
        self.at_home(&mut command);
        command
    }

    /// Results go where the test looks for them, and nothing of the user who runs the tests counts.
    pub(crate) fn at_home(&self, command: &mut Command) {
        for (name, directory) in [
            ("HOME", ""),
            ("XDG_DATA_HOME", "data"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_CACHE_HOME", "cache"),
        ] {
            command.env(name, self.root().join(directory));
        }
        command.env("STORMETER_RESULTS", ".").env_remove("STORMETER_DEFAULTS");
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &str) -> Outcome {
        self.start(arguments).wait()
    }

    /// Runs a comparison to its end. A machine may be so busy that not one I/O ends in a tenth of a
    /// second, or that nothing can be settled: then it is run again, a few times, until it ends
    /// with one of these codes. Whatever else it ends with is a failure at once.
    #[track_caller]
    pub(crate) fn run_until(&self, codes: &[i32], arguments: &str) -> Outcome {
        let results = || -> Vec<PathBuf> {
            let entries = fs::read_dir(self.root()).unwrap();
            let paths = entries.map(|entry| entry.unwrap().path());
            paths.filter(|path| path.extension().is_some_and(|end| end == "db")).collect()
        };
        let before = results();
        for _ in 0..10 {
            let outcome = self.run(arguments);
            if outcome.code.is_some_and(|code| codes.contains(&code)) {
                return outcome;
            }
            outcome.expect(&[4, 5]);
            for path in results().into_iter().filter(|path| !before.contains(path)) {
                fs::remove_file(path).unwrap();
            }
        }
        self.run(arguments).expect(codes)
    }

    /// Starts the program and leaves it running.
    pub(crate) fn start(&self, arguments: &str) -> Running {
        self.spawn(self.command(arguments))
    }

    /// Starts a command that writes to files, so that no pipe can fill and hold it up.
    pub(crate) fn spawn(&self, mut command: Command) -> Running {
        let outputs = tempfile::Builder::new().prefix("output-").tempdir_in(self.root()).unwrap();
        let outputs = outputs.keep();
        let (stdout, stderr) = (outputs.join("stdout"), outputs.join("stderr"));
        command
            .stdin(Stdio::null())
            .stdout(File::create(&stdout).unwrap())
            .stderr(File::create(&stderr).unwrap());
        Running { child: spawn_copied(&mut command), stdout, stderr }
    }

    /// The working folders that lie in a datastore.
    pub(crate) fn folders(&self, datastore: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(datastore)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(".stormeter-"))
            .collect()
    }

    /// A prepared disk of a run in progress. Preparing ends with the mark saying so.
    pub(crate) fn wait_for_disk(&self, running: &mut Running, datastore: &str) -> PathBuf {
        running.until("a prepared disk", || {
            let folder = self.folders(datastore).pop()?;
            let mark = fs::read_to_string(folder.join("owner.json")).ok()?;
            let mark: Value = serde_json::from_str(&mark).ok()?;
            (mark["prepared"] == true).then(|| folder.join("disk-00000"))
        })
    }
}

impl Running {
    pub(crate) fn id(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        nix::sys::signal::kill(self.id(), signal).unwrap();
    }

    /// Ends it as a power cut would, as far as this process is concerned.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Fails with everything that was printed when it has ended.
    #[track_caller]
    pub(crate) fn assert_running(&mut self) {
        if let Some(status) = self.ended() {
            panic!("it has ended: {:#?}", self.outcome(status));
        }
    }

    pub(crate) fn wait(mut self) -> Outcome {
        let status = until("the command to end", || self.ended());
        self.outcome(status)
    }

    /// Looks until there is something; fails at once when the command ends before.
    #[track_caller]
    pub(crate) fn until<T>(&mut self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let found = until(what, || {
            let ended = self.ended();
            // What it did last is seen although it has ended since.
            look().map(Ok).or(ended.map(Err))
        });
        found.unwrap_or_else(|status| panic!("no {what}: {:#?}", self.outcome(status)))
    }

    fn outcome(&self, status: ExitStatus) -> Outcome {
        Outcome {
            code: status.code(),
            stdout: fs::read_to_string(&self.stdout).unwrap(),
            stderr: fs::read_to_string(&self.stderr).unwrap(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // After a failed test nothing keeps running; after a wait there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Outcome {
    /// Fails with everything that was printed unless the code is one of these.
    #[track_caller]
    pub(crate) fn expect(self, codes: &[i32]) -> Self {
        assert!(self.code.is_some_and(|code| codes.contains(&code)), "not {codes:?}: {self:#?}");
        self
    }

    /// What was printed, its lines joined again where they were wrapped.
    pub(crate) fn said(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What was printed, as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// Looks until there is something; waiting in vain fails.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Says so on the real standard error, past the capture of the test harness; CI must not pass over
/// a test.
pub(crate) fn not_run(why: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
    assert!(std::env::var_os("CI").is_none(), "CI must run this test: {why}");
}
