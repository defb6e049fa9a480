//! `stormeter demo`: the whole thing on whatever machine this is.

use std::path::Path;

use stormeter_datastore::RealClock;
use stormeter_runner::{Request, run_comparison};
use stormeter_study::{ComparisonPlan, Metric, Timing, profile};

use crate::arguments::DemoOptions;
use crate::commands::compare::drawn_seed;
use crate::exit::{Exit, Failure};
use crate::output::{print, report_of, show, write_page};
use crate::progress::Line;
use crate::signals::cancel_on_signals;

const RESULTS: &str = "stormeter-demo.db";
/// The demo makes its datastores below this directory.
const DIRECTORY: &str = "stormeter-demo";

pub(crate) fn run(options: &DemoOptions) -> Result<Exit, Failure> {
    let file = |what: &str, error: std::io::Error| {
        Failure::File(format!("the demo cannot {what} in the working directory: {error}"))
    };
    std::fs::create_dir_all(DIRECTORY).map_err(|error| file("make a directory", error))?;
    // An earlier demo's results are the demo's own; nobody else's file has this name and form.
    remove_own(Path::new(RESULTS))?;
    let direct = format!("./{DIRECTORY}");
    let cached = format!("./{DIRECTORY}?direct=0");
    if !options.quiet {
        print(&format!(
            "A demonstration, as if you had typed\n\n  \
             stormeter compare {direct} '{cached}' --vms 2 --size 128MiB\n\n\
             The disks of two VMs on this directory: once past the page cache, as a hypervisor\n\
             reaches them, and once through it. The disks are written in full, then measured in\n\
             turn, in random order, until the ratio is known to ± 5 % or half a minute is over.\n\n"
        ))?;
    }
    let plan = ComparisonPlan {
        datastores: vec![direct.clone(), cached.clone()],
        baseline: 0,
        workload: profile("vm-4k").map_err(|error| Failure::Usage(error.to_string()))?.workload,
        vms: 2,
        disk_bytes: 128 << 20,
        threads: 0,
        timing: Timing {
            ramp_ns: 300_000_000,
            duration_ns: 1_200_000_000,
            interval_ns: 50_000_000,
        },
        metric: Metric::Iops,
        precision: 0.05,
        margin: 0.05,
        level: 0.95,
        min_blocks: 5,
        max_blocks: 9,
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
        command_line: command_line(&direct, &cached),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let cancel = cancel_on_signals();
    let mut progress = Line::new(precision, options.quiet);
    let outcome = run_comparison(&request, &RealClock::new(), &cancel, &mut progress);
    drop(progress);
    // Empty again, unless somebody put something there.
    let _ = std::fs::remove_dir(DIRECTORY);
    let report = report_of(outcome?);
    let terminal = crate::arguments::ShowOptions { html: None, json: false };
    show(&report, &terminal)?;
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

/// What does the same by hand, to the last option.
fn command_line(direct: &str, cached: &str) -> Vec<String> {
    let options = "--vms 2 --size 128MiB --duration 1200ms --ramp 300ms --interval 50ms \
                   --precision 5% --max-blocks 9 --time-limit 30s";
    let mut words: Vec<String> = ["stormeter", "compare", direct, cached].map(String::from).into();
    words.extend(options.split_whitespace().map(String::from));
    words
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
