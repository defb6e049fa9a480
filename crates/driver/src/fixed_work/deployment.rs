//! VMs deployed from a template: a copy or a clone of its disk, small writes that customise it, small
//! reads of its first boot.
//!
//! The copies of one template are identical, block by block, as in the field: deduplicating storage
//! benefits from that, which is part of the answer. What customises them is random. A clone is made by the storage, so
//! that a VM's disk exists from the end of that step on, and not before.

use stormeter_disk::{Clock, Disks, Kind};

use super::log::FixedWorkLog;
use super::run::{Finished, Io, Run, Work};
use crate::content::ContentSource;
use crate::observer::Observer;
use crate::random::{Random, below};
use stormeter_trial::{
    Content, Deployment, FixedWork, FixedWorkError, FixedWorkTrial, SMALL_BYTES, Sample, StepTime,
};

/// Deploys one VM on each worker's disk and returns the measurement. The template is the disk after
/// theirs, number [`FixedWorkTrial::disks`] in the operations. It is read and never written.
///
/// An operation of the sample is a deployed VM, counted as a write. Its latency is the time from the
/// start to the end of its last step; its bytes are all that moved for it: read from the template,
/// written to the copy, and moved by customising and booting; a clone moves none. In the interval rows these bytes are
/// counted where they moved, and the operation where it ended. A VM with a failed I/O is completed
/// nevertheless, but not counted as an operation; a clone that fails ends the trial.
///
/// The steps are `copy` or `clone`, `customise` and `boot`, each once per VM; one without I/Os is left out. `start`
/// is as in [`crate::drive`].
///
/// # Errors
/// Only for a trial that cannot be driven. Later errors are in [`Sample::ended`] and
/// [`Sample::io_failures`], with everything counted up to then.
pub fn drive_deployment<D: Disks, C: Clock, O: Observer>(
    trial: &FixedWorkTrial,
    start: impl FnOnce() -> Option<u64>,
    disks: &mut D,
    clock: &mut C,
    observer: &mut O,
) -> Result<Sample, FixedWorkError> {
    trial.check()?;
    let FixedWork::Deploy(deployment) = trial.fixed_work else {
        return Err(FixedWorkError::OtherWork { given: "file test", done: "deployment" });
    };
    let work = Deploying::new(trial, deployment);
    Ok(Run::new(trial, disks, clock, observer, work).carry_out(start))
}

/// Number of steps.
const STEPS: usize = 3;
/// The first step: a copy, or a clone.
const COPY: usize = 0;
const CUSTOMISE: usize = 1;

/// The steps, in order, with the names under which they are reported.
fn step_names(is_cloned: bool) -> [&'static str; STEPS] {
    [if is_cloned { "clone" } else { "copy" }, "customise", "boot"]
}

struct Deploying {
    first_disk: u32,
    template: u32,
    disk_bytes: u64,
    copy_bytes: u32,
    is_cloned: bool,
    /// Number of reads or writes in each step; a copied chunk counts once, and so does a clone.
    counts: [u64; STEPS],
    vms: Vec<Vm>,
    content: ContentSource,
    generation: u64,
    /// Whether the disks have buffers.
    keeps_content: bool,
    begun_ns: u64,
    busy: u64,
    times: [StepTime; STEPS],
}

struct Vm {
    step: usize,
    step_begun_ns: u64,
    next: u64,
    ended: u64,
    random: Random,
    bytes: u64,
    is_sound: bool,
}

impl Deploying {
    fn new(trial: &FixedWorkTrial, deployment: Deployment) -> Self {
        let vm = |vm| Vm {
            step: COPY,
            step_begun_ns: 0,
            next: 0,
            ended: 0,
            random: Random::stream(trial.seed, 0xde91 << 32 | u64::from(trial.first_disk + vm)),
            bytes: 0,
            is_sound: true,
        };
        Self {
            first_disk: trial.first_disk,
            template: trial.disks,
            disk_bytes: trial.disk_bytes,
            copy_bytes: deployment.copy_bytes,
            is_cloned: deployment.clone,
            counts: [
                match deployment.clone {
                    true => 1,
                    false => trial.disk_bytes.div_ceil(u64::from(deployment.copy_bytes)),
                },
                u64::from(deployment.customise_writes),
                u64::from(deployment.boot_reads),
            ],
            vms: (0..trial.disks).map(vm).collect(),
            content: ContentSource::new(Content::default(), trial.content_seed),
            generation: 0,
            keeps_content: false,
            begun_ns: 0,
            busy: u64::from(trial.disks),
            times: step_names(deployment.clone).map(StepTime::named),
        }
    }

    /// The write that puts a chunk of the template in its place on the copy.
    fn rest_of_copy(&self, vm: u32, read: Io) -> Option<Io> {
        (self.vms[vm as usize].step == COPY && read.kind == Kind::Read).then_some(Io {
            kind: Kind::Write,
            disk: vm,
            ..read
        })
    }
}

impl Work for Deploying {
    const IS_BY_IO: bool = false;

    fn begin(&mut self, now_ns: u64) {
        self.begun_ns = now_ns;
        self.vms.iter_mut().for_each(|vm| vm.step_begun_ns = now_ns);
    }

    fn next(&mut self, worker: u32) -> Option<Io> {
        let vm = &mut self.vms[worker as usize];
        // A step starts when the previous one has ended: the whole copy is customised, not half of
        // it.
        if vm.step == STEPS || vm.next == self.counts[vm.step] {
            return None;
        }
        let number = vm.next;
        vm.next += 1;
        if vm.step == COPY && self.is_cloned {
            return Some(Io { kind: Kind::Write, disk: worker, offset_bytes: 0, length_bytes: 0 });
        }
        if vm.step == COPY {
            let offset_bytes = number * u64::from(self.copy_bytes);
            let length_bytes = u64::from(self.copy_bytes).min(self.disk_bytes - offset_bytes);
            return Some(Io {
                kind: Kind::Read,
                disk: self.template,
                offset_bytes,
                length_bytes: length_bytes as u32,
            });
        }
        let blocks = self.disk_bytes / u64::from(SMALL_BYTES);
        Some(Io {
            kind: if vm.step == CUSTOMISE { Kind::Write } else { Kind::Read },
            disk: worker,
            offset_bytes: below(vm.random.next(), blocks) * u64::from(SMALL_BYTES),
            length_bytes: SMALL_BYTES,
        })
    }

    fn fill<D: Disks>(&mut self, disks: &mut D) {
        self.keeps_content = disks.buffer(0).is_some();
    }

    fn template_of(&self, worker: u32, _io: &Io) -> Option<u32> {
        let is_first = self.vms[worker as usize].step == COPY;
        (self.is_cloned && is_first).then_some(self.template)
    }

    fn buffer<D: Disks>(&mut self, slot: u32, io: &Io, disks: &mut D) -> Option<u32> {
        if !self.keeps_content {
            return Some(slot);
        }
        // A write from it may still be in progress.
        let bytes = disks.buffer(slot)?;
        let vm = self.vms.get(io.disk as usize);
        if io.kind == Kind::Write && vm.is_some_and(|vm| vm.step == CUSTOMISE) {
            self.generation += u64::from(SMALL_BYTES);
            // The offset makes each block different; the disk number is that of no prepared disk.
            let length = bytes.len().min(SMALL_BYTES as usize);
            let disk = u32::MAX - self.first_disk - io.disk;
            self.content.fill(disk, self.generation, &mut bytes[..length]);
        }
        Some(slot)
    }

    fn finished(&mut self, finished: Finished, log: &mut FixedWorkLog) -> Option<Io> {
        let Finished { worker, io, now_ns, is_whole, .. } = finished;
        if is_whole {
            self.vms[worker as usize].bytes += u64::from(io.length_bytes);
            log.moved(Kind::Write, u64::from(io.length_bytes));
            if let Some(write) = self.rest_of_copy(worker, io) {
                return Some(write);
            }
        }
        let vm = &mut self.vms[worker as usize];
        vm.is_sound &= is_whole;
        vm.ended += 1;
        while vm.step < STEPS && vm.ended == self.counts[vm.step] {
            if self.counts[vm.step] > 0 {
                self.times[vm.step].add(now_ns.saturating_sub(vm.step_begun_ns));
            }
            vm.step += 1;
            (vm.step_begun_ns, vm.next, vm.ended) = (now_ns, 0, 0);
        }
        if vm.step == STEPS {
            self.busy -= 1;
            if vm.is_sound {
                let latency_ns = now_ns.saturating_sub(self.begun_ns);
                log.ended(worker, Kind::Write, vm.bytes, latency_ns);
            }
        }
        None
    }

    fn outstanding(&self, _ios: u64) -> u64 {
        self.busy
    }

    fn age_ns(&self, now_ns: u64, _ios_ns: i64) -> i64 {
        now_ns.saturating_sub(self.begun_ns) as i64 * self.busy as i64
    }

    fn is_done(&self) -> bool {
        self.busy == 0
    }

    fn steps(self) -> Vec<StepTime> {
        self.times.into_iter().filter(|step| step.times > 0).collect()
    }
}
