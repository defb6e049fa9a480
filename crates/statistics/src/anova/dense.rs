//! Orthogonal projections of small dense systems, by Householder reflections.
//!
//! A sum of squares that is the difference of two larger ones loses digits. Here the columns of a
//! term come last and are made orthogonal to all before them; what the term adds is then a sum of
//! the squares of single coordinates, and nothing is subtracted.
//!
//! Source: Golub & Van Loan, *Matrix Computations* (2013), algorithms 5.1.1 and 5.2.1.

/// Columns, one after the other, each as long as there are rows.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    rows: usize,
    columns: Vec<Vec<f64>>,
}

/// A column that depends on those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dependent(pub(crate) usize);

/// What the reflections leave of the columns and of the right side.
pub(crate) struct Reflected {
    /// The upper triangle, column by column.
    triangle: Vec<Vec<f64>>,
    /// The right side in the new coordinates: one for each column, then the rest.
    pub(crate) coordinates: Vec<f64>,
}

impl Columns {
    /// No columns of this many rows.
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// Adds a column; it must be as long as there are rows.
    pub(crate) fn push(&mut self, column: Vec<f64>) {
        debug_assert_eq!(column.len(), self.rows);
        self.columns.push(column);
    }

    /// How many columns there are.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The values of one row, column by column.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = f64> {
        self.columns.iter().map(move |column| column[row])
    }

    /// Makes the columns a triangle and turns `right` along.
    pub(crate) fn reflect(mut self, right: &[f64]) -> Result<Reflected, Dependent> {
        let mut right = right.to_vec();
        for place in 0..self.columns.len() {
            let (done, rest) = self.columns.split_at_mut(place + 1);
            let Some(column) = done.last_mut() else { break };
            let whole = norm(column);
            let length = if place < self.rows { norm(&column[place..]) } else { 0.0 };
            // What remains of a dependent column is rounding.
            if length <= 1e-10 * whole {
                return Err(Dependent(place));
            }
            let diagonal = -length.copysign(column[place]);
            let mut mirror = column[place..].to_vec();
            mirror[0] -= diagonal;
            let squares = dot(&mirror, &mirror);
            for other in rest.iter_mut().chain(std::iter::once(&mut right)) {
                let factor = 2.0 * dot(&mirror, &other[place..]) / squares;
                for (value, part) in other[place..].iter_mut().zip(&mirror) {
                    *value -= factor * part;
                }
            }
            column.truncate(place);
            column.push(diagonal);
        }
        Ok(Reflected { triangle: self.columns, coordinates: right })
    }
}

impl Reflected {
    /// The least-squares coefficients, one for each column.
    pub(crate) fn coefficients(&self) -> Vec<f64> {
        let count = self.triangle.len();
        let mut coefficients = self.coordinates[..count].to_vec();
        for place in (0..count).rev() {
            coefficients[place] /= self.triangle[place][place];
            let value = coefficients[place];
            for (above, part) in coefficients[..place].iter_mut().zip(&self.triangle[place]) {
                *above -= value * part;
            }
        }
        coefficients
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_three_points() {
        let mut columns = Columns::new(3);
        columns.push(vec![1.0, 1.0, 1.0]);
        columns.push(vec![0.0, 1.0, 2.0]);
        // Least squares through (0,1), (1,2), (2,4): 5/6 + 3/2 x, residual 1/6.
        let reflected = columns.reflect(&[1.0, 2.0, 4.0]).unwrap();
        let coefficients = reflected.coefficients();
        assert!((coefficients[0] - 5.0 / 6.0).abs() < 1e-14);
        assert!((coefficients[1] - 1.5).abs() < 1e-14);
        assert!((reflected.coordinates[2].powi(2) - 1.0 / 6.0).abs() < 1e-14);
    }

    #[test]
    fn dependent_columns_are_found() {
        let mut columns = Columns::new(3);
        columns.push(vec![1.0, 1.0, 1.0]);
        columns.push(vec![1.0, 0.0, 0.0]);
        columns.push(vec![0.0, 0.1, 0.1]);
        assert_eq!(columns.reflect(&[1.0, 2.0, 3.0]).err(), Some(Dependent(2)));
        let mut wide = Columns::new(1);
        wide.push(vec![1.0]);
        wide.push(vec![2.0]);
        assert_eq!(wide.reflect(&[1.0]).err(), Some(Dependent(1)));
    }
}
