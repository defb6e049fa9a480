//! Virtual desktops on demand: users come, a broker gives each a desktop made from a template, and takes it apart when its
//! user has gone (the `vsan` study's portal).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_disk::DesktopStep;

use crate::fixed_work::StepTime;
use crate::fixed_work_trial::SMALL_BYTES;
use crate::kind_totals::KindTotals;
use crate::trial::{BufferNeeds, Limits};
use crate::workload::{Arrivals, Workload};

/// Users of desktops, and the broker who serves them. The number of VMs of a trial is that of the desktops for which there
/// are disks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DesktopLoad {
    /// Users who come one by one, in a Poisson process from the opening of the window on: how many a second. 0: none.
    pub arrivals_per_s: f64,
    /// The most of them that come in all; `None`: any number.
    pub users: Option<u32>,
    /// Users who come all at once.
    pub class: Option<UserClass>,
    /// The rules of the broker.
    pub broker: BrokerRules,
    /// What making a desktop takes.
    pub deployment: DesktopDeployment,
    /// What each user does.
    pub session: DesktopSession,
}

/// Users who come at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserClass {
    /// Their number.
    pub users: u32,
    /// When, in nanoseconds since the window opened.
    pub at_ns: u64,
}

/// What a broker may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokerRules {
    /// Desktops kept ready for users who have not come yet.
    pub pool: u32,
    /// Desktops that are made at once, at most.
    pub deploying_most: u32,
    /// Users who may wait; more are refused. `None`: any number.
    pub waiting_most: Option<u32>,
    /// How long a user waits before going away; `None`: forever.
    pub patience_ns: Option<u64>,
    /// How long the making of a desktop may take; it is then taken apart as one that failed.
    pub deploy_most_ns: u64,
    /// How long a desktop is kept for an idle user.
    pub idle_ns: u64,
    /// What the hosts have for desktops.
    pub capacity: Resources,
    /// What one desktop reserves, from the moment at which it is to be made until nothing is left of it.
    pub desktop: Resources,
}

/// What desktops are made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resources {
    /// CPUs.
    pub cpus: u64,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Storage, in bytes.
    pub storage_bytes: u64,
}

/// How a desktop is made: the steps of the published portal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopDeployment {
    /// *Copy*: how a desktop's disk is made.
    pub copy: DesktopCopy,
    /// Size of each read of the template and each write of the copy, in bytes; 0: nothing is copied.
    pub copy_bytes: u32,
    /// I/Os outstanding per desktop, in each step.
    pub outstanding: u32,
    /// *Setting*: the time that the hypervisor takes to make the machine; no I/O.
    pub setting_ns: u64,
    /// *Deployment*: random reads of 4 KiB until the guest has booted.
    pub boot_reads: u32,
    /// *Configure*: random writes of 4 KiB that give the desktop its identity.
    pub configure_writes: u32,
}

/// How a desktop's disk is made from the template.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DesktopCopy {
    /// Block by block, through the host.
    #[default]
    Full,
    /// As a file of format qcow2 whose backing file is the template: only what is written lies in it.
    Linked,
    /// By the storage, which lets both share their blocks.
    Clone,
}

impl DesktopCopy {
    /// All of them.
    pub const ALL: [DesktopCopy; 3] = [DesktopCopy::Full, DesktopCopy::Linked, DesktopCopy::Clone];

    /// The name in study files.
    pub fn name(self) -> &'static str {
        match self {
            DesktopCopy::Full => "full",
            DesktopCopy::Linked => "linked",
            DesktopCopy::Clone => "clone",
        }
    }
}

/// What a user does with a desktop: logs on, works, and leaves or falls idle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DesktopSession {
    /// Requests of a log-on. The desktop is usable when they have ended.
    pub log_on_requests: u32,
    /// What they are: a closed loop.
    pub log_on: Workload,
    /// The work after it: an open loop.
    pub work: Workload,
    /// Mean length of the work, in nanoseconds. Each is drawn between half of it and one and a half times it.
    pub length_ns: u64,
    /// Share of users, 0 to 100, who do not log out but fall idle.
    pub idle_percent: f64,
}

/// A trial of desktops on one thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesktopTrial {
    /// The users and their broker.
    pub load: DesktopLoad,
    /// Desktops for which there are disks.
    pub desktops: u32,
    /// The seed of arrivals and sessions.
    pub seed: u64,
    /// Load before the window opens.
    pub ramp_ns: u64,
    /// Length of the window.
    pub duration_ns: u64,
    /// Length of an interval row.
    pub interval_ns: u64,
    /// When to give up.
    pub limits: Limits,
}

impl DesktopLoad {
    /// The most I/Os outstanding on a disk that stands for a desktop; more of its work waits.
    pub fn slots(&self) -> u32 {
        self.deployment.outstanding.max(self.session.log_on_outstanding()).max(1)
    }
}

impl DesktopSession {
    /// I/Os outstanding in a log-on.
    pub fn log_on_outstanding(&self) -> u32 {
        match self.log_on.arrivals {
            Arrivals::Closed { outstanding } => outstanding.max(1),
            _ => 1,
        }
    }
}

impl DesktopTrial {
    /// What disks that stand for the desktops have to provide.
    pub fn buffer_needs(&self) -> BufferNeeds {
        let DesktopLoad { deployment, session, .. } = &self.load;
        let count = self.desktops.saturating_mul(self.load.slots());
        let log_on = session.log_on.largest_bytes().max(session.work.largest_bytes());
        let bytes = deployment.copy_bytes.max(log_on).max(SMALL_BYTES);
        BufferNeeds { count, bytes, in_flight: count }
    }
}

/// What became of users and desktops in the window of a trial.
///
/// Users come from the opening of the window on. Each of them has got a usable desktop, was refused, has gone, or still waits
/// when the window closes: `came + replaced = usable + refused + gone + waiting`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DesktopTotals {
    /// Users who came.
    pub came: u64,
    /// Users whose desktop became usable.
    pub usable: u64,
    /// Users who were refused, because as many waited as may.
    pub refused: u64,
    /// Users who waited for longer than their patience.
    pub gone: u64,
    /// Users whose usable desktop died, and who waited again.
    pub replaced: u64,
    /// Users who had no usable desktop yet when the window closed.
    pub waiting: u64,
    /// Users who got a desktop that was ready when they came.
    pub at_once: u64,
    /// Desktops that were made.
    pub deployed: u64,
    /// Desktops that could not be made, or not in time.
    pub failed: u64,
    /// Desktops that died after they had been made.
    pub died: u64,
    /// Desktops taken apart because their users were idle for too long.
    pub idled_out: u64,
    /// The most storage that was reserved, in bytes.
    pub storage_most_bytes: u64,
    /// The times of the steps of desktops that were made.
    pub steps: Vec<StepTime>,
    /// I/Os of the work of users who came one by one: reads, and writes. The class and log-ons are not in it.
    pub work: [KindTotals; 2],
    /// The waits of users without a usable desktop: of those who went away, and of those who waited when the window closed,
    /// up to then. They would have been longer. Refused users have none.
    #[serde(default)]
    pub unserved: KindTotals,
    /// Means of the intervals.
    pub rows: Vec<DesktopRow>,
}

/// Means over one interval of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct DesktopRow {
    /// Start, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// Length, in nanoseconds.
    pub length_ns: u64,
    /// Users who wait for a desktop.
    pub waiting: f64,
    /// Desktops that are being made.
    pub deploying: f64,
    /// Desktops that are ready for a user.
    pub ready: f64,
    /// Desktops in use.
    pub used: f64,
    /// Desktops whose users are idle.
    pub idle: f64,
    /// Desktops that are being taken apart.
    pub leaving: f64,
}

impl DesktopRow {
    /// Desktops that there are, in whatever state.
    pub fn desktops(&self) -> f64 {
        self.deploying + self.ready + self.used + self.idle + self.leaving
    }
}

impl DesktopTotals {
    /// Whether every user is accounted for.
    pub fn is_conserved(&self) -> bool {
        self.came + self.replaced == self.usable + self.refused + self.gone + self.waiting
    }

    /// Mean time of a step of the desktops that were made; `None` if none was.
    pub fn step_mean_ns(&self, step: DesktopStep) -> Option<f64> {
        let step = self.steps.iter().find(|it| it.name == step.name() && it.times > 0)?;
        Some(step.total_ns as f64 / step.times as f64)
    }

    /// The I/Os of the users' work, reads and writes.
    pub fn work(&self) -> KindTotals {
        let mut all = KindTotals::default();
        self.work.iter().for_each(|kind| all.merge(kind));
        all
    }
}

impl Resources {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpus: self.cpus.saturating_add(other.cpus),
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
            storage_bytes: self.storage_bytes.saturating_add(other.storage_bytes),
        }
    }

    /// What is left of these without `part`; `None` if there is less of anything.
    pub fn less(self, part: Self) -> Option<Self> {
        Some(Self {
            cpus: self.cpus.checked_sub(part.cpus)?,
            memory_bytes: self.memory_bytes.checked_sub(part.memory_bytes)?,
            storage_bytes: self.storage_bytes.checked_sub(part.storage_bytes)?,
        })
    }

    /// How many times `part` fits, at most `most`.
    pub fn fits(self, part: Self, most: u32) -> u32 {
        let of = |all: u64, one: u64| all.checked_div(one).unwrap_or(u64::MAX);
        let times = of(self.cpus, part.cpus)
            .min(of(self.memory_bytes, part.memory_bytes))
            .min(of(self.storage_bytes, part.storage_bytes));
        u32::try_from(times).unwrap_or(u32::MAX).min(most)
    }
}
