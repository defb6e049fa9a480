//! Mistyped words: which known word was probably meant.

use strsim::osa_distance;

/// The known word that `word` was probably meant to be: the one with the fewest changed letters, if
/// these are no more than a third of it. `_` and `-`, small and capital letters count as equal.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let wanted = plain(word);
    let most = (wanted.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (osa_distance(&wanted, &plain(candidate)), candidate))
        .filter(|&(distance, candidate)| distance <= most && distance < candidate.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_found() {
        let known = ["workloads", "datastores", "time-limit", "vms", "read"];
        for (word, meant) in [
            ("workload", Some("workloads")),
            ("datastroes", Some("datastores")),
            ("time_limit", Some("time-limit")),
            ("VMs", Some("vms")),
            ("raed", Some("read")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }
}
