//! How much of their disks trials touched, in words.

use stormeter_statistics::Touched;
use stormeter_units::format_bytes;

use crate::compact::model::Compact;
use crate::quantity::percent;

/// `a trial 6.2 % of 1GiB, all trials 58 %, 12 % of the bytes again`.
pub(crate) fn words(touched: &Touched) -> String {
    format!(
        "a trial {} % of {}, all trials {} %, {} % of the bytes again",
        rounded(touched.trial_share),
        format_bytes(touched.working_set_bytes),
        rounded(touched.run_share),
        rounded(touched.again_share),
    )
}

/// What the trials of each datastore touched: `Touched: a: …; b: …`.
pub(crate) fn line(report: &Compact) -> Option<String> {
    let each = report.datastores.iter().filter_map(|datastore| {
        Some(format!("{}: {}", datastore.label, words(datastore.touched.as_ref()?)))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("Touched: {}.", each.join("; ")))
}

/// The range over several cells.
pub(crate) fn range<'a>(cells: impl Iterator<Item = &'a Touched>) -> Option<String> {
    let cells: Vec<&Touched> = cells.collect();
    let ends = |share: fn(&Touched) -> f64| {
        let shares = cells.iter().map(|touched| share(touched));
        let (low, high) = shares
            .fold((f64::INFINITY, 0.0_f64), |(low, high), share| (low.min(share), high.max(share)));
        match (rounded(low), rounded(high)) {
            (low, high) if low == high => format!("{low} %"),
            (low, high) => format!("{low} to {high} %"),
        }
    };
    (!cells.is_empty()).then(|| {
        format!(
            "Touched: a trial {} of its disks, all trials of a cell {}; {} of the bytes again.",
            ends(|it| it.trial_share),
            ends(|it| it.run_share),
            ends(|it| it.again_share),
        )
    })
}

/// Two digits are enough for an expectation that was not counted.
fn rounded(share: f64) -> String {
    let digits = if share < 0.1 { 1e3 } else { 1e2 };
    percent((share * digits).round() / digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_written_with_two_digits_and_cells_as_a_range() {
        let touched = |trial_share| Touched {
            trial_share,
            run_share: 1.0,
            again_share: 0.123_4,
            working_set_bytes: 1 << 30,
        };
        assert_eq!(
            words(&touched(0.062_3)),
            "a trial 6.2 % of 1GiB, all trials 100 %, 12 % of the bytes again"
        );
        assert_eq!(
            range([touched(0.062_3), touched(0.5)].iter()).unwrap(),
            "Touched: a trial 6.2 to 50 % of its disks, all trials of a cell 100 %; 12 % of the bytes \
             again."
        );
        assert_eq!(range([].iter()), None);
    }
}
