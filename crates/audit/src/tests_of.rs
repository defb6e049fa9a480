//! Statistics of tests with their degrees of freedom and p.

use stormeter_replicate::Role;
use stormeter_statistics::quantile::{f_upper, student_t_two_sided_p};

use crate::finding::{Amount, Detail, Explanation, Finding};
use crate::identities::level;
use crate::law::Law;
use crate::row::Row;
use crate::span::Span;

/// The p that is printed against the p that follows from t or F.
pub(crate) fn check(row: &Row<'_>) -> Option<Finding> {
    let stated = row.number(Role::P)?;
    let df = row.number(Role::Df)?;
    let (follows, from, why) = match (row.number(Role::T), row.number(Role::F)) {
        (Some(t), _) => {
            let at = |t: f64| student_t_two_sided_p(t.abs(), df.middle);
            let follows = falling(t.middle.abs(), 0.5 * (t.high - t.low), at);
            let half = follows.scaled(0.5);
            let one_sided = stated.meets(half).then_some(Explanation::OneSided);
            (follows, Amount::new("t", t, ""), one_sided)
        }
        (None, Some(f)) => {
            let error = row.number(Role::DfError)?.middle;
            let follows =
                falling(f.middle, 0.5 * (f.high - f.low), |f| f_upper(f, df.middle, error));
            let exchanged =
                falling(f.middle, 0.5 * (f.high - f.low), |f| f_upper(f, error, df.middle));
            let why = stated.meets(exchanged).then_some(Explanation::Exchanged);
            (follows, Amount::new("F", f, ""), why)
        }
        (None, None) => return None,
    };
    let apart =
        stated.apart(follows).or_else(|| (!stated.meets(follows)).then_some(f64::INFINITY))?;
    let detail = Detail::Mismatch {
        stated: Amount::new("p", stated, ""),
        follows: Amount::new("p", follows, ""),
        from: vec![from, Amount::new("df", df, "")],
    };
    Some(Finding::new(Law::Test, level(apart), row.place(), detail).explained(why))
}

/// A falling function of a rounded number that is not negative.
fn falling(middle: f64, half: f64, of: impl Fn(f64) -> f64) -> Span {
    Span { low: of(middle + half), middle: of(middle), high: of((middle - half).max(0.0)) }
}
