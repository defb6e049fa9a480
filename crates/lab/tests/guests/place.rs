//! An empty folder with a lab in it, as a user has one: stormeter runs there, and the lab ends with the folder.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use stormeter_agent::connect;
use stormeter_lab::{GuestStatus, down, status};

/// Path of the static stormeter.
const BINARY: &str = "STORMETER_LAB_BINARY";
/// Path of the stormeter that `cargo build` makes.
const ANY_BUILD: &str = "STORMETER_LAB_ANY_BUILD";
/// Set if another step of the same run boots guests.
const LATER: &str = "STORMETER_LAB_LATER";

/// The binaries for which the images have been built in this run of the tests.
static BUILT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The place of a test that boots guests.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    /// Nested so deep that its path does not fit into a socket address.
    deep: PathBuf,
    binary: PathBuf,
}

impl Place {
    /// A new place, with the images built; `None`, with a message, if guests cannot be booted.
    pub(crate) fn new() -> Option<Self> {
        Self::with(BINARY)
    }

    /// The same with a stormeter that is not static.
    pub(crate) fn of_any_build() -> Option<Self> {
        Self::with(ANY_BUILD)
    }

    fn with(binary: &str) -> Option<Self> {
        let Some(binary) = std::env::var_os(binary).map(PathBuf::from) else {
            not_run();
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let mut deep = folder.path().to_owned();
        (0..4).for_each(|_| deep.push("deep".repeat(13)));
        std::fs::create_dir_all(&deep).unwrap();
        let place = Self { _folder: folder, deep, binary };
        // Once for each binary: asking apt what is new takes seconds on two busy cores.
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        if !built.contains(&place.binary) {
            place.done(&["lab", "build"]);
            built.push(place.binary.clone());
        }
        drop(built);
        Some(place)
    }

    /// The program under test, which is also put into guests.
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// A file of the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.deep.join(name)
    }

    /// The lab's directory.
    pub(crate) fn directory(&self) -> PathBuf {
        self.path(".stormeter-lab")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// A command that runs stormeter here.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.deep).args(arguments);
        command
    }

    /// Runs stormeter here; returns its exit code and all output.
    pub(crate) fn stormeter(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let since = Instant::now();
        let output = said(self.command(arguments).output().unwrap());
        println!("{:5.1} s  stormeter {}", since.elapsed().as_secs_f64(), arguments.join(" "));
        output
    }

    /// Runs stormeter here and expects success; returns all output.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let (code, text) = self.stormeter(arguments);
        assert_eq!(code, Some(0), "stormeter {arguments:?}: {text}");
        text
    }

    /// Runs a study to its end, after the given number of blocks. Warnings that the machine is busy emulating
    /// processors, and trials that are invalid for that reason, are not what these tests are about.
    pub(crate) fn ran(&self, arguments: &[&str], blocks: &str) -> String {
        let (code, text) = self.stormeter(arguments);
        assert!(matches!(code, Some(0 | 5)), "stormeter {arguments:?}: {text}");
        assert!(text.contains(&format!("Ended after {blocks} (")), "{text}");
        text
    }

    /// Tries to bring up this lab, with emulated processors.
    pub(crate) fn try_up(&self, lab: &str) -> (Option<i32>, String) {
        self.write("lab.yaml", lab);
        self.stormeter(&["lab", "up", "lab.yaml", "--accelerator", "tcg"])
    }

    /// Brings up this lab.
    pub(crate) fn up(&self, lab: &str) {
        let (code, text) = self.try_up(lab);
        assert_eq!(code, Some(0), "{text}");
        println!("{text}");
    }

    /// Ends the lab and checks that no trace of it is left.
    pub(crate) fn down(&self) {
        self.done(&["lab", "down"]);
        assert!(!self.directory().exists());
    }

    /// The lab's guests as they are now.
    pub(crate) fn guests(&self) -> Vec<GuestStatus> {
        status(&self.directory()).unwrap().guests
    }

    pub(crate) fn guest(&self, name: &str) -> GuestStatus {
        self.guests().into_iter().find(|guest| guest.name == name).unwrap()
    }

    /// Runs a script on a guest over its control port, and returns its last word: `ready`, or `failed` and the last
    /// line of output.
    pub(crate) fn script(&self, guest: &str, lines: &[&str]) -> String {
        self.answer(guest, lines).unwrap_or_else(|| panic!("{guest} has gone"))
    }

    /// Crashes a guest's kernel, and waits until the guest has ended.
    pub(crate) fn crash(&self, guest: &str) {
        assert_eq!(self.answer(guest, &["echo c > /proc/sysrq-trigger"]), None);
    }

    /// A guest's answer at the end of a script; `None` if the guest has ended.
    fn answer(&self, guest: &str, lines: &[&str]) -> Option<String> {
        let socket = self.directory().join("guests").join(guest).join("control");
        let mut stream = connect(&socket).unwrap();
        let mut text = String::from("begin\n");
        for line in lines {
            text += &format!("line {line}\n");
        }
        stream.write_all((text + "run\n").as_bytes()).unwrap();
        // Answers to repeated hello requests are skipped.
        let mut said = BufReader::new(stream).lines().map_while(Result::ok);
        said.find(|line| !line.starts_with("hello"))
    }
}

/// A failed test leaves no lab behind.
impl Drop for Place {
    fn drop(&mut self) {
        let _ = down(&self.directory());
    }
}

/// The exit code and all output of a program that has ended.
pub(crate) fn said(output: Output) -> (Option<i32>, String) {
    let text =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    (output.status.code(), text.concat())
}

/// Written past the capture of the test harness. In CI a test must not be skipped unless another step
/// runs it.
fn not_run() {
    let _ = writeln!(std::io::stderr(), "NOT RUN: boots guests; cargo xtask test --only lab");
    let elsewhere = std::env::var_os("CI").is_none() || std::env::var_os(LATER).is_some();
    assert!(elsewhere, "CI must boot guests: {BINARY} and {ANY_BUILD} say with what");
}
