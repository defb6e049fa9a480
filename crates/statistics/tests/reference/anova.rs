//! Analyses of variance: unbalanced, of three factors, of blocks and mixed.

use super::{agree, field};
use stormeter_statistics::Moments;
use stormeter_statistics::anova::{
    CellTable, Centre, Factor, LinearModel, MixedDesign, Observation, Subject, SumsOfSquares,
    equal_spread, simple_effects,
};

/// Rows of levels and a value.
fn observations(rows: &[f64], factors: usize) -> Vec<Observation> {
    rows.chunks(factors + 1)
        .map(|row| Observation {
            levels: row[..factors].iter().map(|&level| level as usize).collect(),
            value: row[factors],
        })
        .collect()
}

/// Factors named as in the reference, with this many levels.
fn factors(list: &[(&str, usize)]) -> Vec<Factor> {
    list.iter()
        .map(|&(name, levels)| Factor::new(name, (0..levels).map(|l| l.to_string())))
        .collect()
}

fn check(name: &str, model: &LinearModel, types: &[(u8, SumsOfSquares)]) {
    for &(number, sums_of_squares) in types {
        let table = model.anova(sums_of_squares).unwrap();
        for row in &table.rows {
            let term = row.term.replace(" × ", ":");
            agree(&format!("{name}.{number}.{term}.ss"), row.sum_of_squares);
            agree(&format!("{name}.{number}.{term}.f"), row.f);
            agree(&format!("{name}.{number}.{term}.p"), row.p);
        }
        agree(&format!("{name}.residual.ss"), table.residual.sum_of_squares);
        agree(&format!("{name}.residual.df"), table.residual.df);
        agree(&format!("{name}.r2"), table.r_squared);
    }
}

const ALL: [(u8, SumsOfSquares); 3] =
    [(1, SumsOfSquares::Sequential), (2, SumsOfSquares::TypeII), (3, SumsOfSquares::TypeIII)];

fn unbalanced() -> CellTable {
    let rows = observations(field::UNBALANCED, 2);
    CellTable::from_observations(factors(&[("a", 2), ("b", 3)]), &rows).unwrap()
}

#[test]
fn two_factors_unbalanced() {
    let model = LinearModel::full(unbalanced()).unwrap();
    check("two", &model, &ALL);
    check("additive", &LinearModel::additive(unbalanced()).unwrap(), &ALL[1..]);
    let table = model.anova(SumsOfSquares::TypeII).unwrap();
    let interaction = table.row("a × b").unwrap();
    agree("two.interaction.eta", interaction.eta_squared);
    agree("two.interaction.partial", interaction.partial_eta_squared);
    agree("two.interaction.omega", interaction.omega_squared);
    let rows = observations(field::UNBALANCED, 2);
    let residuals = model.residuals(&rows).unwrap();
    agree("two.residual.last", residuals[residuals.len() - 2]);
}

/// A published table of sizes, means and SDs says all that the samples do.
#[test]
fn summaries_are_as_good_as_samples() {
    let samples = unbalanced();
    let cells: Vec<(Vec<usize>, Moments)> = (0..2)
        .flat_map(|a| (0..3).map(move |b| vec![a, b]))
        .map(|levels| (levels.clone(), samples.moments(&levels).unwrap()))
        .collect();
    let table = CellTable::from_moments(samples.factors().to_vec(), &cells).unwrap();
    check("two", &LinearModel::full(table.clone()).unwrap(), &ALL);
    check("additive", &LinearModel::additive(table).unwrap(), &ALL[1..]);
}

#[test]
fn simple_main_effects() {
    for (level, effect) in simple_effects(&unbalanced(), 0).unwrap().iter().enumerate() {
        agree(&format!("simple.{level}.f"), effect.f);
        agree(&format!("simple.{level}.p"), effect.p);
        assert!((effect.p_bonferroni / (3.0 * effect.p) - 1.0).abs() < 1e-14);
        assert!(effect.p_holm <= effect.p_bonferroni);
    }
}

#[test]
fn three_factors_unbalanced() {
    let rows = observations(field::THREE, 3);
    let factors = factors(&[("a", 2), ("b", 2), ("c", 3)]);
    let table = CellTable::from_observations(factors, &rows).unwrap();
    check("three", &LinearModel::full(table).unwrap(), &ALL[1..]);
}

#[test]
fn blocks_with_a_trial_lost() {
    let rows = observations(field::BLOCKS, 2);
    let table = CellTable::from_observations(factors(&[("block", 6), ("a", 3)]), &rows).unwrap();
    assert!(!table.is_complete());
    check("blocks", &LinearModel::additive(table).unwrap(), &ALL[1..2]);
}

#[test]
fn far_tail_and_spread() {
    let rows = observations(field::FAR, 1);
    let table = CellTable::from_observations(factors(&[("a", 4)]), &rows).unwrap();
    check("far", &LinearModel::full(table).unwrap(), &ALL[1..2]);
    let groups: Vec<(String, Vec<f64>)> = (0..4)
        .map(|group| {
            let of_group = rows.iter().filter(|row| row.levels == [group]);
            (group.to_string(), of_group.map(|row| row.value).collect())
        })
        .collect();
    for (name, centre) in [("levene", Centre::Mean), ("brown_forsythe", Centre::Median)] {
        let test = equal_spread(&groups, centre).unwrap();
        agree(&format!("{name}.f"), test.rows[0].f);
        agree(&format!("{name}.p"), test.rows[0].p);
    }
}

#[test]
fn mixed_design_with_groups_of_different_size() {
    let subjects = field::MIXED
        .chunks(5)
        .map(|row| Subject { group: row[0] as usize, values: row[1..].to_vec() })
        .collect();
    let list = factors(&[("group", 3), ("level", 4)]);
    let design = MixedDesign { between: Some(list[0].clone()), within: list[1].clone(), subjects };
    let anova = design.anova().unwrap();
    let (between, interaction) = (anova.between.unwrap(), anova.interaction.unwrap());
    agree("mixed.between.ss", between.sum_of_squares);
    agree("mixed.between.p", between.p);
    agree("mixed.subjects.ss", anova.subjects_error.sum_of_squares);
    agree("mixed.within.ss", anova.within.sum_of_squares);
    agree("mixed.within.p", anova.within.p);
    agree("mixed.interaction.ss", interaction.sum_of_squares);
    agree("mixed.interaction.p", interaction.p);
    agree("mixed.error.ss", anova.within_error.sum_of_squares);
    agree("mixed.epsilon", anova.greenhouse_geisser);
    agree("mixed.within.gg", anova.within_p_corrected);
}
