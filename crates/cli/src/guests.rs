//! The guests of a study's lab, for watching them while its trials run.

use std::path::Path;

use stormeter_lab::{Counters, GuestPart, Watch};
use stormeter_runner::{GuestReading, MonitorSource, MonitorSourceError, ThreadReading};
use stormeter_study::{NamedDatastore, Reach, StudyPlan};
use stormeter_trial::GuestKind;

use crate::exit::Failure;

/// The lab's guests as a source of the runner's.
struct LabGuests(Watch);

impl MonitorSource for LabGuests {
    fn read(&mut self) -> Result<Vec<GuestReading>, MonitorSourceError> {
        Ok(self.0.read().into_iter().map(reading).collect())
    }
}

fn reading(of: Counters) -> GuestReading {
    let thread = |(id, waited_ns, slices)| (id, ThreadReading { waited_ns, slices });
    GuestReading {
        name: of.name,
        kind: match of.part {
            GuestPart::Router => GuestKind::Router,
            GuestPart::Storage => GuestKind::Storage,
            GuestPart::Host => GuestKind::Host,
            GuestPart::Vm => GuestKind::Vm,
        },
        life: of.started,
        cpu_ns: of.cpu_ns,
        threads: of.threads.into_iter().map(thread).collect(),
        memory_bytes: of.resident_bytes,
        disk_bytes: of.file_bytes,
    }
}

/// The guests of the lab in `lab`, if hosts of the study are among them, or if the study makes desktops in it. A study that
/// this machine itself drives is not watched: reading would be on its own account.
pub(crate) fn guests(
    plan: &StudyPlan,
    lab: &Path,
) -> Result<Option<Box<dyn MonitorSource>>, Failure> {
    let is_of_lab = plan.hosts.iter().any(|host| matches!(host.reached_by, Reach::Lab(_)));
    let makes_desktops = plan.datastores.iter().any(NamedDatastore::is_desktops);
    match is_of_lab || makes_desktops {
        true => Ok(Some(Box::new(LabGuests(Watch::open(lab)?)))),
        false => Ok(None),
    }
}
