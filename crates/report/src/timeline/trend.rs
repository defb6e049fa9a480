//! The course of a metric in a few characters: a column for each run, a bar where a mark is.

/// Columns from the lowest to the highest.
const COLUMNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The least span of the columns, as a share of the middle: noise of a per cent must not look like a cliff.
const LEAST_SPAN: f64 = 0.2;

/// The range in which values are drawn: from the least to the most, and never so narrow that noise fills it.
pub(super) fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let values = values.filter(|value| value.is_finite());
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return None;
    }
    let middle = (low + high) / 2.0;
    let half = ((high - low) / 2.0).max(LEAST_SPAN / 2.0 * middle);
    Some(((middle - half).max(0.0), middle + half))
}

/// A column for each value, a space where there is none, and a bar before each of the places in `marks`.
pub(super) fn trend(values: &[Option<f64>], marks: &[usize]) -> String {
    let Some((low, high)) = span(values.iter().flatten().copied()) else { return String::new() };
    let mut text = String::new();
    for (place, value) in values.iter().enumerate() {
        text.extend(marks.iter().filter(|mark| **mark == place).map(|_| '|'));
        text.push(match value.filter(|value| value.is_finite()) {
            Some(value) => {
                let share = (value - low) / (high - low).max(f64::MIN_POSITIVE);
                COLUMNS[((share * 8.0) as usize).min(7)]
            }
            None => ' ',
        });
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_has_a_column_for_each_run_and_noise_stays_flat() {
        let some = |values: &[f64]| values.iter().map(|value| Some(*value)).collect::<Vec<_>>();
        assert_eq!(trend(&some(&[1.0, 2.0, 3.0]), &[2]), "▁▅|█");
        assert_eq!(trend(&some(&[1000.0, 1001.0, 999.0]), &[]), "▅▅▄");
        assert_eq!(trend(&[Some(1.0), None, Some(9.0)], &[]), "▁ █");
        assert_eq!(trend(&some(&[0.0, 0.0]), &[]), "▁▁");
        assert_eq!(trend(&[None, Some(f64::NAN)], &[0]), "");
    }
}
