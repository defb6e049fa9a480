//! Eigenvalues and eigenvectors of small symmetric matrices.
//!
//! By Jacobi's rotations (Golub & Van Loan, *Matrix Computations*, 4th ed., section 8.5): slower than
//! others for large matrices, and for the handful of parameters of a fit the most exact.

/// The eigenvalues, the largest first, and for each its vector of length 1.
pub(super) fn eigen(matrix: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
    let size = matrix.len();
    let mut a: Vec<Vec<f64>> = matrix.to_vec();
    let mut vectors: Vec<Vec<f64>> =
        (0..size).map(|row| (0..size).map(|column| f64::from(row == column)).collect()).collect();
    for _sweep in 0..64 {
        let off: f64 = (0..size)
            .flat_map(|row| (0..row).map(move |column| (row, column)))
            .map(|(row, column)| a[row][column].powi(2))
            .sum();
        let diagonal: f64 = (0..size).map(|at| a[at][at].powi(2)).sum();
        if off <= diagonal * f64::EPSILON.powi(2) {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    let mut found: Vec<(f64, Vec<f64>)> = (0..size)
        .map(|column| (a[column][column], (0..size).map(|row| vectors[row][column]).collect()))
        .collect();
    found.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    found
}

/// The rotation that brings the element at (p, q) to 0.
fn rotate(a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let t = if theta == 0.0 { 1.0 } else { t };
    let cosine = 1.0 / (t * t + 1.0).sqrt();
    let sine = t * cosine;
    let rotate_columns = |row: &mut Vec<f64>| {
        let (left, right) = (row[p], row[q]);
        row[p] = cosine * left - sine * right;
        row[q] = sine * left + cosine * right;
    };
    a.iter_mut().for_each(rotate_columns);
    // p is before q in every sweep.
    let (above, below) = a.split_at_mut(q);
    for (left, right) in above[p].iter_mut().zip(below[0].iter_mut()) {
        (*left, *right) = (cosine * *left - sine * *right, sine * *left + cosine * *right);
    }
    vectors.iter_mut().for_each(rotate_columns);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_made_again_from_its_eigenvectors() {
        let matrix = vec![
            vec![4.0, 1.0, -2.0, 2.0],
            vec![1.0, 2.0, 0.0, 1.0],
            vec![-2.0, 0.0, 3.0, -2.0],
            vec![2.0, 1.0, -2.0, -1.0],
        ];
        let found = eigen(&matrix);
        for row in 0..4 {
            for column in 0..4 {
                let made: f64 =
                    found.iter().map(|(value, vector)| value * vector[row] * vector[column]).sum();
                assert!((made - matrix[row][column]).abs() < 1e-12, "{row} {column} {made}");
            }
        }
        assert!(found.windows(2).all(|pair| pair[0].0 >= pair[1].0));
    }
}
