//! What the laws look at: a trial's sample, and the facts around it.

use stormeter_trial::{CpuUsage, Sample, Workload};

/// A trial's sample, and the facts around it that the laws need.
#[derive(Debug, Clone, Copy)]
pub struct TrialFacts<'a> {
    /// What was driven.
    pub workload: &'a Workload,
    /// What was measured.
    pub sample: &'a Sample,
    /// The disks complete at once (`null:`): the trial measures the generator itself, so the laws
    /// about the generator's share do not apply.
    pub is_null: bool,
    /// The generator's ceiling with this workload on this machine, in IOPS, when it was measured.
    pub ceiling_iops: Option<f64>,
    /// Its CPU time, and what else the CPUs did.
    pub cpu: Option<&'a CpuUsage>,
}
