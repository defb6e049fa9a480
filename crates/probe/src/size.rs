//! Sizes in the notation of the NFS datastore study: decimal, 100 KB = 100 000 B.

/// A size in the largest decimal unit that divides it, so that no digit is lost: `100 KB`, `1 MB`,
/// and `4096 B`.
pub fn decimal_size(length_bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "KB")];
    let fits = |unit_bytes: u64| length_bytes > 0 && length_bytes.is_multiple_of(unit_bytes);
    match units.into_iter().find(|&(unit_bytes, _)| fits(unit_bytes)) {
        Some((unit_bytes, name)) => format!("{} {name}", length_bytes / unit_bytes),
        None => format!("{length_bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_studys_sizes_are_written_as_it_writes_them() {
        for (length_bytes, text) in [
            (0, "0 B"),
            (1, "1 B"),
            (1024, "1024 B"),
            (100_000, "100 KB"),
            (1_000_000, "1 MB"),
            (1_500_000, "1500 KB"),
            (100_000_000, "100 MB"),
            (2_000_000_000, "2 GB"),
        ] {
            assert_eq!(decimal_size(length_bytes), text);
        }
    }
}
