//! What happens, told to whoever wants to show it.

use stormeter_trial::{Sample, TrialFailure};

/// A trial was predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialEnded<'a> {
    /// Which cell: `nas, vm-4k, 4 VMs × 8`.
    pub cell: &'a str,
    /// Which trial of the study it is, from 1.
    pub number: u64,
    /// How many there will be at most.
    pub of: u64,
    /// Its sample, or the reason why there is none.
    pub outcome: Result<&'a Sample, &'a TrialFailure>,
}

/// Hears of each step. All of it is optional.
pub trait Progress {
    /// A trial was predicted.
    fn trial_ended(&mut self, _ended: &TrialEnded<'_>) {}
    /// So many of the reruns that tell what more of each component would bring are done.
    fn elasticity(&mut self, _done: u64, _of: u64) {}
    /// Something worth knowing.
    fn note(&mut self, _text: &str) {}
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
