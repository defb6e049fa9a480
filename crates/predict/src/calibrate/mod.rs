//! A site's free parameters fitted to what was measured or published.
//!
//! A part of the measurements is kept back: what the fitted site says of them is a prediction, and its
//! error is the error to expect of others. Parameters of which the data say nothing are named.
//! Nothing here runs a simulation: that is passed in.

mod fit;
mod hold_back;
mod observation;
mod published;
mod terminal;

pub use fit::{Calibration, Compared, MetricError, Predict, Request, calibrate, errors_of};
pub use hold_back::{Parts, hold_back};
pub use observation::{Observation, Observed, Outcome, cell_label, observations};
pub use published::{PointError, published};
pub use terminal::terminal;
