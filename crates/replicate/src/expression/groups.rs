//! The functions that test several samples, or without normality, and the tails of distributions. The statistics are
//! those of `stormeter-statistics`; this converts their arguments.

use stormeter_statistics::anova::{
    AnovaRow, CellTable, Centre, Factor, LinearModel, SumsOfSquares, equal_spread,
};
use stormeter_statistics::holm::adjusted_p_values;
use stormeter_statistics::quantile::{f_quantile, f_upper, student_t_two_sided_p};
use stormeter_statistics::rank::{KruskalWallis, MannWhitney, SignedRank};
use stormeter_statistics::two_sample::Rule;
use stormeter_statistics::{Equivalence, Margin, MeanDifference, Moments};

use super::value::{Value, number};

type Outcome = Result<Value, String>;

fn says(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The degrees of freedom at this place.
fn df(value: &Value) -> Result<f64, String> {
    let df = value.number()?;
    if df > 0.0 { Ok(df) } else { Err(format!("degrees of freedom are above 0, and this is {df}")) }
}

pub(super) fn t_p(a: &[Value]) -> Outcome {
    number(student_t_two_sided_p(a[0].number()?.abs(), df(&a[1])?))
}

pub(super) fn f_p(a: &[Value]) -> Outcome {
    number(f_upper(a[0].number()?, df(&a[1])?, df(&a[2])?))
}

pub(super) fn f_at(a: &[Value]) -> Outcome {
    let p = a[0].number()?;
    if !(0.0..1.0).contains(&p) {
        return Err("p is from 0 to below 1, such as 0.95".to_owned());
    }
    number(f_quantile(p, df(&a[1])?, df(&a[2])?))
}

/// One factor whose levels are the samples: values, or moments(n, mean, sd) of each cell.
fn one_way(samples: &[Value]) -> Result<AnovaRow, String> {
    let names: Vec<String> = (1..=samples.len()).map(|level| level.to_string()).collect();
    let lists: Option<Vec<Vec<f64>>> = samples
        .iter()
        .map(|sample| match sample {
            Value::List(list) => Some(list.clone()),
            _ => None,
        })
        .collect();
    let table = match lists {
        Some(lists) => {
            let groups: Vec<(&String, Vec<f64>)> = names.iter().zip(lists).collect();
            CellTable::one_way("sample", &groups)
        }
        None => {
            let cells = samples
                .iter()
                .enumerate()
                .map(|(level, sample)| Ok((vec![level], sample.sample()?)));
            let cells: Vec<(Vec<usize>, Moments)> = cells.collect::<Result<_, String>>()?;
            CellTable::from_moments(vec![Factor::new("sample", names)], &cells)
        }
    };
    let table = table.map_err(says)?;
    let anova = LinearModel::full(table).map_err(says)?.anova(SumsOfSquares::TypeII);
    first_row(anova.map_err(says)?.rows)
}

fn first_row(rows: Vec<AnovaRow>) -> Result<AnovaRow, String> {
    rows.into_iter().next().ok_or_else(|| "there is nothing to test".to_owned())
}

pub(super) fn anova_f(a: &[Value]) -> Outcome {
    number(one_way(a)?.f)
}

pub(super) fn anova_p(a: &[Value]) -> Outcome {
    number(one_way(a)?.p)
}

pub(super) fn levene_p(a: &[Value]) -> Outcome {
    spread_p(a, Centre::Mean)
}

pub(super) fn brown_forsythe_p(a: &[Value]) -> Outcome {
    spread_p(a, Centre::Median)
}

fn spread_p(a: &[Value], centre: Centre) -> Outcome {
    let lists = a.iter().map(Value::list).collect::<Result<Vec<_>, _>>()?;
    let groups: Vec<(String, Vec<f64>)> = lists
        .into_iter()
        .enumerate()
        .map(|(index, list)| ((index + 1).to_string(), list))
        .collect();
    number(first_row(equal_spread(&groups, centre).map_err(says)?.rows)?.p)
}

pub(super) fn mann_whitney_p(a: &[Value]) -> Outcome {
    number(MannWhitney::test(&a[0].list()?, &a[1].list()?).map_err(says)?.p_two_sided)
}

pub(super) fn signed_rank_p(a: &[Value]) -> Outcome {
    number(SignedRank::test(&a[0].list()?, &a[1].list()?).map_err(says)?.p_two_sided)
}

pub(super) fn kruskal_p(a: &[Value]) -> Outcome {
    let lists = a.iter().map(Value::list).collect::<Result<Vec<_>, _>>()?;
    number(KruskalWallis::test(&lists).map_err(says)?.p)
}

/// Two one-sided tests of the difference of two means.
pub(super) fn tost_p(a: &[Value]) -> Outcome {
    let reach = a[2].number()?;
    let difference = MeanDifference::of_samples(a[0].sample()?, a[1].sample()?, Rule::Welch);
    let test = Equivalence::test(&difference.map_err(says)?, Margin::within(reach), 0.05);
    number(test.map_err(says)?.p_value)
}

pub(super) fn holm(a: &[Value]) -> Outcome {
    let values = a.iter().map(Value::list).collect::<Result<Vec<_>, _>>()?.concat();
    if let Some(value) = values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(format!("a p-value is from 0 to 1, and this is {value}"));
    }
    Ok(Value::List(adjusted_p_values(&values)))
}

/// Rows that are the same as an earlier one in all columns.
pub(super) fn repeated(a: &[Value]) -> Outcome {
    let columns = a.iter().map(Value::list).collect::<Result<Vec<_>, _>>()?;
    let rows = columns[0].len();
    if columns.iter().any(|column| column.len() != rows) {
        return Err("all columns have to have the same number of rows".to_owned());
    }
    let row = |index: usize| columns.iter().map(move |column| column[index]);
    let is_repeated = |index: &usize| (0..*index).any(|earlier| row(earlier).eq(row(*index)));
    number((0..rows).filter(is_repeated).count() as f64)
}
