//! Mistyped words: how far one is from a known one, and which was probably meant. Here, beside the units,
//! because everything that reads text of people needs both.

/// The known word that `word` was probably meant to be: the one with the fewest changed letters, if
/// these are no more than a third of it. `_` and `-`, small and capital letters count as equal.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let plain = |text: &str| text.to_lowercase().replace('_', "-").chars().collect::<Vec<_>>();
    let wanted = plain(word);
    let most = (wanted.len() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(&wanted, &plain(candidate)), candidate))
        .filter(|&(distance, candidate)| distance <= most && distance < candidate.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, remove, replace or exchange with their neighbour (optimal string alignment:
/// Damerau, *Communications of the ACM* 7 (1964) 171-176).
pub fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, &a) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, &b) in right.iter().enumerate() {
            let mut best = (row[j] + usize::from(a != b)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a == right[j - 1] && left[i - 1] == b {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_found() {
        let known = ["workloads", "datastores", "time_limit", "vms", "read"];
        for (word, meant) in [
            ("workload", Some("workloads")),
            ("datastroes", Some("datastores")),
            ("time-limit", Some("time_limit")),
            ("VMs", Some("vms")),
            ("raed", Some("read")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }

    #[test]
    fn letters_are_put_in_taken_out_replaced_and_exchanged() {
        for (left, right, letters) in
            [("read", "read", 0), ("raed", "read", 1), ("red", "read", 1), ("", "vms", 3)]
        {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(distance(&chars(left), &chars(right)), letters, "{left} {right}");
        }
    }
}
