//! Cells that a prediction has not seen, and how far off it is.

use serde_json::Value;

/// The largest median of the errors of predictions for cells that the fit has not seen.
const MOST_MEDIAN: f64 = 0.15;
/// The largest error of nine of ten of them.
const MOST_OF_NINE_TENTHS: f64 = 0.30;
/// The metrics that are predicted.
const METRICS: [&str; 2] = ["latency-mean", "iops"];

/// The figures of a cell by name of the metric.
pub(crate) struct SeenCell {
    label: String,
    figures: Vec<(String, f64)>,
}

/// The cells of a report with their figures.
pub(crate) fn cells(report: &str) -> Result<Vec<SeenCell>, String> {
    let report: Value = serde_json::from_str(report).map_err(|error| error.to_string())?;
    let cells = report["cells"].as_array().ok_or("the report has no cells")?;
    let read = |cell: &Value| {
        let word = |key: &str| cell[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| cell[key].as_u64().unwrap_or_default();
        let metrics = cell["metrics"].as_array().into_iter().flatten();
        let figures = metrics.filter_map(|metric| {
            Some((metric["metric"].as_str()?.to_owned(), metric["value"].as_f64()?))
        });
        SeenCell {
            label: format!(
                "{}, {}, {} x {}",
                word("datastore"),
                word("workload"),
                number("vms"),
                number("outstanding")
            ),
            figures: figures.filter(|(name, _)| METRICS.contains(&name.as_str())).collect(),
        }
    };
    Ok(cells.iter().map(read).collect())
}

/// Those of some datastores.
pub(crate) fn of(cells: Vec<SeenCell>, datastores: &[&str]) -> Vec<SeenCell> {
    let wanted = |cell: &SeenCell| {
        cell.label.split(',').next().is_some_and(|name| datastores.contains(&name))
    };
    cells.into_iter().filter(wanted).collect()
}

/// Prints each cell with its prediction, and compares the errors with their limits.
pub(crate) fn judged(seen: &[SeenCell], predicted: &[SeenCell]) -> Result<(), String> {
    let mut failed = Vec::new();
    for metric in METRICS {
        let figure = |cells: &[SeenCell], label: &str| {
            let cell = cells.iter().find(|cell| cell.label == label)?;
            cell.figures.iter().find(|(name, _)| name == metric).map(|(_, value)| *value)
        };
        let mut errors: Vec<f64> = Vec::new();
        println!("{metric}: measured, predicted");
        for cell in seen {
            let both = (figure(seen, &cell.label), figure(predicted, &cell.label));
            let (Some(was), Some(said)) = both else {
                return Err(format!("{} has no {metric} in both; look at the run", cell.label));
            };
            let error = said / was - 1.0;
            errors.push(error.abs());
            println!("  {:32} {was:>12.0} {said:>12.0} {:+8.1} %", cell.label, 100.0 * error);
        }
        errors.sort_by(f64::total_cmp);
        let (median, nine_of_ten) = (at(&errors, 0.5), at(&errors, 0.9));
        println!(
            "{metric} of {} unseen cells: median error {:.1} %, nine of ten within {:.1} %, largest {:.1} %",
            errors.len(),
            100.0 * median,
            100.0 * nine_of_ten,
            100.0 * at(&errors, 1.0)
        );
        if errors.is_empty() || median > MOST_MEDIAN || nine_of_ten > MOST_OF_NINE_TENTHS {
            failed.push(metric);
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        metrics => Err(format!(
            "{} of unseen cells: the median error may be {:.0} %, and {:.0} % in nine of ten; was the machine busy?",
            metrics.join(" and "),
            100.0 * MOST_MEDIAN,
            100.0 * MOST_OF_NINE_TENTHS
        )),
    }
}

/// The smallest of these sorted errors that this share of them does not exceed.
fn at(errors: &[f64], share: f64) -> f64 {
    let rank = (share * errors.len() as f64).ceil() as usize;
    errors.get(rank.max(1) - 1).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(number: usize, iops: f64) -> SeenCell {
        let figures = METRICS.map(|metric| (metric.to_owned(), iops)).to_vec();
        SeenCell { label: number.to_string(), figures }
    }

    #[test]
    fn one_cell_in_ten_may_be_far_off_and_two_may_not() {
        let seen: Vec<SeenCell> = (0..10).map(|number| cell(number, 1000.0)).collect();
        let predicted = |far: usize| -> Vec<SeenCell> {
            let value = |number| if number < far { 2000.0 } else { 1100.0 };
            (0..10).map(|number| cell(number, value(number))).collect()
        };
        assert!(judged(&seen, &predicted(1)).is_ok());
        assert!(judged(&seen, &predicted(2)).is_err());
        let biased: Vec<SeenCell> = (0..10).map(|number| cell(number, 1160.0)).collect();
        assert!(judged(&seen, &biased).is_err());
        assert!(judged(&[], &[]).is_err());
        assert!(judged(&seen, &[]).is_err());
    }
}
