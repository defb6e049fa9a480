//! How long heads take from one track to another.
//!
//! Short seeks are spent accelerating and braking and grow with the square root of the distance; long
//! ones coast and grow linearly (Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE
//! Computer 27(3), 1994). With the distance x as a share of all tracks:
//!
//! t(x) = a + b sqrt(x) below the knee k, and beyond it the tangent, a + b (k + x) / (2 sqrt(k)).
//!
//! The three figures of a data sheet determine the three unknowns: one track, all tracks, and the mean
//! over random seeks, which manufacturers call the average (the distance of two random tracks has
//! density 2 (1 - x)). If the figures cannot all be met (all tracks take more than about three times
//! the average, or less than twice), the average is: most seeks are random.

/// A seek curve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeekCurve {
    /// 1 / tracks.
    share: f64,
    start_ns: f64,
    root_ns: f64,
    knee: f64,
    /// Slope beyond the knee.
    slope_ns: f64,
}

impl SeekCurve {
    /// The curve of a disk with this many tracks and these times for one track, random seeks on
    /// average, and all tracks.
    pub(crate) fn new(tracks: f64, track_ns: f64, average_ns: f64, full_ns: f64) -> Self {
        let average = (average_ns - track_ns).max(0.0);
        let ratio = if average > 0.0 { (full_ns - track_ns) / average } else { 2.0 };
        let knee = knee(ratio);
        let root_ns = average / mean(knee);
        let slope_ns = root_ns / (2.0 * knee.sqrt());
        let share = 1.0 / tracks.max(2.0);
        // One track is also a distance, but so small that the constant part is nearly all of its
        // time.
        let start_ns = (track_ns - root_ns * share.sqrt()).max(0.0);
        Self { share, start_ns, root_ns, knee, slope_ns }
    }

    /// Time for a seek over this many tracks.
    #[inline]
    pub(crate) fn ns(&self, tracks: u32) -> f64 {
        if tracks == 0 {
            return 0.0;
        }
        // Without a branch at the knee: which side a seek is on cannot be predicted.
        let distance = f64::from(tracks) * self.share;
        let root = distance.min(self.knee).sqrt();
        self.start_ns + self.root_ns * root + self.slope_ns * (distance - self.knee).max(0.0)
    }
}

/// For the curve with a = 0 and b = 1: the mean over random seeks.
fn mean(knee: f64) -> f64 {
    let root = knee.sqrt();
    let below = 2.0 * root * knee * (2.0 / 3.0 - 2.0 / 5.0 * knee);
    let square = knee * knee;
    let beyond = knee + (1.0 - knee) / 2.0 - 1.0 / 3.0 - square - (1.0 - knee) * square / 2.0
        + square * knee / 3.0;
    below + beyond / root
}

/// For the curve with a = 0 and b = 1: over all tracks.
fn full(knee: f64) -> f64 {
    (knee + 1.0) / (2.0 * knee.sqrt())
}

/// The knee at which a seek over all tracks takes `ratio` times the mean. The ratio falls from 3 (all
/// linear) to 15/8 (all root) as the knee grows.
fn knee(ratio: f64) -> f64 {
    let (mut low, mut high) = (1e-4, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if full(middle) / mean(middle) > ratio {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(curve: &SeekCurve, tracks: u32) -> f64 {
        let all = f64::from(tracks);
        (1..tracks).map(|d| 2.0 * (all - f64::from(d)) / (all * all) * curve.ns(d)).sum()
    }

    #[test]
    fn the_three_figures_come_out() {
        for (track, average, full) in [(0.2, 3.5, 7.4), (0.8, 8.5, 19.0), (1.0, 12.0, 24.0)] {
            let curve = SeekCurve::new(100_000.0, track, average, full);
            assert!((curve.ns(1) / track - 1.0).abs() < 1e-9, "{curve:?}");
            assert!((curve.ns(100_000) / full - 1.0).abs() < 0.005, "{curve:?}");
            let mean = mean_of(&curve, 100_000);
            assert!((mean / average - 1.0).abs() < 0.006, "{mean} {curve:?}");
            assert!(curve.knee > 0.05 && curve.knee < 0.9, "{curve:?}");
        }
    }

    #[test]
    fn figures_that_fit_no_curve_keep_the_average() {
        for full in [5.0, 20.0] {
            let curve = SeekCurve::new(100_000.0, 0.2, 3.5, full);
            let mean = mean_of(&curve, 100_000);
            assert!((mean / 3.5 - 1.0).abs() < 0.01, "{mean} {curve:?}");
        }
    }

    #[test]
    fn longer_seeks_take_longer() {
        let curve = SeekCurve::new(50_000.0, 0.2, 3.5, 7.4);
        assert_eq!(curve.ns(0), 0.0);
        assert!((1..50_000).all(|d| curve.ns(d) < curve.ns(d + 1)));
    }
}
