//! How far a mistyped word is from a known one.

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
    fn letters_are_put_in_taken_out_replaced_and_exchanged() {
        for (left, right, letters) in
            [("read", "read", 0), ("raed", "read", 1), ("red", "read", 1), ("", "vms", 3)]
        {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(distance(&chars(left), &chars(right)), letters, "{left} {right}");
        }
    }
}
