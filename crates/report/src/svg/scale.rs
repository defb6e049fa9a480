//! From values to coordinates, and round values to label.

use stormeter_study::Metric;

/// A linear or logarithmic axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    is_log: bool,
    is_binary: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// `low..high` onto `from..to`.
    pub(crate) fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { is_log: false, is_binary: false, low, high, from, to }
    }

    /// Powers at equal distances. Both ends have to be above 0; others are moved there.
    pub(crate) fn log(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = if low > 0.0 { low } else { 1.0 };
        let high = if high > low { high } else { low * 10.0 };
        Self { is_log: true, is_binary: false, low, high, from, to }
    }

    /// A logarithmic axis that starts and ends at 1, 2 or 5 times a power of ten.
    pub(crate) fn log_rounded(low: f64, high: f64, from: f64, to: f64) -> Self {
        let scale = Self::log(low, high, from, to);
        let marks = log_marks(scale.low / 10.0, scale.high * 10.0, &[1.0, 2.0, 5.0]);
        let low = marks.iter().rev().find(|&&mark| mark <= scale.low).copied();
        let high = marks.iter().find(|&&mark| mark >= scale.high).copied();
        Self::log(low.unwrap_or(scale.low), high.unwrap_or(scale.high), from, to)
    }

    /// The same for the values of a metric: those in bytes have ticks at round binary numbers.
    pub(crate) fn of(self, metric: Metric) -> Self {
        self.binary(metric == Metric::Throughput)
    }

    /// The same with ticks at round binary numbers (`512KiB/s`, `1MiB/s`), or at decimal ones.
    pub(crate) fn binary(self, is_binary: bool) -> Self {
        Self { is_binary, ..self }
    }

    /// Where a value lies; values outside stop at the ends.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// The lower and the higher end of the axis on the picture.
    pub(crate) fn span(&self) -> (f64, f64) {
        (self.from.min(self.to), self.from.max(self.to))
    }

    /// The value that lies at a coordinate.
    pub(crate) fn value(&self, at: f64) -> f64 {
        let share = (at - self.from) / (self.to - self.from);
        match self.is_log {
            true => self.low * (self.high / self.low).powf(share),
            false => self.low + share * (self.high - self.low),
        }
    }

    /// The highest value.
    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    /// The lowest value.
    pub(crate) fn low(&self) -> f64 {
        self.low
    }

    /// The distance of about `count` values of a linear axis: 1, 2 or 5 times a power of ten, or a power of two.
    fn step(&self, count: usize) -> f64 {
        let rough = (self.high - self.low) / count.max(1) as f64;
        if self.is_binary {
            return 2f64.powf((rough * 0.999).log2().ceil());
        }
        let power = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        steps.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(power * 10.0)
    }

    /// Round values to label, about `count` of them.
    pub(crate) fn ticks(&self, count: usize) -> Vec<f64> {
        if !self.is_log {
            return linear_marks(self.low, self.high, self.step(count));
        }
        if self.is_binary && self.high >= 2.0 * self.low {
            return powers_of_two(self.low, self.high, count);
        }
        let sets: [&[f64]; 5] = [
            &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
            &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            &[1.0, 2.0, 5.0],
            &[1.0, 3.0],
            &[1.0],
        ];
        let all = sets.map(|set| log_marks(self.low, self.high, set));
        all.iter().find(|marks| marks.len() <= count + 2).unwrap_or(&all[4]).clone()
    }
}

/// Multiples of a step within the range.
fn linear_marks(low: f64, high: f64, step: f64) -> Vec<f64> {
    let first = (low / step).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last.min(first + 100)).map(|index| index as f64 * step).collect()
}

/// Powers of two within the range, at equal distances, about `count` of them.
fn powers_of_two(low: f64, high: f64, count: usize) -> Vec<f64> {
    let (first, last) = (low.log2().ceil() as i32, high.log2().floor() as i32);
    let by = ((last - first) as usize).div_ceil(count + 1).max(1);
    (first..=last).step_by(by).map(|power| 2f64.powi(power)).collect()
}

fn log_marks(low: f64, high: f64, factors: &[f64]) -> Vec<f64> {
    let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32).min(40);
    decades
        .flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powi(decade)))
        .filter(|mark| (low * 0.9999..=high * 1.0001).contains(mark))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_where_they_should() {
        let linear = Scale::linear(0.0, 200.0, 100.0, 500.0);
        assert_eq!(linear.at(100.0), 300.0);
        assert_eq!(linear.at(999.0), 500.0);
        let log = Scale::log(1.0, 1000.0, 0.0, 300.0);
        assert!((log.at(10.0) - 100.0).abs() < 1e-9);
        assert_eq!(log.at(0.0), 0.0);
        assert!((log.value(log.at(20.0)) - 20.0).abs() < 1e-9);
        assert!((linear.value(linear.at(20.0)) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::linear(0.0, 128.0, 0.0, 1.0).ticks(6), [0.0, 50.0, 100.0]);
        assert_eq!(Scale::linear(0.0, 0.7, 0.0, 1.0).ticks(3).len(), 2);
        let log = Scale::log_rounded(13.0, 1700.0, 0.0, 1.0);
        assert!((log.low() - 10.0).abs() < 1e-9 && (log.high() - 2000.0).abs() < 1e-6);
        assert_eq!(log.ticks(8).len(), 8);
        assert_eq!(Scale::log(1.0, 1e9, 0.0, 1.0).ticks(5).len(), 10);
    }

    #[test]
    fn ticks_of_bytes_are_round_in_binary_units() {
        let mib = 1_048_576.0;
        let linear = Scale::linear(0.0, 3.4 * mib, 0.0, 1.0).of(Metric::Throughput);
        assert_eq!(linear.ticks(4), [0.0, mib, 2.0 * mib, 3.0 * mib]);
        let log = Scale::log(700.0, 3.4 * mib, 0.0, 1.0).of(Metric::Throughput);
        assert_eq!(log.ticks(4), [1024.0, 8192.0, 65_536.0, 524_288.0]);
        let narrow = Scale::log(700.0, 1000.0, 0.0, 1.0).of(Metric::Throughput);
        assert!(!narrow.ticks(4).is_empty());
    }

    #[test]
    fn an_empty_range_is_drawn_all_the_same() {
        for scale in [Scale::linear(5.0, 5.0, 0.0, 1.0), Scale::log(0.0, 0.0, 0.0, 1.0)] {
            assert!(scale.at(5.0).is_finite());
            assert!(!scale.ticks(4).is_empty());
        }
    }
}
