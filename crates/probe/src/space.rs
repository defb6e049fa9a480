//! How much may be written while a tenth of a file system stays free.

/// Bytes that may still be written. Space reserved for others counts as used, although part of it
/// may be written already and is then counted twice. A file system that reports no size at all
/// (some in user space) cannot be checked and is allowed.
pub(crate) fn spare_bytes(total_bytes: u64, available_bytes: u64, promised_bytes: u64) -> u64 {
    if total_bytes == 0 {
        return u64::MAX;
    }
    available_bytes.saturating_sub(total_bytes.div_ceil(10)).saturating_sub(promised_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_and_what_is_promised_stay() {
        assert_eq!(spare_bytes(1000, 500, 0), 400);
        assert_eq!(spare_bytes(1000, 500, 150), 250);
        assert_eq!(spare_bytes(1001, 500, 0), 399);
        assert_eq!(spare_bytes(1000, 100, 0), 0);
        assert_eq!(spare_bytes(1000, 99, 7), 0);
        assert_eq!(spare_bytes(0, 0, 0), u64::MAX);
    }
}
