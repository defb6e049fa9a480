//! A job, read in full: its workload, its copies, where it runs, and when.

use stormeter_trial::Workload;

use super::engines::{self, Engine};
use super::options::{Findings, Given, Options};
use super::surroundings::Surroundings;
use super::target::{Target, target};
use super::{pace, pattern};

const SECOND_NS: u64 = 1_000_000_000;

/// A job with what a study needs of it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) options: Options,
    /// Of one copy.
    pub(super) workload: Workload,
    /// `None`: it was refused.
    pub(super) target: Option<Target>,
    pub(super) ramp_ns: u64,
    /// `None`: the job ends after an amount of work.
    pub(super) duration_ns: Option<u64>,
    /// The key that asks for it.
    pub(super) verify: Option<Given>,
    pub(super) after: After,
}

/// What a job waits for.
#[derive(Debug, PartialEq)]
pub(super) enum After {
    /// Nothing but the jobs before the last stonewall.
    Nothing,
    /// All jobs before it.
    All,
    /// The job of this name.
    Job(Given),
}

/// Reads a job. What it cannot have is in `findings`.
pub(super) fn job(options: Options, around: &Surroundings<'_>, findings: &mut Findings) -> Job {
    let engine = engine(&options, findings);
    let mut workload = pattern::workload(&options, findings);
    pace::add(&mut workload, &options, engine, findings);
    let copies = options.count("numjobs", findings).unwrap_or(1).max(1);
    const MOST_COPIES: u32 = 100_000;
    if copies > MOST_COPIES {
        findings.refuse(
            &options.at("numjobs"),
            "a study has 100000 VMs at most",
            "write a smaller number",
        );
    }
    let is_sequential = workload.random_percent < 100.0;
    let target = target(&options, engine, copies.min(MOST_COPIES), is_sequential, around, findings);
    let ramp_ns = options.time_ns("ramp_time", SECOND_NS, findings).unwrap_or(0);
    let duration_ns = options.time_ns("runtime", SECOND_NS, findings).filter(|ns| *ns > 0);
    let verify = verify(&options, &workload, findings);
    let after = after(&options, findings);
    options.get("description");
    options.parsed("kb_base", "kb_base=1024 or kb_base=1000", findings, |given| {
        matches!(given.text(), "1000" | "1024").then_some(())
    });
    let unread: Vec<Given> = options.unread().cloned().collect();
    for at in unread {
        findings.refuse(&at, "it has no meaning with this engine", "leave it out");
    }
    Job { options, workload, target, ramp_ns, duration_ns, verify, after }
}

fn engine(options: &Options, findings: &mut Findings) -> Option<Engine> {
    let at = options.at("ioengine");
    let name = at.value.as_deref().unwrap_or(engines::DEFAULT);
    match engines::find(name) {
        Ok(engine) => {
            if at.value.is_some() {
                findings.remark(&at, text_of(engine));
            }
            Some(engine)
        }
        Err((reason, advice)) => {
            findings.refuse(&at, reason, advice);
            None
        }
    }
}

fn text_of(engine: Engine) -> &'static str {
    match engine {
        Engine::Files { most_outstanding: Some(_) } => {
            "Stormeter uses io_uring, with one request outstanding for each job"
        }
        Engine::Files { most_outstanding: None } => {
            "Stormeter uses io_uring; ?engine=positional in the datastore's URL uses threads"
        }
        Engine::Null => "the datastore null:",
        Engine::Nfs => "Stormeter's own client of NFS 3",
        Engine::Iscsi => "Stormeter's own initiator",
        Engine::Rbd => "librbd, as fio",
    }
}

/// Ways of fio to check that say nothing about the bytes.
const NOT_CHECKED: [&str; 3] = ["0", "none", "null"];
/// Those that find a wrong block by its bytes.
const CHECKED: [&str; 17] = [
    "1",
    "md5",
    "crc64",
    "crc32c",
    "crc32c-intel",
    "crc32",
    "crc16",
    "crc7",
    "xxhash",
    "sha512",
    "sha256",
    "sha1",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "meta",
];

fn verify(options: &Options, workload: &Workload, findings: &mut Findings) -> Option<Given> {
    let wanted = options.flag("do_verify", findings).unwrap_or(true);
    let at = options.get("verify")?;
    let way = at.text().split(':').next().unwrap_or_default();
    if NOT_CHECKED.contains(&way) || !wanted {
        findings.remark(at, "no effect: nothing is checked");
        return None;
    }
    if !CHECKED.contains(&way) {
        findings.refuse(at, format!("{way} is no way to check blocks here"), "write verify=crc32c");
        return None;
    }
    if workload.read_percent == 0.0 {
        findings.refuse(
            at,
            "fio reads back what it wrote when the job ends, and a trial checks what its workload reads",
            "write rw=randrw or rw=rw, or leave verify out",
        );
        return None;
    }
    findings
        .remark(at, "measure.verify, which knows of each block the disk, the offset and the write");
    Some(at.clone())
}

fn after(options: &Options, findings: &mut Findings) -> After {
    let stonewall = options.flag("stonewall", findings).unwrap_or(false);
    match options.get("wait_for") {
        Some(at) if !stonewall => After::Job(at.clone()),
        Some(at) => {
            findings.remark(at, "no effect: stonewall waits for all jobs");
            After::All
        }
        None if stonewall => After::All,
        None => After::Nothing,
    }
}
