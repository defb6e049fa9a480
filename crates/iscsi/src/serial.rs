//! 32-bit serial numbers that wrap around (RFC 1982), such as CmdSN and StatSN.

/// Whether `a` comes before `b`.
#[inline]
pub(crate) fn before(a: u32, b: u32) -> bool {
    b.wrapping_sub(a).cast_signed() > 0
}

/// Whether `a` comes before `b` or is the same.
#[inline]
pub(crate) fn not_after(a: u32, b: u32) -> bool {
    a == b || before(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_holds_over_the_end() {
        assert!(before(1, 2));
        assert!(!before(2, 1));
        assert!(!before(7, 7));
        assert!(before(u32::MAX, 0));
        assert!(before(u32::MAX - 5, 20));
        assert!(!before(20, u32::MAX - 5));
        assert!(not_after(7, 7));
        // Numbers half the range apart are ordered in neither direction (RFC 1982 §3.2).
        assert!(!before(0, 1 << 31));
        assert!(!before(1 << 31, 0));
    }
}
