//! Comparisons of the forms 1 to 7, whose files kept a plan of their own. They are read as the studies that they are: of
//! one workload at one load, a cell a datastore.

use rusqlite::{Connection, Result, params};
use serde::Deserialize;
use stormeter_study::{ComparisonPlan, StudyPlan};

use crate::header::Header;
use crate::trial::TrialRecord;
use crate::{read, write};

/// The first form in which all files are of studies.
pub(crate) const FORM_OF_STUDIES: i32 = 8;

/// What files of earlier forms said that they are of.
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
    let header: Option<Header<ComparisonPlan>> = read::meta(connection, "header")?;
    Ok(header.map(|header| {
        header.plan.check().map_err(|error| error.to_string())?;
        let plan = StudyPlan::from(&header.plan);
        Ok(header.with_plan(plan))
    }))
}

/// A trial of a comparison as one of a cell. The generator's ceiling is of no datastore, and of the only load.
pub(crate) fn of_cell(trial: &mut TrialRecord) {
    trial.cell = Some(trial.datastore.unwrap_or(0));
}

/// Brings a comparison to the form 8: plan, cells and trials. A header that no run wrote stays, and is refused when
/// it is read.
pub(crate) fn upgrade(connection: &Connection) -> Result<()> {
    if let Some(Ok(header)) = header(connection)? {
        write::meta(connection, "header", &header)?;
        write::cells(connection, &header.plan)?;
        connection.execute("UPDATE trial SET cell = coalesce(datastore, 0)", params![])?;
    }
    Ok(())
}
