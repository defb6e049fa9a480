//! `stormeter demo`: a whole comparison on any machine: a local directory, an NFS datastore, and an iSCSI
//! datastore if tgt is installed, all on the same disk.

mod explanation;
mod servers;

use std::path::{Path, PathBuf};

use stormeter_datastore::RealClock;
use stormeter_results::{FinishReason, ResultsFile};
use stormeter_runner::Request;
use stormeter_study::{ComparisonPlan, Metric, StudyPlan, Timing, profile};

use explanation::explanation;
use servers::tgt;

use crate::arguments::DemoOptions;
use crate::arguments_show::ShowOptions;
use crate::color::Color;
use crate::commands::compare::drawn_seed;
use crate::embedded::{make_own, nfs};
use crate::exit::{Exit, Failure};
use crate::live::Display;
use crate::output::{check_outputs, is_stdout, layout, print, report_of, show, write_page};
use crate::results_place::place;
use crate::settings::option;
use crate::signals::cancel_on_signals_of;

/// The name of results and page.
const NAME: &str = "stormeter-demo";
/// The directory of the demo's datastores.
const DIRECTORY: &str = "stormeter-demo";
const DISK_BYTES: u64 = 64 << 20;
/// Space for two disks and what is kept free at both ends of a LUN.
const LUN_BYTES: u64 = 2 * DISK_BYTES + (4 << 20);

pub(crate) fn run(options: &DemoOptions, color: Color) -> Result<Exit, Failure> {
    let file = |what: &str, error: std::io::Error| {
        Failure::File(format!("the demo cannot {what} in the working directory: {error}"))
    };
    let directories = Directories::make().map_err(|error| file("make a directory", error))?;
    let results = free_name(&place()?);
    let html = options.html.clone().unwrap_or_else(|| results.with_extension("html"));
    let show_options = ShowOptions { html: Some(html.clone()), json: false };
    check_outputs(&show_options, Some(&results))?;
    // Only the page goes to standard output.
    let is_silent = options.quiet || is_stdout(&html);
    let nfs = nfs(&directories.export)?;
    let tgt = tgt(&directories.top, LUN_BYTES);
    let local = format!("./{DIRECTORY}/local");
    let mut datastores = vec![local, nfs.url().to_owned()];
    datastores.extend(tgt.as_ref().ok().map(|tgt| tgt.url(1)));
    if !is_silent {
        print(&introduction(&datastores, tgt.as_ref().err()))?;
    }
    let request = Request {
        // The servers end with the demo, so it can only be repeated by another demo.
        command_line: ["stormeter", "demo"].map(String::from).to_vec(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..Request::new(
            StudyPlan::from(&plan(datastores.clone(), options.seed.unwrap_or_else(drawn_seed))?),
            results.clone(),
        )
    };
    let cancel = cancel_on_signals_of(&datastores);
    let mut progress = Display::of(&request.plan, options.quiet);
    let outcome = stormeter_runner::run(&request, &RealClock::new(), &cancel, &mut progress);
    drop(progress);
    drop((nfs, tgt));
    directories.remove();
    let report = report_of(outcome?, option);
    let is_interrupted = report.status.reason == Some(FinishReason::Interrupted);
    if is_interrupted && report.status.trials + report.status.failed_trials == 0 {
        ResultsFile::delete(&results)?;
        print("Interrupted before the first trial; nothing was measured.\n")?;
        return Ok(Exit::Interrupted);
    }
    if !is_stdout(&html) {
        let terminal = ShowOptions { html: None, json: false };
        let layout = layout(color);
        show(&report, &terminal, layout)?;
        print(&explanation(&report, layout.width))?;
    }
    match &options.html {
        // An interrupted demonstration does not replace the page of a complete one.
        Some(page) if is_interrupted && page.exists() => {}
        _ if is_stdout(&html) => print(&stormeter_report::html(&report))?,
        _ => write_page(&html, &stormeter_report::html(&report))?,
    }
    if !is_silent {
        print(&next_steps(&results))?;
    }
    // The demo shows what results look like: a machine too noisy for a verdict within half a minute is not a
    // failure.
    Ok(match Exit::of_run(&report) {
        Exit::Inconclusive => Exit::Done,
        exit => exit,
    })
}

fn introduction(datastores: &[String], without_iscsi: Option<&String>) -> String {
    let shown: Vec<String> = datastores.iter().map(|url| quoted(url)).collect();
    let lun = if without_iscsi.is_none() { " and on a LUN of tgt" } else { "" };
    let mut text = format!(
        "A demonstration, as if you had typed\n\n  \
         stormeter compare {} --vms 2 --size 64MiB\n\n\
         The disks of two VMs in a directory, on a built-in NFS server{lun}, all on the same\n\
         physical disk; network storage is accessed by native clients, as hypervisors do.\n\
         The disks are written in full, then measured in turns, in random order, for about\n\
         half a minute. The servers stop with the demonstration.\n\n",
        shown.join(" "),
    );
    if let Some(reason) = without_iscsi {
        text += &format!("{reason}.\n\n");
    }
    text
}

fn next_steps(results: &Path) -> String {
    let results = results.display();
    format!(
        "\nWhat next:\n  \
         open the page above in a browser: the same with charts\n  \
         stormeter doctor /srv/vm                       can your datastore be measured?\n  \
         stormeter compare /srv/vm /mnt/nas --html report.html\n  \
         sqlite3 {results}                     every figure (or DuckDB, pandas, R)\n"
    )
}

fn plan(datastores: Vec<String>, seed: u64) -> Result<ComparisonPlan, Failure> {
    Ok(ComparisonPlan {
        datastores,
        baseline: 0,
        workload: profile("vm-4k").map_err(|error| Failure::Usage(error.to_string()))?.workload,
        vms: 2,
        disk_bytes: DISK_BYTES,
        threads: 0,
        timing: Timing {
            ramp_ns: 250_000_000,
            duration_ns: 1_000_000_000,
            interval_ns: 50_000_000,
        },
        metric: Metric::Iops,
        precision: 0.05,
        margin: 0.05,
        level: 0.95,
        min_blocks: 5,
        max_blocks: 8,
        time_limit_ns: 30_000_000_000,
        equal_load: None,
        seed,
        verify: false,
    })
}

/// A name that neither the results nor the page of an earlier demonstration has. Demonstrations are alike: those of
/// other working directories need no names of their own.
fn free_name(directory: &Path) -> PathBuf {
    let name = |number: u32| match number {
        1 => directory.join(format!("{NAME}.db")),
        number => directory.join(format!("{NAME}-{number}.db")),
    };
    let is_free = |path: &PathBuf| !path.exists() && !path.with_extension("html").exists();
    (1..).map(name).find(is_free).unwrap_or_else(|| name(1))
}

/// Quoted for a shell if necessary.
fn quoted(url: &str) -> String {
    if url.contains(['?', '&']) { format!("'{url}'") } else { url.into() }
}

/// The demo's own directories, below the working directory.
struct Directories {
    top: PathBuf,
    export: PathBuf,
}

impl Directories {
    fn make() -> std::io::Result<Self> {
        let top = PathBuf::from(DIRECTORY);
        let export = top.join("export");
        for directory in [&top, &export, &top.join("local")] {
            make_own(directory)?;
        }
        // Servers must find it from any working directory.
        Ok(Self { top: top.canonicalize()?, export: export.canonicalize()? })
    }

    /// Removes them if they are empty again, which they are unless other files were put there.
    fn remove(&self) {
        for directory in [self.export.clone(), self.top.join("local"), self.top.clone()] {
            let _ = std::fs::remove_dir(directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_demonstration_takes_the_name_of_an_earlier_one() {
        let directory = tempfile::tempdir().unwrap();
        let free = || free_name(directory.path());
        assert_eq!(free(), directory.path().join("stormeter-demo.db"));
        std::fs::write(free(), "").unwrap();
        assert_eq!(free(), directory.path().join("stormeter-demo-2.db"));
        std::fs::write(free().with_extension("html"), "").unwrap();
        assert_eq!(free(), directory.path().join("stormeter-demo-3.db"));
    }
}
