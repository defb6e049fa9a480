//! How much of a disk a workload touches.
//!
//! Data that was touched before can be answered by any sufficiently large cache on the path, so a result
//! shows how much of its disks each trial touched. It is computed afterwards from the bytes moved and costs
//! nothing per I/O: a stream reads the disk from end to end, so it touches what it moves; random places are
//! hit repeatedly by chance, and with thousands of draws the expectation is so close to the actual result
//! that counting would add nothing.

use crate::workload::{Distribution, Workload};

/// Number of ranks of a Zipf distribution that are summed individually; those beyond in groups.
const SINGLE_RANKS: f64 = 1024.0;
/// A group reaches from one rank to this many times it.
const GROUP: f64 = 1.02;

/// The fraction of a disk, from 0 to 1, that this workload is expected to have touched after moving this many
/// bytes.
pub fn touched_share(workload: &Workload, disk_bytes: u64, moved_bytes: f64) -> f64 {
    let shares: f64 = workload.sizes.iter().map(|size| size.share).sum();
    let weighted = workload.sizes.iter().map(|size| size.share * f64::from(size.bytes));
    let mean_bytes = weighted.sum::<f64>() / shares;
    let disk_bytes = disk_bytes as f64;
    if !(moved_bytes > 0.0 && mean_bytes > 0.0 && disk_bytes > 0.0) {
        return 0.0;
    }
    let random = workload.random_percent / 100.0;
    if random == 0.0 {
        return (moved_bytes / disk_bytes).min(1.0);
    }
    // Each draw is followed by a sequential run, of a length that is 1/random on average.
    let run_bytes = (mean_bytes / random).min(disk_bytes);
    let places = (disk_bytes / run_bytes).max(1.0);
    let draws = moved_bytes / run_bytes;
    match workload.distribution {
        Distribution::Uniform => drawn(1.0 / places, draws),
        Distribution::Zipf { exponent } => zipf(places, exponent, draws),
    }
}

/// The probability that a place drawn with probability `p` was drawn at least once.
fn drawn(p: f64, draws: f64) -> f64 {
    if p >= 1.0 { draws.min(1.0) } else { -(draws * (-p).ln_1p()).exp_m1() }
}

/// The expected fraction of places that were drawn, if the k-th is drawn in proportion to
/// k^-exponent.
fn zipf(places: f64, exponent: f64, draws: f64) -> f64 {
    let mut groups = Vec::new();
    let mut rank = 1.0;
    while rank <= places {
        let next = match rank <= SINGLE_RANKS {
            true => rank + 1.0,
            false => (rank * GROUP).floor().min(places + 1.0),
        };
        let middle = 0.5 * (rank + next - 1.0);
        groups.push((next - rank, middle.powf(-exponent)));
        rank = next;
    }
    let all: f64 = groups.iter().map(|(count, weight)| count * weight).sum();
    let touched = groups.iter().map(|(count, weight)| count * drawn(weight / all, draws));
    touched.sum::<f64>() / groups.iter().map(|(count, _)| count).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::plain;

    const DISK: u64 = 64 << 20;

    fn workload(random_percent: f64, distribution: Distribution) -> Workload {
        Workload { read_percent: 100.0, random_percent, distribution, ..plain() }
    }

    #[test]
    fn nothing_moved_is_nothing_touched_and_more_than_the_disk_is_all() {
        let stream = workload(0.0, Distribution::Uniform);
        assert_eq!(touched_share(&stream, DISK, 0.0), 0.0);
        assert_eq!(touched_share(&stream, DISK, 3.0 * DISK as f64), 1.0);
        let one_place = workload(100.0, Distribution::Zipf { exponent: 1.0 });
        assert_eq!(touched_share(&one_place, 4096, 9e9), 1.0);
    }
}
