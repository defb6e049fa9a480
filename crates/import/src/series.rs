//! A list of values that takes few bytes: what is read of a file is to be little more than the file.

use std::fmt;

use crate::chunks::{Chunks, Reader};
use crate::packed::Packed;

/// Values in their order. They are packed: looking at one makes it.
#[derive(Clone)]
pub struct Series<T> {
    chunks: Chunks,
    count: usize,
    /// What the next value is compared with; none if nothing was added yet, or since it was unpacked.
    last: Option<Box<T>>,
}

impl<T> Series<T> {
    /// How many values.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<T: Packed> Series<T> {
    /// Adds a value.
    pub fn push(&mut self, value: T) {
        if self.last.is_none() {
            let mut iter = self.iter();
            iter.by_ref().for_each(drop);
            self.last = Some(Box::new(iter.last));
        }
        if let Some(last) = &mut self.last {
            value.put(last, &mut self.chunks);
            self.count += 1;
        }
    }

    /// Adds all of another, which is freed.
    pub(crate) fn append(&mut self, other: Self) {
        if self.count == 0 {
            *self = other;
        } else {
            self.extend(&other);
        }
    }

    /// What was added last, without its lists.
    pub(crate) fn newest(&self) -> Option<&T> {
        self.last.as_deref().filter(|_| self.count > 0)
    }

    /// The values, in their order.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { reader: self.chunks.reader(), left: self.count, last: T::start() }
    }

    /// The value at this place, from 0.
    pub fn get(&self, at: usize) -> Option<T> {
        self.iter().nth(at)
    }

    /// All values, unpacked.
    pub fn to_vec(&self) -> Vec<T> {
        self.iter().collect()
    }
}

impl<T> Default for Series<T> {
    fn default() -> Self {
        Self { chunks: Chunks::default(), count: 0, last: None }
    }
}

impl<T: Packed> PartialEq for Series<T> {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.iter().eq(other.iter())
    }
}

impl<T: Packed + fmt::Debug> fmt::Debug for Series<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Packed> Extend<T> for Series<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl<T: Packed> FromIterator<T> for Series<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut series = Self::default();
        series.extend(values);
        series
    }
}

impl<'a, T: Packed> IntoIterator for &'a Series<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// A series within a packed value: its bytes as they are.
impl<T: Packed> Packed for Series<T> {
    fn start() -> Self {
        Self::default()
    }

    fn put(self, _: &mut Self, to: &mut Chunks) {
        to.number(self.count as u64);
        to.number(self.chunks.len() as u64);
        to.append(self.chunks);
    }

    fn take(last: &mut Self, from: &mut Reader<'_>) {
        last.count = from.number() as usize;
        let length = from.number() as usize;
        last.chunks = from.chunks(length);
    }

    fn out(&mut self) -> Self {
        std::mem::take(self)
    }
}

/// The values of a series.
#[derive(Debug)]
pub struct Iter<'a, T> {
    reader: Reader<'a>,
    left: usize,
    last: T,
}

impl<T: Packed> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        T::take(&mut self.last, &mut self.reader);
        Some(self.last.out())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T: Packed> ExactSizeIterator for Iter<'_, T> {}

#[cfg(test)]
mod tests {
    use super::Series;
    use crate::figure::Figure;
    use crate::run::{Bucket, Direction, Interval, Pattern, Percentile, Run, Way};

    fn run(at: u64) -> Run {
        let value = at as f64 * 0.37 - 5.0;
        let figure = (!at.is_multiple_of(3)).then_some(Figure { value, half: 0.005 });
        let mut direction = Direction::new([Way::Read, Way::Flush][at as usize % 2]);
        direction.iops = figure;
        direction.latency.histogram.extend((0..at).map(|low| Bucket {
            low_ns: low as f64,
            high_ns: if low + 1 == at { f64::INFINITY } else { low as f64 + 1.0 },
            count: u64::MAX - low,
        }));
        direction
            .latency
            .percentiles
            .extend(figure.map(|ns| Percentile { share: 1.0 / (at as f64 + 3.0), ns }));
        let mut run = Run {
            name: format!("läuft {}", at / 4),
            began_s: at.is_multiple_of(2).then_some(1e300),
            directions: vec![direction; at as usize % 4],
            ..Run::default()
        };
        run.load.pattern = (!at.is_multiple_of(5)).then_some(Pattern::Mixed(0.1 * at as f64));
        run.load.durability = (at % 5 > 2).then(String::new);
        run.intervals.extend((0..at * 40).map(|second| Interval {
            start_s: second as f64 / 8.0,
            length_s: 0.125,
            way: (!second.is_multiple_of(7)).then_some(Way::Trim),
            latency_max: Some(Figure::exact(-(second as f64))),
            ..Interval::default()
        }));
        run
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        let runs: Vec<Run> = (0..40).map(run).collect();
        let series: Series<Run> = runs.iter().cloned().collect();
        assert_eq!(series.len(), 40);
        assert_eq!(series.to_vec(), runs);
        assert_eq!(series.get(7).unwrap(), runs[7]);
        assert_eq!(series.get(40), None);
    }

    #[test]
    fn what_was_unpacked_can_grow() {
        let series: Series<Run> = (0..3).map(run).collect();
        let mut intervals = series.get(2).unwrap().intervals;
        let more = Interval { start_s: 99.0, ..Interval::default() };
        intervals.push(more.clone());
        assert_eq!(intervals.len(), 81);
        assert_eq!(intervals.get(80), Some(more));
        assert_eq!(intervals.to_vec()[..80], run(2).intervals.to_vec()[..]);
    }

    #[test]
    fn rows_that_are_alike_take_few_bytes() {
        let row = |at: u64| {
            let mut run = Run { name: "write".into(), ..Run::default() };
            run.directions.push(Direction::new(Way::Write));
            run.directions[0].bytes_per_s = Some(Figure { value: at as f64, half: 512.0 });
            run
        };
        let series: Series<Run> = (1000..2000).map(row).collect();
        assert!(series.chunks.len() < 12_000, "{}", series.chunks.len());
    }
}
