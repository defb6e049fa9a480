//! The ceiling shown with a datastore in the network is that of its own way, not of `null:`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use stormeter_conclude::{Conclusion, conclude};
use stormeter_datastore::RealClock;
use stormeter_results::{EventKind, Phase, TrialRecord};
use stormeter_runner::{
    Collaborators, NullProtocol, NullServerError, NullServers, Request, Silent, run_with,
};
use stormeter_server::{DirectoryServer, NullNfs, Running};
use stormeter_statistics::{CeilingKind, MeasuredCeiling, Severity};
use stormeter_study::{ComparisonPlan, Metric, StudyPlan, Timing, profile};

/// Null servers on threads of this process.
#[derive(Default)]
struct Servers {
    running: Option<Running>,
    started: Vec<NullProtocol>,
    is_stopped: bool,
}

impl NullServers for Servers {
    fn start(&mut self, protocol: NullProtocol) -> Result<String, NullServerError> {
        self.started.push(protocol);
        if protocol != NullProtocol::Nfs {
            return Err("there is none here".into());
        }
        if self.running.is_none() {
            self.running = Some(NullNfs::bind(0)?.spawn()?);
        }
        let port = self.running.as_ref().map_or(0, Running::port);
        Ok(format!("nfs://127.0.0.1:{port}/null?mountport={port}"))
    }

    fn stop(&mut self) {
        self.is_stopped = true;
        self.running = None;
    }
}

/// Servers that never start.
struct Broken;

impl NullServers for Broken {
    fn start(&mut self, _: NullProtocol) -> Result<String, NullServerError> {
        Err("no room for a process".into())
    }

    fn stop(&mut self) {}
}

fn nfs(directory: &Path) -> (Running, String) {
    let server = DirectoryServer::bind(directory, 0).unwrap();
    let export = server.export();
    let running = server.spawn().unwrap();
    let port = running.port();
    (running, format!("nfs://127.0.0.1:{port}{export}?mountport={port}"))
}

fn request(datastores: Vec<String>, output: &Path) -> Request {
    let ms = 1_000_000;
    let plan = ComparisonPlan {
        datastores,
        baseline: 0,
        workload: profile("vm-4k").unwrap().workload,
        vms: 1,
        disk_bytes: 8 << 20,
        threads: 1,
        timing: Timing { ramp_ns: 20 * ms, duration_ns: 100 * ms, interval_ns: 20 * ms },
        metric: Metric::Iops,
        precision: 0.02,
        margin: 0.05,
        level: 0.95,
        min_blocks: 2,
        max_blocks: 2,
        time_limit_ns: 60_000 * ms,
        equal_load: None,
        seed: 7,
        verify: false,
    };
    Request::new(StudyPlan::from(&plan), output.join("r.db"))
}

fn of_ways(trials: &[TrialRecord]) -> Vec<Option<usize>> {
    let ceilings = trials.iter().filter(|trial| trial.phase == Phase::Ceiling);
    let mut of: Vec<_> = ceilings.map(|trial| trial.datastore).collect();
    of.sort();
    of.dedup();
    of
}

fn with(null_servers: &mut impl NullServers) -> Collaborators<'_> {
    Collaborators { null_servers: Some(null_servers), ..Collaborators::default() }
}

/// Of each datastore, the ceiling of the way to it.
fn ways_of(conclusion: &Conclusion) -> Vec<Option<f64>> {
    let of = |datastore| {
        let mut ceilings = conclusion.ceilings.iter();
        ceilings.find(|it| it.datastore == Some(datastore)).map(|it| it.iops)
    };
    (0..conclusion.header.plan.datastores.len()).map(of).collect()
}

fn generator_of(conclusion: &Conclusion) -> Option<f64> {
    let is_its = |it: &&MeasuredCeiling| it.kind == CeilingKind::Generator;
    conclusion.ceilings.iter().find(is_its).map(|it| it.iops)
}

/// A directory, the same over NFS, and that over two connections.
fn compared(servers: &mut impl NullServers) -> (Conclusion, Request) {
    let results = tempfile::tempdir().unwrap().keep();
    let (local, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_running, url) = nfs(shared.path());
    let datastores = vec![
        local.path().display().to_string(),
        url.clone(),
        format!("{url}&connections=2"),
        format!("{url}&uid=0"),
    ];
    let request = request(datastores, &results);
    let clock = RealClock::new();
    let never = AtomicBool::new(false);
    let conclusion = run_with(with(servers), &request, &clock, &never, &mut Silent).unwrap();
    (conclusion, request)
}

#[test]
fn a_datastore_in_the_network_has_the_ceiling_of_its_own_way() {
    let mut servers = Servers::default();
    let (conclusion, request) = compared(&mut servers);
    assert_eq!(of_ways(&conclusion.trials), [None, Some(1), Some(2), Some(3)]);
    let ways = ways_of(&conclusion);
    assert_eq!(ways.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, true, true]);
    // Through sockets there is less than without; who logs in changes no way, so both have one figure.
    let generator = generator_of(&conclusion).unwrap();
    assert!(ways.iter().flatten().all(|way| *way < generator), "{ways:?} {generator}");
    assert_eq!(ways[1], ways[3]);
    assert!(servers.is_stopped && servers.running.is_none());
    // However near it is, nothing is invalid: the null server had the same CPUs as the client.
    let eighth = conclusion
        .analysis
        .findings
        .iter()
        .filter(|(of, it)| it.fact.law() == Some(8) && *of != Some(0));
    assert!(
        eighth.clone().all(|(_, it)| it.severity == Severity::Warning),
        "{:?}",
        conclusion.analysis.findings
    );
    // The same from the file, a year later.
    let file = stormeter_results::ResultsFile::open(&request.output).unwrap();
    assert_eq!(ways_of(&conclude(&file).unwrap()), ways);
    std::fs::remove_dir_all(request.output.parent().unwrap()).unwrap();
}

#[test]
fn without_servers_only_the_generator_s_ceiling_is_known_and_one_that_fails_is_reported() {
    let (conclusion, request) = compared(&mut Broken);
    assert_eq!(ways_of(&conclusion), [None; 4]);
    let is_it = |kind: &EventKind| match kind {
        EventKind::CeilingUnknown { said } => said.contains("no room for a process"),
        _ => false,
    };
    let reported = conclusion.events.iter().filter(|it| is_it(&it.kind));
    assert_eq!(reported.count(), 2, "{:?}", conclusion.events);
    std::fs::remove_dir_all(request.output.parent().unwrap()).unwrap();

    let results = tempfile::tempdir().unwrap();
    let stores = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (_running, url) = nfs(stores[1].path());
    let request = self::request(vec![stores[0].path().display().to_string(), url], results.path());
    let never = AtomicBool::new(false);
    let conclusion =
        stormeter_runner::run(&request, &RealClock::new(), &never, &mut Silent).unwrap();
    assert_eq!(ways_of(&conclusion), [None; 2]);
    assert!(generator_of(&conclusion).is_some());
}

#[test]
fn a_study_has_the_ceiling_of_each_way_with_each_workload_and_a_named_one_goes_before() {
    let results = tempfile::tempdir().unwrap();
    let (shared, free) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_running, url) = nfs(shared.path());
    let text = format!(
        "datastores:\n  here: {here}\n  nas: {{url: \"{url}\"}}\n  \
         named: {{url: \"{url}&connections=2\", ceiling: {free}}}\n\
         workloads: [vm-4k, {{profile: vm-8k, rate: 100}}]\ndisk: {{size: 4MiB}}\nload: {{vms: [2, 1]}}\n\
         measure: {{ramp: 20ms, duration: 100ms, interval: 20ms}}\ndesign: {{blocks: 1}}\n",
        here = free.path().join("here").display(),
        free = free.path().join("free").display(),
    );
    for name in ["here", "free"] {
        std::fs::create_dir(free.path().join(name)).unwrap();
    }
    let request = request::request(results.path(), &text);
    let mut servers = Servers::default();
    let (clock, never) = (RealClock::new(), AtomicBool::new(false));
    let conclusion = run_with(with(&mut servers), &request, &clock, &never, &mut Silent).unwrap();
    let mut found: Vec<_> =
        conclusion.ceilings.iter().map(|it| (it.kind, it.datastore, it.workload)).collect();
    found.sort_by_key(|(_, datastore, workload)| (*datastore, *workload));
    let expected = [
        (CeilingKind::Generator, None, 0),
        (CeilingKind::Generator, None, 1),
        (CeilingKind::NullServer, Some(1), 0),
        (CeilingKind::NullServer, Some(1), 1),
        (CeilingKind::NamedWay, Some(2), 0),
        (CeilingKind::NamedWay, Some(2), 1),
    ];
    assert_eq!(found, expected);
    // At its own rate there would be 100, and no ceiling; and it is measured at the highest load.
    let open = conclusion.ceilings.iter().filter(|it| it.workload == 1);
    assert!(open.clone().all(|it| it.iops > 500.0), "{:?}", conclusion.ceilings);
    let cells = request.plan.cells();
    let of_nas = conclusion
        .trials
        .iter()
        .filter(|trial| trial.phase == Phase::Ceiling && trial.datastore == Some(1));
    assert!(of_nas.clone().all(|trial| cells[trial.cell.unwrap()].vms == 2));
    assert!(servers.is_stopped);
}
