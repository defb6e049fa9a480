//! An agent served over pipes in memory, as a controller sees it.

use std::io::{PipeReader, PipeWriter, pipe};
use std::path::Path;
use std::thread::{self, JoinHandle};

use stormeter_agent::{
    Command, PROTOCOL, Report, ServeError, Stop, read_frame, serve, write_frame,
};
use stormeter_datastore::DiskSpec;
use stormeter_runner::{FillSpec, ListenOrder, OpenOrder, PrepareOrder, TrialOrder, TrialTarget};
use stormeter_study::{Timing, WorkloadKind, profile};
use stormeter_trial::Content;

pub(crate) const RUN: &str = "0123456789abcdef";
const MS: u64 = 1_000_000;

pub(crate) struct Session {
    to: Option<PipeWriter>,
    from: PipeReader,
    agent: JoinHandle<Result<(), ServeError>>,
}

impl Session {
    pub(crate) fn start() -> Self {
        let ((input, to), (from, output)) = (pipe().unwrap(), pipe().unwrap());
        let agent = thread::spawn(move || serve(input, output, "1.2.3", Stop::default()));
        Self { to: Some(to), from, agent }
    }

    /// A session after the hello.
    pub(crate) fn greeted() -> Self {
        let mut session = Self::start();
        session.say(&hello());
        assert!(matches!(session.hear(), Report::Hello { protocol: PROTOCOL, .. }));
        session
    }

    pub(crate) fn say(&mut self, command: &Command) {
        write_frame(self.to.as_mut().unwrap(), command).unwrap();
    }

    /// Sends bytes that may not be a command.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        use std::io::Write;
        self.to.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn hear(&mut self) -> Report {
        read_frame(&mut self.from).unwrap()
    }

    /// The next report other than an interval, progress or the confirmation of a start.
    pub(crate) fn answer(&mut self) -> Report {
        loop {
            match self.hear() {
                Report::Interval(_) | Report::Preparing { .. } | Report::Starting { .. } => {}
                report => return report,
            }
        }
    }

    /// Ends the agent's input, and returns its result.
    pub(crate) fn end(mut self) -> Result<(), ServeError> {
        self.to = None;
        self.agent.join().unwrap()
    }

    /// Returns its result, with its input still open.
    pub(crate) fn ended(self) -> Result<(), ServeError> {
        let Self { to: _to, from: _from, agent } = self;
        agent.join().unwrap()
    }
}

pub(crate) fn hello() -> Command {
    Command::Hello { protocols: vec![PROTOCOL, 99], version: "1.2.3".into() }
}

pub(crate) fn open(url: &str) -> Command {
    Command::Open(OpenOrder {
        run_id: RUN.into(),
        urls: vec![url.into()],
        disks: disks(),
        templates: 0,
        destroy_data: vec!["/dev/none".into()],
        secrets: vec![],
        first_number: 3,
        verification: None,
        needs_target: false,
        durability: Default::default(),
        clones: false,
        services: Vec::new(),
        drivers: vec![],
    })
}

fn disks() -> DiskSpec {
    DiskSpec { count: 2, size_bytes: 1 << 20, granularity_bytes: 4096 }
}

pub(crate) fn prepare() -> Command {
    let filling = FillSpec { disks: disks(), content: Content::default(), seed: 7, zero: false };
    Command::Prepare(PrepareOrder { store: 0, filling, templates: 0, reset: None })
}

pub(crate) fn trial(store: Option<usize>, duration_ms: u64) -> Command {
    Command::Trial(Box::new(TrialOrder {
        target: store.map_or(TrialTarget::Nothing, TrialTarget::Store),
        work: WorkloadKind::Io(profile("vm-4k").unwrap().workload),
        outstanding: None,
        listener: None,
        first_vm: 0,
        vms: 2,
        disk_bytes: 1 << 20,
        threads: 1,
        first_cpu: 1,
        timing: Timing { ramp_ns: 5 * MS, duration_ns: duration_ms * MS, interval_ns: 10 * MS },
        seed: 11,
        start: Default::default(),
        content_seed: 0,
        disturbed: false,
        watched: false,
    }))
}

/// A trial of fixed work on the two disks.
pub(crate) fn fixed_work(work: WorkloadKind, listener: Option<ListenOrder>) -> TrialOrder {
    let Command::Trial(order) = trial(Some(0), 0) else { unreachable!() };
    TrialOrder { work, listener, ..*order }
}

/// Our folders in a directory.
pub(crate) fn folders(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
