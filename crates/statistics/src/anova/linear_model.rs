//! A model of categorical factors: which terms, and what each of them explains.
//!
//! Factors are coded by contrasts that sum to zero, so that type III tests mean what is written
//! below; observations enter as cells weighted by their size, which gives the same sums of
//! squares as the single observations would.

use super::AnovaError;
use super::cells::{CellTable, Observation};
use super::dense::{Columns, Dependent};
use super::sums_of_squares::SumsOfSquares;
use super::table::{AnovaRow, AnovaTable, ErrorRow};
use crate::moments::SampleError;
use crate::sum::sum;
use serde::{Deserialize, Serialize};

/// A term: the indices of its factors. One is a main effect, several their interaction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Term(Vec<usize>);

impl Term {
    /// The effect of these factors together.
    pub fn new(factors: impl IntoIterator<Item = usize>) -> Self {
        let mut factors: Vec<usize> = factors.into_iter().collect();
        factors.sort_unstable();
        factors.dedup();
        Self(factors)
    }

    /// The effect of one factor.
    pub fn main(factor: usize) -> Self {
        Self(vec![factor])
    }

    /// The factors' indices, ascending.
    pub fn factors(&self) -> &[usize] {
        &self.0
    }

    fn contains(&self, other: &Term) -> bool {
        other.0.iter().all(|factor| self.0.contains(factor))
    }
}

/// Cells and the terms that shall explain them.
#[derive(Clone, Debug)]
pub struct LinearModel {
    table: CellTable,
    terms: Vec<Term>,
}

impl LinearModel {
    /// A model of chosen terms and the mean.
    ///
    /// # Errors
    /// No term, one twice, or one of a factor that is not there.
    pub fn new(table: CellTable, terms: Vec<Term>) -> Result<Self, AnovaError> {
        let repeated = terms.iter().enumerate().any(|(i, term)| terms[..i].contains(term));
        if terms.is_empty() || repeated || terms.iter().any(|term| term.0.is_empty()) {
            return Err(AnovaError::BadTerms);
        }
        let factors = table.factors.len();
        if let Some(&missing) = terms.iter().flat_map(|t| &t.0).find(|&&f| f >= factors) {
            return Err(AnovaError::NoSuchFactor(missing, factors));
        }
        Ok(Self { table, terms })
    }

    /// All main effects and all interactions.
    ///
    /// # Errors
    /// More than 8 factors: 255 terms are more than anyone reads.
    pub fn full(table: CellTable) -> Result<Self, AnovaError> {
        let factors = table.factors.len();
        if factors > 8 {
            let (what, needed) = ("a model of all interactions", "at most 8 factors");
            return Err(AnovaError::wrong_factors(what, needed, factors));
        }
        let mut terms: Vec<Term> = (1..1usize << factors)
            .map(|set| Term((0..factors).filter(|factor| set >> factor & 1 == 1).collect()))
            .collect();
        terms.sort_by_key(|term| (term.0.len(), term.0.clone()));
        Self::new(table, terms)
    }

    /// Main effects only: factors that do not interact, or randomized blocks with the block as
    /// one of the factors.
    ///
    /// # Errors
    /// None for a valid table.
    pub fn additive(table: CellTable) -> Result<Self, AnovaError> {
        let terms = (0..table.factors.len()).map(Term::main).collect();
        Self::new(table, terms)
    }

    /// The cells.
    pub fn table(&self) -> &CellTable {
        &self.table
    }

    /// The terms.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The name of a term: its factors' names, joined by ` × `.
    pub fn term_name(&self, term: &Term) -> String {
        let names: Vec<&str> =
            term.0.iter().map(|&factor| self.table.factors[factor].name.as_str()).collect();
        names.join(" × ")
    }

    /// Sums of squares, F tests and effect sizes of all terms.
    ///
    /// # Errors
    /// A term that the data cannot estimate, no degree of freedom left for the noise, or no
    /// noise at all.
    pub fn anova(&self, sums_of_squares: SumsOfSquares) -> Result<AnovaTable, AnovaError> {
        let residual = self.residual()?;
        let table = &self.table;
        let weighted = |cell: &super::cells::Cell| cell.n as f64 * cell.deviation.powi(2);
        let between = sum(table.cells.iter().map(weighted));
        let total = ErrorRow::new(between + table.within().0, (table.observations - 1) as f64);

        let mut rows = Vec::with_capacity(self.terms.len());
        for (place, term) in self.terms.iter().enumerate() {
            let before: Vec<&Term> = match sums_of_squares {
                SumsOfSquares::Sequential => self.terms[..place].iter().collect(),
                SumsOfSquares::TypeII => self.terms.iter().filter(|t| !t.contains(term)).collect(),
                SumsOfSquares::TypeIII => self.terms.iter().filter(|&t| t != term).collect(),
            };
            let mut columns = self.columns(&before);
            let first = columns.len();
            self.append(&mut columns, term);
            let last = columns.len();
            let reflected = columns
                .reflect(&self.right_side())
                .map_err(|_| AnovaError::NotEstimable(self.term_name(term)))?;
            let squares = reflected.coordinates[first..last].iter().map(|c| c * c).sum();
            let df = (last - first) as f64;
            rows.push(AnovaRow::new(
                self.term_name(term),
                squares,
                df,
                &residual,
                total.sum_of_squares,
            ));
        }
        Ok(AnovaTable {
            sums_of_squares,
            balanced: table.is_balanced(),
            observations: table.observations,
            rows,
            residual,
            total,
            r_squared: 1.0 - residual.sum_of_squares / total.sum_of_squares,
        })
    }

    /// What the model leaves over: the spread within cells, and that of the cell means about the
    /// model.
    ///
    /// # Errors
    /// As [`LinearModel::anova`].
    pub fn residual(&self) -> Result<ErrorRow, AnovaError> {
        let columns = self.columns(&self.terms.iter().collect::<Vec<_>>());
        let parameters = columns.len();
        let reflected = columns.reflect(&self.right_side()).map_err(|at| self.blame(at))?;
        let observations = self.table.observations;
        if observations <= parameters {
            return Err(AnovaError::NoResidual { observations, parameters });
        }
        let of_means: f64 = reflected.coordinates[parameters..].iter().map(|c| c * c).sum();
        let squares = self.table.within().0 + of_means;
        if squares <= self.table.rounding() {
            let what = "every group of trials that the model treats alike".into();
            return Err(SampleError::NoSpread { what }.into());
        }
        Ok(ErrorRow::new(squares, (observations - parameters) as f64))
    }

    /// What the model predicts for each observation's cell, and what the observation has more:
    /// the residuals, in the order of `observations`.
    ///
    /// # Errors
    /// As [`LinearModel::anova`], or an observation whose cell is not in the table.
    pub fn residuals(&self, observations: &[Observation]) -> Result<Vec<f64>, AnovaError> {
        let columns = self.columns(&self.terms.iter().collect::<Vec<_>>());
        let design = columns.clone();
        let reflected = columns.reflect(&self.right_side()).map_err(|at| self.blame(at))?;
        let coefficients = reflected.coefficients();
        let fitted: Vec<f64> = (0..self.table.cells.len())
            .map(|row| design.row(row).zip(&coefficients).map(|(x, c)| x * c).sum::<f64>())
            .zip(&self.table.cells)
            .map(|(weighted, cell)| weighted / (cell.n as f64).sqrt())
            .collect();
        observations
            .iter()
            .enumerate()
            .map(|(index, observation)| {
                let place =
                    self.table.cells.iter().position(|cell| cell.levels == observation.levels);
                let place = place.ok_or_else(|| AnovaError::BadLevels {
                    what: format!("observation {}", index + 1),
                    factors: self.table.factors.len(),
                })?;
                Ok(self.table.grand_mean.below(observation.value) - fitted[place])
            })
            .collect()
    }

    /// Cell means relative to the grand mean, weighted by the root of the cells' sizes.
    fn right_side(&self) -> Vec<f64> {
        self.table.cells.iter().map(|cell| (cell.n as f64).sqrt() * cell.deviation).collect()
    }

    /// The columns of the mean and of `terms`, weighted alike.
    fn columns(&self, terms: &[&Term]) -> Columns {
        let cells = &self.table.cells;
        let mut columns = Columns::new(cells.len());
        columns.push(cells.iter().map(|cell| (cell.n as f64).sqrt()).collect());
        for term in terms {
            self.append(&mut columns, term);
        }
        columns
    }

    /// The columns of one term: products of its factors' contrasts.
    fn append(&self, columns: &mut Columns, term: &Term) {
        let cells = &self.table.cells;
        let mut products: Vec<Vec<f64>> =
            vec![cells.iter().map(|cell| (cell.n as f64).sqrt()).collect()];
        for &factor in &term.0 {
            let last = self.table.factors[factor].levels.len() - 1;
            let code = |level: usize, contrast: usize| {
                f64::from(u8::from(level == contrast)) - f64::from(u8::from(level == last))
            };
            products = products
                .iter()
                .flat_map(|product| (0..last).map(move |contrast| (product, contrast)))
                .map(|(product, contrast)| {
                    let codes = cells.iter().map(|cell| code(cell.levels[factor], contrast));
                    product.iter().zip(codes).map(|(value, code)| value * code).collect()
                })
                .collect();
        }
        for product in products {
            columns.push(product);
        }
    }

    /// Which term a dependent column belongs to, or which empty cell is the reason.
    fn blame(&self, Dependent(column): Dependent) -> AnovaError {
        let mut end = 1;
        for term in &self.terms {
            let sizes = term.0.iter().map(|&factor| self.table.factors[factor].levels.len() - 1);
            end += sizes.product::<usize>();
            if column < end {
                return match self.table.empty_cell() {
                    Some(cell) if term.0.len() > 1 => AnovaError::EmptyCell(cell),
                    _ => AnovaError::NotEstimable(self.term_name(term)),
                };
            }
        }
        AnovaError::BadTerms
    }
}

#[cfg(test)]
mod tests {
    use super::super::Factor;
    use super::*;

    fn observation(a: usize, b: usize, value: f64) -> Observation {
        Observation { levels: vec![a, b], value }
    }

    fn factors() -> Vec<Factor> {
        vec![Factor::new("datastore", ["local", "nas"]), Factor::new("size", ["4k", "32k"])]
    }

    fn table(observations: &[Observation]) -> CellTable {
        CellTable::from_observations(factors(), observations).unwrap()
    }

    fn balanced() -> Vec<Observation> {
        let values = [[[10.0, 11.0], [20.0, 22.0]], [[14.0, 13.0], [35.0, 34.0]]];
        let mut list = Vec::new();
        for (a, of_a) in values.iter().enumerate() {
            for (b, cell) in of_a.iter().enumerate() {
                list.extend(cell.iter().map(|&value| observation(a, b, value)));
            }
        }
        list
    }

    #[test]
    fn a_balanced_table_by_hand_and_all_types_agree() {
        let model = LinearModel::full(table(&balanced())).unwrap();
        // Cell means 10.5, 21, 13.5, 34.5: main effects ±4.125 and ±7.875, interaction ±2.625.
        let expected = [8.0 * 4.125f64.powi(2), 8.0 * 7.875f64.powi(2), 8.0 * 2.625f64.powi(2)];
        for types in [SumsOfSquares::Sequential, SumsOfSquares::TypeII, SumsOfSquares::TypeIII] {
            let anova = model.anova(types).unwrap();
            assert!(anova.balanced);
            for (row, expected) in anova.rows.iter().zip(expected) {
                assert!((row.sum_of_squares / expected - 1.0).abs() < 1e-13, "{row:?}");
            }
            assert!((anova.residual.sum_of_squares - 3.5).abs() < 1e-12);
            let parts: f64 = anova.rows.iter().map(|row| row.sum_of_squares).sum();
            assert!((parts + 3.5 - anova.total.sum_of_squares).abs() < 1e-11);
        }
        let names: Vec<String> = model.terms().iter().map(|term| model.term_name(term)).collect();
        assert_eq!(names, ["datastore", "size", "datastore × size"]);
    }

    #[test]
    fn residuals_add_up_to_the_residual() {
        let list = balanced();
        let model = LinearModel::additive(table(&list)).unwrap();
        let squares: f64 = model.residuals(&list).unwrap().iter().map(|r| r * r).sum();
        assert!((squares / model.residual().unwrap().sum_of_squares - 1.0).abs() < 1e-12);
        assert!(model.residuals(&[observation(0, 7, 1.0)]).is_err());
    }

    /// What a person reads who has measured too little.
    #[test]
    fn data_that_cannot_answer_say_what_is_missing() {
        let message = |list: &[Observation], full: bool| {
            let table = table(list);
            let model = if full { LinearModel::full(table) } else { LinearModel::additive(table) };
            model.unwrap().anova(SumsOfSquares::TypeIII).unwrap_err().to_string()
        };
        let list = balanced();
        assert!(message(&list[..6], true).contains("the cell nas, 32k has no observation"));
        let single: Vec<Observation> = list.iter().step_by(2).cloned().collect();
        assert!(message(&single, true).contains("4 observations and 4 parameters"));
        let together = [&list[..2], &list[6..]].concat();
        assert!(message(&together, false).contains("cannot separate size from the other terms"));
        let equal: Vec<Observation> =
            list.iter().map(|o| observation(o.levels[0], o.levels[1], 0.1 + 1e6)).collect();
        assert!(message(&equal, true).contains("all values are equal"));
    }

    #[test]
    fn tables_and_terms_that_make_no_sense_are_refused() {
        let list = balanced();
        let refused = |list: &[Observation]| {
            CellTable::from_observations(factors(), list).unwrap_err().to_string()
        };
        assert!(refused(&list[..4]).contains("factor datastore has no observation at level nas"));
        assert!(refused(&[observation(2, 0, 1.0)]).starts_with("observation 1 does not name"));
        assert!(refused(&[observation(0, 0, f64::NAN)]).contains("observation 1 has a value"));
        let terms = |terms: &[&[usize]]| {
            let terms = terms.iter().map(|term| Term::new(term.iter().copied())).collect();
            LinearModel::new(table(&balanced()), terms).err()
        };
        assert_eq!(terms(&[]), Some(AnovaError::BadTerms));
        assert_eq!(terms(&[&[0, 1], &[1, 0]]), Some(AnovaError::BadTerms));
        assert_eq!(terms(&[&[5]]), Some(AnovaError::NoSuchFactor(5, 2)));
        let cell = (vec![0, 0], crate::Moments::new(3, 1.0, 1.0));
        let twice = CellTable::from_moments(factors(), &[cell.clone(), cell]).unwrap_err();
        assert_eq!(twice, AnovaError::RepeatedCell("local, 4k".into()));
    }
}
