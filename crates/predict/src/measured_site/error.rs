//! Why no site can be made from measurements.

use stormeter_statistics::fit::FitError;

/// Why no site can be made from measurements.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MeasuredSiteError {
    /// Too many cells of a datastore have no sound trial.
    #[error(
        "{store} has sound measurements of {found} cells, and a site needs {least}; look at the results for what \
         failed, and measure again"
    )]
    TooFew {
        /// The datastore.
        store: String,
        /// The cells with a figure.
        found: usize,
        /// The least.
        least: usize,
    },
    /// The fit failed.
    #[error("{store} cannot be fitted: {source}")]
    Fit {
        /// The datastore.
        store: String,
        /// The reason.
        source: FitError<String>,
    },
}
