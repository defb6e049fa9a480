//! What the parts of a predicted site did, and what speeding each up would gain, as rows and back.

use rusqlite::{Connection, Result, params};
use serde::{Deserialize, Serialize};
use stormeter_study::Metric;
use stormeter_trial::{ComponentKind, ComponentUse};

use crate::column::{count, int, number, strange};

/// What a cell would gain if a part of its site were faster, from a rerun of the cell's first block
/// with the same seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Elasticity {
    /// Index of the cell.
    pub cell: usize,
    /// The part's name, as in [`ComponentUse::name`].
    pub component: String,
    /// The kind of part.
    pub kind: ComponentKind,
    /// The speed-up, such as 1.1.
    pub factor: f64,
    /// The metric.
    pub metric: Metric,
    /// The metric with the speed-up, divided by the metric without.
    pub ratio: f64,
}

impl Elasticity {
    /// The gain: above 0 if the cell does better, 0.1 for a tenth.
    pub fn gain(&self) -> f64 {
        if self.metric.higher_is_better() { self.ratio - 1.0 } else { 1.0 / self.ratio - 1.0 }
    }
}

pub(crate) fn write(connection: &Connection, trial_id: u64, uses: &[ComponentUse]) -> Result<()> {
    let id = int(trial_id)?;
    let mut insert =
        connection.prepare("INSERT INTO component VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut insert_share =
        connection.prepare("INSERT INTO component_interval VALUES (?, ?, ?, ?)")?;
    for (number, component) in (0i64..).zip(uses) {
        insert.execute(params![
            id,
            number,
            component.name,
            component.kind.name(),
            component.units,
            component.utilisation,
            component.utilisation_most,
            int(component.busy_ns)?,
            component.queue_mean,
            int(component.visits)?,
            int(component.lost)?,
            component.response_share,
        ])?;
        for (interval, share) in (0i64..).zip(&component.series) {
            insert_share.execute((id, number, interval, share))?;
        }
    }
    Ok(())
}

pub(crate) fn read(connection: &Connection, id: i64) -> Result<Vec<ComponentUse>> {
    let mut select = connection.prepare_cached(
        "SELECT number, name, kind, units, utilisation, utilisation_most, busy_ns, queue_mean, \
         visits, lost, response_share FROM component WHERE trial_id = ? ORDER BY number",
    )?;
    let mut next = 0u64;
    let mut uses = select
        .query_map([id], |row| {
            if count(row, 0)? != next {
                return Err(strange("components that are not counted from 0"));
            }
            next += 1;
            Ok(ComponentUse {
                name: row.get(1)?,
                kind: kind(&row.get::<_, String>(2)?)?,
                units: row.get(3)?,
                utilisation: number(row, 4)?,
                utilisation_most: number(row, 5)?,
                busy_ns: count(row, 6)?,
                queue_mean: number(row, 7)?,
                visits: count(row, 8)?,
                lost: count(row, 9)?,
                response_share: number(row, 10)?,
                series: Vec::new(),
            })
        })?
        .collect::<Result<Vec<_>>>()?;
    let mut select = connection.prepare_cached(
        "SELECT number, interval, utilisation FROM component_interval WHERE trial_id = ? \
         ORDER BY number, interval",
    )?;
    let mut shares = select.query([id])?;
    while let Some(share) = shares.next()? {
        let series = usize::try_from(share.get::<_, i64>(0)?)
            .ok()
            .and_then(|number| uses.get_mut(number))
            .map(|component| &mut component.series)
            .ok_or_else(|| strange("an interval of a component that is not there"))?;
        if count(share, 1)? != series.len() as u64 {
            return Err(strange("a component with an interval left out"));
        }
        series.push(number(share, 2)?);
    }
    Ok(uses)
}

fn kind(name: &str) -> Result<ComponentKind> {
    ComponentKind::from_name(name).ok_or_else(|| strange(format!("the component kind {name:?}")))
}

/// Replaces all existing rows with these.
pub(crate) fn write_elasticities(connection: &Connection, all: &[Elasticity]) -> Result<()> {
    connection.execute("DELETE FROM elasticity", [])?;
    let mut insert = connection.prepare("INSERT INTO elasticity VALUES (?, ?, ?, ?, ?, ?, ?)")?;
    let mut place = (usize::MAX, 0);
    for Elasticity { cell, component, kind, factor, metric, ratio } in all {
        place = if place.0 == *cell { (*cell, place.1 + 1) } else { (*cell, 0i64) };
        let cell = int(*cell as u64)?;
        let (kind, metric) = (kind.name(), metric.name());
        insert.execute(params![cell, place.1, component, kind, factor, metric, ratio])?;
    }
    Ok(())
}

pub(crate) fn read_elasticities(connection: &Connection) -> Result<Vec<Elasticity>> {
    let mut select = connection.prepare(
        "SELECT cell, component, kind, factor, metric, ratio FROM elasticity \
         ORDER BY cell, number",
    )?;
    let rows = select.query_map([], |row| {
        let metric: String = row.get(4)?;
        Ok(Elasticity {
            cell: count(row, 0)? as usize,
            component: row.get(1)?,
            kind: kind(&row.get::<_, String>(2)?)?,
            factor: number(row, 3)?,
            metric: Metric::from_name(&metric)
                .ok_or_else(|| strange(format!("the metric {metric:?}")))?,
            ratio: number(row, 5)?,
        })
    })?;
    rows.collect()
}
