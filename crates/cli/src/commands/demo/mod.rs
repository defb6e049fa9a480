//! `stormeter demo`: the whole thing on whatever machine this is: a local directory against an NFS
//! datastore, and an iSCSI one where tgt is installed, all on the same disk.

mod explanation;
mod servers;

use std::path::{Path, PathBuf};

use stormeter_datastore::RealClock;
use stormeter_runner::{Request, run_comparison};
use stormeter_study::{ComparisonPlan, Metric, Timing, profile};

use explanation::explanation;
use servers::tgt;

use crate::arguments::DemoOptions;
use crate::commands::compare::drawn_seed;
use crate::embedded::{make_own, nfs};
use crate::exit::{Exit, Failure};
use crate::output::{print, report_of, show, write_page};
use crate::progress::Line;
use crate::signals::cancel_on_signals_of;

const RESULTS: &str = "stormeter-demo.db";
/// The demo makes its datastores below this directory.
const DIRECTORY: &str = "stormeter-demo";
const DISK_BYTES: u64 = 64 << 20;
/// Room for two disks and what stays apart at both ends of a LUN.
const LUN_BYTES: u64 = 2 * DISK_BYTES + (4 << 20);

pub(crate) fn run(options: &DemoOptions) -> Result<Exit, Failure> {
    let file = |what: &str, error: std::io::Error| {
        Failure::File(format!("the demo cannot {what} in the working directory: {error}"))
    };
    let directories = Directories::make().map_err(|error| file("make a directory", error))?;
    // An earlier demo's results are the demo's own; nobody else's file has this name and form.
    remove_own(Path::new(RESULTS))?;
    let nfs = nfs(&directories.export)?;
    let tgt = tgt(&directories.top, LUN_BYTES);
    let local = format!("./{DIRECTORY}/local");
    let mut datastores = vec![local, nfs.url().to_owned()];
    datastores.extend(tgt.as_ref().ok().map(|tgt| tgt.url(1)));
    if !options.quiet {
        let shown: Vec<String> = datastores.iter().map(|url| quoted(url)).collect();
        print(&format!(
            "A demonstration, as if you had typed\n\n  \
             stormeter compare {} --vms 2 --size 64MiB\n\n\
             The disks of two VMs in a directory, on an NFS server of this program's own{},\n\
             both spoken to directly, as hypervisors do, and on the same disk. The disks are written\n\
             in full, then measured in turn, in random order, for about half a minute. The servers\n\
             end with the demonstration.\n\n",
            shown.join(" "),
            if tgt.is_ok() { " and on a LUN of tgt" } else { "" }
        ))?;
        if let Err(reason) = &tgt {
            print(&format!("{reason}.\n\n"))?;
        }
    }
    let plan = ComparisonPlan {
        datastores: datastores.clone(),
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
        seed: drawn_seed(),
        verify: false,
    };
    let precision = plan.precision;
    let request = Request {
        plan,
        output: RESULTS.into(),
        resume: false,
        destroy_data: vec![],
        secrets: vec![],
        command_line: command_line(&datastores),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let cancel = cancel_on_signals_of(&request.plan.datastores);
    let mut progress = Line::new(precision, options.quiet);
    let outcome = run_comparison(&request, &RealClock::new(), &cancel, &mut progress);
    drop(progress);
    drop((nfs, tgt));
    directories.remove();
    let report = report_of(outcome?);
    let terminal = crate::arguments::ShowOptions { html: None, json: false };
    show(&report, &terminal)?;
    print(&explanation(&report))?;
    write_page(&report, &options.html)?;
    let page = options.html.display();
    print(&format!(
        "\nThe same with charts:     {page} (open it in a browser)\n\
         Every figure:             {RESULTS} (stormeter report, sqlite3, DuckDB, pandas)\n\
         Now with your datastores: stormeter compare /srv/vm /mnt/nas --html report.html\n"
    ))?;
    // The demo shows how results look, whatever they are: a machine too noisy for a verdict within
    // half a minute is no failure of it.
    Ok(match Exit::of_run(&report) {
        Exit::Inconclusive => Exit::Done,
        exit => exit,
    })
}

/// What does the same by hand, to the last option, while the servers run.
fn command_line(datastores: &[String]) -> Vec<String> {
    let options = "--vms 2 --size 64MiB --duration 1s --ramp 250ms --interval 50ms --precision 5% \
                   --max-blocks 8 --time-limit 30s";
    let mut words: Vec<String> = vec!["stormeter".into(), "compare".into()];
    words.extend(datastores.iter().cloned());
    words.extend(options.split_whitespace().map(String::from));
    words
}

/// As a shell wants it.
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
        // The servers' view of it must not depend on a working directory.
        Ok(Self { top: top.canonicalize()?, export: export.canonicalize()? })
    }

    /// Removes them where they are empty again, as they are unless somebody put something there.
    fn remove(&self) {
        for directory in [self.export.clone(), self.top.join("local"), self.top.clone()] {
            let _ = std::fs::remove_dir(directory);
        }
    }
}

fn remove_own(path: &Path) -> Result<(), Failure> {
    if !path.exists() {
        return Ok(());
    }
    stormeter_results::ResultsFile::open(path)?;
    for suffix in ["", "-wal", "-shm"] {
        let name = format!("{}{suffix}", path.display());
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::File(format!("{name} cannot be replaced: {error}")));
            }
            _ => {}
        }
    }
    Ok(())
}
