//! A workload for tests that are about something else.

use stormeter_trial::{Arrivals, Content, Distribution, SizeShare, Workload};

/// Requests of 4 KiB at random places of the whole disk, 75 % of them reads. A test that depends on a value
/// writes it out: `Workload { read_percent: 0.0, ..workload(arrivals) }`.
pub fn workload(arrivals: Arrivals) -> Workload {
    Workload {
        name: "test".into(),
        sizes: vec![SizeShare { bytes: 4096, share: 1.0 }],
        read_percent: 75.0,
        random_percent: 100.0,
        distribution: Distribution::Uniform,
        alignment_bytes: None,
        arrivals,
        burst: None,
        content: Content::default(),
        durable: false,
        flush: None,
    }
}
