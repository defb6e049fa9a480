//! Trials of fixed work on the disks of one thread.

use stormeter_datastore::{Caching, CloseSummary, Datastore, DatastoreError, DiskSet, RealClock};
use stormeter_disk::Disks;
use stormeter_driver::{drive_deployment, drive_file_test};
use stormeter_trial::{Deployment, FixedWork, FixedWorkError, FixedWorkTrial, Sample};

use crate::watcher::Watcher;
use crate::workers::{Job, open_disks};

/// One thread's share of a trial of fixed work.
pub(super) struct OnDisks<'a> {
    pub(super) trial: FixedWorkTrial,
    /// The number of the template's disk, if there is one.
    pub(super) template: Option<u32>,
    pub(super) datastore: &'a Datastore,
}

impl Job for OnDisks<'_> {
    type Tools = DiskSet;

    fn open(&mut self) -> Result<DiskSet, DatastoreError> {
        let open = open_disks(self.trial.buffer_needs());
        let caching = match self.trial.fixed_work {
            FixedWork::File(test) if test.client_cache => Caching::Client,
            _ => Caching::AsOpened,
        };
        let own = self.trial.first_disk..self.trial.first_disk + self.trial.disks;
        if let (FixedWork::Deploy(Deployment { clone: true, .. }), Some(template)) =
            (self.trial.fixed_work, self.template)
        {
            return self.datastore.disks_to_clone(own, template, open);
        }
        let numbers: Vec<u32> = own.chain(self.template).collect();
        self.datastore.disks_of(&numbers, open, caching)
    }

    fn work(
        self,
        disks: &mut DiskSet,
        start: impl FnOnce() -> Option<u64>,
        clock: &mut RealClock,
        watcher: &mut Watcher<'_>,
    ) -> Option<Sample> {
        let trial = &self.trial;
        // One loop is compiled for each kind of disks, so that the calls between them are inlined.
        // The fixed work was checked before any thread was started.
        match disks {
            DiskSet::Null(disks) => drive(trial, start, disks, clock, watcher),
            DiskSet::Files(disks) => drive(trial, start, disks, clock, watcher),
            DiskSet::Nfs(disks) => drive(trial, start, disks, clock, watcher),
            DiskSet::Iscsi(disks) => drive(trial, start, disks, clock, watcher),
            DiskSet::Rbd(disks) => drive(trial, start, &mut **disks, clock, watcher),
        }
        .ok()
    }

    fn leave(mut disks: DiskSet, give_up: &dyn Fn() -> bool) -> CloseSummary {
        disks.finish(give_up)
    }
}

fn drive<D: Disks>(
    trial: &FixedWorkTrial,
    start: impl FnOnce() -> Option<u64>,
    disks: &mut D,
    clock: &mut RealClock,
    watcher: &mut Watcher<'_>,
) -> Result<Sample, FixedWorkError> {
    match trial.fixed_work {
        FixedWork::File(_) => drive_file_test(trial, start, disks, clock, watcher),
        FixedWork::Deploy(_) => drive_deployment(trial, start, disks, clock, watcher),
    }
}
