//! Room for labels: how wide text is, estimated, and places for labels that would overlap.

/// Mean width of a character of the charts' text.
pub(crate) const CHARACTER: f64 = 6.8;

/// The same for the bold labels of datastores.
pub(crate) const BOLD_CHARACTER: f64 = 8.0;

/// Moves labels apart that would overlap: `wanted` positions, at least `distance` from one another. The
/// result keeps the order of the wanted positions and lies in `low..=high`.
pub(crate) fn spread(wanted: &[f64], distance: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut placed = wanted.to_vec();
    let mut next = low;
    for &index in &order {
        placed[index] = wanted[index].max(next);
        next = placed[index] + distance;
    }
    let mut next = high;
    for &index in order.iter().rev() {
        placed[index] = placed[index].min(next);
        next = placed[index] - distance;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_moved_apart_in_order() {
        assert_eq!(spread(&[10.0, 50.0], 16.0, 0.0, 100.0), [10.0, 50.0]);
        assert_eq!(spread(&[50.0, 48.0, 49.0], 16.0, 0.0, 100.0), [80.0, 48.0, 64.0]);
        assert_eq!(spread(&[99.0, 98.0], 16.0, 0.0, 100.0), [100.0, 84.0]);
    }
}
