//! The static binary: one file that runs on any Linux, to be copied to other machines and into
//! guests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::checks::is_ci;
use crate::child::{line, output, succeed};
use crate::cross;
use crate::elf::dynamic_parts;
use crate::peers;
use crate::repository::{Repository, without_user};
use crate::steps::Finding;
use crate::target::{Target, X86_64};

/// A file that is copied around must be small.
const LIMIT_BYTES: u64 = 20_000_000;
const STARTS: usize = 20;
/// Exit code of a comparison without a verdict: one second is short.
const INCONCLUSIVE: i32 = 4;

/// The chore `static`.
pub(crate) fn run(repository: &Repository) -> Result<(), String> {
    peers::install(repository)?;
    println!("{}", look_at(&build(repository, X86_64, Haste::None)?, repository)?);
    Ok(())
}

/// Inspects the binary and tries it.
pub(crate) fn check(repository: &Repository) -> Finding {
    look_at(&for_checks(repository)?, repository)
}

/// The binary that is inspected and put into guests. In CI, which builds everything from scratch, it is
/// built without link-time optimisation: that takes a minute, and this binary's instructions are not
/// counted.
pub(crate) fn for_checks(repository: &Repository) -> Result<PathBuf, String> {
    build(repository, X86_64, Haste::for_checks())
}

/// Whether a quick build matters more than a fast program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Haste {
    /// As released.
    None,
    Some,
}

impl Haste {
    /// That of the checks.
    pub(crate) fn for_checks() -> Self {
        if is_ci() { Self::Some } else { Self::None }
    }
}

fn look_at(binary: &Path, repository: &Repository) -> Finding {
    let bytes = inspect(binary)?;
    let start = || Command::new(binary);
    let quickest = quickest_start(&start)?;
    try_out(repository, &start)?;
    Ok(format!(
        "{:.1} MB, no interpreter, no library; starts in {:.1} ms (best of {STARTS}); compares",
        bytes as f64 / 1e6,
        quickest.as_secs_f64() * 1e3
    ))
}

/// Checks that it is static and small; returns its size in bytes.
///
/// # Errors
/// It is not.
pub(crate) fn inspect(binary: &Path) -> Result<u64, String> {
    let file = std::fs::read(binary)
        .map_err(|error| format!("{} cannot be read: {error}", binary.display()))?;
    let parts = dynamic_parts(&file).map_err(|error| format!("{}: {error}", binary.display()))?;
    if !parts.is_empty() {
        return Err(format!("{} is not static: it wants {}", binary.display(), parts.join(", ")));
    }
    let bytes = file.len() as u64;
    if bytes >= LIMIT_BYTES {
        return Err(format!(
            "{} has {bytes} bytes, {LIMIT_BYTES} are too many; see what was added with cargo bloat",
            binary.display()
        ));
    }
    Ok(bytes)
}

/// Checks that it tells its version, prints the committed schema and does real work. `start` calls it, directly or
/// through an emulator.
///
/// # Errors
/// It does not.
pub(crate) fn try_out(repository: &Repository, start: &dyn Fn() -> Command) -> Result<(), String> {
    tell_version(start)?;
    print_schema(repository, start)?;
    compare(repository, start)
}

/// Builds it for a target.
pub(crate) fn build(
    repository: &Repository,
    target: Target,
    haste: Haste,
) -> Result<PathBuf, String> {
    let arguments = ["build", "--release", "--package", "stormeter", "--target", target.triple];
    let mut cargo = repository.cargo(&arguments);
    cross::prepare(&mut cargo, repository, target)?;
    // Every guest of a lab has it in memory, where the names of functions are a fifth of it.
    cargo.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    let head = ["rev-parse", "--short=12", "HEAD"];
    // A source archive has no history; the binary then reports its commit as unknown.
    if let Ok(commit) = output(Command::new("git").current_dir(&repository.root).args(head)) {
        cargo.env("STORMETER_COMMIT", commit.trim());
    }
    if haste == Haste::Some {
        cargo.env("CARGO_PROFILE_RELEASE_LTO", "off");
        cargo.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
        // Without link-time optimisation a binary built for speed is larger than the released one.
        cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "z");
        // At the highest optimisation level the C compiler takes more than twice as long for
        // SQLite.
        cargo.args(["--config", "profile.release.package.libsqlite3-sys.opt-level=1"]);
    }
    succeed(&mut cargo)?;
    Ok(repository.target.join(target.triple).join("release/stormeter"))
}

/// Reported but not judged: a busy machine may be slow, and the benchmarks judge speed.
fn quickest_start(start: &dyn Fn() -> Command) -> Result<Duration, String> {
    let mut quickest = Duration::MAX;
    for _ in 0..STARTS {
        let started = Instant::now();
        tell_version(start)?;
        quickest = quickest.min(started.elapsed());
    }
    Ok(quickest)
}

fn tell_version(start: &dyn Fn() -> Command) -> Result<(), String> {
    let version = output(start().arg("--version"))?;
    let expected = format!("stormeter {}", env!("CARGO_PKG_VERSION"));
    if version.trim() == expected {
        return Ok(());
    }
    Err(format!("--version says '{}', not '{expected}'", version.trim()))
}

/// Checks that the schema which the binary prints is the committed one.
fn print_schema(repository: &Repository, start: &dyn Fn() -> Command) -> Result<(), String> {
    let path = repository.root.join("docs/schema/report.schema.json");
    let committed = std::fs::read_to_string(&path)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    if output(start().args(["schema", "report"]))? == committed {
        return Ok(());
    }
    Err(format!("{} is not what `stormeter schema report` prints; regenerate it", path.display()))
}

/// Checks that it does real work: compares two directories for a second.
fn compare(repository: &Repository, start: &dyn Fn() -> Command) -> Result<(), String> {
    let directory = repository.scratch("static")?;
    for datastore in ["one", "other"] {
        std::fs::create_dir(directory.join(datastore))
            .map_err(|error| format!("{} cannot be made: {error}", directory.display()))?;
    }
    let mut command = start();
    command.current_dir(&directory).args(["compare", "./one", "./other", "--size", "8MiB"]);
    without_user(&mut command, &directory);
    command.args(["--duration", "100ms", "--ramp", "20ms", "--max-blocks", "5"]);
    command.args(["--time-limit", "10s", "--output", "static.db", "--quiet", "--json"]);
    let done = command.output().map_err(|error| format!("{}: {error}", line(&command)))?;
    if !matches!(done.status.code(), Some(0 | INCONCLUSIVE)) {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(format!("the static binary cannot compare: {}\n{said}", done.status));
    }
    let report: serde_json::Value = serde_json::from_slice(&done.stdout)
        .map_err(|error| format!("the static binary's JSON cannot be read: {error}"))?;
    let comparisons = report["comparisons"].as_array().map_or(0, Vec::len);
    let _ = std::fs::remove_dir_all(&directory);
    if comparisons > 0 { Ok(()) } else { Err("the static binary compared nothing".into()) }
}
