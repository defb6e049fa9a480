//! The nearest known word to one that was mistyped.

/// The known word that `word` was probably meant to be: the one with the fewest changed letters, if
/// these are no more than a third of it. `_` and `-`, small and capital letters count as equal.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
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

/// How many letters must be put in, taken out, replaced, or exchanged with their neighbour (optimal
/// string alignment; Damerau, *A technique for computer detection and correction of spelling
/// errors*, CACM 7(3), 1964).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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
}
