//! Comparisons of forms 1 to 7, whose files have a plan of their own. They are read as studies with one workload and one
//! load, in which each datastore is a cell.

use rusqlite::{Connection, Result, params};
use serde::Deserialize;
use stormeter_study::{ComparisonPlan, StudyPlan};

use crate::header::Header;
use crate::trial::TrialRecord;
use crate::{read, write};

/// The first form in which all files are of studies.
pub(crate) const FORM_OF_STUDIES: i32 = 8;

/// The kind of content that files of earlier forms declare.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Contents {
    Comparison,
    Study,
}

/// Whether the file was written as a comparison, in a form that had those. Before there were studies, files did not
/// say.
pub(crate) fn is_comparison(connection: &Connection) -> Result<bool> {
    if read::format(connection)? >= FORM_OF_STUDIES {
        return Ok(false);
    }
    let contents: Option<Contents> = read::meta(connection, "contents")?;
    Ok(contents != Some(Contents::Study))
}

/// The header of a comparison, as that of its study; `None` where there is none. The plan is checked as comparisons
/// were.
pub(crate) fn header(
    connection: &Connection,
) -> Result<Option<std::result::Result<Header, String>>> {
    let header: Option<Header<ComparisonPlan>> = read::header(connection)?;
    Ok(header.map(|header| {
        header.plan.check().map_err(|error| error.to_string())?;
        let plan = StudyPlan::from(&header.plan);
        Ok(header.with_plan(plan))
    }))
}

/// Gives a trial of a comparison its cell. The generator's ceiling belongs to no datastore, and to the only load.
pub(crate) fn of_cell(trial: &mut TrialRecord) {
    trial.cell = Some(trial.datastore.unwrap_or(0));
}

/// Upgrades a comparison to form 8: plan, cells and trials. A header that no run wrote is left as it is, and refused when
/// it is read.
pub(crate) fn upgrade(connection: &Connection) -> Result<()> {
    if let Some(Ok(header)) = header(connection)? {
        write::meta(connection, "header", &header)?;
        write::cells(connection, &header.plan)?;
        connection.execute("UPDATE trial SET cell = coalesce(datastore, 0)", params![])?;
    }
    Ok(())
}
