//! Checks what this machine offers for a measurement, and advises on what is missing.

mod link;
mod sentences;
mod way;

use std::fs;
use std::path::Path;

use nix::sys::resource::{Resource, getrlimit};
use stormeter_datastore::{Datastore, DatastoreUrl, OpenOptions, RealClock};
use stormeter_results::DatastoreNote;
use stormeter_study::StudyPlan;
use stormeter_units::format_bytes;

use crate::accounting::Accounting;
use crate::environment::{governor, virtualization};
use crate::machine::{allowed_cpus, line_of, load_average, memory_bytes};

pub use link::Link;
pub use way::{FreeSpace, Parameter, RunNeeds, Way};

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// As it should be.
    Good,
    /// Works, but the figures will be worse or less certain.
    Fair,
    /// Does not work.
    Bad,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Advice {
    /// Its subject: `io_uring`, `governor`, …
    pub subject: String,
    /// Its result.
    pub health: Health,
    /// What was found.
    pub found: String,
    /// What to do about it; empty if nothing needs to be done.
    pub advice: String,
    /// Notes about a datastore, which are the advice; the reader has the sentences.
    #[serde(skip)]
    pub notes: Vec<DatastoreNote>,
    /// Of a datastore that could be opened: the way to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub way: Option<Way>,
}

/// Checks the machine, and the given datastores. `plan` is the run whose needs are of interest.
pub fn examine(clock: &RealClock, datastores: &[String], plan: Option<&StudyPlan>) -> Vec<Advice> {
    let mut all = vec![
        io_uring(),
        time(clock),
        cpus(),
        frequency(),
        neighbours(),
        cpu_accounting(),
        memory(),
        open_files(),
        locked_memory(),
        virtual_machine(),
    ];
    all.extend(datastores.iter().map(|url| datastore(url, plan, clock)));
    all
}

fn advice(subject: &str, health: Health, found: String, advice: &str) -> Advice {
    let (subject, advice) = (subject.into(), advice.into());
    Advice { subject, health, found, advice, notes: Vec::new(), way: None }
}

fn io_uring() -> Advice {
    match stormeter_datastore::uring_available() {
        Ok(()) => advice("io_uring", Health::Good, "available".into(), ""),
        Err(reason) => advice(
            "io_uring",
            Health::Fair,
            format!("refused ({reason}); the positional engine is used instead"),
            "the positional engine costs several times more CPU per I/O; allow io_uring for exact \
             CPU figures and high IOPS",
        ),
    }
}

fn time(clock: &RealClock) -> Advice {
    let source = clock.source();
    if source.starts_with("clock_gettime") {
        return advice(
            "clock",
            Health::Fair,
            source,
            "each I/O is timed by a call of the system; where the TSC is sound, boot with it as \
             clock source (tsc=reliable)",
        );
    }
    advice("clock", Health::Good, source, "")
}

fn cpus() -> Advice {
    let cpus = allowed_cpus().len();
    if cpus < 2 {
        return advice(
            "CPUs",
            Health::Fair,
            "one CPU: the generator and everything else share it".into(),
            "give the machine a second CPU, so that storage does not wait for the generator",
        );
    }
    advice("CPUs", Health::Good, format!("{cpus} usable"), "")
}

fn frequency() -> Advice {
    match governor() {
        None => advice("governor", Health::Good, "none (fixed, or the hypervisor's)".into(), ""),
        Some(name) if name == "performance" => advice("governor", Health::Good, name, ""),
        Some(name) => advice(
            "governor",
            Health::Fair,
            name,
            "CPU time per I/O depends on the frequency of the moment; set it for the test: \
             cpupower frequency-set -g performance",
        ),
    }
}

fn neighbours() -> Advice {
    let steal = steal_percent(&fs::read_to_string("/proc/stat").unwrap_or_default());
    let load = load_average().map_or(0.0, |load| load[0]);
    let cpus = allowed_cpus().len() as f64;
    let found = format!("load {load:.2} on {cpus:.0} CPUs, {steal:.1} % stolen since boot");
    if load > 0.5 * cpus {
        return advice(
            "neighbours",
            Health::Fair,
            found,
            "other processes are busy; stop them (top shows which), or expect wider intervals",
        );
    }
    if steal > 2.0 {
        return advice(
            "neighbours",
            Health::Fair,
            found,
            "the hypervisor gives CPU time to other machines; use dedicated CPUs, or expect wider \
             intervals",
        );
    }
    advice("neighbours", Health::Good, found, "")
}

fn cpu_accounting() -> Advice {
    const SUBJECT: &str = "CPU accounting";
    match Accounting::probe() {
        None => advice(
            SUBJECT,
            Health::Fair,
            "/proc/stat cannot be read".into(),
            "host CPU per I/O is not known here; go by the initiator's CPU time",
        ),
        Some(probe) if probe.is_sound() => advice(SUBJECT, Health::Good, probe.sentence(), ""),
        Some(probe) => advice(
            SUBJECT,
            Health::Fair,
            probe.sentence(),
            "this kernel counts CPU time by ticks and misses some of it, so host CPU per I/O is \
             unreliable; go by the initiator's and the target's CPU time",
        ),
    }
}

fn steal_percent(stat: &str) -> f64 {
    let ticks: Vec<f64> = stat
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .take(8)
        .map(|word| word.parse().unwrap_or(0.0))
        .collect();
    let total: f64 = ticks.iter().sum();
    if total > 0.0 { ticks.get(7).copied().unwrap_or(0.0) / total * 100.0 } else { 0.0 }
}

fn memory() -> Advice {
    let available = memory_bytes("MemAvailable").unwrap_or(0);
    let found = format!("{} available", format_bytes(available));
    if available < 512 << 20 {
        return advice(
            "memory",
            Health::Fair,
            found,
            "less than 512MiB: a machine that swaps measures its swap; free some",
        );
    }
    advice("memory", Health::Good, found, "")
}

fn open_files() -> Advice {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return advice("open files", Health::Fair, "unknown".into(), "");
    };
    let found = format!("{soft}, can be raised to {hard}");
    if hard < 4096 {
        return advice(
            "open files",
            Health::Fair,
            found,
            "each VM's disk is a file; for more than a few hundred VMs raise the hard limit \
             (ulimit -Hn, or LimitNOFILE= of the service)",
        );
    }
    advice("open files", Health::Good, found, "")
}

fn locked_memory() -> Advice {
    let Ok((soft, _)) = getrlimit(Resource::RLIMIT_MEMLOCK) else {
        return advice("locked memory", Health::Fair, "unknown".into(), "");
    };
    let limit = if soft > 1 << 50 { "unlimited".into() } else { format_bytes(soft) };
    if soft < 64 << 20 && !nix::unistd::geteuid().is_root() {
        return advice(
            "locked memory",
            Health::Fair,
            limit,
            "fixed buffers save 10 to 18 % of the CPU time; raise the limit (ulimit -l unlimited)",
        );
    }
    advice("locked memory", Health::Good, limit, "")
}

fn virtual_machine() -> Advice {
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    match virtualization(&cpu_info) {
        None => advice("virtualization", Health::Good, "none seen".into(), ""),
        Some(name) => {
            // "yes": there is a hypervisor, which the firmware does not name.
            let name = if name == "yes" { String::new() } else { format!(" ({name})") };
            let found =
                format!("a virtual machine{name}: the hypervisor's storage is measured with it");
            advice("virtualization", Health::Good, found, "")
        }
    }
}

fn datastore(url: &str, plan: Option<&StudyPlan>, clock: &RealClock) -> Advice {
    // Text forms leave the password out.
    let shown = DatastoreUrl::parse(url).map_or_else(|_| url.into(), |parsed| parsed.to_string());
    let opened = DatastoreUrl::parse(url).map_err(|error| error.to_string()).and_then(|parsed| {
        // Nothing is written; the folder that opening makes goes with the value.
        let options = OpenOptions { run_id: doctor_id(), ..OpenOptions::default() };
        Datastore::open(&parsed, options).map_err(|error| error.to_string())
    });
    match opened {
        Err(reason) => advice(&shown, Health::Bad, reason, ""),
        Ok(datastore) => {
            let description = datastore.description();
            let mut found = vec![description.kind.clone()];
            if let Some(filesystem) = &description.filesystem {
                found.push(format!("{} on {}", filesystem.kind, filesystem.source));
            }
            if let Some(rotational) = rotational(&description) {
                found.push(rotational.into());
            }
            if matches!(description.kind.as_str(), "nfs" | "iscsi") {
                found.push(description.engine.clone());
            } else if description.kind != "null" {
                let io = if description.direct { "direct I/O" } else { "buffered I/O" };
                found.push(format!("{io} in units of {} bytes", description.logical_block_bytes));
                found.push(description.engine.clone());
            }
            let health = if description.notes.is_empty() { Health::Good } else { Health::Fair };
            let way = match Way::to(&datastore, &description, plan, clock) {
                Ok(way) => way,
                Err(error) => return advice(&shown, Health::Bad, error.to_string(), ""),
            };
            let is_refused = way.run.as_ref().is_some_and(|run| run.refused.is_some());
            let health = if is_refused { Health::Fair } else { health };
            let notes = description.notes.into_iter().map(DatastoreNote::from).collect();
            let way = Some(way).filter(|way| *way != Way::default());
            Advice { notes, way, ..advice(&shown, health, found.join(", "), "") }
        }
    }
}

fn rotational(description: &stormeter_datastore::Description) -> Option<&'static str> {
    let name = Path::new(&description.filesystem.as_ref()?.source).file_name()?.to_str()?;
    let flag = line_of(&format!("/sys/class/block/{name}/queue/rotational"))?;
    Some(if flag == "1" { "reported as rotating" } else { "reported as solid-state" })
}

fn doctor_id() -> String {
    format!("d0c{:013x}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_a_share_of_all_time() {
        assert_eq!(steal_percent("cpu 10 0 10 70 0 0 0 10 0 0\n"), 10.0);
        assert_eq!(steal_percent(""), 0.0);
    }

    #[test]
    fn a_missing_directory_is_bad_and_null_is_good() {
        let urls = ["/nonexistent/somewhere".to_owned(), "null:".to_owned()];
        let all = examine(&RealClock::new(), &urls, None);
        let of = |subject: &str| all.iter().find(|a| a.subject == subject).unwrap();
        assert_eq!(of("/nonexistent/somewhere").health, Health::Bad);
        assert!(of("/nonexistent/somewhere").found.contains("does not exist"));
        assert_eq!(of("null:").health, Health::Good);
    }

    #[test]
    fn everything_fair_says_what_to_do() {
        for advice in examine(&RealClock::new(), &[], None) {
            assert!(
                advice.health == Health::Good || !advice.advice.is_empty(),
                "{}",
                advice.subject
            );
        }
    }
}
