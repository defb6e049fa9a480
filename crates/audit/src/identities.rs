//! Throughput, IOPS and request size; outstanding requests, IOPS and latency: products that leave no freedom.

use crate::finding::{Amount, Detail, Explanation, Finding, Level};
use crate::law::Law;
use crate::span::Span;
use crate::unit::Unit;

/// A figure with what its unit may mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// As printed.
    pub(crate) span: Span,
    /// As printed.
    pub(crate) unit: String,
    /// One unit in bytes, seconds or per second, each reading.
    pub(crate) readings: Vec<f64>,
}

impl Figure {
    /// A figure in a printed unit; `None` if the unit is not known.
    pub(crate) fn of(span: Span, unit: &str) -> Option<Self> {
        let readings = Unit::of(unit)?.readings;
        Some(Self { span, unit: unit.to_owned(), readings })
    }

    /// A figure that has no unit, such as a count.
    pub(crate) fn plain(span: Span) -> Self {
        Self { span, unit: String::new(), readings: vec![1.0] }
    }

    pub(crate) fn amount(&self, what: &str) -> Amount {
        Amount::new(what, self.span, self.unit.clone())
    }

    /// Its possible values in the base unit.
    fn spans(&self) -> impl Iterator<Item = (f64, Span)> {
        self.readings.iter().map(|&reading| (reading, self.span.scaled(reading)))
    }
}

/// Off by less than this, a product may have been formed from figures that were rounded on the way.
const NEARLY: f64 = 1.02;

/// Level by how far two figures are apart.
pub(crate) fn level(apart: f64) -> Level {
    if apart < NEARLY { Level::Doubtful } else { Level::Broken }
}

/// Request sizes that benchmarks use, in KiB.
const SIZES_KIB: [f64; 14] =
    [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0];

/// Throughput against IOPS × request size. `others`: sizes of other rows, with where they are.
pub(crate) fn throughput(
    place: &str,
    what: &str,
    iops: &Figure,
    size: &Figure,
    rate: &Figure,
    others: &[(Figure, String)],
) -> Option<Finding> {
    let mut best: Option<(f64, Span, f64)> = None;
    for (_, size_bytes) in size.spans() {
        for (rate_unit, stated) in rate.spans() {
            let follows = iops.span.scaled(iops.readings[0]).times(size_bytes);
            if stated.meets(follows) {
                return None;
            }
            let apart = stated.apart(follows).unwrap_or(f64::INFINITY);
            if best.is_none_or(|(least, ..)| apart < least) {
                best = Some((apart, follows, rate_unit));
            }
        }
    }
    let (apart, follows, rate_unit) = best?;
    let detail = Detail::Mismatch {
        stated: rate.amount(what),
        follows: Amount::new(what, follows.scaled(1.0 / rate_unit), rate.unit.clone()),
        from: vec![iops.amount(""), size.amount("requests of")],
    };
    let explanations = why_throughput(iops, size, rate, others);
    Some(Finding::new(Law::Throughput, level(apart), place, detail).explained(explanations))
}

fn why_throughput(
    iops: &Figure,
    size: &Figure,
    rate: &Figure,
    others: &[(Figure, String)],
) -> Vec<Explanation> {
    let stated_bytes = size.span.middle * size.readings[0];
    let requests = iops.span.scaled(iops.readings[0]);
    let fits = |bytes: f64| {
        let follows = requests.times(Span::exact(bytes));
        // What a person reads off a chart is near and not exact.
        rate.spans().any(|(_, stated)| stated.apart(follows).is_none_or(|apart| apart < 1.01))
    };
    let mut why = Vec::new();
    for (other, of) in others {
        let bytes = other.span.middle * other.readings[0];
        if (bytes / stated_bytes - 1.0).abs() > 0.03
            && other.spans().any(|(_, span)| fits(span.middle))
        {
            why.push(Explanation::RequestSize { bytes, stated_bytes, of: Some(of.clone()) });
            return why;
        }
    }
    for (explanation, factor) in
        [(Explanation::BitsForBytes, 8.0), (Explanation::BytesForBits, 0.125)]
    {
        if size.spans().any(|(_, bytes)| fits(bytes.middle * factor)) {
            why.push(explanation);
        }
    }
    if let Some(kib) = SIZES_KIB.into_iter().find(|kib| fits(kib * 1024.0)) {
        why.push(Explanation::RequestSize { bytes: kib * 1024.0, stated_bytes, of: None });
    }
    for power in [-6, -3, 3, 6] {
        if size.spans().any(|(_, bytes)| fits(bytes.middle * 10f64.powi(power))) {
            why.push(Explanation::PowerOfTen(power));
        }
    }
    why
}

/// What a queue may lose to what is not in the latency before that is worth a word: the time between two requests
/// of one slot.
const IDLE_SHARE: f64 = 0.10;

/// Outstanding requests against IOPS × latency. In a closed loop at most the configured number is in flight; less
/// means that slots waited elsewhere.
pub(crate) fn little(
    place: &str,
    iops: &Figure,
    latency: &Figure,
    outstanding: &Figure,
) -> Option<Finding> {
    let follows =
        iops.span.scaled(iops.readings[0]).times(latency.span.scaled(latency.readings[0]));
    // A latency of zero is a finding of its own.
    if follows.middle <= 0.0 {
        return None;
    }
    let stated = outstanding.span;
    let apart = stated.apart(follows)?;
    let is_more = follows.low > stated.high;
    let level = match is_more {
        true => level(apart),
        false if apart > 1.0 / (1.0 - IDLE_SHARE) => Level::Doubtful,
        false => return None,
    };
    let detail = Detail::Mismatch {
        stated: outstanding.amount("outstanding"),
        follows: Amount::new("outstanding", follows, outstanding.unit.clone()),
        from: vec![iops.amount(""), latency.amount("a latency of")],
    };
    let ratio = follows.middle / stated.middle;
    let mut why = Vec::new();
    let workers = ratio.round();
    if workers >= 2.0 && (ratio / workers - 1.0).abs() < 0.05 {
        why.push(Explanation::Workers(workers));
    }
    let power = ratio.log10().round() as i32;
    if power != 0 && power % 3 == 0 && (ratio / 10f64.powi(power) - 1.0).abs() < 0.1 {
        why.push(Explanation::PowerOfTen(power));
    }
    if !is_more && why.is_empty() {
        why.push(Explanation::WaitsElsewhere);
    }
    Some(Finding::new(Law::Little, level, place, detail).explained(why))
}

/// The same with throughput and request size in place of IOPS.
pub(crate) fn iops_of(rate: &Figure, size: &Figure) -> Figure {
    let span = rate.span.scaled(rate.readings[0]).over(size.span.scaled(size.readings[0]));
    Figure { span, unit: "IOPS".to_owned(), readings: vec![1.0] }
}

/// Rows of one load: the figure that follows from each row has to be one number. Returns the pair of rows that are
/// farthest apart.
pub(crate) fn same_load(
    place: &str,
    what: &str,
    unit: &str,
    rows: &[(String, Span)],
) -> Option<Finding> {
    let mut worst: Option<(f64, usize, usize)> = None;
    for (i, (_, one)) in rows.iter().enumerate() {
        for (j, (_, other)) in rows.iter().enumerate().skip(i + 1) {
            let apart = one.apart(*other).unwrap_or(1.0);
            if worst.is_none_or(|(most, ..)| apart > most) {
                worst = Some((apart, i, j));
            }
        }
    }
    let (apart, i, j) = worst.filter(|(apart, ..)| *apart > 1.0)?;
    let named = |row: usize| Amount::new(format!("{what} of {}", rows[row].0), rows[row].1, unit);
    // A closed loop holds the number only nearly.
    let level = match apart {
        apart if apart < NEARLY => Level::Note,
        apart if apart < 1.10 => Level::Doubtful,
        _ => Level::Broken,
    };
    let detail = Detail::Unlike { one: named(i), other: named(j) };
    Some(Finding::new(Law::SameLoad, level, place, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, half: f64, unit: &str) -> Figure {
        Figure::of(Span::around(value, half), unit).unwrap()
    }

    #[test]
    fn the_request_size_of_another_row_is_found() {
        let (iops, size) = (figure(875.65, 0.005, "IOPS"), figure(4.0, 0.0, "KB"));
        let others = [(figure(32.0, 0.0, "KB"), "phys32".to_owned())];
        let found = throughput(
            "Table 3, phys4",
            "throughput",
            &iops,
            &size,
            &figure(27.4, 0.05, "MB/s"),
            &others,
        );
        let found = found.unwrap();
        assert_eq!((found.law, found.level), (Law::Throughput, Level::Broken));
        let of = Some("phys32".to_owned());
        let expected = Explanation::RequestSize { bytes: 32768.0, stated_bytes: 4096.0, of };
        assert_eq!(found.explanations, [expected]);
        assert_eq!(
            throughput("", "throughput", &iops, &size, &figure(3.42, 0.005, "MB/s"), &others),
            None
        );
        // The same in MB of a million bytes.
        assert_eq!(
            throughput("", "throughput", &iops, &size, &figure(3.59, 0.005, "MB/s"), &others),
            None
        );
    }

    #[test]
    fn bits_and_powers_of_ten_are_found() {
        let (iops, size) = (figure(10_000.0, 0.5, "IOPS"), figure(6.0, 0.0, "KiB"));
        let why = |rate: Figure| {
            throughput("", "throughput", &iops, &size, &rate, &[]).unwrap().explanations
        };
        assert_eq!(why(figure(491.5, 0.05, "MB/s")), [Explanation::BitsForBytes]);
        assert_eq!(why(figure(61_440.0, 0.5, "MB/s")), [Explanation::PowerOfTen(3)]);
    }

    #[test]
    fn more_in_flight_than_allowed_cannot_be_and_less_is_a_question() {
        let of = |iops, latency, outstanding| {
            little(
                "",
                &figure(iops, 0.5, "IOPS"),
                &figure(latency, 0.005, "ms"),
                &Figure::plain(Span::exact(outstanding)),
            )
        };
        assert_eq!(of(501.0, 31.87, 16.0), None);
        assert_eq!(of(14_693.0, 1.09, 16.0), None);
        let found = of(4000.0, 16.0, 16.0).unwrap();
        assert_eq!(
            (found.level, found.explanations),
            (Level::Broken, vec![Explanation::Workers(4.0)])
        );
        let found = of(4000.0, 2.0, 16.0).unwrap();
        assert_eq!(found.level, Level::Doubtful);
        assert_eq!(found.explanations, [Explanation::WaitsElsewhere]);
    }
}
