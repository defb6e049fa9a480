//! What carries out the steps of a study: a lab, whose snapshots are also the starting state of trials, and a small Ceph
//! cluster.

use std::path::Path;
use std::time::Duration;

use stormeter_ceph::{CephError, Cluster};
use stormeter_lab::{Faults, Snapshots};
use stormeter_runner::{RackControl, RackControlError};
use stormeter_study::{FaultKind, FaultSpec, Reset, StepAction, StudyPlan};

use crate::exit::Failure;

/// The name of the cluster in steps.
const CLUSTER: &str = "ceph";
/// How long a cluster may take to have all copies of all data again.
const CLEAN: Duration = Duration::from_secs(300);

/// The lab and the cluster of a study, as far as it needs them.
pub(crate) struct StudyRackControl {
    lab: Option<Lab>,
    cluster: Option<Cluster>,
}

struct Lab {
    faults: Faults,
    snapshots: Snapshots,
}

impl StudyRackControl {
    fn lab(&mut self) -> Result<&mut Lab, RackControlError> {
        self.lab.as_mut().ok_or_else(|| {
            "it needs a lab, and this study has only a Ceph cluster, whose name in steps is ceph".into()
        })
    }

    fn cluster_of(&self, fault: &FaultSpec) -> Option<&Cluster> {
        self.cluster.as_ref().filter(|_| fault.target == CLUSTER)
    }
}

impl RackControl for StudyRackControl {
    fn check(&mut self, fault: &FaultSpec) -> Result<(), RackControlError> {
        if let Some(cluster) = self.cluster_of(fault) {
            return Ok(OsdFault::of(fault)?.check(cluster)?);
        }
        Ok(self.lab()?.faults.check(fault)?)
    }

    fn apply(&mut self, fault: &FaultSpec) -> Result<(), RackControlError> {
        if let Some(cluster) = self.cluster_of(fault) {
            return Ok(OsdFault::of(fault)?.apply(cluster)?);
        }
        Ok(self.lab()?.faults.apply(fault)?)
    }

    fn restore(&mut self) -> Result<(), RackControlError> {
        if let Some(cluster) = &self.cluster {
            cluster.restore(CLEAN)?;
        }
        match &mut self.lab {
            Some(lab) => Ok(lab.faults.restore()?),
            None => Ok(()),
        }
    }

    fn check_snapshot(&mut self) -> Result<(), RackControlError> {
        Ok(self.lab()?.snapshots.check()?)
    }

    fn snapshot(&mut self) -> Result<(), RackControlError> {
        Ok(self.lab()?.snapshots.take()?)
    }

    fn roll_back(&mut self) -> Result<(), RackControlError> {
        Ok(self.lab()?.snapshots.roll_back()?)
    }
}

/// A fault of a cluster.
enum OsdFault {
    Kill(u32),
    Restart(u32),
    Slow(u32, f64),
}

impl OsdFault {
    fn of(fault: &FaultSpec) -> Result<Self, RackControlError> {
        let osd = fault.part.as_deref().and_then(|part| part.parse().ok());
        match (fault.kind, osd) {
            (FaultKind::Kill, Some(osd)) => Ok(Self::Kill(osd)),
            (FaultKind::Restart, Some(osd)) => Ok(Self::Restart(osd)),
            (FaultKind::DiskSlow, None) if fault.amount >= 1.0 => {
                Ok(Self::Slow(fault.number, fault.amount))
            }
            _ => Err("a Ceph cluster can kill an OSD, start it again and slow its disk: write kill ceph.1, \
                      restart ceph.1, disk-slow ceph 1 10x, or disk-slow ceph 1 1x to undo that"
                .into()),
        }
    }

    fn check(&self, cluster: &Cluster) -> Result<(), CephError> {
        let &(Self::Kill(osd) | Self::Restart(osd) | Self::Slow(osd, _)) = self;
        cluster.check_osd(osd, matches!(self, Self::Slow(..)))
    }

    fn apply(&self, cluster: &Cluster) -> Result<(), CephError> {
        match *self {
            Self::Kill(osd) => cluster.kill_osd(osd),
            // As everywhere: what still runs is killed first.
            Self::Restart(osd) => match cluster.kill_osd(osd) {
                Ok(()) | Err(CephError::NotRunning { .. }) => cluster.start_osd(osd),
                failed => failed,
            },
            Self::Slow(osd, times) => cluster.slow_osd(osd, times),
        }
    }
}

/// What the study's steps and snapshots need; `None` if nothing. The cluster is that of the study's own datastores, or
/// the one in `directory`, where otherwise the lab is.
pub(crate) fn rack_control(
    plan: &StudyPlan,
    directory: &Path,
    own: Option<Cluster>,
) -> Result<Option<StudyRackControl>, Failure> {
    let cluster = own.or_else(|| Cluster::open(directory).ok());
    let faults = plan.steps.iter().filter_map(|step| match &step.what {
        StepAction::Fault(fault) => Some(fault),
        StepAction::Command { .. } => None,
    });
    let (of_cluster, of_lab): (Vec<_>, Vec<_>) =
        faults.partition(|fault| cluster.is_some() && fault.target == CLUSTER);
    let lab = match !of_lab.is_empty() || plan.design.reset == Reset::Snapshot {
        true => {
            Some(Lab { faults: Faults::open(directory)?, snapshots: Snapshots::open(directory)? })
        }
        false => None,
    };
    let cluster = cluster.filter(|_| !of_cluster.is_empty());
    Ok((lab.is_some() || cluster.is_some()).then_some(StudyRackControl { lab, cluster }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_osd_is_killed_started_and_slowed() {
        let of = |text: &str| {
            let fault: FaultSpec = text.parse().unwrap_or_else(|error| panic!("{error}"));
            OsdFault::of(&fault)
        };
        assert!(matches!(of("kill ceph.2"), Ok(OsdFault::Kill(2))));
        assert!(matches!(of("restart ceph.2"), Ok(OsdFault::Restart(2))));
        assert!(
            matches!(of("disk-slow ceph 1 10x"), Ok(OsdFault::Slow(1, times)) if times == 10.0)
        );
        for bad in ["kill ceph", "kill ceph.node", "link-down ceph", "disk-slow ceph 1 0.5x"] {
            let Err(error) = of(bad) else { panic!("{bad}") };
            assert!(error.to_string().contains("kill ceph.1"), "{error}");
        }
    }
}
