//! The replacement of an earlier prediction: it can be computed again, so its file is not kept. Measured results are.

use std::path::Path;

use stormeter_results::{ResultsError, ResultsFile};

use crate::error::RunError;

/// Creates a results file with `begin`, in place of an earlier prediction. Measured results are not replaced.
pub(crate) fn begin_again(
    path: &Path,
    begin: &dyn Fn() -> Result<ResultsFile, RunError>,
) -> Result<ResultsFile, RunError> {
    match begin() {
        Err(RunError::Results(ResultsError::Exists { .. })) => {
            remove_prediction(path)?;
            begin()
        }
        created => created,
    }
}

fn remove_prediction(path: &Path) -> Result<(), RunError> {
    let earlier = ResultsFile::open(path)?;
    let is_prediction = earlier.header().is_ok_and(|header| header.prediction.is_some());
    if !is_prediction {
        return Err(RunError::Measured { path: path.display().to_string() });
    }
    drop(earlier);
    std::fs::remove_file(path)
        .map_err(|source| RunError::Replace { path: path.display().to_string(), source })
}
