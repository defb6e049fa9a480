//! Fits a site's free parameters to measured or published figures.
//!
//! A part of the measurements is held out: the error of the fitted site on these is the error to expect of other
//! predictions. Parameters that the data do not determine are listed. Nothing here runs a simulation: the model is
//! passed in.

mod fit;
mod hold_out;
mod observation;
mod published;
mod terminal;

pub use fit::{Calibration, Compared, MetricError, Predict, Request, calibrate, errors_of};
pub use hold_out::{Split, hold_out};
pub use observation::{Observation, Observed, Outcome, cell_label, observations};
pub use published::{PointError, published};
pub use terminal::terminal;
